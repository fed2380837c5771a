//! What differs between runs in addition to their costs: the possible causes.

use std::collections::BTreeSet;

use analysis::compare::{Comparison, DifferingFact};
use record::units::significant;
use serde_json::Value;

use super::view::{ComparisonView, Shown};
use crate::grid::{Grid, NOTHING};
use crate::text::Style;

/// Facts that the short page shows.
const FACTS: usize = 8;
/// Items of a list that a cell shows.
const ITEMS: usize = 4;
/// Characters in a cell.
const MOST: usize = 40;

pub(super) fn table(
    comparison: &Comparison<'_>,
    differing: &[DifferingFact],
    view: &ComparisonView<'_>,
    style: Style,
) -> String {
    if differing.is_empty() {
        return style.dim("machine, mitigations and settings are the same") + "\n";
    }
    let shown = if view.shown == Shown::All { differing.len() } else { differing.len().min(FACTS) };
    let (differing, more) = differing.split_at(shown);
    let mut grid = Grid::new(&format!("<{}", "<".repeat(comparison.runs.len())), NOTHING);
    let labels = (0..comparison.runs.len()).map(|place| view.label(place));
    grid.heading(["what differs".to_string()].into_iter().chain(labels));
    for difference in differing {
        let cells = difference.values.iter().enumerate().map(|(place, value)| cell(value, &difference.values, place));
        grid.row([format!("  {}", difference.field)].into_iter().chain(cells));
    }
    let fields = if more.len() == 1 { "field differs" } else { "fields differ" };
    let more = (!more.is_empty()).then(|| format!("{} more {fields} (--all)", more.len()));
    grid.render(style) + &style.asides("  ", more)
}

fn cell(value: &Value, all: &[Value], place: usize) -> String {
    let text = match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number.fract() != 0.0 => significant(number),
            _ => number.to_string(),
        },
        Value::Array(items) => list(items, all, place),
        other => other.to_string(),
    };
    let long = text.chars().count() > MOST;
    if long { text.chars().take(MOST - 1).chain(['…']).collect() } else { text }
}

/// A short list in full. For a long list, the items that the others lack.
fn list(items: &[Value], all: &[Value], place: usize) -> String {
    let words = |items: &[Value]| -> Vec<String> {
        items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), String::from)).collect()
    };
    let mine = words(items);
    if mine.len() <= ITEMS {
        return if mine.is_empty() { "none".into() } else { mine.join(" ") };
    }
    let others = all.iter().enumerate().filter(|(other, _)| *other != place).filter_map(|(_, value)| value.as_array());
    let others: Vec<BTreeSet<String>> = others.map(|items| words(items).into_iter().collect()).collect();
    let own: Vec<&String> = mine.iter().filter(|word| others.iter().any(|other| !other.contains(*word))).collect();
    match own.len() {
        0 => format!("{}, none of its own", mine.len()),
        many => {
            let first: Vec<&str> = own.iter().take(ITEMS).map(|word| word.as_str()).collect();
            let more = if many > ITEMS { " ..." } else { "" };
            format!("{}, {many} of its own: {}{more}", mine.len(), first.join(" "))
        }
    }
}
