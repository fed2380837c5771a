//! What may have changed by itself between two runs.

use super::*;

/// A run taken so many minutes after midnight: work within the core, a load beyond its caches, and a fork.
fn taken(minutes: u32, times: f64) -> Run {
    let mut run = run(&["a.core", "memory.load", "process.fork"].map(|id| (id, 100.0 * times, 0.2)));
    run.costs[1].follows_clock = false;
    let at =
        |minutes: u32| format!("2026-11-{:02}T{:02}:{:02}:00Z", 1 + minutes / 1440, minutes / 60 % 24, minutes % 60);
    (run.started, run.finished) = (at(minutes), at(minutes));
    run
}

fn changes(runs: &[Run]) -> Vec<String> {
    verdicts(runs, &HOW).into_iter().filter(|(_, verdict)| verdict.is_change()).map(|(name, _)| name).collect()
}

#[test]
fn memory_that_drifts_is_no_change() {
    let changed = |minutes: u32, times: f64| changes(&[taken(0, 1.0), taken(minutes, times)]);
    assert_eq!(changed(0, 1.05), ["a.core", "memory.load", "process.fork"]);
    assert_eq!(changed(1, 1.04), ["a.core", "memory.load", "process.fork"]);
    assert_eq!(changed(30, 1.04), ["a.core", "process.fork"]);
    assert_eq!(changed(30, 1.02), ["a.core"]);
    assert_eq!(changed(10_000, 1.2), ["a.core", "memory.load", "process.fork"], "it drifts so far and no further");
}

#[test]
fn sets_of_runs_taken_in_turn_are_of_one_time() {
    let set = |minutes: [u32; 2], times: f64| crate::again::pooled(&minutes.map(|at| taken(at, times))).expect("runs");
    let apart = |runs: &[Run]| compare(runs, &HOW).noise[0].conditions.seconds_apart;
    assert_eq!(apart(&[set([0, 30], 1.0), set([10, 20], 1.0)]), 0.0);
    assert_eq!(apart(&[set([0, 10], 1.0), set([20, 30], 1.0)]), 1200.0);
    let mut unknown = taken(0, 1.0);
    unknown.started = "once".into();
    assert_eq!(apart(&[taken(0, 1.0), unknown]), 0.0);
}

#[test]
fn what_other_programs_let_take_longer_is_no_change() {
    let beside = |others: f64, two_cpus: f64| {
        let mut run = run(&[
            ("a.core", 100.0, 0.2),
            ("eventfd.roundtrip", 100.0 * two_cpus, 0.2),
            ("process.exec", 104.0 - 4.0 * f64::from(two_cpus == 1.0), 0.2),
        ]);
        run.costs[1].cpus = 2;
        run.noise.others = others;
        run
    };
    let changed = |others: f64| changes(&[beside(0.05, 1.0), beside(others, 1.4)]);
    assert_eq!(changed(0.1), ["eventfd.roundtrip", "process.exec"]);
    assert!(changed(0.7).is_empty(), "{:?}", changed(0.7));
}

#[test]
fn a_device_that_others_use_is_in_another_state_a_minute_later() {
    let waits = |times: f64, hypervisor: Option<&str>, measured_s: u32| {
        let mut run = run(&[("file.fsync", 150_000.0 * times, 0.1), ("file.read", 150_000.0 * times, 0.1)]);
        run.costs[0].headline = Estimate::Typical;
        run.costs[0].wait_ns = Nanoseconds(140_000.0 * times);
        run.machine.virtualization.hypervisor = hypervisor.map(Into::into);
        (run.started, run.finished) = ("2026-11-01T00:00:00Z".into(), format!("2026-11-01T00:00:{measured_s:02}Z"));
        run.settings.budget_s = 50.0;
        run
    };
    let changed = |times: f64, hypervisor: Option<&str>, measured_s: u32| {
        changes(&[waits(1.0, hypervisor, measured_s), waits(times, hypervisor, measured_s)])
    };
    assert_eq!(changed(2.0, None, 9), ["file.fsync", "file.read"]);
    assert_eq!(changed(2.0, Some("KVM"), 9), ["file.read"]);
    assert_eq!(changed(2.0, Some("KVM"), 50), ["file.fsync", "file.read"], "it was seen in five states");
    assert_eq!(changed(6.0, Some("KVM"), 9), ["file.fsync", "file.read"]);
}

#[test]
fn a_clock_of_its_own_is_known_less_well() {
    let at = |times: f64, ghz: f64| {
        let mut run = run(&[("memory.read", 100.0 * times, 0.1)]);
        run.costs[0].doubts = vec![record::Doubt::OwnClock { ghz, run_ghz: 4.0 }];
        run
    };
    let changes = |ghz: f64| against(&at(1.0, ghz), &at(1.02, ghz)).verdict.is_change();
    assert!(changes(3.96) && !changes(3.4));
}

#[test]
fn what_a_neighbour_slows_as_much_as_an_add_is_no_change() {
    let beside = |slow: f64, more: f64| {
        let mut run = clocked(slow, 1.0, true);
        run.costs[0].rounds.truncate(2);
        run.costs[1] = clocked(slow * more, 1.0, true).costs.remove(1);
        run
    };
    let changed = |slow: f64, more: f64| changes(&[beside(1.0, 1.0), beside(slow, more)]);
    assert!(changed(1.05, 1.0).is_empty(), "{:?}", changed(1.05, 1.0));
    assert_eq!(changed(1.05, 1.1), ["a.x"]);
    assert_eq!(changed(1.0, 1.04), ["a.x"], "an add that took as long");
}
