//! Costs with levels: what was compared, and shares that moved although the levels did not.

use analysis::compare::{ComparedLevels, Comparison, ComparisonRow};
use record::Level;
use record::units::percent;

use super::view::ComparisonView;
use crate::text::{Style, in_table};

/// The note on a row, for one of the other runs.
pub(super) fn note(pair: &ComparedLevels<'_>, labels: [&str; 2]) -> String {
    let [base, other] = [(pair.base, labels[0]), (pair.other, labels[1])].map(|(levels, label)| match levels {
        [] => format!("{label}: at one level alone"),
        levels => format!("{label}: {}", described(levels)),
    });
    let moved = if pair.moved { "; the shares moved, which is no change of the cost" } else { "" };
    let how =
        if pair.comparable { "compared level with level" } else { "none of the levels is at the same place in both" };
    format!("{base}; {other}; {how}{moved}")
}

/// Shares that moved, one line each, whatever rows are shown.
pub(super) fn moved(comparison: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let mut text = String::new();
    for row in &comparison.rows {
        for (place, pair) in compared_levels(row) {
            if let Some(pair) = pair.filter(|pair| pair.moved) {
                let [base, other] = [(pair.base, 0), (pair.other, 1)]
                    .map(|(levels, at)| levels.get(pair.compared[at]).map_or(1.0, |level| level.share));
                let sentence = format!(
                    "{}{}: the time at its level of {} moved from {} in {} to {} in {}; its levels did not, so this is no change of \
                     the cost",
                    in_table(&row.base.operation),
                    row.base.at.typed(),
                    level(&pair),
                    percent(base),
                    view.label(0),
                    percent(other),
                    view.label(place)
                );
                text += &style.paragraph("", &sentence);
            }
        }
    }
    text
}

/// The level that was compared.
fn level(pair: &ComparedLevels<'_>) -> String {
    let level = pair.base.get(pair.compared[0]).or(pair.other.get(pair.compared[1]));
    level.map_or_else(String::new, |level| level.ns.to_string())
}

/// The levels beside those of each other run, with its place.
pub(crate) fn compared_levels<'r>(
    row: &'r ComparisonRow<'_>,
) -> impl Iterator<Item = (usize, Option<ComparedLevels<'r>>)> {
    let others = row.others.iter().zip(1..);
    others.map(|(other, place)| (place, other.as_ref().and_then(|(cost, _)| ComparedLevels::of(row.base, cost))))
}

/// `606 ns (54 %) and 908 ns (46 %)`.
fn described(levels: &[Level]) -> String {
    levels.iter().map(|level| format!("{} ({})", level.ns, percent(level.share))).collect::<Vec<_>>().join(" and ")
}
