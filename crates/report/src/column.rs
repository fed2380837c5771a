//! Tables by their columns: each defines in one place what it is called, on which side it stands, when a narrow page leaves it
//! out, and what its cells are.

use crate::grid::{Grid, in_turns};

/// A column of a table with a row for each `R`.
pub(crate) struct Column<'c, R> {
    title: &'static str,
    side: char,
    turn: u8,
    cell: Box<dyn Fn(&R) -> String + 'c>,
}

/// A column of figures.
pub(crate) fn right<'c, R>(title: &'static str, cell: impl Fn(&R) -> String + 'c) -> Column<'c, R> {
    Column { title, side: '>', turn: 0, cell: Box::new(cell) }
}

/// A column of words.
pub(crate) fn left<'c, R>(title: &'static str, cell: impl Fn(&R) -> String + 'c) -> Column<'c, R> {
    Column { side: '<', ..right(title, cell) }
}

impl<R> Column<'_, R> {
    /// The same column, which a narrow page leaves out in this turn: those of turn 1 first, those of one turn together.
    pub(crate) fn dropped(self, turn: u8) -> Self {
        Column { turn, ..self }
    }
}

/// A grid of a name at the left and these columns.
pub(crate) fn grid<R>(columns: &[Column<'_, R>]) -> Grid {
    let sides: String = ['<'].into_iter().chain(columns.iter().map(|column| column.side)).collect();
    Grid::new(&sides, in_turns((1..).zip(columns.iter().map(|column| column.turn))))
}

/// The heading of the names, and the titles.
pub(crate) fn titles<R>(heading: &'static str, columns: &[Column<'_, R>]) -> impl Iterator<Item = &'static str> {
    std::iter::once(heading).chain(columns.iter().map(|column| column.title))
}

/// The cells of a row, its name first.
pub(crate) fn cells<R>(name: String, row: &R, columns: &[Column<'_, R>]) -> impl Iterator<Item = String> {
    std::iter::once(name).chain(columns.iter().map(move |column| (column.cell)(row)))
}
