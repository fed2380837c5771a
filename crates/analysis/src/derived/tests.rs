//! Routes, their agreement and the kernel entry's share, on made-up runs.

use record::{Ends, Nanoseconds};

use super::*;
use crate::example;

fn run(costs: &[(&str, f64, f64)]) -> Run {
    example::with_costs(costs.iter().map(|&(name, value, half)| example::cost(name, value, half)))
}

#[test]
fn routes_carry_the_interval_of_every_part() {
    let run = run(&[
        ("pipe.roundtrip@distance=same,size=26", 3000.0, 30.0),
        ("pipe.self@size=26", 400.0, 20.0),
        ("switch.process@set=0", 1050.0, 10.0),
        ("signal.deliver", 700.0, 3.0),
        ("signal.ignored", 200.0, 4.0),
    ]);
    let derived = derive(&run);
    let [signal, switch, wake] = derived.as_slice() else { panic!("{derived:?}") };
    assert_eq!(signal.routes[0].figure, Ok(Interval::around(500.0, 5.0)));
    assert_eq!(signal.routes[1].figure, Err(vec!["async.read.signal".into(), "async.read.posix".into()]));
    assert_eq!(signal.agreement, None);
    // (3000 - 2 x 400) / 2, and half of the root of 30^2 + 40^2.
    assert_eq!(switch.routes[0].figure, Ok(Interval::around(1100.0, 25.0)));
    assert_eq!(switch.routes[1].figure, Err(vec!["switch.yield".into(), "call.sched_yield".into()]));
    let agreement = switch.agreement.expect("two routes");
    assert!((agreement.ratio - 1100.0 / 1050.0).abs() < 1e-12 && !agreement.overlap);
    assert_eq!(wake.routes[0].figure, Err(vec!["pipe.roundtrip@distance=other,size=26".into()]));
}

#[test]
fn a_refill_is_distinguished_from_its_switch_and_has_the_size_of_its_set() {
    let mut run = run(&[
        ("switch.process@set=0", 1000.0, 30.0),
        ("switch.process@set=half-l2", 5000.0, 40.0),
        ("switch.thread@set=0", 900.0, 30.0),
    ]);
    run.costs[1].tallies.insert("set bytes".into(), f64::from(512 << 10));
    let derived = derive(&run);
    let refills: Vec<&Derived> = derived.iter().filter(|derived| derived.name.starts_with("refill")).collect();
    // The sets that the run lacks are left out.
    let [refill] = refills.as_slice() else { panic!("{refills:?}") };
    assert_eq!(refill.name, "refill of half the second cache after a switch: 512 KiB");
    assert_eq!(refill.routes[0].figure, Ok(Interval::around(4000.0, 50.0)));
    assert_eq!(refill.routes[1].figure, Err(vec!["switch.thread@set=half-l2".into()]));
}

#[test]
fn waking_a_halted_cpu_is_distinguished_from_the_message() {
    let halting =
        |costs: &[(&str, f64, f64)]| derive(&run(costs)).into_iter().find(|derived| derived.name.starts_with("waking"));
    let other = ("eventfd.roundtrip@distance=other", 30_000.0, 3000.0);
    let waked = halting(&[other, ("eventfd.roundtrip@distance=awake", 5000.0, 400.0)]).expect("both parts");
    let half = 0.5 * 3000.0_f64.hypot(400.0);
    assert_eq!(waked.routes[1].figure, Ok(Interval::around(12_500.0, half)));
    assert_eq!(halting(&[other]), None);
}

#[test]
fn routes_indistinguishable_from_zero_agree_in_nothing() {
    let pair = |half| [Interval::around(10.0, half), Interval::around(11.0, 2.0)];
    assert_eq!(agreement(&pair(1.0)), Some(Agreement { ratio: 1.1, overlap: true, agree: Answer::Inconclusive }));
    assert_eq!(agreement(&pair(10.0)), None);
    assert_eq!(agreement(&pair(1.0)[..1]), None);
    assert_eq!(agreement(&[Interval::around(-5.0, 1.0), Interval::around(5.0, 1.0)]), None);
}

#[test]
fn formulas_are_readable() {
    let short = DERIVATIONS.derived[1].routes[0].short_formula();
    assert_eq!(short, "(pipe.roundtrip same, 26 B - 2 x pipe.self 26 B) / 2");
}

#[test]
fn the_entry_is_a_share_of_what_enters() {
    let mut run = run(&[
        ("syscall.getppid", 100.0, 1.0),
        ("syscall.fstat", 400.0, 4.0),
        ("call.mmap", 1000.0, 10.0),
        ("pair.seteuid", 500.0, 5.0),
    ]);
    for cost in &mut run.costs {
        cost.per = "call".into();
    }
    run.costs[1].explained_by = vec![example::term(1.0, "syscall.getppid")];
    run.costs[3].explained_by = vec![example::term(2.0, "syscall.getppid")];
    let shares: Vec<(String, f64, f64)> =
        entry_shares(&run).into_iter().map(|entry| (entry.name, entry.entries, entry.share.value)).collect();
    let expected = [("pair.seteuid", 2.0, 0.4), ("syscall.fstat", 1.0, 0.25), ("call.mmap", 1.0, 0.1)];
    assert_eq!(shares, expected.map(|(name, entries, share)| (name.to_string(), entries, share)));
    run.costs.remove(0);
    assert!(entry_shares(&run).is_empty());
}

