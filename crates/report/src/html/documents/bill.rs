//! A bill: what was counted, what it costs, what it waits for, what could be saved, its stacks; and two bills.

use analysis::bill::BilledFigure;
use record::largest_first;
use record::units::Amount;
use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{MOST, count, items, number, share, text, time};
use crate::chart::Flame;

/// Lines that are shown at once.
const FEW: usize = 25;

pub(super) fn bill(document: &Value, id: String) -> Section {
    let seen = &document["seen"];
    let elapsed = number(seen, "elapsed_ns");
    let charged = number(document, "charged_ns");
    let kernel = if document["kernel_alone"] == true { " in the kernel" } else { "" };
    let head = format!(
        "Of {}: {} elapsed, {} of processor time charged{kernel}, of which the bill explains {}; counted by {}.",
        text(seen, "what"),
        time(elapsed),
        time(charged),
        share(number(document, "explained_share")),
        text(seen, "source")
    );
    let findings = items(document, "findings").iter().take(MOST);
    let findings: Vec<_> = findings.map(|finding| format!("{}{}", text(finding, "text"), saves(finding))).collect();
    let none = if findings.is_empty() { "No habit that costs time was found.".to_string() } else { String::new() };
    let flame = Flame::from_folded(&stacks(seen));
    let [shown, rest] = lines(document);
    Section::new(id, "Bill")
        .with(Block::Text(head))
        .with(Block::Heading("What could be saved".into()))
        .with(Block::Text(none))
        .with(Block::List(findings))
        .with_titled("What it pays for", Block::Table(shown))
        .with(Block::Folded("All other lines".into(), vec![Block::Table(rest)]))
        .with_titled("What it waits for", Block::Table(waits(seen)))
        .with_titled(
            "Its calls in order",
            Block::Flame("Calls by the call before them; as wide as often".into(), "calls".into(), flame),
        )
        .with(Block::Text(text(document, "remedy").into()))
}

/// What a change would save, in elapsed time if that is known, else in processor time.
fn saves(finding: &Value) -> String {
    let ends = |key: &str| {
        let ends = finding.get(key)?.as_array()?;
        Some((ends.first()?.as_f64()?, ends.get(1)?.as_f64()?))
    };
    let found = ["saves_elapsed_ns", "saves_ns"].into_iter().find_map(ends);
    found.map_or_else(String::new, |(least, most)| format!(" (saves {} to {})", time(Some(least)), time(Some(most))))
}

/// The lines, dearest first: a few, and the others.
fn lines(document: &Value) -> [BlockTable; 2] {
    let cells = |row: &Value| {
        let bytes = number(row, "bytes").filter(|bytes| *bytes > 0.0);
        vec![
            text(row, "what").to_string(),
            count(number(row, "count")),
            bytes.map_or_else(String::new, |bytes| Amount(bytes).of("B")),
            number(row, "failed").filter(|failed| *failed > 0.0).map_or_else(String::new, |failed| count(Some(failed))),
            time(row.get("measured").and_then(|figure| number(figure, "ns"))),
            time(number(row, "cpu_ns")),
            time(row.get("total").and_then(|figure| number(figure, "ns"))),
        ]
    };
    let mut shown: Vec<Vec<String>> = items(document, "rows").iter().take(MOST).map(cells).collect();
    let rest = shown.split_off(shown.len().min(FEW));
    let titles = ["what", "times", "bytes", "failed", "CPU time measured", "by its price", "on the wall"];
    [shown, rest].map(|rows| BlockTable::new("<>>>>>>", &titles, rows))
}

