//! The page of the interference matrix, from made-up cells.

use analysis::interference::{ComparedStretch, DescribedKind, Interference, Load, NotMeasured, PairSlowdown, Slowdown};
use howslow_report::Style;
use howslow_report::document::InterferenceDocument;
use record::{Machine, Place};

fn load(kind: &str, dose: f64, place: Place) -> Load {
    Load { kind: kind.into(), dose, place }
}

/// A cell with six pairs around these ratios.
fn cell(victim: &str, beside: Vec<Load>, elapsed: f64, cpu: f64) -> PairSlowdown {
    let pair = |number: u32| ComparedStretch {
        elapsed: elapsed * (1.0 + 0.004 * f64::from(number % 3)),
        cpu: Some(cpu * (1.0 + 0.002 * f64::from(number % 3))),
        alone_ns: 100.0,
        achieved: beside.iter().map(|_| 1e6).collect(),
    };
    let pairs: Vec<ComparedStretch> = (0..6).map(pair).collect();
    PairSlowdown { victim: victim.into(), slowdown: Slowdown::of(&pairs), beside }
}

fn found() -> Interference {
    let one = |victim: &str, kind: &str, place: Place, elapsed: f64, cpu: f64| {
        cell(victim, vec![load(kind, 1.0, place)], elapsed, cpu)
    };
    let (other, same) = (Place::Other, Place::Same);
    let half = |kind: &str| load(kind, 0.5, other);
    Interference {
        victims: vec!["compute".into(), "memory".into()],
        aggressors: vec!["memory".into(), "disk-reads".into()],
        places: vec![other, same],
        kinds: vec![DescribedKind { name: "memory".into(), operation: "memory.read@set=67108864".into() }],
        cells: vec![
            one("compute", "memory", other, 1.01, 1.0),
            one("compute", "disk-reads", other, 1.02, 1.0),
            one("memory", "memory", other, 1.62, 1.6),
            PairSlowdown { victim: "memory".into(), beside: vec![load("disk-reads", 1.0, other)], slowdown: None },
            one("compute", "memory", same, 2.0, 1.0),
            one("compute", "disk-reads", same, 1.07, 1.01),
            one("memory", "memory", same, 2.1, 1.05),
            one("memory", "disk-reads", same, 1.09, 1.02),
            cell("memory", vec![load("memory", 0.25, other)], 1.15, 1.15),
            cell("memory", vec![half("memory")], 1.3, 1.3),
            cell("memory", vec![half("disk-reads")], 1.1, 1.1),
            cell("memory", vec![half("memory"), half("disk-reads")], 1.45, 1.4),
        ],
        skipped: vec![NotMeasured {
            what: "on the core's other hardware thread".into(),
            reason: "there is none".into(),
        }],
        cpu: 1,
        passes: 6,
        seconds: 50.0,
        interrupted: None,
    }
}

#[test]
fn a_matrix_of_interference() {
    insta::assert_snapshot!(howslow_report::interference(&found(), &Machine::default(), Style::PLAIN, 100));
}

#[test]
fn pictures_have_names_of_their_own() {
    let pictures = howslow_report::interference_pictures(&found());
    let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["interference-other", "interference-same", "interference-same-cpu-time", "interference-doses"]);
    assert!(pictures.iter().all(|(_, svg)| svg.starts_with("<svg")));
}

#[test]
fn the_document_has_what_the_page_shows() {
    let (found, machine) = (found(), Machine::default());
    let document = serde_json::to_value(InterferenceDocument::of(&found, &machine)).expect("JSON");
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), found.cells.len());
    assert_eq!(cells[3]["elapsed"], serde_json::Value::Null, "what was not measured has no figure");
    assert_eq!(cells[6]["conclusive"], true);
    let together = &document["together"][0];
    let product = together["product"].as_f64().expect("a number");
    assert!((product - 1.3 * 1.004 * 1.1 * 1.004).abs() < 1e-9, "{together}");
    assert!(together["product_error"].as_f64().is_some_and(|error| (-0.03..0.0).contains(&error)), "{together}");
}
