//! The formats that runs are written in.

mod action;
mod bencher;
pub mod bill;
pub mod csv;
mod exporter;
mod exposition;
mod go;
mod hyperfine;
pub(crate) mod lmbench;
mod openmetrics;
mod parquet;

pub use exporter::{ExportError, Exporter};
pub use exposition::Dialect;

/// Every format, in the order of the help.
pub const EXPORTERS: &[Exporter] = &[
    csv::CSV,
    parquet::PARQUET,
    openmetrics::OPEN_METRICS,
    openmetrics::PROMETHEUS,
    go::GO,
    bencher::BENCHER,
    action::GITHUB_ACTION,
    hyperfine::HYPERFINE,
    lmbench::LMBENCH,
];

pub fn exporter(name: &str) -> Option<&'static Exporter> {
    EXPORTERS.iter().find(|format| format.name == name)
}

/// The format that a file of this name has, by its ending.
pub fn exporter_for(file: &str) -> Option<&'static Exporter> {
    EXPORTERS.iter().find(|format| {
        let name = file.strip_suffix(format.ending).unwrap_or_default();
        !format.ending.is_empty() && name.ends_with('.') && name.len() > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings_are_each_given_once() {
        for (place, format) in EXPORTERS.iter().enumerate() {
            assert!(!format.summary.is_empty());
            for other in &EXPORTERS[..place] {
                assert_ne!(format.name, other.name);
                assert!(format.ending.is_empty() || format.ending != other.ending, "{}", format.name);
            }
        }
        let chosen = |file| exporter_for(file).map(|format| format.name);
        assert_eq!(chosen("a/run.csv"), Some("csv"));
        assert_eq!(chosen("howslow.prom"), Some("prometheus"));
        assert_eq!((chosen("run.json"), chosen("csv"), chosen(".csv")), (None, None, None));
    }

    #[test]
    fn no_run_and_an_empty_run_are_written_in_every_format() {
        let bytes = include_bytes!("../../../record/tests/data/example-run.json");
        let mut empty = record::run_from_bytes(bytes).expect("a run");
        empty.costs.clear();
        for format in EXPORTERS {
            for runs in [&[][..], std::slice::from_ref(&empty)] {
                let mut text = Vec::new();
                (format.write)(runs, &mut text).unwrap_or_else(|error| panic!("{}: {error}", format.name));
            }
        }
    }
}