fn waits(seen: &Value) -> BlockTable {
    let together = &seen["together"];
    let mut waits: Vec<&Value> = items(together, "waits").iter().collect();
    let total = |wait: &Value| number(wait, "total_ns").unwrap_or(0.0);
    largest_first(&mut waits, |one| total(one));
    let rows = waits.into_iter().take(FEW).map(|wait| {
        let [call, reason] = ["call", "reason"].map(|key| text(wait, key).to_string());
        let [together, half, most] = ["total_ns", "p50_ns", "p99_ns"].map(|key| time(number(wait, key)));
        vec![call, reason, count(number(wait, "count")), together, half, most]
    });
    BlockTable::new("<<>>>>", &["in the call", "for", "times", "together", "half within", "99 in 100 within"], rows)
}

/// The stacks of a bill: those of its samples if it has some, else each pair of calls of each process.
fn stacks(seen: &Value) -> String {
    let mut stacks = String::new();
    let frame = |name: &str| name.replace(';', ":").replace(char::is_whitespace, "_");
    for stack in items(seen, "stacks").iter().take(MOST) {
        let named =
            items(stack, "frames").iter().map(|called| text(called, "function")).filter(|name| !name.is_empty());
        let frames = named.map(frame);
        let whole = [frame(text(stack, "process"))].into_iter().chain(frames).chain([frame(text(stack, "call"))]);
        stacks += &format!("{} {}\n", whole.collect::<Vec<_>>().join(";"), number(stack, "calls").unwrap_or(0.0));
    }
    if !stacks.is_empty() {
        return stacks;
    }
    for process in items(seen, "processes").iter().take(MOST) {
        let requests = &process["requests"];
        for pair in items(requests, "pairs").iter().take(MOST) {
            let [own, first, then] = [text(process, "name"), text(pair, "first"), text(pair, "then")].map(frame);
            stacks += &format!("{own};{first};{then} {}\n", number(pair, "count").unwrap_or(0.0));
        }
    }
    stacks
}

/// Two bills: before and after.
pub(super) fn changes(document: &Value, id: String) -> Section {
    let names = super::json::texts(document, "bills");
    let [before, after] = [0, 1].map(|place| names.get(place).cloned().unwrap_or_default());
    let figures = items(document, "figures").iter().take(MOST).map(|figure| {
        let is_it = |known: &BilledFigure| serde_json::to_value(known).is_ok_and(|known| known == figure["figure"]);
        let known = BilledFigure::ALL.into_iter().find(is_it);
        let (name, is_count) = known.map_or(("", true), |figure| (figure.words(), figure.is_count()));
        let cell = |key: &str| if is_count { count(number(figure, key)) } else { time(number(figure, key)) };
        let over = number(figure, "before").zip(number(figure, "after")).filter(|(before, _)| *before > 0.0);
        let ends: Vec<f64> = items(figure, "ratio").iter().filter_map(Value::as_f64).collect();
        let range = if let [low, high] = ends[..] { format!(" ({low:.3} to {high:.3})") } else { String::new() };
        let ratio = over.map_or_else(String::new, |(before, after)| format!("{:.3}{range}", after / before));
        let verdict = text(figure, "verdict");
        let verdict = if verdict == "single" { "one run each: no verdict" } else { verdict };
        vec![name.into(), cell("before"), cell("after"), ratio, verdict.into()]
    });
    let figures =
        BlockTable::new("<>>><", &["for each unit", "before", "after", "after over before", "verdict"], figures);
    let rows = items(document, "rows").iter().take(MOST).map(|row| {
        let pair = |key: &str| [0, 1].map(|place| items(row, key).get(place).and_then(Value::as_f64));
        let counts = pair("count").map(count);
        let times = [pair("cpu_ns"), pair("waited_ns")].concat().into_iter().map(time);
        [text(row, "what").to_string()].into_iter().chain(counts).chain(times).collect()
    });
    let titles = ["line", "times before", "after", "CPU before", "after", "waits before", "after"];
    Section::new(id, "Bills before and after")
        .with(Block::Text(format!("Before: {before}. After: {after}. The unit is the {}.", text(document, "unit"))))
        .with(Block::Table(figures))
        .with(Block::Heading("What changed, line by line".into()))
        .with(Block::Table(BlockTable::new("<>>>>>>", &titles, rows)))
}
