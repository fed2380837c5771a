//! Costs beside the reference machines: the verdict in sentences, and single costs with their ratios.

use analysis::reference::Held;
use record::Cost;

use crate::grid::Grid;
use crate::text::Style;

/// The sentences of a verdict below their title; empty without a sentence.
pub fn compared_with_references(sentences: &[String], style: Style) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    style.title("beside the reference machines") + &style.paragraphs("  ", sentences)
}

/// Costs, each beside every reference that has it, and what is odd about them; empty if no reference has any.
pub fn held(rows: &[(&Cost, Held<'_>)], odd: &[String], style: Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<<>>>", [vec![3], vec![2]]);
    grid.heading(["beside the reference machines", "reference", "here", "there", "x ref"]);
    for (cost, held) in rows {
        let times = held.text().unwrap_or_else(|| "-".into());
        let figures = [cost.quoted().to_string(), held.cost.quoted().to_string(), times];
        let names = [format!("  {} {}", cost.operation, cost.at.values()), held.reference.id.clone()];
        grid.row(names.into_iter().chain(figures));
    }
    format!("\n{}{}", grid.render(style), style.paragraphs("  ", odd))
}
