//! Why a bill does not close: what its prices leave out, as far as the counts tell.

use analysis::bill::{Bill, BillRow};
use record::Observation;
use record::units::percent;

/// A bill that explains less than this says why, and so does one that explains more than the other.
const EXPLAINED: [f64; 2] = [0.8, 1.2];
/// The least share of the charge that is worth a reason.
const WORTH: f64 = 0.05;
/// What prices calls that create, fill, copy and remove files.
const OF_FILES: [&str; 4] = ["called.create", "called.fill", "called.copy", "called.unlink"];
/// A program whose tasks sleep more often than once in this many calls waits for something.
const SLEEPS: u64 = 50;

/// The reasons; `None` if it closes, or if nothing was charged.
pub(super) fn why(seen: &Observation, bill: &Bill, lacking: &[String]) -> Option<String> {
    let share = bill.explained_share()?;
    if (EXPLAINED[0]..=EXPLAINED[1]).contains(&share) {
        return None;
    }
    let mut reasons: Vec<String> = Vec::new();
    let charged = bill.charged?;
    if share > 1.0 {
        reasons.push("calls that find less to do than those that were measured cost less".into());
        reasons.extend(elsewhere(bill, charged.ns));
    } else {
        if let Some(user) = seen.usage.user_ns.filter(|user| !charged.kernel_alone && *user > 0.0) {
            let user = percent(user / charged.ns);
            reasons
                .push(format!("user time is part of the charge ({user} by samples, which see short processes badly)"));
        }
        if !lacking.is_empty() {
            reasons.push(format!("{} prices are lacking", lacking.len()));
        }
        if bill.row("processes").is_some_and(|row| row.priced_by.iter().any(|by| by.starts_with("process.vfork"))) {
            reasons.push("what a fork copies depends on the process, and is not priced".into());
        }
        reasons.extend(sleeping(seen));
        reasons.extend(looped(bill, charged.ns));
        reasons.push("the program's own work empties caches that the prices found full".into());
    }
    Some(format!(". Why: {}", reasons.join("; ")))
}

/// Tasks that sleep wait for devices and other tasks.
fn sleeping(seen: &Observation) -> Option<String> {
    let slept = seen.usage.voluntary_switches.filter(|slept| slept * SLEEPS > seen.together.total())?;
    let woke = seen.together.calls.iter().any(|call| call.wakes > 0);
    let not_priced = if woke { "to let a CPU halt and go on" } else { "to wake another task" };
    Some(format!(
        "its tasks slept {slept} times, and what the kernel does to start a transfer or {not_priced} is not priced"
    ))
}

/// Calls that were timed on one object, by loops that make the call themselves.
fn looped(bill: &Bill, charged: f64) -> Option<String> {
    let (rows, cost) = priced(bill, &["call."]);
    let most = rows.first().filter(|_| cost > WORTH * charged)?;
    Some(format!(
        "calls such as {} ({} of the charge) are priced by loops on one object, where they cost least",
        most.what,
        percent(cost / charged)
    ))
}

/// Files that are made or removed cost what their file system does, and the run was taken on one.
fn elsewhere(bill: &Bill, charged: f64) -> Option<String> {
    let (_, cost) = priced(bill, &OF_FILES);
    (cost > WORTH * charged).then(|| {
        "files are created and removed at the prices of the run's file system; in memory (tmpfs) both cost much less".into()
    })
}

/// The rows that operations with ids of these beginnings price, and their prices together, in ns.
fn priced<'a>(bill: &'a Bill, begins: &[&str]) -> (Vec<&'a BillRow>, f64) {
    let begins_so = |by: &String| begins.iter().any(|begin| by.starts_with(begin));
    let rows: Vec<_> = bill.rows.iter().filter(|row| row.priced_by.iter().any(begins_so)).collect();
    let cost = rows.iter().filter_map(|row| row.cpu_ns).sum();
    (rows, cost)
}

#[cfg(test)]
mod tests {
    use analysis::bill::{Charged, bill};
    use record::{CallCount, Requests, Usage};

    use super::*;

    /// A bill of this many ns for `row`, priced by `by`, of a charge of 1 ms in the kernel.
    fn billed(what: &str, by: &str, ns: f64) -> (Observation, Bill) {
        let calls = vec![CallCount { call: "mkdir".into(), count: 1000, ..CallCount::default() }];
        let usage = Usage { cpu_ns: Some(1e6), system_ns: Some(1e6), voluntary_switches: Some(3), ..Usage::default() };
        let seen = Observation { together: Requests { calls, ..Requests::default() }, usage, ..Observation::default() };
        let mut bill = bill(&seen, None);
        bill.explained.value = ns;
        bill.charged = Some(Charged { ns: 1e6, kernel_alone: true });
        let row = bill.rows[0].clone();
        bill.rows = vec![BillRow { what: what.into(), cpu_ns: Some(ns), priced_by: vec![by.into()], ..row }];
        (seen, bill)
    }

    #[test]
    fn what_closes_needs_no_reason_and_each_reason_is_one_of_the_counts() {
        let (seen, closed) = billed("mkdir", "call.mkdir", 9e5);
        assert_eq!(why(&seen, &closed, &[]), None);
        let (mut seen, open) = billed("mkdir", "call.mkdir", 4e5);
        let text = why(&seen, &open, &[]).expect("a reason");
        assert!(text.contains("such as mkdir (40 % of the charge)") && !text.contains("slept"), "{text}");
        seen.usage.voluntary_switches = Some(500);
        let text = why(&seen, &open, &["call.x".into()]).expect("a reason");
        assert!(text.contains("slept 500 times") && text.contains("1 prices are lacking"), "{text}");
        assert!(text.contains("or to wake another task"), "{text}");
        seen.together.calls[0].wakes = 3;
        let text = why(&seen, &open, &[]).expect("a reason");
        assert!(text.contains("or to let a CPU halt and go on"), "{text}");
        let (seen, forks) = billed("processes", "process.vfork", 4e5);
        let text = why(&seen, &forks, &[]).expect("a reason");
        assert!(text.contains("what a fork copies"), "{text}");
        let (seen, over) = billed("read", "called.read", 2e6);
        let text = why(&seen, &over, &[]).expect("a reason");
        assert!(text.contains("less to do") && !text.contains("tmpfs"), "{text}");
        let (seen, removed) = billed("unlinkat", "called.unlink@content=written,size=4096", 2e6);
        let text = why(&seen, &removed, &[]).expect("a reason");
        assert!(text.contains("tmpfs"), "{text}");
    }
}
