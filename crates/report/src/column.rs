//! Tables by their columns: each defines in one place what it is called, on which side it stands, when a narrow page leaves it
//! out, and what its cells are.

use std::collections::BTreeMap;

use crate::grid::Grid;

/// A column of a table with a row for each `R`.
pub(crate) struct Column<'c, R: ?Sized> {
    title: String,
    side: char,
    turn: u8,
    cell: Box<dyn FnMut(&R) -> String + 'c>,
}

/// A column of figures.
pub(crate) fn right<'c, R: ?Sized>(title: impl Into<String>, cell: impl FnMut(&R) -> String + 'c) -> Column<'c, R> {
    Column { title: title.into(), side: '>', turn: 0, cell: Box::new(cell) }
}

/// A column of words.
pub(crate) fn left<'c, R: ?Sized>(title: impl Into<String>, cell: impl FnMut(&R) -> String + 'c) -> Column<'c, R> {
    Column { side: '<', ..right(title, cell) }
}

impl<R: ?Sized> Column<'_, R> {
    /// The same column, which a narrow page leaves out in this turn: those of turn 1 first, those of one turn together.
    pub(crate) fn dropped(self, turn: u8) -> Self {
        Column { turn, ..self }
    }
}

/// A grid of a name at the left and these columns.
pub(crate) fn grid<R: ?Sized>(columns: &[Column<'_, R>]) -> Grid {
    let mut turns: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (column, at) in columns.iter().zip(1..).filter(|(column, _)| column.turn > 0) {
        turns.entry(column.turn).or_default().push(at);
    }
    let sides: String = ['<'].into_iter().chain(columns.iter().map(|column| column.side)).collect();
    Grid::new(&sides, turns.into_values())
}

/// The heading of the names, and the titles.
pub(crate) fn titles<R: ?Sized>(heading: &str, columns: &[Column<'_, R>]) -> Vec<String> {
    [heading.to_string()].into_iter().chain(columns.iter().map(|column| column.title.clone())).collect()
}

/// The cells of a row behind its name.
pub(crate) fn cells<R: ?Sized>(row: &R, columns: &mut [Column<'_, R>]) -> Vec<String> {
    columns.iter_mut().map(|column| (column.cell)(row)).collect()
}

pub(crate) fn named<R: ?Sized>(name: String, row: &R, columns: &mut [Column<'_, R>]) -> Vec<String> {
    [name].into_iter().chain(cells(row, columns)).collect()
}
