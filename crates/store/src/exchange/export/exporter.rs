//! What a format is that runs are written in, and why writing fails.

use std::io::Write;

use record::Run;
use serde::Serialize;

/// What the reader of an export should know.
pub type Written = Result<Vec<String>, ExportError>;

/// A format that runs are written in.
pub struct Exporter {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, and which program reads it.
    pub summary: &'static str,
    /// The end of a file's name that means this format; empty if none does.
    pub ending: &'static str,
    /// Whether it is text, so that it may go to a terminal.
    pub is_text: bool,
    /// Writes the runs. Returns what the reader should know: what was left out, and why. Fails if `out` cannot be written, or
    /// the format cannot hold these runs.
    pub write: fn(&[Run], &mut dyn Write) -> Written,
}

/// The reasons why runs could not be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot write the export: {0}")]
    Io(#[from] std::io::Error),
    #[error("the format {format} holds one run, and {runs} were given; export each to a file of its own")]
    OneRun { format: &'static str, runs: usize },
}

/// Writes a document of JSON, and a line end.
pub(super) fn json(document: &impl Serialize, out: &mut dyn Write) -> Written {
    serde_json::to_writer_pretty(&mut *out, document).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(Vec::new())
}

/// The only run, for formats that hold one.
pub(super) fn only<'a>(format: &'static str, runs: &'a [Run]) -> Result<Option<&'a Run>, ExportError> {
    match runs {
        [] => Ok(None),
        [run] => Ok(Some(run)),
        several => Err(ExportError::OneRun { format, runs: several.len() }),
    }
}
