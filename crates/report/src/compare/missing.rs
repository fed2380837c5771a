//! Costs without a row: costs of other versions, costs of one run only, and the reason why another run lacks them.

use analysis::by_key;
use analysis::compare::{Comparison, Only};
use record::units::counted;

use super::view::{ComparisonView, Shown};
use crate::text::{Style, and_more, and_so_on, in_table};

/// Names that a line shows before it only counts.
const NAMED: usize = 8;

/// Costs that were not compared because their work differs.
pub(super) fn versions(comparison: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    if comparison.versions.is_empty() {
        return String::new();
    }
    let mut text = style.bold("of different versions, not compared (--ignore-versions compares them)") + "\n";
    for one in &comparison.versions {
        let [(old, here), (new, there)] =
            [(one.base, 0), (one.other, one.run)].map(|(cost, run)| (cost.version, view.label(run)));
        let name = one.base.typed();
        text += &style.paragraph("  ", &format!("{name}: version {old} in {here}, {new} in {there}"));
    }
    text
}

/// The costs of each run alone: by family with counts, then the reasons of the other runs.
pub(super) fn only(comparison: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let mut text = String::new();
    if view.shown == Shown::Changed {
        return numbers(comparison, view, style);
    }
    for (place, only) in comparison.only.iter().enumerate().filter(|(_, only)| !only.is_empty()) {
        let heading = format!("only in {}: {}", view.label(place), counted(only.len() as u64, "cost"));
        text += &(style.bold(&heading) + "\n");
        for (family, costs) in by_key(only.iter().map(|cost| (cost.cost.heading(), cost))) {
            let names = and_so_on(costs.iter().map(|cost| name(cost)), NAMED);
            text += &style.paragraph(&format!("  {family}, {}: ", costs.len()), &names);
        }
        text += &style.paragraphs("  ", reasons(only, view).iter().map(|(why, names)| format!("{why}: {names}")));
    }
    text
}

/// The number of costs of each run alone, as one line.
fn numbers(comparison: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let lonely = comparison.only.iter().enumerate().filter(|(_, only)| !only.is_empty());
    let only_in = |place, count: usize| format!("{} only in {}", counted(count as u64, "cost"), view.label(place));
    let parts: Vec<String> = lonely.map(|(place, only)| only_in(place, only.len())).collect();
    if parts.is_empty() {
        return String::new();
    }
    style.aside("", &format!("{} (--all lists them)", parts.join(", ")))
}

fn name(only: &Only<'_>) -> String {
    format!("{} {}", in_table(&only.cost.operation), only.cost.at.values()).trim_end().into()
}

fn reasons(only: &[Only<'_>], view: &ComparisonView<'_>) -> Vec<(String, String)> {
    let skipped = only.iter().flat_map(|cost| {
        cost.skipped.iter().map(move |(run, skip)| {
            let remedy =
                if skip.remedy.is_empty() { String::new() } else { format!("; to measure it: {}", skip.remedy) };
            (format!("skipped in {}, {}{remedy}", view.label(*run), skip.reason), cost)
        })
    });
    by_key(skipped).into_iter().map(|(why, names)| (why, and_more(names.into_iter().map(name), NAMED))).collect()
}
