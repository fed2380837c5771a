//! What calls took in the program itself, on the page of a bill.

use analysis::bill::Bill;
use record::Nanoseconds;
use record::units::{percent, range};

use crate::text::Style;

/// What was measured in the program itself, and how far prices are from it.
pub(super) fn line(bill: &Bill, style: Style) -> String {
    let Some((measured, charged)) = bill.measured.zip(bill.charged) else { return String::new() };
    let Some(closes) = measured.closes(&charged, bill.counting_ns) else { return String::new() };
    let rest = match measured.priced_ns > 0.0 {
        true => format!(" and {} at the price of page faults", Nanoseconds(measured.priced_ns)),
        false => String::new(),
    };
    let apart = measured.apart().map_or_else(String::new, |apart| {
        format!(
            "; prices differ from what was measured by {} of it, call by call, without regard to sign",
            percent(apart)
        )
    });
    let what = if measured.priced_ns > 0.0 { "calls" } else { "calls and page faults" };
    let text = format!(
        "{} in {what}{rest}: {} ({}) of the {} charged without counting{apart}",
        Nanoseconds(measured.calls.value),
        percent(closes.value),
        range(percent(closes.low), percent(closes.high)),
        Nanoseconds(charged.ns - bill.counting_ns)
    );
    style.paragraph("measured ", &text)
}
