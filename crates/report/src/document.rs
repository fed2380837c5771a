//! What `--json` prints: one type for each document, with the JSON Schema derived from it. A document holds everything that
//! the page shows, in plain numbers.

use std::io::Read;

mod bench;
mod bill;
mod bill_elsewhere;
mod compare;
mod crossover;
mod doctor;
mod explain;
mod factors;
mod figure;
mod file;
mod fleet_report;
mod interference;
mod load;
mod model;
mod noise;
mod predict;
mod prefetch;
mod reference;
mod repeat;
mod scaling;
mod self_test;
mod study;
mod top;
mod watch;

pub use bench::BenchDocument;
pub use bill::BillDocument;
pub use bill_elsewhere::BillElsewhereDocument;
pub use compare::{CompareDocument, ComparedGate};
pub use crossover::CrossoverDocument;
pub use doctor::DoctorDocument;
pub use explain::{CostsExplained, ExplainDocument};
pub use factors::{FactorsDocument, PredictFactors};
pub use figure::TimeFigure;
pub use file::{FileEvicted, FileSynced};
pub use fleet_report::FleetReportDocument;
pub use interference::InterferenceDocument;
pub use load::LoadDocument;
pub use load::forecast::LoadForecast;
pub use load::size::{SizeDocument, SizeTrial};
pub use model::ModelDocument;
pub use noise::NoiseDocument;
pub use predict::{PredictDocument, Predictions};
pub use prefetch::PrefetchStudy;
pub use reference::{CostHeld, OddCosts};
pub use repeat::RepeatDocument;
pub use scaling::ScalingDocument;
pub use self_test::SelfTestDocument;
pub use study::{StudiesDocument, StudyCell, StudyDocument};
pub use top::TopDocument;
pub use watch::{WatchChange, WatchCost, WatchDocument, WatchFact};

/// The names of the documents with a schema in `docs/schemas`.
const PUBLISHED: &[&str] = include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// Their schemas in the same order, each ended by a zero byte, deflated.
const SCHEMAS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.deflate"));

/// The names of all documents that have a JSON Schema.
pub fn documents() -> impl Iterator<Item = &'static str> {
    std::iter::once("run").chain(PUBLISHED.iter().copied())
}

/// The JSON Schema of a document, or `None` if there is no such document.
pub fn schema(document: &str) -> Option<String> {
    if document == "run" {
        return Some(record::RUN_SCHEMA.into());
    }
    let place = PUBLISHED.iter().position(|name| *name == document)?;
    let mut schemas = String::new();
    flate2::read::DeflateDecoder::new(SCHEMAS).read_to_string(&mut schemas).ok()?;
    schemas.split('\0').nth(place).map(String::from)
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use std::path::Path;

    use schemars::schema_for;

    use super::*;
    use crate::bill::BillChanges;
    use crate::lists::{Kept, Listed, ListedCall};

    #[test]
    fn the_published_schemas_are_the_ones_the_types_give() {
        let made = [
            ("repeat", schema_for!(RepeatDocument)),
            ("list", schema_for!(Vec<Listed>)),
            ("syscalls", schema_for!(Vec<ListedCall>)),
            ("history", schema_for!(Vec<Kept>)),
            ("watch", schema_for!(WatchDocument)),
            ("doctor", schema_for!(DoctorDocument)),
            ("self-test", schema_for!(SelfTestDocument)),
            ("model", schema_for!(ModelDocument)),
            ("bench", schema_for!(BenchDocument)),
            ("bill", schema_for!(BillDocument)),
            ("bill-changes", schema_for!(BillChanges)),
            ("bill-elsewhere", schema_for!(BillElsewhereDocument)),
            ("top", schema_for!(TopDocument)),
            ("noise", schema_for!(NoiseDocument)),
            ("compare", schema_for!(CompareDocument)),
            ("crossover", schema_for!(CrossoverDocument)),
            ("explain", schema_for!(ExplainDocument)),
            ("explain-costs", schema_for!(CostsExplained)),
            ("predict", schema_for!(PredictDocument)),
            ("predict-several", schema_for!(Predictions)),
            ("predict-factors", schema_for!(PredictFactors)),
            ("scaling", schema_for!(ScalingDocument)),
            ("study", schema_for!(StudyDocument)),
            ("study-all", schema_for!(StudiesDocument)),
            ("study-prefetch", schema_for!(PrefetchStudy)),
            ("interference", schema_for!(InterferenceDocument)),
            ("load", schema_for!(LoadDocument)),
            ("load-size", schema_for!(SizeDocument)),
            ("file-resident", schema_for!(Vec<crate::residence::ResidentFile>)),
            ("file-evict", schema_for!(Vec<FileEvicted>)),
            ("file-sync", schema_for!(Vec<FileSynced>)),
            ("file-advise", schema_for!(analysis::prefetch::Advice)),
            ("fleet", schema_for!(::fleet::Fleet)),
            ("file-tune", schema_for!(analysis::prefetch::Tuning)),
            ("fleet-show", schema_for!(FleetReportDocument)),
            ("terminal", schema_for!(analysis::terminal::OwnTerminal)),
            ("terminal-pty", schema_for!(analysis::terminal::pseudo::PseudoTerminals)),
        ];
        let types = made.len();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
        for (name, schema) in made {
            let made = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
            if std::env::var_os("HOWSLOW_WRITE_SCHEMA").is_some() {
                std::fs::write(folder.join(format!("{name}.json")), made).expect("docs/schemas can be written");
                continue;
            }
            assert_eq!(
                super::schema(name),
                Some(made),
                "docs/schemas/{name}.json: HOWSLOW_WRITE_SCHEMA=1 cargo test -p howslow-report"
            );
        }
        // The run document is published and tested by `record`, the plan of `load` by that. Another build packs what was written.
        let writing = std::env::var_os("HOWSLOW_WRITE_SCHEMA").is_some();
        assert!(writing || types + 2 == documents().count(), "a document is published that no type gives");
    }
}
