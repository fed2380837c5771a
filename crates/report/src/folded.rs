//! A bill as folded stacks, which tools that draw flame graphs take: `process;function;function;call 23` by samples, or
//! `process;thread;call;next call 23`.

use std::collections::BTreeMap;
use std::fmt::Write;

use analysis::bill::Bill;
use record::{Observation, Requests};

/// What a stack is weighed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Weight {
    /// How often the last call was made
    Count,
    /// What the last call costs by the prices, in ns
    Cost,
}

/// One line for each pair of calls of each thread, and one for a call that came after none or after one that is not known.
/// The lines of a thread together are its calls. By cost, calls without a price are left out.
pub fn folded(seen: &Observation, bill: &Bill, weight: Weight) -> String {
    if !seen.stacks.is_empty() {
        return sampled(seen, weight);
    }
    let mut stacks = BTreeMap::new();
    for process in &seen.processes {
        let own = name(&process.name);
        let mut rest = process.requests.clone();
        for thread in &process.threads {
            add(&mut stacks, &format!("{own};{}", name(&thread.name)), &thread.requests);
            rest = rest.since(&thread.requests);
        }
        // The calls of a process with one thread, or of threads beyond those listed.
        let thread = if process.threads.is_empty() { &own } else { "other threads" };
        add(&mut stacks, &format!("{own};{thread}"), &rest);
    }
    let each = |call: &str| -> f64 {
        match weight {
            Weight::Count => 1.0,
            Weight::Cost => {
                let row = bill.rows.iter().find(|row| row.what == call);
                row.and_then(|row| Some(row.cpu_ns? / row.count.max(1) as f64)).unwrap_or(0.0)
            }
        }
    };
    let mut text = String::new();
    for (stack, count) in stacks {
        let last = stack.rsplit(';').next().unwrap_or_default();
        // A stack is weighed in whole numbers.
        let weight = (count as f64 * each(last)).round() as u64;
        if weight > 0 {
            let _ = writeln!(text, "{stack} {weight}");
        }
    }
    text
}

/// The functions of the program that made its calls, by samples: how many calls each chain stands for, or their time on a CPU in ns.
fn sampled(seen: &Observation, weight: Weight) -> String {
    let mut text = String::new();
    for stack in &seen.stacks {
        let frames = stack.frames.iter().map(|frame| name(&frame.shown()));
        let whole = [name(&stack.process)].into_iter().chain(frames).chain([name(&stack.call)]);
        let weight = match weight {
            Weight::Count => stack.calls,
            Weight::Cost => stack.cpu_ns.round() as u64,
        };
        if weight > 0 {
            let _ = writeln!(text, "{} {weight}", whole.collect::<Vec<_>>().join(";"));
        }
    }
    text
}

fn add(stacks: &mut BTreeMap<String, u64>, thread: &str, requests: &Requests) {
    let mut after: BTreeMap<&str, u64> = BTreeMap::new();
    for pair in &requests.pairs {
        *stacks.entry(format!("{thread};{};{}", name(&pair.first), name(&pair.then))).or_default() += pair.count;
        *after.entry(&pair.then).or_default() += pair.count;
    }
    for call in &requests.calls {
        let alone = call.count.saturating_sub(after.get(call.call.as_str()).copied().unwrap_or(0));
        if alone > 0 {
            *stacks.entry(format!("{thread};{}", name(&call.call))).or_default() += alone;
        }
    }
}

/// A name of a frame: a semicolon would end it, a line end the stack.
fn name(text: &str) -> String {
    let text = record::printable(text).replace(';', ":").replace(char::is_whitespace, " ");
    if text.trim().is_empty() { "?".into() } else { text }
}

#[cfg(test)]
mod tests {
    use record::{CallCount, PairCount, ProcessCounts, ThreadCounts};

    use super::*;

    fn requests(calls: &[(&str, u64)], pairs: &[(&str, &str, u64)]) -> Requests {
        let call =
            |(call, count): &(&str, u64)| CallCount { call: (*call).into(), count: *count, ..CallCount::default() };
        let pair = |(first, then, count): &(&str, &str, u64)| PairCount {
            first: (*first).into(),
            then: (*then).into(),
            count: *count,
        };
        Requests {
            calls: calls.iter().map(call).collect(),
            pairs: pairs.iter().map(pair).collect(),
            ..Requests::default()
        }
    }

    #[test]
    fn sampled_stacks_have_the_functions_of_the_program() {
        let frame = |function: &str, line: Option<&str>| record::StackFrame {
            function: function.into(),
            line: line.map(String::from),
            own: true,
        };
        let frames = vec![frame("main", None), frame("std::fs<T; 3>::flush", Some("log.rs:7"))];
        let stack = record::Stack { process: "log".into(), call: "fsync".into(), frames, calls: 23, cpu_ns: 1234.6 };
        let seen = Observation { stacks: vec![stack], ..Observation::default() };
        let bill = analysis::bill::bill(&seen, None);
        assert_eq!(folded(&seen, &bill, Weight::Count), "log;main;std::fs<T: 3>::flush (log.rs:7);fsync 23\n");
        assert_eq!(folded(&seen, &bill, Weight::Cost), "log;main;std::fs<T: 3>::flush (log.rs:7);fsync 1235\n");
    }

    #[test]
    fn the_lines_together_are_all_calls() {
        let thread = ThreadCounts {
            name: "worker;1".into(),
            requests: requests(&[("read", 3)], &[("read", "read", 2)]),
            ..ThreadCounts::default()
        };
        let several = ProcessCounts {
            name: "serve".into(),
            threads: vec![thread],
            requests: requests(&[("read", 3), ("write", 4)], &[("read", "read", 2), ("write", "write", 3)]),
            ..ProcessCounts::default()
        };
        let one =
            ProcessCounts { name: "sh -c".into(), requests: requests(&[("brk", 5)], &[]), ..ProcessCounts::default() };
        let seen = Observation { processes: vec![several, one], ..Observation::default() };
        let bill = analysis::bill::bill(&seen, None);
        let text = folded(&seen, &bill, Weight::Count);
        let expected = "serve;other threads;write 1\nserve;other threads;write;write 3\nserve;worker:1;read 1\n\
                        serve;worker:1;read;read 2\nsh -c;sh -c;brk 5\n";
        assert_eq!(text, expected);
        // Nothing has a price, so nothing has a weight.
        assert_eq!(folded(&seen, &bill, Weight::Cost), "");
    }
}
