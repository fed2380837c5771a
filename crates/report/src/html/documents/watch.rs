//! A watch: which costs changed, when, and what else changed then. The series themselves, where the page has them, are charts.

use record::units::counted;
use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{MOST, items, number, text};
use super::other::cell;
use crate::chart::{Axis, Chart, Series, Unit};

const CHANGES: usize = 30;

pub(super) fn watch(document: &Value, id: String) -> Section {
    let among = if text(document, "among") == "class" { "machines of its class" } else { "this machine" };
    let count = |name: &str, noun: &str| counted(number(document, name).unwrap_or(0.0) as u64, noun);
    let head = format!("{} beside {} of {among}.", count("costs", "cost"), count("others", "earlier run"));
    let mut section = Section::new(id, "Watch").with(Block::Text(head));
    let changes = items(document, "changes");
    if changes.is_empty() {
        section = section.with(Block::Text("No cost changed.".into()));
    }
    for change in changes.iter().take(CHANGES) {
        let runs = number(change, "runs").unwrap_or(0.0);
        let started = text(change, "started");
        let since = if started.is_empty() { String::new() } else { format!(" at {started}") };
        let seen = if runs == 1.0 { "only the newest run shows it".into() } else { format!("{runs} runs show it") };
        let costs = items(change, "costs").iter().take(MOST).map(|cost| {
            let [times, low, high] = ["ratio", "low", "high"]
                .map(|key| number(cost, key).map_or_else(|| "-".into(), |of| format!("{of:.3}")));
            let lasts = if cost.get("lasts").and_then(Value::as_bool) == Some(false) { "not any more" } else { "" };
            vec![text(cost, "cost").into(), times, format!("{low} – {high}"), lasts.into()]
        });
        let also = items(change, "also").iter().take(40).map(|fact| {
            let value = |key: &str| fact.get(key).map(cell).unwrap_or_default();
            vec![text(fact, "field").into(), value("before"), value("after")]
        });
        let changed = counted(items(change, "costs").len() as u64, "cost");
        section = section
            .with(Block::Heading(format!("{changed} changed{since}; {seen}")))
            .with(Block::Table(BlockTable::new("<>>>", &["cost", "times", "low – high", ""], costs)))
            .with(Block::Table(BlockTable::new("<<<", &["what else changed then", "before", "after"], also)));
    }
    for series in items(document, "series").iter().take(CHANGES) {
        section = section.with(Block::Chart(chart(series)));
    }
    section
}

/// A cost from run to run, with its changes marked.
fn chart(series: &Value) -> Chart {
    let figures = items(series, "figures").iter().enumerate().filter_map(|(place, figure)| {
        let [value, low, high] = ["value", "low", "high"].map(|key| number(figure, key));
        Some(((place as f64 + 1.0, value?), (low?, high?)))
    });
    let (points, intervals) = figures.unzip();
    let marks =
        items(series, "changes").iter().filter_map(Value::as_f64).map(|place| (place + 0.5, "change".to_string()));
    Chart {
        title: text(series, "cost").into(),
        x: Axis::linear("run", Unit::Count).marked(marks.collect()),
        y: Axis::linear("time", Unit::Nanoseconds),
        series: vec![Series::new("", points).with_intervals(intervals)],
    }
}
