//! Findings about tasks: those that live briefly, and those that wait for each other.

use record::{CallCount, Nanoseconds, Observation, WaitReason};

use super::super::rows::Bill;
use super::saving::{FEW, READS, Saving, beside_calls, each, most_frequent};

/// A process with less processor time than this lives mostly to start and to end.
const SHORT_NS: f64 = 5e6;

/// Threads that sleep until another one lets them go on.
pub(super) fn waiting_threads(seen: &Observation, bill: &Bill) -> Option<Saving> {
    let futex = seen.together.calls.iter().find(|call| call.call == "futex")?;
    let slept = seen
        .together
        .waits
        .iter()
        .find(|wait| wait.call.as_deref() == Some("futex") && wait.reason == WaitReason::Event)?;
    if futex.count < 10 * FEW || slept.count * 10 < futex.count {
        return None;
    }
    let text = format!(
        "{} futex calls, of which {} slept, {} in all: several threads want one lock, which shorter sections or a lock for each part avoid; \
         or they hand over one thing at a time, where several at once take one call.",
        futex.count,
        slept.count,
        Nanoseconds(slept.total_ns)
    );
    // Each sleep is a switch to another task, and one back.
    let saves = each(bill, "futex").map(|[least, most]| {
        let count = futex.count as f64;
        [0.5 * least * count, most * count + beside_calls(bill).unwrap_or(0.0)]
    });
    Some((text, futex.count as f64, saves))
}

/// Messages each of which wakes a task that was last on another CPU.
pub(super) fn far_wakes(call: &CallCount, seen: &Observation, bill: &Bill) -> Option<Saving> {
    let far = call.wakes.saturating_sub(call.near_wakes);
    if call.call == "futex" || far < 10 * FEW || far * 4 < call.count {
        return None;
    }
    let text = format!(
        "{far} of {} {} woke a task of another CPU, which takes an interrupt there: several messages at once wake it once, and tasks on one \
         CPU (taskset) need none.",
        call.count, call.call
    );
    let read = most_frequent(seen, READS).and_then(|read| each(bill, &read.call)).map_or(0.0, |[_, most]| most);
    // What is received and the switch of its receiver go with the message.
    let saves = each(bill, &call.call).map(|[least, most]| {
        [0.5 * least * far as f64, (most + read) * far as f64 + beside_calls(bill).unwrap_or(0.0)]
    });
    Some((text, far as f64, saves))
}

/// Processes that hardly do more than begin and end.
pub(super) fn short_lived(seen: &Observation, bill: &Bill) -> Option<Saving> {
    let short = |process: &&record::ProcessCounts| {
        let cpu = process.usage.cpu_ns.unwrap_or(0.0) / process.processes.max(1) as f64;
        !process.running && process.parent.is_some() && cpu < SHORT_NS
    };
    let short: Vec<_> = seen.processes.iter().filter(short).collect();
    let count: u64 = short.iter().map(|process| process.processes).sum();
    if count < 10 {
        return None;
    }
    // Their own time, user time included, is saved for sure; what the creator pays for each comes with it.
    let own: f64 = short.iter().filter_map(|process| process.usage.cpu_ns).sum();
    // Of a task that ends before a tick the kernel does not report what it used; the sum of all does.
    let known: f64 = seen.processes.iter().filter_map(|process| process.usage.cpu_ns).sum();
    let unknown = (seen.usage.cpu_ns.unwrap_or(0.0) - known).max(0.0);
    let ended: u64 = seen.processes.iter().filter(|process| !process.running).map(|process| process.processes).sum();
    let least = own + unknown * count as f64 / ended.max(1) as f64;
    let creating = ["vfork", "fork", "clone", "clone3", "wait4", "waitid"];
    let creating: f64 = creating.iter().filter_map(|call| Some(each(bill, call)?[1] * count as f64)).sum();
    let saves = (least > 0.0).then_some([0.75 * least, 1.15 * (own + unknown) + creating]);
    let most = short.iter().max_by_key(|process| process.processes)?;
    let text = format!(
        "{count} processes lived for less than {} ms of processor time each, such as {}: starting and ending them is most of \
         their work, which a command that the shell has built in, or one process for many inputs, does without.",
        SHORT_NS / 1e6,
        most.name
    );
    // Starting a process is worth as much as hundreds of calls.
    Some((text, count as f64 * FEW as f64, saves))
}
