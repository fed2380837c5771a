//! The table as plain text, for one interval without a screen.

use analysis::bill::Account;

use crate::screen::about::View;
use crate::screen::column::{Column, known};
use crate::screen::state::State;

/// The table of an interval: a line for each of the first `most` rows, and what the others are together.
pub fn page(state: &State, most: usize) -> String {
    let columns = known(&state.about);
    let mut rows = vec![columns.iter().map(|column| column.title_in(state.settings.view).to_string()).collect()];
    let shown = |account: &Account| columns.iter().map(|column| column.text(account, state.elapsed_ns)).collect();
    rows.extend(state.accounts().take(most).map(shown));
    let mut text = lines(&columns, &rows);
    let others = state.accounts().count().saturating_sub(most);
    if others > 0 {
        let what = if state.settings.view == View::Processes { "processes" } else { "cgroups" };
        text += &format!("{others} other {what} did something; --json tells all\n");
    }
    text
}

/// Cells side by side, numbers to the right.
fn lines(columns: &[Column], rows: &[Vec<String>]) -> String {
    let length = |text: &String| text.chars().count();
    let width = |place: usize| rows.iter().map(|row| length(&row[place])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(columns).zip(&widths).map(|((cell, column), width)| match column {
            Column::Name => cell.clone(),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    rows.iter().map(line).collect()
}
