//! The results of other tools, read as runs. A figure stays as its file has it, and its id stays in a namespace of its own,
//! `imported.TOOL.`: the same name does not mean the same work.

pub mod criterion;
mod google;
mod hyperfine;
mod imported;
mod lmbench;

use record::{Run, printable};

/// A longer text is refused unread.
pub const MOST_BYTES: u64 = 64 << 20;
/// More costs than this are no result of a tool.
const MOST_COSTS: usize = 20_000;

/// A format that runs are read from.
pub trait Importer: Sync {
    /// Its name on the command line: that of the tool.
    fn name(&self) -> &'static str;

    /// What files it reads.
    fn summary(&self) -> &'static str;

    /// Whether the text looks like this format, also if it is damaged or cut off.
    fn recognises(&self, text: &str) -> bool;

    /// The run that the text holds. Its id is empty, and its time too if the text does not say when it was taken.
    ///
    /// # Errors
    /// If the text is not of this format, is damaged, or holds no cost.
    fn read(&self, text: &str) -> Result<Run, ImportError>;
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
    fn damaged(format: &'static str, why: impl std::fmt::Display) -> ImportError {
        ImportError::Damaged { format, why: printable(&why.to_string()) }
    }
}

/// Every format, in the order of the help.
pub const IMPORTERS: &[&dyn Importer] =
    &[&lmbench::Lmbench, &hyperfine::Hyperfine, &google::GoogleBenchmark, &criterion::Criterion];

/// The format of this name.
pub fn importer(name: &str) -> Option<&'static dyn Importer> {
    IMPORTERS.iter().copied().find(|format| format.name() == name)
}

/// The run that a text holds, in this format or in the one that its content shows.
///
/// # Errors
/// If the text is too long, of no known format, damaged, or without a cost.
pub fn import(text: &str, format: Option<&dyn Importer>) -> Result<Run, ImportError> {
    if text.len() as u64 > MOST_BYTES {
        return Err(ImportError::TooLarge);
    }
    let known = || IMPORTERS.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
    let format = format.or_else(|| IMPORTERS.iter().copied().find(|format| format.recognises(text)));
    let Some(format) = format else { return Err(ImportError::Unknown { known: known() }) };
    let run = format.read(text)?;
    if run.costs.len() > MOST_COSTS {
        let why = format!("{} costs, at most {MOST_COSTS} are read", run.costs.len());
        return Err(ImportError::damaged(format.name(), why));
    }
    if run.costs.is_empty() {
        return Err(ImportError::Nothing { format: format.name() });
    }
    Ok(run)
}

/// Whether a text begins like a JSON object or array that has these keys.
fn has_keys(text: &str, keys: &[&str]) -> bool {
    text.trim_start().starts_with(['{', '[']) && keys.iter().all(|key| text.contains(&format!("\"{key}\"")))
}
