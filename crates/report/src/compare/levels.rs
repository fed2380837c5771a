//! Costs with levels: what was compared, and shares that moved although the levels did not.

use analysis::compare::{Comparison, ComparisonRow, LevelsBeside};
use record::Level;
use record::units::percent;

use super::view::ComparisonView;
use crate::text::{Style, in_table};

/// The note on a row, for one of the other runs.
pub(super) fn note(it: &LevelsBeside<'_>, labels: [&str; 2]) -> String {
    let [base, other] = [(it.base, labels[0]), (it.other, labels[1])].map(|(levels, label)| match levels {
        [] => format!("{label}: at one level alone"),
        levels => format!("{label}: {}", told(levels)),
    });
    let moved = if it.moved { "; the shares moved, which is no change of the cost" } else { "" };
    format!("{base}; {other}; compared level with level{moved}")
}

/// Shares that moved, one line each, whatever rows are shown.
pub(super) fn moved(it: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let mut text = String::new();
    for row in &it.rows {
        for (place, beside) in besides(row) {
            if let Some(beside) = beside.filter(|beside| beside.moved) {
                let [base, other] = [(beside.base, 0), (beside.other, 1)]
                    .map(|(levels, at)| levels.get(beside.compared[at]).map_or(1.0, |level| level.share));
                let sentence = format!(
                    "{}{}: the time at its level of {} moved from {} in {} to {} in {}; its levels did not, so this is no change of \
                     the cost",
                    in_table(&row.base.operation),
                    row.base.at.typed(),
                    level(&beside),
                    percent(base),
                    view.label(0),
                    percent(other),
                    view.label(place)
                );
                text += &(style.paragraph("", &sentence) + "\n");
            }
        }
    }
    text
}

/// The level that was compared.
fn level(it: &LevelsBeside<'_>) -> String {
    let level = it.base.get(it.compared[0]).or(it.other.get(it.compared[1]));
    level.map_or_else(String::new, |level| level.ns.to_string())
}

/// The levels beside those of each other run, with its place.
pub(super) fn besides<'r>(row: &'r ComparisonRow<'_>) -> impl Iterator<Item = (usize, Option<LevelsBeside<'r>>)> {
    let others = row.others.iter().zip(1..);
    others.map(|(other, place)| (place, other.as_ref().and_then(|(cost, _)| LevelsBeside::of(row.base, cost))))
}

/// `606 ns (54 %) and 908 ns (46 %)`.
fn told(levels: &[Level]) -> String {
    levels.iter().map(|level| format!("{} ({})", level.ns, percent(level.share))).collect::<Vec<_>>().join(" and ")
}
