//! Checks of runs written by hand.

use record::{Cost, CpuQuiet, Doubt, Ends, Estimate, Figures, Nanoseconds, Point, Round};

use super::*;
use crate::again::recompute;
use crate::example;
use crate::prior::Prior;

/// A run with the costs of a good machine at a cycle of 0.25 ns, on a calm host.
fn good() -> Run {
    let mut run = example::run();
    run.noise.cycle_ns = 0.25;
    run.noise.cycle_range_ns = Some(Ends { low: 0.2495, high: 0.2505 });
    run.noise.cpus = vec![CpuQuiet { cpu: 0, batches: 1000, quiet: 0.8 }];
    run.machine.virtualization.hypervisor = None;
    run.costs = vec![
        cost("instruction.add.latency", 1.004, 0.25),
        cost("instruction.multiply.latency", 3.0, 0.25),
        cost("memory.load", 5.0, 0.25),
        cost("syscall.getppid", 400.0, 0.25),
    ];
    run
}

/// A cost of this many cycles +- 0.4 % at the clock of its batches.
fn cost(operation: &str, cycles: f64, cycle_ns: f64) -> Cost {
    let ns = cycles * cycle_ns;
    let figures = Figures::given(ns, ns * 0.996, ns * 1.004);
    Cost { cycles, follows_clock: true, ..Cost::given(operation, Point::default(), "call", figures) }
}

/// The same run with a clock that is read this many times as fast: all cycles are too many.
fn miscounted(run: &Run, times: f64) -> Run {
    let mut run = run.clone();
    run.noise.cycle_ns /= times;
    run.costs.iter_mut().for_each(|cost| cost.cycles *= times);
    run
}

fn ends(first: &Run, second: &Run) -> Vec<CheckEnd> {
    known_costs(&[first.clone(), second.clone()]).into_iter().map(|check| check.end).collect()
}

#[test]
fn a_cost_that_is_no_whole_number_of_cycles_in_both_runs_fails() {
    let run = good();
    assert_eq!(ends(&run, &run), [CheckEnd::Passed; 3]);
    let wrong = miscounted(&run, 0.9);
    assert_eq!(ends(&wrong, &wrong), [CheckEnd::Failed; 3]);
    // A whole number, but not one that an add can have.
    let mut twice = run;
    twice.costs[0] = cost("instruction.add.latency", 2.0, 0.25);
    let checks = known_costs(&[twice.clone(), twice]);
    assert_eq!(checks[0].end, CheckEnd::Failed);
    assert_eq!(checks[1].end, CheckEnd::Unknown, "without an add of 1 cycle, no other count of cycles is right");
}

#[test]
fn an_add_that_ran_at_another_clock_than_the_run_takes_one_cycle() {
    // What a run beside compilers showed: the core went from 4.2 to 4.0 GHz while adds were measured.
    let mut run = good();
    (run.noise.cycle_ns, run.noise.cycle_range_ns) = (0.238, Some(Ends { low: 0.2375, high: 0.2503 }));
    let batches = [0.25, 0.2501, 0.2502].repeat(4);
    let round = |order: u32| {
        let (cycle_ns, survey) = (vec![0.25; 12], Some(order.is_multiple_of(2)));
        Round { order, launcher: order, cycle_ns, survey, ..example::round(&batches) }
    };
    run.costs[0].headline = Estimate::Quiet;
    run.costs[0].rounds = (0..8).map(round).collect();
    recompute(&mut run, &|cost| Prior::usual(&cost.operation, true));
    let add = &run.costs[0];
    let of_run = add.quoted().0 / run.noise.cycle_ns;
    assert!(of_run > 1.04 && add.half_width().is_some_and(|half| half < 0.005), "{of_run} cycles of the run's clock");
    let checks = known_costs(&[run.clone(), run]);
    assert_eq!(checks[0].end, CheckEnd::Passed, "{checks:?}");
    assert!(checks[0].found.ends_with("cycles of 0.250 ns"), "{checks:?}");
}

