//! A watch as a page: what changed, when, and what else changed then.

use record::units::{counted, percent};
use record::{printable, typed_name};
use serde_json::Value;

use crate::document::{WatchChange, WatchCost, WatchDocument, WatchFact};
use crate::grid::{Grid, RowKind};
use crate::text::{Style, in_table};

/// So many facts are shown for a change; the document has all.
const MOST_FACTS: usize = 12;

/// The page of a watch.
pub fn watch(document: &WatchDocument, style: Style) -> String {
    let host = if document.host.is_empty() { String::new() } else { format!("{}   ", document.host) };
    let others = match (document.among, counted(document.others as u64, "earlier run")) {
        ("class", others) => format!("{others} of machines of its class, because this one has too few"),
        (_, others) => format!("{others} of this machine"),
    };
    let few = match document.too_few {
        0 => String::new(),
        1 => "; 1 more has too few earlier figures to be watched".into(),
        few => format!("; {few} more have too few earlier figures to be watched"),
    };
    let costs = counted(document.costs as u64, "cost");
    let mut page = format!("{}   {host}{}\n{costs} beside {others}{few}\n", document.run, document.class);
    if document.changes.is_empty() {
        return page + &format!("\nno cost changed by {} or more\n", percent(document.least));
    }
    for change in &document.changes {
        page += &style.title(&title(change));
        let mut grid = Grid::new("<>>>", [vec![2]]);
        for cost in &change.costs {
            let name = typed_name(&cost.cost);
            let (id, point) = name.split_once('@').unwrap_or((&name, ""));
            let kind = if cost.ratio > 1.0 { RowKind::Slower } else { RowKind::Faster };
            let lasts = if cost.lasts { "" } else { "not any more" };
            let cells = [
                format!("  {} {}", in_table(id), printable(point)).trim_end().to_owned(),
                times(cost.ratio),
                times_range(cost),
                lasts.into(),
            ];
            grid.add(kind, cells);
        }
        page += &grid.render(style);
        page += &facts(&change.also, style);
    }
    page
}

fn title(change: &WatchChange) -> String {
    let costs = counted(change.costs.len() as u64, "cost");
    let when = change.started.get(..16).unwrap_or(&change.started).replace('T', " ");
    let seen = match change.runs {
        1 => "; only this run shows it, another one confirms it or not".into(),
        runs => format!("; {runs} runs"),
    };
    format!("{costs} changed at {when} with run {}{seen}", change.since)
}

/// `1.10 times slower`, `1.05 times faster`.
fn times(ratio: f64) -> String {
    let (times, word) = if ratio >= 1.0 { (ratio, "slower") } else { (1.0 / ratio, "faster") };
    format!("{times:.3} times {word}")
}

/// The interval of that, in the same words: of a faster cost, how many times faster.
fn times_range(cost: &WatchCost) -> String {
    let (low, high) = if cost.ratio >= 1.0 { (cost.low, cost.high) } else { (1.0 / cost.high, 1.0 / cost.low) };
    format!("{low:.3} - {high:.3}")
}

fn facts(facts: &[WatchFact], style: Style) -> String {
    if facts.is_empty() {
        return style.dim("  nothing else that howslow knows of changed then") + "\n";
    }
    let mut text = String::from("  what else changed then\n");
    for fact in facts.iter().take(MOST_FACTS) {
        text += &format!("    {}: {} -> {}\n", fact.field, value_text(&fact.before), value_text(&fact.after));
    }
    if facts.len() > MOST_FACTS {
        text += &(style.dim(&format!("    and {} more; --json has all", facts.len() - MOST_FACTS)) + "\n");
    }
    text
}

fn value_text(value: &Value) -> String {
    /// Longer values, such as a command line, are cut.
    const MOST: usize = 60;
    let text = match value {
        Value::Null => "unknown".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let text = printable(&text);
    if text.chars().count() > MOST { text.chars().take(MOST).collect::<String>() + "..." } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_change_is_of_the_figure_shown() {
        let cost = |ratio, low, high| WatchCost { cost: "a.b".into(), ratio, low, high, lasts: true };
        let faster = cost(0.8, 0.75, 0.85);
        assert_eq!(
            (times(faster.ratio).as_str(), times_range(&faster).as_str()),
            ("1.250 times faster", "1.176 - 1.333")
        );
        assert_eq!(times_range(&cost(1.1, 1.05, 1.15)), "1.050 - 1.150");
    }
}
