//! Notes on a row: doubts of its costs, other names, other estimates, why there is no ratio. They are numbered, shown
//! once each, and short enough for many rows.

use analysis::compare::{ComparisonRow, RatioToBase, is_published};
use record::{Cost, Doubt, Run};

use super::view::ComparisonView;
use crate::footnotes::Footnotes;
use crate::text::in_table;

/// The numbers of a row's notes, and the name of its partner if it differs.
pub(super) fn notes(
    row: &ComparisonRow<'_>,
    view: &ComparisonView<'_>,
    runs: &[Run],
    footnotes: &mut Footnotes,
) -> String {
    let mut texts = doubts(row.base, &view.label(0));
    let mut partners = Vec::new();
    for (place, levels) in super::levels::compared_levels(row) {
        let [base, other] = [0, place].map(|place| view.label(place));
        texts.extend(levels.map(|levels| super::levels::note(&levels, [&base, &other])));
    }
    for (place, other) in row.others.iter().enumerate() {
        let Some((cost, against)) = other else { continue };
        texts.extend(doubts(cost, &view.label(place + 1)));
        if let RatioToBase::Unknown(why) = &against.ratio {
            texts.push(why.clone());
        }
        // A published figure is quoted by the only estimate it has.
        let published = is_published(&runs[place + 1], cost) || is_published(&runs[0], row.base);
        if cost.headline != row.base.headline && !published {
            let [one, other] = [row.base, *cost].map(|cost| cost.headline.word());
            texts.push(format!("different estimates: {one} in the base, {other} in {}", view.label(place + 1)));
        }
        if cost.version != row.base.version && cost.operation == row.base.operation && !published {
            let (one, other) = (row.base.version, cost.version);
            texts.push(format!("different work: version {one} in the base, {other} in {}", view.label(place + 1)));
        }
        if cost.operation != row.base.operation {
            partners.push(format!("{} {}", in_table(&cost.operation), cost.at.values()).trim_end().to_string());
        }
    }
    let mut parts = vec![footnotes.refer(texts)];
    if !partners.is_empty() {
        parts.push(format!("by {}", partners.join(", ")));
    }
    parts.join(" ").trim_start().to_string()
}

fn doubts(cost: &Cost, label: &str) -> Vec<String> {
    // The row itself has "at most".
    let shown = cost.doubts.iter().filter(|doubt| !matches!(doubt, Doubt::AtMost { .. }) || !cost.holds_zero());
    shown.map(|doubt| format!("{label}: {}", doubt.short())).collect()
}
