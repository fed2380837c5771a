//! The certainty of predictions and factors: shared errors of runs, clocks, the state of prices, what a mix left out,
//! and costs of a single round.

use howslow_analysis::factors::{CLOCK, Cause, factors};
use howslow_analysis::mix::Lack;
use howslow_analysis::predict::{Accuracy, MachineState, MixPrediction, predict_in};
use howslow_analysis::statistics::Interval;
use howslow_analysis::whatif::{Assumption, Supposed, difference, suppose};
use record::{Doubt, Ends, Estimate, Mix, Origin, Run};

use crate::support::{close, example, mix, places, priced, total};

fn work() -> Mix {
    mix(&[("syscall.getppid", 10.0), ("syscall.read", 4.0), ("switch.process@set=0", 1.0), ("file.sync", 0.001)])
}

/// The same run with a clock slower by this factor: the same cycles take longer.
fn slowed(run: &Run, by: f64) -> Run {
    let mut slow = run.clone();
    slow.noise.cycle_ns *= by;
    for cost in slow.costs.iter_mut().filter(|cost| cost.follows_clock && cost.headline == Estimate::Quiet) {
        (cost.net_ns, cost.gross_ns) = (cost.net_ns.times(by), cost.gross_ns.times(by));
    }
    slow
}

fn follows(run: &mut Run, operation: &str, follows: bool) {
    run.costs.iter_mut().filter(|cost| cost.operation == operation).for_each(|cost| cost.follows_clock = follows);
}

#[test]
fn a_slower_clock_is_a_factor_of_its_own() {
    let fast = example();
    let (mix, slow) = (work(), slowed(&fast, 1.05));
    let sides = [priced(&mix, &fast, 0), priced(&mix, &slow, 1)];
    let found = factors(&sides[0], &sides[1]).expect("factors");
    for family in found.families.iter().filter(|factor| factor.cause == Cause::Family) {
        assert!((family.factor.value - 1.0).abs() < 1e-12, "the same cycles: {family:?}");
    }
    let clock = found.families.iter().find(|factor| factor.cause == Cause::Clock).expect("both know their clock");
    assert_eq!((clock.family.as_str(), found.families[0].cause), (CLOCK, Cause::Clock));
    let ratio = total(&sides[1]) / total(&sides[0]);
    assert!(close(clock.factor.value, ratio) && ratio > 1.01 && ratio < 1.05, "{clock:?}");
    // More expensive work at the same time is a factor of its own, and the product is still the ratio.
    let mut dearer = slow.clone();
    let switch = dearer.costs.iter_mut().find(|cost| cost.operation == "switch.process").expect("it is there");
    let net = &mut switch.net_ns;
    [&mut net.quiet, &mut net.low, &mut net.high].into_iter().for_each(|figure| figure.0 *= 1.5);
    let after = priced(&mix, &dearer, 1);
    let found = factors(&sides[0], &after).expect("factors");
    let product: f64 = found.families.iter().map(|factor| factor.factor.value).product();
    assert!(close(product, total(&after) / total(&sides[0])));
    let factor =
        |name: &str| found.families.iter().find(|factor| factor.family == name).expect("a factor").factor.value;
    assert!(factor("switch") > 1.1 && (factor("syscall") - 1.0).abs() < 1e-12 && factor(CLOCK) > 1.01, "{found:?}");
}

#[test]
fn clocks_are_compared_only_where_they_are_one_processors_and_both_are_known() {
    let fast = example();
    let slow = slowed(&fast, 1.05);
    let has_clock = |one: &Run, other: &Run| {
        let found = factors(&priced(&work(), one, 0), &priced(&work(), other, 1)).expect("factors");
        found.families.iter().any(|factor| factor.cause == Cause::Clock)
    };
    assert!(has_clock(&fast, &slow));
    let mut elsewhere = slow.clone();
    elsewhere.machine.cpu.signature = "an emulator's".into();
    assert!(!has_clock(&fast, &elsewhere));
    let mut unknown = slow.clone();
    unknown.noise.cycle_ns = 0.0;
    assert!(!has_clock(&fast, &unknown));
    let mut untied = slow.clone();
    for operation in ["syscall.getppid", "syscall.read", "switch.process"] {
        follows(&mut untied, operation, false);
    }
    assert!(!has_clock(&fast, &untied), "times that do not follow the clock on either side");
    let typical = [&fast, &slow].map(|run| predict_in(MachineState::Typical, &work(), run, 0, &|_| &[]));
    assert!(typical.iter().flat_map(|side| &side.rows).all(|row| row.clock.is_none()));
}

