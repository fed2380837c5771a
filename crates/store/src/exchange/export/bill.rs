//! A bill as metrics, which scrapers such as Prometheus read. All counters count from the beginning of the watching.

use analysis::bill::Bill;
use record::{Observation, Requests};

use super::exposition::{Dialect, Exposition, Kind, labels};

/// The dialect of a bill's exposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BillMetrics {
    /// OpenMetrics 1.0.0, for scrapers.
    OpenMetrics,
    /// The Prometheus text format, for the node exporter's textfile collector, which cannot read OpenMetrics.
    Prometheus,
}

/// A family of counters.
struct Family<'a> {
    text: &'a mut Exposition,
}

impl<'a> Family<'a> {
    /// Begins a family. `unit` is the end of its name, if it has one.
    fn new(text: &'a mut Exposition, name: &'static str, help: &str) -> Family<'a> {
        text.family(name, Kind::Counter, help);
        Family { text }
    }

    fn sample<const N: usize>(&mut self, pairs: [(&'static str, &str); N], value: f64) {
        self.text.sample(&labels(pairs), value);
    }
}

/// The exposition of what was seen until now, and of its prices.
pub fn bill_metrics(seen: &Observation, bill: &Bill, form: BillMetrics) -> String {
    let mut text = Exposition::new(match form {
        BillMetrics::OpenMetrics => Dialect::OpenMetrics,
        BillMetrics::Prometheus => Dialect::Prometheus,
    });
    text.family("howslow_watch", Kind::Info, "What is watched, and how it is counted.");
    text.sample(&labels([("what", seen.what.as_str()), ("source", seen.source.as_str())]), 1.0);
    let mut time = Family::new(&mut text, "howslow_watched_seconds", "How long it was watched.");
    time.sample([], seen.elapsed_ns / 1e9);
    calls(&mut text, &seen.together);
    processes(&mut text, seen);
    charged(&mut text, seen);
    priced(&mut text, seen, bill);
    text.finish()
}

fn calls(text: &mut Exposition, together: &Requests) {
    let mut calls = Family::new(text, "howslow_calls", "System calls.");
    for call in &together.calls {
        calls.sample([("call", &call.call)], call.count as f64);
    }
    let mut errors = Family::new(text, "howslow_call_errors", "System calls that failed.");
    for call in &together.calls {
        for error in &call.errors {
            errors.sample([("call", &call.call), ("error", &error.name)], error.count as f64);
        }
    }
    let mut moved = Family::new(text, "howslow_moved_bytes", "Bytes that system calls moved.");
    for call in &together.calls {
        if let Some(bytes) = call.bytes {
            moved.sample([("call", &call.call)], bytes as f64);
        }
    }
    let mut woken = Family::new(text, "howslow_woken_tasks", "Sleeping tasks that system calls woke.");
    for call in together.calls.iter().filter(|call| call.wakes > 0) {
        woken.sample([("call", &call.call)], call.wakes as f64);
    }
    let mut signals = Family::new(text, "howslow_signals", "Signals that were delivered.");
    for signal in &together.signals {
        signals.sample([("signal", &signal.name)], signal.count as f64);
    }
    let mut requests = Family::new(text, "howslow_io_uring_requests", "Requests to io_urings.");
    for request in &together.io_uring {
        requests.sample([("operation", &request.name)], request.count as f64);
    }
    Family::new(text, "howslow_created_tasks", "Processes and threads that were created.")
        .sample([], together.forks as f64);
    Family::new(text, "howslow_executed_programs", "Programs that were executed.").sample([], together.execs as f64);
}

/// The calls of processes by name: their ids would make new series for ever.
fn processes(text: &mut Exposition, seen: &Observation) {
    let mut by_name = std::collections::BTreeMap::<&str, u64>::new();
    for process in &seen.processes {
        *by_name.entry(&process.name).or_default() += process.requests.total();
    }
    let mut family = Family::new(text, "howslow_process_calls", "System calls of all processes of a name.");
    for (name, count) in by_name {
        family.sample([("process", name)], count as f64);
    }
}

fn charged(text: &mut Exposition, seen: &Observation) {
    let usage = &seen.usage;
    let mut cpu = Family::new(text, "howslow_cpu_seconds", "Processor time that the kernel charged.");
    for (mode, time) in [("user", usage.user_ns), ("system", usage.system_ns)] {
        if let Some(time) = time {
            cpu.sample([("mode", mode)], time / 1e9);
        }
    }
    let mut faults = Family::new(text, "howslow_page_faults", "Page faults.");
    for (kind, count) in [("minor", usage.minor_faults), ("major", usage.major_faults)] {
        if let Some(count) = count {
            faults.sample([("kind", kind)], count as f64);
        }
    }
    let mut switches = Family::new(text, "howslow_switches", "Times that a task left its CPU.");
    for (kind, count) in [("voluntary", usage.voluntary_switches), ("involuntary", usage.involuntary_switches)] {
        if let Some(count) = count {
            switches.sample([("kind", kind)], count as f64);
        }
    }
}

fn priced(text: &mut Exposition, seen: &Observation, bill: &Bill) {
    let mut priced = Family::new(text, "howslow_priced_cpu_seconds", "Processor time by the prices of a run.");
    for row in &bill.rows {
        if let Some(cpu) = row.whole_cpu_ns() {
            priced.sample([("row", &row.what)], cpu / 1e9);
        }
    }
    if let Some(counting) = &seen.counting {
        Family::new(text, "howslow_counting_seconds", "What counting cost the program.")
            .sample([], counting.together_ns / 1e9);
    }
    let mut lost = Family::new(text, "howslow_lost", "What could not be counted.");
    for loss in &seen.losses {
        // Where it is not known how many were lost, it is known that some were.
        lost.sample([("what", &loss.what)], loss.count.unwrap_or(1) as f64);
    }
}

#[cfg(test)]
mod tests {
    use record::{CallCount, NamedCount, Usage};

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
        let text = bill_metrics(&seen, &analysis::bill::bill(&seen, None), BillMetrics::OpenMetrics);
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
        ] {
            assert!(text.lines().any(|printed| printed == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
        // Each family is told once, before its samples, and every sample belongs to the family before it.
        let mut family = String::new();
        let mut reported = std::collections::BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                family = rest.split(' ').next().expect("a name").into();
                assert!(reported.insert(family.clone()), "{family} is told twice");
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().expect("a name");
                assert!(name == format!("{family}_total") || name == format!("{family}_info"), "{name} in {family}");
            }
        }
    }
}
