//! Documents of bills: two that are read are compared and printed.
#![no_main]

use analysis::bill::{WorkUnit, WrittenBill, changed_figures, changes};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let half = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (one, other) = data.split_at(half);
    let Ok(one) = WrittenBill::read(one) else { return };
    let other = if other.is_empty() { data } else { &other[1..] };
    let Ok(other) = WrittenBill::read(other) else { return };
    let repetitions = [one.seen.all_repetitions(), other.seen.all_repetitions()];
    let figures = changed_figures(&repetitions[0], &repetitions[1], &WorkUnit::Whole, false);
    let lines = [one.lines(1.0, &other), other.lines(1.0, &one)];
    let rows = changes([&lines[0], &lines[1]]);
    let bills = [one.seen.what.as_str(), other.seen.what.as_str()];
    bills.iter().for_each(|name| howslow_fuzz::is_plain(name));
    let view = report::BillChanges {
        bills,
        unit: "command",
        units: [1.0; 2],
        repetitions: repetitions.map(|of| of.len()),
        figures: &figures,
        rows: &rows,
        gate: None,
    };
    howslow_fuzz::is_plain(&report::bill_changes(&view, report::Style::PLAIN));
});
