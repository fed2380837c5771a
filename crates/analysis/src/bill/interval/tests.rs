//! Accounts of a system with prices that are easy to add up.

use record::Requests;

use super::*;

/// A call costs 10 ns and 1 ns a byte; a fault 100, a switch 1000, a thread 10,000, a process 100,000, a program 1,000,000.
struct Round;

impl UnitPrices for Round {
    fn calls(&self, call: &CallCount, _: &Requests) -> Option<f64> {
        (call.call != "unknown").then(|| 10.0 * call.count as f64 + call.bytes.unwrap_or(0) as f64)
    }

    fn unit(&self, unit: Unit) -> Option<f64> {
        Some(match unit {
            Unit::MinorFault => 1e2,
            Unit::Switch => 1e3,
            Unit::Thread | Unit::Transfer => 1e4,
            Unit::Fork => 1e5,
            Unit::Exec => 1e6,
        })
    }
}

fn call(call: &str, count: u64, failed: u64) -> CallCount {
    let errors = if failed > 0 { vec![NamedCount { name: "ENOENT".into(), count: failed }] } else { Vec::new() };
    CallCount { call: call.into(), count, errors, ..CallCount::default() }
}

fn process(pid: u32, name: &str, calls: Vec<CallCount>) -> ProcessCounts {
    let requests = Requests { calls, ..Requests::default() };
    let (pid, name, cgroup) = (Some(pid), name.into(), Some(format!("/{name}")));
    ProcessCounts { pid, name, processes: 1, running: true, cgroup, requests, ..ProcessCounts::default() }
}

fn made(processes: Vec<ProcessCounts>, started: &[u32]) -> Stretch {
    let seen = Observation { elapsed_ns: 1e9, processes, ..Observation::default() };
    interval(&seen, &started.iter().copied().collect(), &Round)
}

#[test]
fn an_account_is_the_sum_of_its_counts_times_their_prices() {
    let mut one = process(7, "cat", vec![call("read", 5, 1), call("unknown", 9, 0)]);
    one.requests.calls[0].bytes = Some(3);
    one.usage = Usage { minor_faults: Some(2), voluntary_switches: Some(1), ..Usage::default() };
    let interval = made(vec![one], &[]);
    let [account] = interval.processes.as_slice() else { panic!("{interval:?}") };
    assert_eq!((account.calls, account.failed), (14, 1));
    assert_eq!(account.cost_ns, Some(53.0 + 200.0 + 1000.0));
    let lines: Vec<_> = account.lines.iter().map(|line| (line.what.as_str(), line.each())).collect();
    let expected =
        [("switches", Some(1000.0)), ("minor faults", Some(100.0)), ("read", Some(53.0 / 5.0)), ("unknown", None)];
    assert_eq!(lines, expected);
    assert_eq!(account.errors, [NamedCount { name: "ENOENT".into(), count: 1 }]);
}

#[test]
fn processes_that_begin_and_end_are_put_together_and_paid_once() {
    let shell = |forks| {
        let mut shell = process(1, "sh", vec![call("clone", forks, 0), call("wait4", forks, 0)]);
        shell.requests.forks = forks;
        shell
    };
    let child = |pid: u32| {
        let calls = vec![call("execve", 3, 2), call("exit_group", 1, 0)];
        let mut child = ProcessCounts { running: false, parent: Some(1), ..process(pid, "true", calls) };
        child.requests.execs = 1;
        child
    };
    let interval = made(vec![shell(2), child(10), child(11)], &[10, 11]);
    let [shell, children] = interval.processes.as_slice() else { panic!("{interval:?}") };
    assert_eq!(shell.who, Who::Process(1));
    assert_eq!(shell.cost_ns, None, "its children are no threads, and pay for themselves");
    assert_eq!(children.who, Who::Short { parent: Some(1), name: "true".into() });
    assert_eq!((children.processes, children.cost_ns), (2, Some(2e6)));
    assert_eq!((children.calls, children.failed), (8, 4));
    // The same child in a later stretch was not created in it; what it forked besides are threads.
    let mut later = child(10);
    later.requests = Requests { forks: 3, ..process(10, "true", vec![call("exit_group", 1, 0)]).requests };
    let later = made(vec![later], &[]);
    assert_eq!(later.processes[0].who, Who::Process(10));
    assert_eq!(later.processes[0].cost_ns, Some(3e4));
    // A process that executes nothing.
    let copy = made(vec![process(12, "sh", Vec::new())], &[12]);
    assert_eq!(copy.processes[0].cost_ns, Some(1e5));
}

#[test]
fn cgroups_add_up_to_the_same() {
    let mut far = process(3, "far", vec![call("read", 4, 0)]);
    far.cgroup = None;
    let one = process(1, "a", vec![call("read", 1, 1)]);
    let two = process(2, "a", vec![call("read", 2, 0), call("stat", 7, 0)]);
    let interval = made(vec![one, two, far], &[]);
    let groups = interval.cgroups();
    let shown: Vec<_> = groups.iter().map(|group| (group.name.as_str(), group.processes, group.calls)).collect();
    assert_eq!(shown, [("(no cgroup known)", 1, 4), ("/a", 2, 10)]);
    assert_eq!(groups[1].lines[0].what, "stat");
    assert_eq!(groups[1].lines[1], AccountLine { what: "read".into(), count: 3, failed: 1, cost_ns: Some(30.0) });
    let sum = |accounts: &[Account]| accounts.iter().filter_map(|account| account.cost_ns).sum::<f64>();
    assert_eq!(sum(&groups), sum(&interval.processes));
}