#[test]
fn the_cheapest_call_stands_for_the_entry() {
    let mut run = run(&[
        ("syscall.getppid", 160.0, 1.0),
        ("call.geteuid", 120.0, 1.0),
        ("call.umask", 118.0, 30.0),
        ("call.setpgid", 80.0, 1.0),
    ]);
    run.costs.iter_mut().for_each(|cost| cost.per = "call".into());
    run.costs[3].terms = vec![example::term(1.0, "process.clone")];
    let shares = entry_shares(&run);
    assert!(
        shares.iter().all(|one| one.entry == "call.geteuid"),
        "neither the uncertain one nor a difference: {shares:?}"
    );
    assert!(shares.iter().any(|one| one.name == "syscall.getppid" && one.share.value == 0.75), "{shares:?}");
}

fn with(run: &mut Run, operation: &str, change: impl Fn(&mut Cost)) {
    run.costs.iter_mut().filter(|cost| cost.operation == operation).for_each(change);
}

#[test]
fn routes_agree_disagree_or_leave_it_open() {
    let agree = |one: (f64, f64), other: (f64, f64)| {
        agreement(&[Interval::around(one.0, one.1), Interval::around(other.0, other.1)])
            .map(|agreement| agreement.agree)
    };
    assert_eq!(agree((100.0, 1.0), (103.0, 1.0)), Some(Answer::Yes), "apart, but by 3 %");
    assert_eq!(agree((100.0, 1.0), (200.0, 10.0)), Some(Answer::No));
    assert_eq!(agree((100.0, 60.0), (200.0, 150.0)), Some(Answer::Inconclusive), "overlap is no evidence");
    let unbounded = agreement(&[Interval::around(100.0, 1.0), Interval::unbounded(100.0)]);
    assert_eq!(unbounded, Some(Agreement { ratio: 1.0, overlap: false, agree: Answer::Inconclusive }));
    let three = [Interval::around(100.0, 1.0), Interval::around(101.0, 60.0), Interval::around(300.0, 3.0)];
    assert_eq!(agreement(&three).map(|agreement| agreement.agree), Some(Answer::No), "two of them certainly differ");
}

#[test]
fn one_round_makes_a_route_without_an_interval() {
    let mut run = run(&[("signal.deliver", 700.0, f64::INFINITY), ("signal.ignored", 200.0, 4.0)]);
    let doubt = Doubt::FewRounds { rounds: 1 };
    with(&mut run, "signal.deliver", |cost| cost.doubts = vec![doubt.clone()]);
    let followed = &derive(&run)[0].routes[0];
    assert_eq!(followed.figure, Ok(Interval::unbounded(500.0)));
    assert_eq!(followed.doubts, [Doubt::Inherited { from: "signal.deliver".into(), doubt: Box::new(doubt) }]);
}

#[test]
fn doubts_of_parts_that_matter_are_carried() {
    let mut run = run(&[
        ("pipe.roundtrip@distance=same,size=26", 3000.0, 30.0),
        ("pipe.self@size=26", 4.0, 0.2),
        ("syscall.getppid", 100.0, 1.0),
        ("syscall.fstat", 400.0, 4.0),
    ]);
    for operation in ["pipe.self", "syscall.getppid"] {
        with(&mut run, operation, |cost| cost.doubts = vec![Doubt::NeverQuiet]);
    }
    assert!(follow(&DERIVATIONS.derived[1], &run).routes[0].doubts.is_empty(), "2 x 4 of 3000 is nothing");
    with(&mut run, "pipe.self", |cost| cost.net_ns.quiet = Nanoseconds(400.0));
    let doubts = &follow(&DERIVATIONS.derived[1], &run).routes[0].doubts;
    assert!(matches!(&doubts[..], [Doubt::Inherited { from, .. }] if from == "pipe.self@size=26"), "{doubts:?}");
    with(&mut run, "syscall.fstat", |cost| cost.explained_by = vec![example::term(1.0, "syscall.getppid")]);
    assert_eq!(entry_shares(&run)[0].doubts.len(), 1);
}

#[test]
fn waiting_and_processor_time_have_intervals_of_their_own() {
    let mut run = run(&[("read.x", 1000.0, 50.0)]);
    let cost = &mut run.costs[0];
    cost.cpu_ns = record::Cpu { user: Nanoseconds(400.0), system: Nanoseconds(500.0) };
    cost.wait_ns = Nanoseconds(100.0);
    let part = super::cost("read.x");
    // The rest of 1000 +- 50 has the same uncertainty.
    assert_eq!(part.waiting().figure(cost), Interval::around(100.0, 50.0));
    assert_eq!(part.processor().figure(cost), Interval::around(900.0, 45.0));
    cost.wait_interval_ns = Some(Ends { low: 90.0, high: 130.0 });
    cost.cpu_interval_ns = Some(Ends { low: 890.0, high: 905.0 });
    assert_eq!(part.waiting().figure(cost), Interval { value: 100.0, low: 90.0, high: 130.0 });
    assert_eq!(part.processor().figure(cost), Interval { value: 900.0, low: 890.0, high: 905.0 });
    (cost.wait_interval_ns, cost.cpu_interval_ns) = (None, None);
    (cost.net_ns.low.0, cost.net_ns.high.0) = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!(part.waiting().figure(cost), Interval::unbounded(100.0));
    assert_eq!(part.processor().figure(cost), Interval::unbounded(900.0));
    cost.cpu_ns = record::Cpu::default();
    assert_eq!(part.processor().figure(cost), Interval::unbounded(0.0), "no number times infinity");
}
