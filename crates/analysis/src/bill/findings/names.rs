//! Findings about names: files that are looked up or opened more often than is needed.

use record::{CallCount, Observation};

use super::super::rows::Bill;
use super::saving::{FEW, LOOKS, OPENS, Saving, counted, each, most_frequent};

/// Names that are looked up without being opened.
pub(super) fn looks(seen: &Observation, bill: &Bill) -> Option<Saving> {
    let most = most_frequent(seen, LOOKS)?;
    let looks = counted(seen, LOOKS);
    let count: u64 = looks.clone().map(|call| call.count).sum();
    if count < 10 * FEW || count * 4 < seen.together.total() {
        return None;
    }
    let all: f64 = looks.filter_map(|call| Some(each(bill, &call.call)?[1] * call.count as f64)).sum();
    let share = 100.0 * count as f64 / seen.together.total().max(1) as f64;
    let text = format!(
        "{share:.0} % of all calls look up a name without opening it ({} of them {}): a folder's listing tells the kind of \
         each entry (d_type), and an open folder shortens the way.",
        count, most.call
    );
    // Some look-ups are needed, whatever is done.
    Some((text, count as f64, (all > 0.0).then_some([0.0, all])))
}

/// Few files that are opened again and again.
pub(super) fn reopened(call: &CallCount, seen: &Observation, bill: &Bill) -> Option<Saving> {
    /// The estimate of names errs by a few per cent.
    const AGAIN: u64 = 10;
    let opened = call.count.checked_sub(call.failed())?;
    let names = seen.together.distinct_names?.max(1);
    if !OPENS.contains(&call.call.as_str()) || opened < 10 * FEW || opened < AGAIN * names {
        return None;
    }
    let text = format!(
        "{opened} {} opened no more than {names} files: a file that stays open is read with pread, and costs its opening once.",
        call.call
    );
    let again = (opened - names) as f64;
    let both = each(bill, &call.call).map(|open| {
        let close = each(bill, "close").unwrap_or([0.0; 2]);
        [(open[0] + close[0]) * again, (open[1] + close[1]) * again]
    });
    Some((text, 2.0 * again, both))
}

/// Names whose attributes are asked for right before they are opened.
pub(super) fn attributes_first(seen: &Observation, bill: &Bill) -> Option<Saving> {
    let count = seen.together.attributes_first;
    let most = most_frequent(seen, LOOKS)?;
    if count < FEW {
        return None;
    }
    let text = format!(
        "{count} opens came right after a look-up of the same name, such as by {}: open it first, and ask its descriptor (fstat) what is \
         to be known.",
        most.call
    );
    // Where the attributes are needed, asking the descriptor takes the place of the look-up.
    let saves = each(bill, &most.call).map(|[least, most]| [0.3 * least * count as f64, most * count as f64]);
    Some((text, count as f64, saves))
}
