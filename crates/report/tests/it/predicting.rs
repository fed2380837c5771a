//! Predictions, what-ifs and factors as people read them: snapshots of a fixed run and of the memo's figures.

use analysis::factors::factors;
use analysis::predict::{MachineState, MixPrediction, predict};
use analysis::statistics::Interval;
use analysis::whatif::{Assumption, Supposed, suppose};
use howslow_report::{FactorsOf, Priced, Style};
use record::{Book, Mix, Run};

use crate::support::example;

const SERVICE: &str = r#"
    name = "service"
    unit = "request"
    source = "a trace of the service"
    [[operation]]
    operation = "pipe.roundtrip@distance=same"
    times = 1
    [[operation]]
    operation = "syscall.getppid"
    times = 2.5
    [[operation]]
    operation = "syscall.read"
    times = 4
    [[operation]]
    operation = "instruction.nothing"
    times = 10
    [[operation]]
    operation = "page.fault.huge"
    times = 0
"#;

fn mix(text: &str) -> Mix {
    Mix::from_toml(text).expect("a mix")
}

/// Table I of the memo.
fn multics(name: &str, ms: [&str; 4]) -> Run {
    let cost =
        |(id, ms): (&str, &str)| format!("[[cost]]\noperation = \"{name}.{id}\"\nms = \"{ms}\"\nlike = [\"{id}\"]\n");
    let costs: String = ["ada", "eapbp", "eapbp*", "stpbp"].into_iter().zip(ms).map(cost).collect();
    let head = format!("name = \"{name}\"\ntitle = \"t\"\nsource = \"s\"\nmeasured = \"1973\"\n");
    Book::from_toml(&(head + &costs)).expect("a book").run()
}

fn both() -> [Run; 2] {
    [
        multics("multics-645", ["0.001920", "0.002970", "0.005320", "0.002870"]),
        multics("multics-6180", ["0.000832", "0.001505", "0.002960", "0.002230"]),
    ]
}

fn sequence() -> Mix {
    mix(include_str!("../../../../mixes/call-save-return.toml"))
}

fn priced(mix: &Mix, run: &Run, place: usize, measured: Option<f64>) -> MixPrediction {
    let whole = |value: f64| Interval { value, low: value * 0.99, high: value * 1.01 };
    MixPrediction { measured: measured.map(whole), ..predict(mix, run, place, &|_| &[]) }
}

fn narrow(page: &str) {
    for line in page.lines() {
        assert!(line.chars().count() <= 120, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn a_prediction_beside_what_was_measured() {
    let (mix, run) = (mix(SERVICE), example());
    let prediction = priced(&mix, &run, 0, Some(4200.0));
    let shown =
        [Priced { run: &run, prediction: &prediction, supposed: None, state: MachineState::Quiet, otherwise: None }];
    let page = howslow_report::predictions(&mix, &shown, &[], Style::PLAIN);
    insta::assert_snapshot!("prediction", page);
    narrow(&page);
}

#[test]
fn two_runs_and_what_if() {
    let (mix, runs) = (sequence(), both());
    let wholes = [170e3, 110e3];
    let predictions: Vec<MixPrediction> = runs
        .iter()
        .zip(wholes)
        .enumerate()
        .map(|(place, (run, whole))| priced(&mix, run, place, Some(whole)))
        .collect();
    let steps = [("stpbp=-590ns", 0, -590.0), ("eapbp*=-1770ns", 1, -1770.0), ("eapbp=-590ns", 2, -590.0)];
    let supposed =
        steps.map(|(text, row, by)| Supposed { text: text.into(), rows: vec![row], change: Assumption::By(by) });
    let shown: Vec<Priced> = runs
        .iter()
        .zip(&predictions)
        .map(|(run, prediction)| Priced {
            run,
            prediction,
            supposed: suppose(prediction, &supposed).ok(),
            state: MachineState::Quiet,
            otherwise: None,
        })
        .collect();
    let page = howslow_report::predictions(&mix, &shown, &supposed, Style::PLAIN);
    insta::assert_snapshot!("two_runs", page);
    narrow(&page);
}

#[test]
fn what_is_lacking_makes_the_sum_a_least() {
    let (mix, mut run) = (mix(&SERVICE.replace("times = 0", "times = 2")), example());
    run.costs.retain(|cost| cost.operation != "syscall.getppid");
    let prediction = priced(&mix, &run, 0, None);
    let page = howslow_report::predictions(
        &mix,
        &[Priced { run: &run, prediction: &prediction, supposed: None, state: MachineState::Quiet, otherwise: None }],
        &[],
        Style::PLAIN,
    );
    insta::assert_snapshot!("lacking", page);
    assert!(page.contains("at least") && page.contains("transparent huge pages are off"));
}

#[test]
fn a_change_in_proportion_is_as_open_as_its_cost() {
    let (mix, run) = (mix(SERVICE), example());
    let prediction = priced(&mix, &run, 0, None);
    let supposed = [Supposed { text: "syscall=x0.5".into(), rows: vec![1, 2], change: Assumption::Times(0.5) }];
    let after = suppose(&prediction, &supposed).ok();
    let shown =
        [Priced { run: &run, prediction: &prediction, supposed: after, state: MachineState::Quiet, otherwise: None }];
    let page = howslow_report::predictions(&mix, &shown, &supposed, Style::PLAIN);
    assert!(page.contains("-418 ns  1.13 times as fast"), "{page}");
    // Both costs are of one run and share its A/A band of 0.6 %: 0.6 % of the 418 ns, not the 1.55 of independent ones.
    assert!(page.contains("the change is known to +- 2.51 ns"), "{page}");
}

#[test]
fn factors_of_two_machines_and_of_two_mixes() {
    let (mix, runs) = (sequence(), both());
    let measured = [priced(&mix, &runs[0], 0, Some(170e3)), priced(&mix, &runs[1], 1, Some(110e3))];
    let found = factors(&measured[0], &measured[1]).expect("factors");
    let of = FactorsOf { mixes: [&mix, &mix], runs: [&runs[0], &runs[1]], factors: &found, changes: None };
    let page = howslow_report::factors(&of, Style::PLAIN);
    insta::assert_snapshot!("factors", page);
    narrow(&page);
    assert!(page.contains("12 % fewer users"));

    let mut fewer = mix.clone();
    fewer.name = "shorter".into();
    fewer.lines[1].term.times = 3.0;
    let sides = [priced(&mix, &runs[0], 0, None), priced(&fewer, &runs[1], 1, None)];
    let found = factors(&sides[0], &sides[1]).expect("factors");
    let of = FactorsOf { mixes: [&mix, &fewer], runs: [&runs[0], &runs[1]], factors: &found, changes: None };
    let page = howslow_report::factors(&of, Style::PLAIN);
    insta::assert_snapshot!("factors_of_mixes", page);
    narrow(&page);
}