#[test]
fn one_round_makes_a_prediction_without_an_interval_and_factors_without_one() {
    let run = example();
    let mut one = run.clone();
    let cost = one.costs.iter_mut().find(|cost| cost.operation == "syscall.read").expect("it is there");
    (cost.net_ns.low.0, cost.net_ns.high.0) = (f64::NEG_INFINITY, f64::INFINITY);
    cost.doubts = vec![Doubt::FewRounds { rounds: 1 }];
    let prediction = priced(&work(), &one, 0);
    assert!(prediction.lacking.is_empty(), "a cost without an interval has a price: {:?}", prediction.lacking);
    let figure = prediction.total().figure();
    assert!(!figure.is_bounded() && close(figure.value, total(&priced(&work(), &run, 0))));
    let unbounded = prediction.total().unbounded().map(|(_, name)| name.clone()).collect::<Vec<_>>();
    assert_eq!(unbounded, ["syscall.read"]);
    let is_of_read = |doubt: &Doubt| matches!(doubt, Doubt::Inherited { from, .. } if from == "syscall.read");
    assert!(prediction.doubts().iter().any(is_of_read));
    assert!(prediction.rows[0].each.figure().is_bounded());
    let found = factors(&priced(&work(), &run, 1), &prediction).expect("the values have a ratio");
    assert!(close(found.predicted.value, 1.0) && !found.predicted.is_bounded());
    assert!(found.families.iter().all(|factor| !factor.factor.value.is_nan() && !factor.factor.low.is_nan()));
    // A supposed time needs no interval.
    let rows = places(&prediction, "syscall.read");
    let supposed = [Supposed { text: String::new(), rows, change: Assumption::Time(150.0) }];
    let after = suppose(&prediction, &supposed).expect("possible");
    assert!(after.total().figure().is_bounded() && after.doubts().len() < prediction.doubts().len());
    assert!(!difference(&after, &prediction).figure().is_bounded());
    // A figure that is not a number is still an error.
    one.costs.iter_mut().for_each(|cost| cost.net_ns.low.0 = f64::NAN);
    assert!(matches!(priced(&work(), &one, 0).lacking[0].1, Lack::Absurd));
}

#[test]
fn a_prediction_is_no_surer_than_its_run_and_its_clock() {
    let mut run = example();
    for cost in &mut run.costs {
        let value = cost.net_ns.quiet;
        (cost.net_ns.low, cost.net_ns.high) = (value, value);
    }
    let half = |run: &Run| {
        let figure = priced(&work(), run, 0).total().figure();
        (figure.high - figure.low) / 2.0 / figure.value
    };
    run.noise.band = None;
    assert!((half(&run) - 0.002).abs() < 1e-12, "no two runs agree more closely");
    run.noise.band = Some(record::Band { difference: 0.006, beyond: None, operations: Vec::new() });
    assert!((half(&run) - 0.006).abs() < 1e-12);
    let without = half(&run);
    run.noise.cycle_range_ns = Some(Ends { low: run.noise.cycle_ns * 0.9, high: run.noise.cycle_ns * 1.1 });
    let prediction = priced(&work(), &run, 0);
    let following = prediction.rows.iter().filter(|row| row.clock.is_some());
    let share = following.map(|row| row.total().figure().value).sum::<f64>() / total(&prediction);
    assert!((half(&run) - (without * without + (0.1 * share).powi(2)).sqrt()).abs() < 1e-9, "{} {share}", half(&run));
    run.origin = Origin::Published;
    assert_eq!(half(&run), 0.0, "printed figures share nothing");
}

#[test]
fn what_a_mix_left_out_where_it_was_measured_widens_it() {
    let run = example();
    let before = priced(&work(), &run, 0);
    let all = total(&before);
    let measured = MixPrediction { measured: Some(Interval::exactly(all * 1.25)), ..before.clone() };
    assert!((measured.left_out().expect("measured") - 0.25).abs() < 1e-12 && before.left_out().is_none());
    let known = MixPrediction { accuracy: measured.left_out().map(Accuracy::Here), ..measured.clone() };
    let (prices, figure) = (known.total().figure(), known.figure());
    assert!(close(figure.half(), prices.half().hypot(0.25 * all)) && close(figure.value, all));
    let counted_elsewhere = MixPrediction { accuracy: Some(Accuracy::Elsewhere(0.15)), ..measured.clone() };
    // By squares: 0.15 and 0.2 are 0.25.
    assert!(close(counted_elsewhere.figure().half(), prices.half().hypot(0.25 * all)));
    assert!((before.figure().half() - prices.half()).abs() < 1e-9, "not known, not stated");
    let lacking = MixPrediction { lacking: vec![(work().lines[0].clone(), Lack::Missing(None))], ..measured };
    assert_eq!(lacking.left_out(), None);
}

#[test]
fn prices_in_the_state_that_users_get() {
    let run = example();
    let typical = predict_in(MachineState::Typical, &work(), &run, 0, &|_| &[]);
    assert!(close(total(&typical), 10.0 * 120.099 + 4.0 * 200.83 + 1807.8 + 812.0), "{}", total(&typical));
    assert!(typical.total().figure().is_bounded(), "two rounds each give an interval");
    let mut one = run.clone();
    let call = one.costs.iter_mut().find(|cost| cost.operation == "syscall.getppid").expect("it is there");
    call.rounds.truncate(1);
    assert!(!predict_in(MachineState::Typical, &work(), &one, 0, &|_| &[]).total().figure().is_bounded());
    assert!(priced(&work(), &one, 0).total().figure().is_bounded(), "its quiet figure has its own");
}
