//! Why a bill does not close: what its prices leave out, as far as the counts show.

use analysis::bill::{Bill, BillRow, Charged};
use record::units::{counted, percent};
use record::{Nanoseconds, Observation, largest_first};

/// A bill that explains less than this gives reasons, and so does one that explains more than the other.
const EXPLAINED: [f64; 2] = [0.8, 1.2];
/// The least share of the charge that is worth a reason.
const WORTH: f64 = 0.05;
/// What prices calls that create, fill, copy and remove files.
const OF_FILES: [&str; 4] = ["called.create", "called.fill", "called.copy", "called.unlink"];

/// The reasons; `None` if it closes, or if nothing was charged.
pub(super) fn why(seen: &Observation, bill: &Bill, lacking: &[String]) -> Option<String> {
    let share = bill.explained_share()?;
    if (EXPLAINED[0]..=EXPLAINED[1]).contains(&share) {
        return None;
    }
    let mut reasons: Vec<String> = Vec::new();
    let charged = bill.charged?;
    if let Some(user) = seen.usage.user_ns.filter(|user| share < 1.0 && !charged.kernel_alone && *user > 0.0) {
        let user = percent(user / charged.ns);
        reasons.push(format!("user time is part of the charge ({user} by samples, which see short processes badly)"));
    }
    if !lacking.is_empty() {
        reasons.push(format!("{} lacking", counted(lacking.len() as u64, "price")));
    }
    reasons.extend(apart(bill, charged.ns));
    reasons.extend(outside_calls(bill, charged));
    if bill.measured.is_none() {
        reasons.extend(looped(bill, charged.ns));
    }
    let in_memory = in_memory(seen);
    if share > 1.0 && in_memory.is_none() {
        reasons.extend(elsewhere(bill, charged.ns));
    }
    reasons.extend(in_memory);
    let why = if reasons.is_empty() { "the counts do not tell".into() } else { reasons.join("; ") };
    Some(format!(". Why: {why}"))
}

/// The calls that took most more or less in this program than their prices.
fn apart(bill: &Bill, charged: f64) -> Vec<String> {
    /// More of them are no help.
    const MOST: usize = 3;
    let measured = bill.rows.iter().filter_map(|row| Some((row, row.measured?.value, row.whole_cpu_ns()?)));
    let mut found: Vec<_> =
        measured.filter(|(_, measured, price)| (measured - price).abs() > WORTH * charged).collect();
    largest_first(&mut found, |one| (one.1 - one.2).abs());
    let sentence = |(row, measured, price): &(&BillRow, f64, f64)| {
        let each = |ns: f64| Nanoseconds(ns / row.count.max(1) as f64).to_string();
        format!("{} took {} each here, and its price is {}", row.what, each(*measured), each(*price))
    };
    found.iter().take(MOST).map(sentence).collect()
}

/// Faults, switches and interrupts, if what was charged beside the measured calls is far from their price.
fn outside_calls(bill: &Bill, charged: Charged) -> Option<String> {
    let measured = bill.measured.filter(|_| charged.kernel_alone)?;
    let rest = charged.ns - bill.counting_ns - measured.calls.value;
    (rest - measured.priced_ns > WORTH * charged.ns).then(|| {
        let (rest, priced) = (Nanoseconds(rest), Nanoseconds(measured.priced_ns));
        let faults = if measured.priced_ns > 0.0 { format!(", of which page faults are priced {priced}") } else { String::new() };
        format!("{rest} were charged beside the calls and faults that were timed, such as interrupts and ends by signals{faults}")
    })
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

/// Files in memory, if many of the calls on files were made on them.
fn in_memory(seen: &Observation) -> Option<String> {
    const MANY: f64 = 0.1;
    let objects = || seen.together.calls.iter().flat_map(|call| &call.objects);
    let on = |kind: &str| objects().filter(|found| found.object == kind).map(|found| found.count).sum::<u64>();
    let (memory, device) = (on("tmpfs"), on("file"));
    (memory as f64 > MANY * (memory + device) as f64).then(|| {
        format!(
            "{memory} of {} calls on files were on files in memory (tmpfs), whose prices `TMPDIR=/dev/shm howslow run called --full` takes",
            memory + device
        )
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
    use analysis::bill::{Charged, MeasuredCalls, bill};
    use record::{CallCount, ObjectCount, Requests, Usage};

    use super::*;

    /// A bill of this many ns for `row`, priced by `by`, of a charge of 1 ms in the kernel.
    fn billed(what: &str, by: &str, ns: f64) -> (Observation, Bill) {
        let calls = vec![CallCount { call: "mkdir".into(), count: 1000, ..CallCount::default() }];
        let usage = Usage { cpu_ns: Some(1e6), system_ns: Some(1e6), voluntary_switches: Some(3), ..Usage::default() };
        let seen = Observation { together: Requests { calls, ..Requests::default() }, usage, ..Observation::default() };
        let mut bill = bill(&seen, None);
        bill.explained.value = ns;
        bill.charged = Some(Charged { ns: 1e6, kernel_alone: true, range_ns: None });
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
        assert!(text.contains("such as mkdir (40 % of the charge)"), "{text}");
        seen.usage.voluntary_switches = Some(500);
        let text = why(&seen, &open, &["call.x".into()]).expect("a reason");
        assert!(!text.contains("500") && text.contains("1 price lacking"), "{text}");
        let mut over = billed("read", "called.read", 2e6).1;
        assert!(why(&seen, &over, &[]).expect("a reason").contains("the counts do not tell"));
        let ns = |value: f64| analysis::statistics::Interval { value, low: value, high: value };
        over.rows[0].measured = Some(ns(5e5));
        over.measured = Some(MeasuredCalls { calls: ns(5e5), priced_ns: 1e5, apart_ns: 1.5e6, compared_ns: 5e5 });
        let text = why(&seen, &over, &[]).expect("a reason");
        assert!(text.contains("read took 500 ns each here, and its price is 2.00 µs"), "{text}");
        assert!(
            text.contains("500 µs were charged beside the calls") && text.contains("faults are priced 100 µs"),
            "{text}"
        );
        let (mut seen, removed) = billed("unlinkat", "called.unlink@content=written,size=4096", 2e6);
        let text = why(&seen, &removed, &[]).expect("a reason");
        assert!(text.contains("both cost much less"), "{text}");
        let counted = |object: &str, count: u64| ObjectCount { object: object.into(), count, bytes: None };
        seen.together.calls[0].objects = vec![counted("file", 95), counted("tmpfs", 5)];
        assert!(!why(&seen, &removed, &[]).expect("a reason").contains("files in memory"), "few of them");
        seen.together.calls[0].objects = vec![counted("tmpfs", 60), counted("file", 40), counted("pipe", 9)];
        let text = why(&seen, &removed, &[]).expect("a reason");
        assert!(text.contains("60 of 100 calls on files were on files in memory"), "{text}");
        assert!(!text.contains("both cost much less"), "one word on it is enough: {text}");
    }
}
