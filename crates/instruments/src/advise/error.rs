//! Why there is no advice.

use std::path::PathBuf;

use catalogue::residence::FileError;
use operation::Failure;
use record::Bytes;

use crate::advise::limits::SMALLEST;

/// Why there is no advice.
#[derive(Debug, thiserror::Error)]
pub enum AdviseError {
    /// The file cannot be worked on.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "{} has {length} bytes, too few to tell methods apart; name a file of {} or more",
        path.display(),
        Bytes(SMALLEST)
    )]
    TooShort { path: PathBuf, length: u64 },
    #[error("{file} cannot be put out of memory, so that nothing is waited for: {reason}")]
    NeverCold { file: String, reason: String },
    #[error("{folder} is in memory (tmpfs), so that nothing is waited for there; set TMPDIR to a folder on a disk")]
    ScratchInMemory { folder: String },
    /// No scratch file can be made.
    #[error("{}", no_scratch(folder, failure))]
    NoScratch { folder: String, failure: Failure },
    #[error("{file}: {failure}")]
    Pass { file: String, failure: Failure },
    /// This system lacks a method that every comparison needs.
    #[error("{file}: {reason}")]
    NotHere { file: String, reason: String },
    #[error("{file}: two passes read different bytes: the file is being written; try again when it is not")]
    Changing { file: String },
    /// Nothing of this kind was measured.
    #[error("no {0}")]
    Nothing(&'static str),
}

impl AdviseError {
    /// True if the file named cannot be meant: missing, of the wrong kind, or too short.
    pub fn is_misuse(&self) -> bool {
        let no_file = matches!(
            self,
            AdviseError::File(FileError::Open { .. } | FileError::Kind { .. } | FileError::Empty { .. })
        );
        no_file || matches!(self, AdviseError::TooShort { .. })
    }
}

/// Why there is no scratch file, and what to do.
fn no_scratch(folder: &str, failure: &Failure) -> String {
    match failure {
        Failure::Skip { reason, remedy } => format!("{}; {remedy}", record::printable(reason)),
        other => format!("no scratch file can be made in {folder}: {other}; set TMPDIR to another folder"),
    }
}