#[test]
fn runs_that_do_not_know_their_clock_neither_fail_nor_pass() {
    let run = good();
    let wrong = miscounted(&run, 1.05);
    let open = |first: &Run, second: &Run, why: &str| {
        for check in known_costs(&[first.clone(), second.clone()]) {
            assert_eq!(check.end, CheckEnd::Unknown, "{check:?}");
            assert!(check.found.contains(why) && check.found.contains("run again when"), "{check:?}");
        }
    };
    open(&run, &wrong, "the runs do not agree");
    open(&wrong, &run, "the runs do not agree");
    open(&wrong, &miscounted(&run, 1.1), "the runs do not agree on the core's clock");
    // Both agree, but the clock moved by more than the add is off.
    let mut moving = wrong.clone();
    moving.noise.cycle_range_ns = Some(Ends { low: 0.238, high: 0.264 });
    open(&moving, &moving, "the core's clock moved by 11 % meanwhile");
    let twice = miscounted(&moving, 2.0);
    assert_eq!(ends(&twice, &twice)[0], CheckEnd::Failed, "no clock moves by as much");
    let mut busy = wrong.clone();
    busy.noise.cpus[0].quiet = 0.3;
    open(&busy, &busy, "undisturbed too seldom");
    let mut lucky = run.clone();
    lucky.costs.iter_mut().for_each(|cost| cost.doubts.push(Doubt::FewQuiet { batches: 2, rounds: 1 }));
    open(&lucky, &lucky, "undisturbed too seldom");
    // One run that knows its clock is enough.
    assert_eq!(ends(&lucky, &run), [CheckEnd::Passed; 3]);
    let mut wide = run.clone();
    wide.costs.iter_mut().for_each(|cost| cost.net_ns.high = Nanoseconds(cost.net_ns.high.0 * 1.3));
    open(&wide, &wide, "too wide to decide");
}

#[test]
fn what_cannot_be_measured_is_unknown_with_the_reason() {
    let mut run = good();
    run.costs.remove(2);
    run.skipped = vec![example::skip("memory.load", "no memory")];
    assert_eq!(ends(&run, &run), [CheckEnd::Passed, CheckEnd::Passed, CheckEnd::Unknown]);
    assert_eq!(known_costs(&[run.clone(), run.clone()])[2].found, "not measured: no memory");
    run.machine.virtualization.hypervisor = Some("QEMU TCG".into());
    assert_eq!(ends(&run, &run), [CheckEnd::Unknown; 3]);
}

#[test]
fn a_plain_loop_that_takes_something_else_fails() {
    let run = good();
    let (mut moving, mut busy) = (run.clone(), run.clone());
    moving.noise.cycle_range_ns = Some(Ends { low: 0.244, high: 0.278 });
    busy.noise.cpus[0].quiet = 0.3;
    let end = |run: &Run, plain: f64| compared_with_plain(run, "syscall.getppid", plain, false).end;
    assert_eq!([95.0, 110.0].map(|plain| end(&run, plain)), [CheckEnd::Passed; 2]);
    assert!([120.0, 80.0].iter().all(|plain| end(&run, *plain) != CheckEnd::Passed));
    assert_eq!(compared_with_plain(&run, "pipe.self", 1.0, false).end, CheckEnd::Unknown);
    // An agent made the loop slower.
    assert_eq!(compared_with_plain(&run, "syscall.getppid", 150.0, true).end, CheckEnd::Unknown);
    assert_eq!(compared_with_plain(&run, "syscall.getppid", 95.0, true).end, CheckEnd::Passed);
    // At another clock a small difference shows nothing; on a core that was never quiet, none does.
    assert_eq!([120.0, 50.0].map(|plain| end(&moving, plain)), [CheckEnd::Unknown, CheckEnd::Failed]);
    assert_eq!([50.0, 100.0].map(|plain| end(&busy, plain)), [CheckEnd::Unknown, CheckEnd::Passed]);
}

#[test]
fn runs_that_differ_fail() {
    let mut run = example::run();
    run.noise.cpus = good().noise.cpus;
    let mut other = run.clone();
    assert_eq!(null_comparison(&[run.clone(), other.clone()]).end, CheckEnd::Passed);
    for cost in &mut other.costs {
        for round in &mut cost.rounds {
            round.ns.iter_mut().for_each(|ns| *ns *= 2.0);
        }
        (cost.net_ns, cost.gross_ns) = (cost.net_ns.times(2.0), cost.gross_ns.times(2.0));
        cost.cycles *= 2.0;
    }
    let check = null_comparison(&[run.clone(), other.clone()]);
    assert_eq!(check.end, CheckEnd::Failed, "{check:?}");
    let mut busy = other;
    busy.noise.cpus[0].quiet = 0.3;
    let check = null_comparison(&[run.clone(), busy]);
    assert!(check.end == CheckEnd::Unknown && check.found.contains("run again"), "{check:?}");
    let nothing = Run { costs: Vec::new(), ..run.clone() };
    assert_eq!(null_comparison(&[run, nothing]).end, CheckEnd::Unknown);
}
