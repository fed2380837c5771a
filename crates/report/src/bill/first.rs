//! The first lines of a bill: where the time went, what could be saved, how far the bill explains it, where prices come from.

use analysis::bill::{Habit, known_split, place_of, waits_by_cause};
use record::units::{percent, range};
use record::{Nanoseconds, largest_first};

use super::view::BillView;
use crate::head::head_line;
use crate::text::{Style, in_table, shortened};

/// Lines that are shown, and findings.
const MOST_LINES: usize = 4;
const MOST_FINDINGS: usize = 3;
/// A share of the time that is worth a word.
const WORTH: f64 = 0.01;

/// These lines.
pub(super) fn first(view: &BillView, style: Style) -> String {
    let seen = view.seen;
    let alone = if seen.numbers_alone { ", numbers only" } else { "" };
    let how = format!("   {}   counted by {}{alone}", Nanoseconds(seen.elapsed_ns), seen.source);
    let room = style.width().saturating_sub(how.chars().count() + 8).max(16);
    let mut text = style.bold(&format!("bill of {}{how}", shortened(&in_table(&seen.what), room))) + "\n";
    let line = |first: &str, rest: &str| {
        if rest.is_empty() { String::new() } else { style.paragraph(first, rest) }
    };
    text += &line("time     ", &time(view));
    text += &line("most     ", &dearest(view));
    for (place, finding) in view.bill.findings.iter().take(MOST_FINDINGS).enumerate() {
        let first = format!("{}  {}  ", if place == 0 { "save" } else { "    " }, place + 1);
        text += &saving(&first, finding, view, style);
    }
    if view.bill.findings.is_empty() && !seen.together.calls.is_empty() {
        text += &line("save     ", "no habit was found that costs a hundredth of its processor time");
    }
    text += &line("closes   ", &closes(view));
    let prices = match (view.run, view.origin.summary.as_str()) {
        (None, _) => String::new(),
        (Some(run), "") => format!("{}, run {}   {}", view.state.word(), run.id, head_line(run)),
        (Some(_), from) => format!("{}, of this kernel: {from}; --all lists them", view.state.word()),
    };
    text + &line("prices   ", &prices)
}

/// Where the elapsed time went.
fn time(view: &BillView) -> String {
    let usage = &view.seen.usage;
    let elapsed = view.seen.elapsed_ns.max(1.0);
    let mut parts: Vec<(f64, String)> = Vec::new();
    match (known_split(usage), usage.cpu_ns) {
        (Some([user, kernel]), _) => parts.extend([(user, "user".to_string()), (kernel, "kernel".to_string())]),
        (None, Some(cpu)) => parts.push((cpu, "on a CPU".into())),
        (None, None) => {}
    }
    let waits = waits_by_cause(view.seen);
    if waits.is_empty() {
        let idle = usage.cpu_ns.map(|cpu| elapsed - cpu).filter(|idle| *idle > 0.0);
        parts.extend(idle.map(|idle| (idle, "without a CPU".into())));
    }
    parts.extend(waits.iter().map(|sum| {
        (sum.total_ns, format!("waiting {}", sum.waited_for.words().trim_end_matches(" or a lock of the kernel")))
    }));
    parts.retain(|(ns, _)| *ns >= WORTH * elapsed);
    largest_first(&mut parts, |one| one.0);
    let parts = parts.into_iter().take(MOST_LINES).map(|(ns, what)| format!("{} {what}", Nanoseconds(ns)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The dearest lines, with their share of the processor time. Calls that were measured hold their switches and transfers.
fn dearest(view: &BillView) -> String {
    let Some(charged) = view.bill.charged.filter(|charged| charged.ns > 0.0) else { return String::new() };
    let share = |row: &analysis::bill::BillRow| {
        row.measured.map(|measured| measured.value).or(row.cpu_ns).map(|ns| ns / charged.ns)
    };
    let is_held = |what: &str| view.bill.measured.is_some() && analysis::bill::is_within_calls(what);
    let rows = view.bill.rows.iter().filter(|row| !is_held(&row.what)).filter_map(|row| Some((share(row)?, row)));
    let rows = rows.filter(|(share, _)| *share >= WORTH).take(MOST_LINES);
    let lines = rows.map(|(share, row)| format!("{} {}", in_table(&record::typed_name(&row.what)), percent(share)));
    let lines = lines.collect::<Vec<_>>().join(", ");
    let what = if charged.kernel_alone { "kernel" } else { "processor" };
    if lines.is_empty() { lines } else { format!("of {what} time: {lines}") }
}

fn times_range([least, most]: [f64; 2]) -> String {
    range(Nanoseconds(least), Nanoseconds(most))
}

/// The evidence of a finding, as much of it as fits, and what it saves.
fn saving(first: &str, finding: &Habit, view: &BillView, style: Style) -> String {
    let end = match (finding.saves_elapsed_ns, finding.saves_ns) {
        (Some(ends), _) => format!("; saves {}", times_range(ends)),
        (None, Some(ends)) if ends[1] > 0.0 => format!("; saves {}", times_range(ends)),
        _ => String::new(),
    };
    // What can be done about it is shown below.
    let evidence = finding.text.split(": ").next().unwrap_or_default().trim_end_matches('.');
    let place = place_of(view.seen, &finding.calls).map(|place| format!("; {}", in_table(&place.function)));
    let end = place.unwrap_or_default() + &end;
    // It has two lines.
    let room = (2 * style.width()).saturating_sub(2 * first.chars().count() + end.chars().count() + 8);
    let evidence = match evidence.char_indices().nth(room) {
        Some(_) => evidence.chars().take(room.saturating_sub(1)).collect::<String>().trim_end().to_string() + "…",
        None => evidence.to_string(),
    };
    style.paragraph(first, &format!("{evidence}{end}"))
}

/// How much of the charge is explained.
fn closes(view: &BillView) -> String {
    let bill = view.bill;
    let Some(charged) = bill.charged.filter(|charged| charged.ns > 0.0) else { return String::new() };
    let what = if charged.kernel_alone { "kernel time" } else { "processor time" };
    let measured = bill.measured.and_then(|measured| measured.closes(&charged, bill.counting_ns)).map(|closes| {
        // A walk over 6,000 files took 88 ms, and 125 ms counted, of which 24 ms could be known as counting (lab/BILLS.md).
        let slowed = if closes.low > 1.0 {
            ", as counted calls are slower than others (--alternate 9 says how much)"
        } else {
            ""
        };
        let [value, low, high] = [closes.value, closes.low, closes.high].map(percent);
        format!("{value} ({}) of {what} found in its calls and page faults{slowed}", range(low, high))
    });
    let priced = bill.explained_share().filter(|_| view.run.is_some()).map(|share| match measured {
        Some(_) => format!("by prices {}", percent(share)),
        None => format!("prices explain {} of {} of {what}", percent(share), Nanoseconds(charged.ns)),
    });
    measured.into_iter().chain(priced).collect::<Vec<_>>().join("; ")
}
