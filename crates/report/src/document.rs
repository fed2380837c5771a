//! What `--json` prints: one type for each document, with the JSON Schema derived from it. A document holds everything that
//! the page tells, in plain numbers.

mod compare;
mod doctor;
mod explain;
mod factors;
mod file;
mod memory;
mod predict;
mod repeat;
mod study;

use analysis::statistics::Interval;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

use crate::lists::{Kept, Listed, ListedCall};

pub use compare::CompareDocument;
pub use doctor::DoctorDocument;
pub use explain::{CostsExplained, ExplainDocument};
pub use factors::{FactorsDocument, PredictFactors};
pub use file::{FileEvicted, FileResident, FileSynced};
pub use predict::{PredictDocument, Predictions};
pub use repeat::RepeatDocument;
pub use study::{PrefetchStudy, StudiesDocument, StudyDocument};

/// Makes a document's schema.
pub type MakeSchema = fn() -> Schema;

/// The name and the schema of every document.
pub const DOCUMENTS: &[(&str, MakeSchema)] = &[
    ("run", record::run_schema),
    ("repeat", || schema_for!(RepeatDocument)),
    ("list", || schema_for!(Vec<Listed>)),
    ("syscalls", || schema_for!(Vec<ListedCall>)),
    ("history", || schema_for!(Vec<Kept>)),
    ("doctor", || schema_for!(DoctorDocument)),
    ("compare", || schema_for!(CompareDocument)),
    ("explain", || schema_for!(ExplainDocument)),
    ("explain-costs", || schema_for!(CostsExplained)),
    ("predict", || schema_for!(PredictDocument)),
    ("predict-several", || schema_for!(Predictions)),
    ("predict-factors", || schema_for!(PredictFactors)),
    ("study", || schema_for!(StudyDocument)),
    ("study-all", || schema_for!(StudiesDocument)),
    ("file-resident", || schema_for!(Vec<FileResident>)),
    ("file-evict", || schema_for!(Vec<FileEvicted>)),
    ("file-sync", || schema_for!(Vec<FileSynced>)),
];

/// A time in nanoseconds with its 95 % interval. Ends that a single round does not tell are null.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimeFigure {
    /// The time.
    pub ns: Option<f64>,
    /// Its lower end.
    pub low_ns: Option<f64>,
    /// Its upper end.
    pub high_ns: Option<f64>,
}

/// A ratio, share or rate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RatioFigure {
    /// The value.
    pub value: Option<f64>,
    /// Its lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

impl From<&Interval> for TimeFigure {
    fn from(it: &Interval) -> TimeFigure {
        TimeFigure { ns: finite(it.value), low_ns: finite(it.low), high_ns: finite(it.high) }
    }
}

impl From<&Interval> for RatioFigure {
    fn from(it: &Interval) -> RatioFigure {
        RatioFigure { value: finite(it.value), low: finite(it.low), high: finite(it.high) }
    }
}

fn time(it: Option<&Interval>) -> Option<TimeFigure> {
    it.map(TimeFigure::from)
}

fn ratio(it: Option<&Interval>) -> Option<RatioFigure> {
    it.map(RatioFigure::from)
}

/// JSON has no word for what is not finite.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn all<'a, T: 'a, D: From<&'a T>>(of: &'a [T]) -> Vec<D> {
    of.iter().map(D::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_has_a_schema_of_its_own() {
        for (place, (name, schema)) in DOCUMENTS.iter().enumerate() {
            let text = serde_json::to_string(&schema()).expect("JSON");
            assert!(text.contains("\"properties\""), "{name}: {text}");
            assert!(DOCUMENTS[..place].iter().all(|(other, _)| other != name), "{name} stands twice");
        }
    }
}
