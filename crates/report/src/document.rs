//! What `--json` prints: one type for each document, with the JSON Schema derived from it. A document holds everything that
//! the page tells, in plain numbers.

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
pub use bill::{BillChanges, BillDocument};
pub use bill_elsewhere::BillElsewhereDocument;
pub use compare::{CompareDocument, ComparedGate};
pub use crossover::CrossoverDocument;
pub use doctor::DoctorDocument;
pub use explain::{CostsExplained, ExplainDocument};
pub use factors::{FactorsDocument, PredictFactors};
pub use figure::{RatioFigure, TimeFigure};
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

/// The name and the JSON Schema of every document, as published in `docs/`.
pub const DOCUMENTS: &[(&str, &str)] = &[
    ("run", record::RUN_SCHEMA),
    ("repeat", include_str!("../schemas/repeat.json")),
    ("list", include_str!("../schemas/list.json")),
    ("syscalls", include_str!("../schemas/syscalls.json")),
    ("history", include_str!("../schemas/history.json")),
    ("watch", include_str!("../schemas/watch.json")),
    ("doctor", include_str!("../schemas/doctor.json")),
    ("self-test", include_str!("../schemas/self-test.json")),
    ("model", include_str!("../schemas/model.json")),
    ("bench", include_str!("../schemas/bench.json")),
    ("bill", include_str!("../schemas/bill.json")),
    ("bill-changes", include_str!("../schemas/bill-changes.json")),
    ("bill-elsewhere", include_str!("../schemas/bill-elsewhere.json")),
    ("top", include_str!("../schemas/top.json")),
    ("noise", include_str!("../schemas/noise.json")),
    ("compare", include_str!("../schemas/compare.json")),
    ("crossover", include_str!("../schemas/crossover.json")),
    ("explain", include_str!("../schemas/explain.json")),
    ("explain-costs", include_str!("../schemas/explain-costs.json")),
    ("predict", include_str!("../schemas/predict.json")),
    ("predict-several", include_str!("../schemas/predict-several.json")),
    ("predict-factors", include_str!("../schemas/predict-factors.json")),
    ("scaling", include_str!("../schemas/scaling.json")),
    ("study", include_str!("../schemas/study.json")),
    ("study-all", include_str!("../schemas/study-all.json")),
    ("study-prefetch", include_str!("../schemas/study-prefetch.json")),
    ("interference", include_str!("../schemas/interference.json")),
    ("load", include_str!("../schemas/load.json")),
    ("load-size", include_str!("../schemas/load-size.json")),
    ("load-plan", include_str!("../schemas/load-plan.json")),
    ("file-resident", include_str!("../schemas/file-resident.json")),
    ("file-evict", include_str!("../schemas/file-evict.json")),
    ("file-sync", include_str!("../schemas/file-sync.json")),
    ("file-advise", include_str!("../schemas/file-advise.json")),
    ("fleet", include_str!("../schemas/fleet.json")),
    ("file-tune", include_str!("../schemas/file-tune.json")),
    ("fleet-show", include_str!("../schemas/fleet-show.json")),
    ("terminal", include_str!("../schemas/terminal.json")),
    ("terminal-pty", include_str!("../schemas/terminal-pty.json")),
];

#[cfg(all(test, feature = "schema"))]
mod tests {
    use std::path::Path;

    use schemars::schema_for;

    use super::*;
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
        // The run document is published and tested by `record`, the plan of `load` by that.
        assert_eq!(made.len() + 2, DOCUMENTS.len(), "a document is published that no type gives");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
        for (name, schema) in made {
            let made = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
            if std::env::var_os("HOWSLOW_WRITE_SCHEMA").is_some() {
                std::fs::write(folder.join(format!("{name}.json")), made).expect("docs/schemas can be written");
                continue;
            }
            let published = DOCUMENTS.iter().find(|(document, _)| *document == name).map(|(_, schema)| *schema);
            assert_eq!(
                published,
                Some(made.as_str()),
                "docs/schemas/{name}.json: HOWSLOW_WRITE_SCHEMA=1 cargo test -p howslow-report"
            );
        }
    }

    #[test]
    fn every_document_has_a_schema_of_its_own() {
        // The schema of a new document is empty until the test above has written it.
        let writing = std::env::var_os("HOWSLOW_WRITE_SCHEMA").is_some();
        for (place, (name, schema)) in DOCUMENTS.iter().enumerate() {
            assert!(writing || schema.contains("\"properties\""), "{name}");
            assert!(DOCUMENTS[..place].iter().all(|(other, _)| other != name), "{name} stands twice");
        }
    }
}
