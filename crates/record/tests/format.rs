//! The run document: its published schema, its description, and what reading does with anything else.

mod description;

use std::path::{Path, PathBuf};

use howslow_record::{
    Bytes, Doubt, Nanoseconds, Point, RUN_SCHEMA, ReadError, Run, Value, run_from_bytes, run_schema, units,
};
use proptest::prelude::*;

const EXAMPLE: &str = include_str!("data/example-run.json");

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

fn example() -> Run {
    run_from_bytes(EXAMPLE.as_bytes()).expect("the example is a run")
}

/// Holds a file of `docs/` to what the types give, or writes it.
fn check_generated(name: &str, generated: &str) {
    if std::env::var_os("HOWSLOW_WRITE_SCHEMA").is_some() {
        std::fs::write(docs(name), generated).expect("docs/ can be written");
    }
    let published = std::fs::read_to_string(docs(name)).expect("the file is in docs/");
    assert!(published == generated, "docs/{name} is stale: HOWSLOW_WRITE_SCHEMA=1 cargo test -p howslow-record");
}

#[test]
fn the_published_schema_is_the_one_the_types_give() {
    let generated = serde_json::to_string_pretty(&run_schema()).expect("a schema is JSON") + "\n";
    check_generated("howslow-run-2.schema.json", &generated);
    assert!(std::env::var_os("HOWSLOW_WRITE_SCHEMA").is_some() || RUN_SCHEMA == generated);
}

#[test]
fn the_description_is_the_one_the_types_give() {
    let page = description::of_schema(run_schema().as_value());
    assert!(page.matches("\n- `").count() > 200, "{page}");
    check_generated("FORMAT.md", &page);
}

#[test]
fn a_run_holds_the_units_of_its_axes_and_where_it_comes_from() {
    let mut run = example();
    assert!(!run.is_published());
    run.costs[0].at = Point::default().with("block", Value::Bytes(4096)).with("tasks", Value::Number(2));
    run.note_units();
    let text = serde_json::to_string(&run).expect("a run is JSON");
    let read = run_from_bytes(text.as_bytes()).expect("what was written can be read");
    assert_eq!(read.costs[0].at.values(), "block 4 KiB, 2 tasks");
    assert_eq!(read, run);
    let mut older: serde_json::Value = serde_json::from_str(EXAMPLE).expect("JSON");
    older["howslow"] = "".into();
    assert!(run_from_bytes(older.to_string().as_bytes()).expect("a run").is_published());
}

/// A run as the last version wrote it whose schema was `howslow-run/1`.
#[test]
fn a_run_of_the_previous_schema_is_read_with_all_its_figures() {
    let written: serde_json::Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let run = example();
    assert_eq!(run.schema, "howslow-run/1");
    let costs = written["costs"].as_array().expect("costs");
    assert_eq!(run.costs.len(), costs.len());
    for (cost, written) in run.costs.iter().zip(costs) {
        assert_eq!(cost.operation, written["operation"]);
        for (figures, name) in [(&cost.net_ns, "net_ns"), (&cost.gross_ns, "gross_ns")] {
            let read =
                [figures.best, figures.quiet, figures.typical, figures.low, figures.high].map(|time| Some(time.0));
            let wanted = ["best", "quiet", "typical", "low", "high"].map(|key| written[name][key].as_f64());
            assert_eq!(read, wanted, "{} of {}", name, cost.operation);
        }
    }
    assert!(!run.is_published() && run.machine.cpu.model == written["machine"]["cpu"]["model"]);
    let again = serde_json::to_vec(&run).expect("a run is JSON");
    assert_eq!(run_from_bytes(&again).expect("what was written can be read"), run);
}

