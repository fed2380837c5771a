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
    /// The run that the text holds. Its id is empty, and its time too if the text does not say when it was taken. Fails if the
    /// text is not of this format, is damaged, or holds no cost.
    pub read: fn(&str) -> Result<Run, ImportError>,
}

/// The reasons why a text could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is longer than any result.
    #[error("the file is larger than {} MiB, so it is no result of a tool that howslow knows", MOST_BYTES >> 20)]
    TooLarge,
    /// No importer recognises it.
    #[error("the file is in no format that howslow imports; it reads {known}")]
    Unknown {
        /// The formats there are.
        known: String,
    },
    /// It is not what the format asks for.
    #[error("not a whole {format} result (damaged or truncated?): {why}")]
    Damaged {
        /// The format's name.
        format: &'static str,
        /// What is wrong.
        why: String,
    },
    /// It is of the format and holds nothing.
    #[error("the {format} result holds no cost")]
    Nothing {
        /// The format's name.
        format: &'static str,
    },
    /// A folder or one of its files could not be read.
    #[error("cannot read {path}: {why}")]
    Io {
        /// The file or folder.
        path: String,
        /// What the system says.
        why: std::io::Error,
    },
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
