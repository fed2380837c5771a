//! The formats that runs are written in.

mod action;
mod bencher;
pub mod bill;
pub mod csv;
mod exposition;
mod go;
mod hyperfine;
mod json;
pub(crate) mod lmbench;
mod openmetrics;
mod parquet;

use std::io::Write;

use record::Run;

/// A format that runs are written in.
pub trait Exporter: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it is, and which program reads it.
    fn summary(&self) -> &'static str;

    /// The end of a file's name that means this format; empty if none does.
    fn ending(&self) -> &'static str;

    /// Whether it is text, so that it may go to a terminal.
    fn is_text(&self) -> bool {
        true
    }

    /// Writes the runs. Returns what the reader should know: what was left out, and why.
    ///
    /// # Errors
    /// If `out` cannot be written, or the format cannot hold these runs.
    fn write(&self, runs: &[Run], out: &mut dyn Write) -> Result<Vec<String>, ExportError>;
}

/// The reasons why runs could not be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output could not be written.
    #[error("cannot write the export: {0}")]
    Io(#[from] std::io::Error),
    /// The format holds one run only.
    #[error("the format {format} holds one run, and {runs} were given; export each to a file of its own")]
    OneRun {
        /// The format's name.
        format: &'static str,
        /// How many were given.
        runs: usize,
    },
    /// The library that writes the format failed.
    #[error("cannot write {format}: {why}")]
    Library {
        /// The format's name.
        format: &'static str,
        /// What it says.
        why: String,
    },
}

/// Every format, in the order of the help.
pub const EXPORTERS: &[&dyn Exporter] = &[
    &csv::Csv,
    &parquet::Parquet,
    &openmetrics::OpenMetrics,
    &openmetrics::Prometheus,
    &go::GoBenchmark,
    &bencher::Bencher,
    &action::GithubAction,
    &hyperfine::Hyperfine,
    &lmbench::Lmbench,
];

/// The format of this name.
pub fn exporter(name: &str) -> Option<&'static dyn Exporter> {
    EXPORTERS.iter().copied().find(|format| format.name() == name)
}

/// The format that a file of this name has, by its ending.
pub fn exporter_for(file: &str) -> Option<&'static dyn Exporter> {
    EXPORTERS.iter().copied().find(|format| {
        let name = file.strip_suffix(format.ending()).unwrap_or_default();
        !format.ending().is_empty() && name.ends_with('.') && name.len() > 1
    })
}

/// The only run, for formats that hold one.
fn only<'a>(format: &'static str, runs: &'a [Run]) -> Result<Option<&'a Run>, ExportError> {
    match runs {
        [] => Ok(None),
        [run] => Ok(Some(run)),
        several => Err(ExportError::OneRun { format, runs: several.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings_are_each_given_once() {
        for (place, format) in EXPORTERS.iter().enumerate() {
            assert!(!format.summary().is_empty());
            for other in &EXPORTERS[..place] {
                assert_ne!(format.name(), other.name());
                assert!(format.ending().is_empty() || format.ending() != other.ending(), "{}", format.name());
            }
        }
        let chosen = |file| exporter_for(file).map(|format| format.name());
        assert_eq!(chosen("a/run.csv"), Some("csv"));
        assert_eq!(chosen("howslow.prom"), Some("prometheus"));
        assert_eq!((chosen("run.json"), chosen("csv"), chosen(".csv")), (None, None, None));
    }

    #[test]
    fn no_run_and_an_empty_run_are_written_in_every_format() {
        let bytes = include_bytes!("../../record/tests/data/example-run.json");
        let mut empty = record::run_from_bytes(bytes).expect("a run");
        empty.costs.clear();
        for format in EXPORTERS {
            for runs in [&[][..], std::slice::from_ref(&empty)] {
                let mut text = Vec::new();
                format.write(runs, &mut text).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
            }
        }
    }
}