#[test]
fn anything_else_is_one_clear_error() {
    let error = |text: &str| run_from_bytes(text.as_bytes()).expect_err("not a run");
    assert!(matches!(error(""), ReadError::Empty));
    assert!(matches!(error(" \n"), ReadError::Empty));
    assert!(matches!(error("{}"), ReadError::NotARun));
    assert!(matches!(error("[1, 2]"), ReadError::NotARun));
    assert!(matches!(error("[1, 2"), ReadError::Damaged(_)));
    assert!(matches!(error(r#"{"schema": "howslow-run/3"}"#), ReadError::Schema { .. }));
    assert!(matches!(error(r#"{"schema": "another/1"}"#), ReadError::NotARun));
    for known in ["howslow-run/1", "howslow-run/2"] {
        assert!(matches!(error(&format!(r#"{{"schema": "{known}"}}"#)), ReadError::Malformed(_)), "{known}");
    }
    assert!(matches!(error(&EXAMPLE.replacen("0.3312", "NaN", 1)), ReadError::Damaged(_)));
    assert!(matches!(error(&EXAMPLE.replacen("0.3312", "null", 1)), ReadError::Malformed(_)));
    let mut endless = example();
    endless.noise.cpus[0].quiet = 1e308;
    let endless = error(&serde_json::to_string(&endless).expect("JSON")).to_string();
    assert!(endless.ends_with("noise: quiet is a share from 0 to 1"), "{endless}");
    assert!(matches!(error(&"[".repeat(100_000)), ReadError::Damaged(_) | ReadError::NotARun));
}

#[test]
fn every_place_to_cut_a_run_gives_an_error_and_no_crash() {
    for length in (0..EXAMPLE.trim_end().len()).step_by(97) {
        assert!(run_from_bytes(&EXAMPLE.as_bytes()[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn more_costs_than_any_catalogue_has_are_refused() {
    let mut run = example();
    let cost = run.costs.swap_remove(0);
    run.costs = vec![cost; 20_001];
    let text = serde_json::to_vec(&run).expect("a run is JSON");
    let error = run_from_bytes(&text).expect_err("too many");
    assert!(error.to_string().contains("20001 costs"), "{error}");
}

#[test]
fn control_characters_are_gone_from_every_string() {
    let mut run = example();
    run.machine.cpu.model = "\u{1b}[31mred\u{7}\u{9b}2J".into();
    run.costs[0].operation = "loop.\u{1b}]0;title\u{7}".into();
    run.costs[1].at = Point::default().with("si\u{1b}ze", Value::Word("\u{202e}evil".into()));
    run.costs[2].doubts = vec![Doubt::RoundLost { reason: "\r\n\u{1b}c".into() }];
    run.costs[3].rounds[0].lost = Some("\u{1b}c".into());
    run.machine.kernel.mitigations.insert("\u{1b}x".into(), "y\u{7f}".into());
    let text = serde_json::to_vec(&run).expect("a run is JSON");
    let clean = run_from_bytes(&text).expect("it is a run");
    let shown = format!("{clean:?}");
    // `Debug` would print an escape as \u{1b}.
    assert!(!shown.contains("\\u{1b}") && !shown.contains("\\u{7") && !shown.contains("\\u{9b}"), "{shown}");
    assert!(!shown.contains("\\u{202e}"));
}

fn points() -> impl Strategy<Value = Point> {
    let value = prop_oneof![any::<u64>().prop_map(Value::Number), "[a-z]{1,8}".prop_map(Value::Word)];
    prop::collection::btree_map("[a-z]{1,8}", value, 0..4).prop_map(Point)
}

fn doubts() -> impl Strategy<Value = Doubt> {
    prop_oneof![
        Just(Doubt::NeverQuiet),
        (any::<u32>(), any::<u32>()).prop_map(|(batches, rounds)| Doubt::FewQuiet { batches, rounds }),
        (0.0..9.0, 0.0..9.0).prop_map(|(half_width, wanted)| Doubt::Wide { half_width, wanted }),
        "\\PC{0,40}".prop_map(|reason| Doubt::RoundLost { reason: howslow_record::printable(&reason) }),
        (-1e9..1e9).prop_map(|high| Doubt::AtMost { high: Nanoseconds(high) }),
    ]
}

proptest! {
    #[test]
    fn any_run_survives_writing_and_reading(
        net in prop::num::f64::NORMAL | prop::num::f64::ZERO,
        samples in prop::collection::vec((prop::num::f64::NORMAL, 0.5f32..9.0, any::<bool>()), 0..20),
        at in points(),
        doubts in prop::collection::vec(doubts(), 0..4),
        summary in "\\PC{0,60}",
        seed in any::<u64>(),
        bytes in any::<u64>(),
    ) {
        let mut run = example();
        run.settings.seed = seed;
        let cost = &mut run.costs[0];
        cost.net_ns.quiet = Nanoseconds(net);
        cost.at = at;
        cost.doubts = doubts;
        cost.summary = howslow_record::printable(&summary);
        cost.bytes = Bytes(bytes);
        cost.rounds[0].ns = samples.iter().map(|sample| sample.0).collect();
        cost.rounds[0].cycle_ns = samples.iter().map(|sample| f64::from(sample.1)).collect();
        cost.rounds[0].width = samples.iter().map(|sample| sample.1).collect();
        cost.rounds[0].quiet = samples.iter().map(|sample| sample.2).collect();
        let text = serde_json::to_vec(&run).expect("a run is JSON");
        prop_assert_eq!(run_from_bytes(&text).expect("what was written can be read"), run);
    }

    #[test]
    fn bytes_of_any_kind_never_crash_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(run_from_bytes(&bytes).is_err());
    }

    #[test]
    fn a_printed_duration_is_within_half_a_unit_of_its_third_digit(ns in 0.01f64..1e14) {
        let text = Nanoseconds(ns).to_string();
        let (number, unit) = text.split_once(' ').expect("a number and a unit");
        let factor = match unit { "ns" => 1.0, "µs" => 1e3, "ms" => 1e6, "s" => 1e9, other => panic!("{other}") };
        let printed = number.parse::<f64>().expect("a number") * factor;
        prop_assert!((printed - ns).abs() <= ns * 0.00501, "{} printed as {}", ns, text);
        prop_assert!(!number.contains('e'));
    }

    #[test]
    fn printed_bytes_are_exact(bytes in any::<u64>()) {
        let text = Bytes(bytes).to_string();
        let (number, unit) = text.split_once(' ').expect("a number and a unit");
        let shift = 10 * ["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|u| *u == unit).expect("a unit");
        prop_assert_eq!(number.parse::<u64>().expect("a number") << shift, bytes);
    }

    #[test]
    fn a_grouped_count_keeps_its_digits(value in 100.0f64..1e15) {
        let text = units::grouped(value);
        prop_assert_eq!(text.replace(' ', ""), format!("{value:.0}"));
        prop_assert!(text.split(' ').skip(1).all(|group| group.len() == 3));
    }
}
