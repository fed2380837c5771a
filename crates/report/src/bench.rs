//! Two builds beside each other, benchmark by benchmark: the page, Markdown for a comment, and a badge.

mod badge;
mod markdown;
mod shown;

use analysis::compare::Verdict;
use record::printable;

use crate::grid::{Grid, NOTHING, RowKind};
use crate::text::Style;

pub use badge::bench_badge;
pub use markdown::bench_markdown;
pub use shown::{BenchRow, BenchShown, NullRuns};

/// The page.
pub fn bench(shown: &BenchShown, style: Style) -> String {
    let [old, new] = shown.names.each_ref().map(|name| printable(name));
    let mut text = style.headline(&format!("{new} beside {old}: {}", shown.summary())) + "\n";
    let mut grid = Grid::new("<>>>>", NOTHING);
    grid.heading(["benchmark", "old", "new", "new / old", "verdict"]);
    for row in &shown.rows {
        let kind = match row.verdict() {
            Verdict::Slower => RowKind::Slower,
            Verdict::Faster => RowKind::Faster,
            Verdict::Unknown => RowKind::Aside,
            _ => RowKind::Row,
        };
        let [old, new] = row.times();
        grid.add(kind, vec![printable(&row.name), old, new, row.interval(), row.words()]);
    }
    text += &grid.render(style);
    let notes = shown.rows.iter().flat_map(|row| {
        let name = printable(&row.name);
        row.all_notes().into_iter().map(move |note| format!("{name}: {note}"))
    });
    let notes: Vec<String> = notes.chain(shown.notes.iter().cloned()).chain(shown.null()).collect();
    if !notes.is_empty() {
        text.push('\n');
    }
    text += &style.paragraphs("  ", notes);
    text + &style.aside("", "In brackets: where the ratio lies, 95 times in 100.")
}

#[cfg(test)]
mod tests {
    use super::shown::tests::example;
    use super::*;
    use crate::text::Colours;

    #[test]
    fn the_page_shows_what_changed_and_what_is_open() {
        let page = bench(&example(), Style::new(Colours::Off, 110));
        assert!(
            page.starts_with("this build beside main: 1 slower, 1 the same, 1 inconclusive, 1 not compared of 4"),
            "{page}"
        );
        for text in
            ["5.0 % slower", "1.00 -> 2.00 allocations, 64.0 -> 128 B allocated", "parse: it panicked: no input"]
        {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(page.contains("called changed in 0 of 4 comparisons"), "{page}");
    }
}
