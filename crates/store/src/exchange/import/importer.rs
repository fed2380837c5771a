//! What a format is that runs are read from, and why reading fails.

use record::{Run, printable};

/// A longer text is refused unread.
pub const MOST_BYTES: u64 = 64 << 20;

/// A format that runs are read from.
pub struct Importer {
    /// Its name on the command line: that of the tool.
    pub name: &'static str,
    /// What files it reads.
    pub summary: &'static str,
    /// Whether the text looks like this format, also if it is damaged or cut off.
    pub recognises: fn(&str) -> bool,
    /// The run that the text holds. Its id is empty, and its time too if the text does not state when it was taken. Fails if the
    /// text is not of this format, is damaged, or holds no cost.
    pub read: fn(&str) -> Result<Run, ImportError>,
}

/// The reasons why a text could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("the file is larger than {} MiB, so it is no result of a tool that howslow knows", MOST_BYTES >> 20)]
    TooLarge,
    #[error("the file is in no format that howslow imports; it reads {known}")]
    Unknown { known: String },
    #[error("not a whole {format} result (damaged or truncated?): {why}")]
    Damaged { format: &'static str, why: String },
    #[error("the {format} result holds no cost")]
    Nothing { format: &'static str },
    #[error("cannot read {path}: {why}")]
    Io { path: String, why: std::io::Error },
}

impl ImportError {
    pub(super) fn damaged(format: &'static str, why: impl std::fmt::Display) -> ImportError {
        ImportError::Damaged { format, why: printable(&why.to_string()) }
    }
}

/// Whether a text begins like a JSON object or array that has these keys.
pub(super) fn has_keys(text: &str, keys: &[&str]) -> bool {
    text.trim_start().starts_with(['{', '[']) && keys.iter().all(|key| text.contains(&format!("\"{key}\"")))
}
