//! Why an experiment cannot be done.

use crate::plan::PlanError;

/// Why an experiment cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("{what}; {remedy}")]
    Lacking { what: String, remedy: String },
    #[error("cannot {what}: {why}; {remedy}")]
    Setup { what: String, why: String, remedy: String },
    #[error("the users cannot work: {0}")]
    Users(String),
    /// What begins the experiment, drives the users and clears up after them.
    #[error("what drives the users fails: {0}")]
    Driver(String),
    #[error("the plan's setup `{command}` failed: {why}; run it by hand to see its messages")]
    Preparing { command: String, why: String },
    /// One user alone showed too little.
    #[error("nothing can be predicted: too little of the script ended while one user ran alone; {remedy}")]
    NothingEnded { remedy: &'static str },
    #[error(transparent)]
    Measure(#[from] measure::MeasureError),
}

impl LoadError {
    /// True if the plan is wrong, or requires what this machine does not have.
    pub fn is_misuse(&self) -> bool {
        matches!(self, LoadError::Plan(_) | LoadError::Lacking { .. })
    }

    /// What would help, where that is known; it stands at the end of the text too.
    pub fn remedy(&self) -> &str {
        match self {
            LoadError::Lacking { remedy, .. } | LoadError::Setup { remedy, .. } => remedy,
            LoadError::NothingEnded { remedy } => remedy,
            _ => "",
        }
    }

    /// The reason without the remedy.
    pub fn reason(&self) -> String {
        let (text, remedy) = (self.to_string(), self.remedy());
        text.strip_suffix(remedy).map_or(text.as_str(), |text| text.trim_end_matches("; ")).to_string()
    }

    pub(crate) fn setup(what: impl Into<String>, why: &std::io::Error, remedy: &str) -> LoadError {
        LoadError::Setup { what: what.into(), why: why.to_string(), remedy: remedy.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_and_remedy_are_the_two_halves_of_the_text() {
        let error = LoadError::Lacking { what: "there is no swap".into(), remedy: "run as root".into() };
        assert_eq!((error.reason().as_str(), error.remedy()), ("there is no swap", "run as root"));
        let other = LoadError::Users("all are gone".into());
        assert_eq!((other.reason().as_str(), other.remedy()), ("the users cannot work: all are gone", ""));
    }
}
