//! Documents of bills: two that are read are compared and printed.
#![no_main]

use analysis::bill::{WrittenBill, changes};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let half = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (one, other) = data.split_at(half);
    let Ok(one) = WrittenBill::read(one) else { return };
    let other = if other.is_empty() { data } else { &other[1..] };
    let Ok(other) = WrittenBill::read(other) else { return };
    let rows = changes(&one, &other);
    let names = [one.name(), other.name()];
    names.iter().for_each(|name| howslow_fuzz::is_plain(name));
    let page = report::bill_changes(names, &rows, [one.charged_ns(), other.charged_ns()], report::Style::PLAIN);
    howslow_fuzz::is_plain(&page);
});
