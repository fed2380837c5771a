//! What fails a gate, in which order, and what has no verdict.

use super::*;

fn failed(runs: &[Run], fail_on: FailOn, at_least: f64) -> Vec<String> {
    let compared = compare(runs, &HOW);
    let gated = gate(&compared, Gate { fail_on, at_least });
    gated.failed.iter().map(|failed| format!("{} in {}", failed.base.operation, failed.run)).collect()
}

#[test]
fn changes_beyond_the_least_fail_and_the_slowest_is_first() {
    let costs = ["a.much", "a.little", "a.same", "a.faster", "a.vague"];
    let at = |values: [f64; 5], vague: f64| {
        let each = costs.iter().zip(values);
        run(&each.map(|(id, value)| (*id, value, if *id == "a.vague" { vague } else { 0.2 })).collect::<Vec<_>>())
    };
    let runs = [at([100.0; 5], 40.0), at([120.0, 104.0, 100.0, 50.0, 120.0], 40.0)];
    assert_eq!(failed(&runs, FailOn::Slower, 0.0), ["a.much in 1", "a.little in 1"]);
    assert_eq!(failed(&runs, FailOn::Slower, 0.05), ["a.much in 1"]);
    assert_eq!(failed(&runs, FailOn::Changed, 0.05), ["a.much in 1", "a.faster in 1"]);
    assert_eq!(failed(&runs, FailOn::Slower, 0.3), [""; 0]);
    // The order of the runs turns what is slower into what is faster.
    let turned = [runs[1].clone(), runs[0].clone()];
    assert_eq!(failed(&turned, FailOn::Slower, 0.0), ["a.faster in 1"]);
    assert_eq!(failed(&turned, FailOn::Changed, 0.19), ["a.faster in 1", "a.much in 1"]);
    let compared = compare(&runs, &HOW);
    let gated = gate(&compared, Gate { fail_on: FailOn::Slower, at_least: 0.0 });
    assert_eq!((gated.judged, gated.inconclusive, gated.unjudged.len()), (5, 1, 0));
}

#[test]
fn costs_without_a_verdict_are_named_with_the_reason() {
    let base = run(&[("a.here", 100.0, 0.2), ("a.gone", 100.0, 0.2), ("a.other", 100.0, 0.2), ("a.once", 9.0, 0.1)]);
    let mut other = run(&[("a.here", 100.0, 0.2), ("a.new", 1.0, 0.1), ("a.other", 1.0, 0.1), ("a.once", 9.0, 0.1)]);
    other.costs[2].version += 1;
    other.costs[3].rounds.truncate(1);
    other.skipped.push(example::skip("a.gone", "seccomp refuses it"));
    let runs = [base, other];
    let compared = compare(&runs, &HOW);
    let gated = gate(&compared, Gate { fail_on: FailOn::Changed, at_least: 0.0 });
    let unjudged: Vec<String> =
        gated.unjudged.iter().map(|one| format!("{} {} {}", one.name, one.run, one.why)).collect();
    assert_eq!(gated.judged, 1);
    let expected = [
        "a.once 1 it rests on a single round",
        "a.gone 1 skipped there: seccomp refuses it",
        "a.new 0 the run lacks it",
        "a.other 1 its work is another: version",
    ];
    assert_eq!(unjudged.len(), expected.len(), "{unjudged:?}");
    assert!(unjudged.iter().zip(expected).all(|(unjudged, begins)| unjudged.starts_with(begins)), "{unjudged:?}");
    let again = [runs.clone(), [runs[1].clone(), runs[0].clone()]].concat();
    let compared = compare(&again, &HOW);
    let gated = gate(&compared, Gate { fail_on: FailOn::Changed, at_least: 0.0 });
    let lacked = gated.unjudged.iter().filter(|one| one.name == "a.new").count();
    assert_eq!(lacked, 1, "two runs have it, and the base lacks it once: {:?}", gated.unjudged);
}
