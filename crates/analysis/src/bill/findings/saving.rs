//! What a finding saves: the processor time of calls that are not made.

use record::{CallCount, Observation};

use super::super::row::{CALLS, PROCESSES};
use super::super::rows::Bill;

/// Fewer of anything are no habit.
pub(super) const FEW: u64 = 100;
/// Calls that read what others send, or a file.
pub(super) const READS: &[&str] = &["read", "readv", "recvfrom", "recvmsg", "recvmmsg"];
/// Calls that open a name.
pub(super) const OPENS: &[&str] = &["open", "openat", "openat2"];
/// Calls that look at a name.
pub(super) const LOOKS: &[&str] = &["stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"];

/// A sentence, how many calls it would do without, and the least and the most that this saves in ns.
pub(super) type Saving = (String, f64, Option<[f64; 2]>);

/// The processor time of one call, at least and at most: as it was measured in this program, which another run of it changes by a seventh;
/// else by its price, which another program's caches and paths change by a quarter.
pub(super) fn each(bill: &Bill, call: &str) -> Option<[f64; 2]> {
    let row = bill.row(call)?;
    let by_price = || row.whole_cpu_ns().map(|cpu| [0.75 * cpu, 1.25 * cpu]);
    let all = row.measured.map(|measured| [0.85 * measured.low.max(0.0), 1.15 * measured.high]).or_else(by_price)?;
    Some(all.map(|ns| ns / row.count.max(1) as f64))
}

/// A call that is not made is not counted either, so only its own time counts.
pub(super) fn without(text: String, calls: f64, bill: &Bill, call: &str) -> Saving {
    (text, calls, each(bill, call).map(|each| each.map(|ns| ns * calls)))
}

/// What was counted of these calls.
pub(super) fn counted<'a>(seen: &'a Observation, calls: &[&str]) -> impl Iterator<Item = &'a CallCount> + Clone {
    seen.together.calls.iter().filter(move |call| calls.contains(&call.call.as_str()))
}

/// The one of these calls that was made most often.
pub(super) fn most_frequent<'a>(seen: &'a Observation, calls: &[&str]) -> Option<&'a CallCount> {
    counted(seen, calls).max_by_key(|call| call.count)
}

/// How often these calls succeeded.
pub(super) fn answered(seen: &Observation, calls: &[&str]) -> u64 {
    counted(seen, calls).map(|call| call.count.saturating_sub(call.failed())).sum()
}

/// The charged time in the kernel that no call took: faults, switches and interrupts. Without measurements, the prices of what is no call.
pub(super) fn beside_calls(bill: &Bill) -> Option<f64> {
    let by_price = || {
        let others = bill.rows.iter().filter(|row| row.family != CALLS && !PROCESSES.contains(&row.what.as_str()));
        let prices = others.map(|row| row.whole_cpu_ns()).collect::<Option<Vec<f64>>>()?;
        (!prices.is_empty()).then(|| prices.iter().sum())
    };
    let charged = bill.charged.filter(|charged| charged.kernel_alone);
    let measured = charged.zip(bill.measured);
    measured.map(|(charged, calls)| (charged.ns - bill.counting_ns - calls.calls.value).max(0.0)).or_else(by_price)
}
