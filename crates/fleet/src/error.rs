//! The reasons why a fleet could not be started, followed or read.

use std::path::PathBuf;

use store::StoreError;

/// The reasons why a fleet could not be started, followed or read.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("{0}")]
    Misuse(String),
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// `read`, `write`, `create the folder`.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// The data folder is unknown, or the state could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {why}", path.display())]
    State { path: PathBuf, why: String },
    #[error("another howslow follows the fleet {0}; end it first, or look with `howslow fleet status {0}`")]
    Followed(String),
    /// The scheduler or a tool does not answer as it should.
    #[error("{0}")]
    Trouble(String),
}

impl FleetError {
    /// True if the user requested something that makes no sense.
    pub fn is_misuse(&self) -> bool {
        matches!(self, FleetError::Misuse(_))
    }

    pub(crate) fn io(what: &'static str, path: &std::path::Path, source: std::io::Error) -> FleetError {
        FleetError::Io { what, path: path.into(), source }
    }
}
