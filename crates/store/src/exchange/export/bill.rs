//! A bill as metrics, which scrapers such as Prometheus read. All counters count from the beginning of the watching.

use analysis::bill::Bill;
use record::{CallCount, NamedCount, Observation, Requests};

use super::exposition::{Dialect, Exposition, Kind};

/// A family of counters. The unit is the end of its name, if it has one.
fn counted<'a, const N: usize>(
    text: &mut Exposition,
    name: &'static str,
    help: &str,
    samples: impl IntoIterator<Item = ([(&'static str, &'a str); N], f64)>,
) {
    text.family(name, Kind::Counter, help);
    for (labels, value) in samples {
        text.sample(&labels, value);
    }
}

/// The exposition of what was seen until now, and of its prices.
pub fn bill_metrics(seen: &Observation, bill: &Bill, dialect: Dialect) -> String {
    let mut text = Exposition::new(dialect);
    text.family("howslow_watch", Kind::Info, "What is watched, and how it is counted.");
    text.sample(&[("what", &seen.what), ("source", &seen.source)], 1.0);
    counted(&mut text, "howslow_watched_seconds", "How long it was watched.", [([], seen.elapsed_ns / 1e9)]);
    calls(&mut text, &seen.together);
    processes(&mut text, seen);
    charged(&mut text, seen);
    priced(&mut text, seen, bill);
    text.finish()
}

fn calls<'a>(text: &mut Exposition, together: &'a Requests) {
    let calls = || together.calls.iter();
    let named = |label: &'static str, entry: &'a NamedCount| ([(label, &*entry.name)], entry.count as f64);
    let times = calls().map(|call| ([("call", &*call.call)], call.count as f64));
    counted(text, "howslow_calls", "System calls.", times);
    let failed = |call: &'a CallCount| {
        call.errors.iter().map(|error| ([("call", &*call.call), ("error", &*error.name)], error.count as f64))
    };
    counted(text, "howslow_call_errors", "System calls that failed.", calls().flat_map(failed));
    let moved = calls().filter_map(|call| Some(([("call", &*call.call)], call.bytes? as f64)));
    counted(text, "howslow_moved_bytes", "Bytes that system calls moved.", moved);
    let woken = calls().filter(|call| call.wakes > 0).map(|call| ([("call", &*call.call)], call.wakes as f64));
    counted(text, "howslow_woken_tasks", "Sleeping tasks that system calls woke.", woken);
    let signals = together.signals.iter().map(|signal| named("signal", signal));
    counted(text, "howslow_signals", "Signals that were delivered.", signals);
    let requests = together.io_uring.iter().map(|request| named("operation", request));
    counted(text, "howslow_io_uring_requests", "Requests to io_urings.", requests);
    let created = [([], together.forks as f64)];
    counted(text, "howslow_created_tasks", "Processes and threads that were created.", created);
    counted(text, "howslow_executed_programs", "Programs that were executed.", [([], together.execs as f64)]);
}

/// The calls of processes by name: their ids would make new series for ever. A process takes its calls along to the name of the program
/// that it executes, so that these are no counters.
fn processes(text: &mut Exposition, seen: &Observation) {
    let mut by_name = std::collections::BTreeMap::<&str, u64>::new();
    for process in &seen.processes {
        *by_name.entry(&process.name).or_default() += process.requests.total();
    }
    text.family("howslow_process_calls", Kind::Gauge, "System calls of all processes that have this name now.");
    for (name, count) in by_name {
        text.sample(&[("process", name)], count as f64);
    }
}

fn charged(text: &mut Exposition, seen: &Observation) {
    let usage = &seen.usage;
    let cpu = [("user", usage.user_ns), ("system", usage.system_ns)]
        .map(|(mode, time)| time.map(|time| ([("mode", mode)], time / 1e9)));
    counted(text, "howslow_cpu_seconds", "Processor time that the kernel charged.", cpu.into_iter().flatten());
    let kind = |kind: &'static str, count: Option<u64>| count.map(|count| ([("kind", kind)], count as f64));
    let faults = [kind("minor", usage.minor_faults), kind("major", usage.major_faults)];
    counted(text, "howslow_page_faults", "Page faults.", faults.into_iter().flatten());
    let switches = [kind("voluntary", usage.voluntary_switches), kind("involuntary", usage.involuntary_switches)];
    counted(text, "howslow_switches", "Times that a task left its CPU.", switches.into_iter().flatten());
}

fn priced(text: &mut Exposition, seen: &Observation, bill: &Bill) {
    // Which price a call has depends on what else was counted, so that a line can become cheaper.
    text.family("howslow_priced_cpu_seconds", Kind::Gauge, "Processor time until now by the prices of a run.");
    for (row, ns) in bill.rows.iter().filter_map(|row| Some((row, row.whole_cpu_ns()?))) {
        text.sample(&[("row", &row.what)], ns / 1e9);
    }
    if let Some(counting) = &seen.counting {
        let seconds = [([], counting.together_ns / 1e9)];
        counted(text, "howslow_counting_seconds", "What counting cost the program.", seconds);
    }
    // Where it is not known how many were lost, it is known that some were.
    let lost = seen.losses.iter().map(|loss| ([("what", &*loss.what)], loss.count.unwrap_or(1) as f64));
    counted(text, "howslow_lost", "What could not be counted.", lost);
}

#[cfg(test)]
mod tests {
    use record::Usage;

    use super::*;

    #[test]
    fn an_exposition_has_families_with_types_and_ends() {
        let errors = vec![NamedCount { name: "ENOENT".into(), count: 2 }];
        let call =
            CallCount { call: "read".into(), count: 23, bytes: Some(4096), wakes: 5, errors, ..CallCount::default() };
        let seen = Observation {
            what: "sh -c \"a\\b\"".into(),
            source: "eBPF".into(),
            elapsed_ns: 1.5e9,
            usage: Usage { user_ns: Some(2e9), minor_faults: Some(7), ..Usage::default() },
            together: Requests { calls: vec![call], ..Requests::default() },
            ..Observation::default()
        };
        let mut bill = analysis::bill::bill(&seen, None);
        bill.rows[0].cpu_ns = Some(3e9);
        let text = bill_metrics(&seen, &bill, Dialect::OpenMetrics);
        for line in [
            "howslow_watch_info{what=\"sh -c \\\"a\\\\b\\\"\",source=\"eBPF\"} 1",
            "# UNIT howslow_watched_seconds seconds",
            "howslow_watched_seconds_total 1.5",
            "howslow_calls_total{call=\"read\"} 23",
            "howslow_call_errors_total{call=\"read\",error=\"ENOENT\"} 2",
            "howslow_moved_bytes_total{call=\"read\"} 4096",
            "howslow_woken_tasks_total{call=\"read\"} 5",
            "howslow_cpu_seconds_total{mode=\"user\"} 2",
            "howslow_page_faults_total{kind=\"minor\"} 7",
            "howslow_priced_cpu_seconds{row=\"read\"} 3",
        ] {
            assert!(text.lines().any(|printed| printed == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
        // Each family is written once, before its samples, and every sample belongs to the family before it.
        let (mut family, mut end) = (String::new(), "");
        let mut reported = std::collections::BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a type");
                family = name.into();
                end = match kind {
                    "counter" => "_total",
                    "info" => "_info",
                    _ => "",
                };
                assert!(reported.insert(family.clone()), "{family} is written twice");
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().expect("a name");
                assert_eq!(name, format!("{family}{end}"));
            }
        }
    }
}
