//! Why a model cannot answer.

/// What is wrong with parameters or measurements.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A parameter is outside its range.
    #[error("{parameter}: {why}")]
    Parameter {
        /// Its name in the file.
        parameter: String,
        /// What it must be.
        why: String,
    },
    /// The system is larger than the model takes.
    #[error("{what}: the model takes up to {most}")]
    TooLarge {
        /// What is too large.
        what: String,
        most: String,
    },
    /// The measured configurations do not determine the parameters.
    #[error("these configurations do not tell {what}: {remedy}")]
    Undetermined {
        /// What they leave open.
        what: String,
        /// What to measure.
        remedy: String,
    },
}

impl ModelError {
    /// `None` for a system that is no system, or larger than the model takes: one derived from another that was accepted.
    pub(super) fn if_accepted<T>(result: Result<T, ModelError>) -> Result<Option<T>, ModelError> {
        match result {
            Err(ModelError::TooLarge { .. } | ModelError::Parameter { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    pub(super) fn parameter(parameter: &str, why: impl Into<String>) -> ModelError {
        ModelError::Parameter { parameter: parameter.into(), why: why.into() }
    }
}
