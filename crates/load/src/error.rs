//! Why an experiment cannot be done.

use crate::plan::PlanError;

/// Why an experiment cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The plan makes no sense.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan asks for what this machine does not have.
    #[error("{what}; {remedy}")]
    Lacking {
        /// What is missing.
        what: String,
        /// What would help.
        remedy: String,
    },
    /// A group, a device or a folder cannot be made.
    #[error("cannot {what}: {why}; {remedy}")]
    Setup {
        /// What was tried.
        what: String,
        /// The system's reason.
        why: String,
        /// What would help.
        remedy: String,
    },
    /// The users cannot be started, or all of them are gone.
    #[error("the users cannot work: {0}")]
    Users(String),
    /// A command that prepares a user's folder fails.
    #[error("the plan's setup `{command}` failed: {why}; run it by hand to see its messages")]
    Preparing {
        /// The command.
        command: String,
        /// How it ended.
        why: String,
    },
    /// Scratch files cannot be made.
    #[error(transparent)]
    Measure(#[from] measure::MeasureError),
}

impl LoadError {
    /// True if the plan is wrong, or asks for what this machine does not have.
    pub fn is_misuse(&self) -> bool {
        matches!(self, LoadError::Plan(_) | LoadError::Lacking { .. })
    }

    pub(crate) fn setup(what: impl Into<String>, why: &std::io::Error, remedy: &str) -> LoadError {
        LoadError::Setup { what: what.into(), why: why.to_string(), remedy: remedy.into() }
    }
}
