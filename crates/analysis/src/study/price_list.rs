//! A price list: printed rates, times and block moves, each beside the same thing here.

use record::{Book, Bytes, Nanoseconds, Run};

use super::data::PrintedRow;
use super::definition::Paper;
use super::table::{Cell, followed};
use crate::derived::{Part, Route, net};
use crate::statistics::Interval;
use crate::sums::quotient;

/// A row for every analogue. The first row has the printed figures.
pub(super) fn rows(row: &PrintedRow, block: &Part, paper: &Paper, run: &Run) -> Vec<Vec<Cell>> {
    let then = paper.run.costs.iter().find(|cost| cost.operation == row.paper).map(net);
    let block = block.find(run).map(net);
    let printed = paper.entry(row.paper).map_or_else(nothing_printed, |(book, entry)| printed(book, entry));
    if row.here.is_empty() {
        let mut cells = printed;
        cells.extend([Cell::Text("nothing of the kind".into()), Cell::Empty]);
        cells.extend([Cell::Unknown, Cell::Unknown, Cell::Unknown, Cell::Empty, Cell::Unknown, Cell::Unknown]);
        cells.extend([Cell::Text("nothing of the kind here".into()), Cell::Doubts(Vec::new())]);
        return vec![cells];
    }
    let cells = |(index, route): (usize, &Route)| {
        let figure = followed(route, run);
        let now = figure.as_ref().ok().copied();
        let mut cells = if index == 0 { printed.clone() } else { nothing_printed() };
        cells.extend([Cell::Text(route.short_formula()), Cell::Text(route.formula())]);
        cells.extend([Cell::cost(&figure), Cell::width(&figure)]);
        cells.push(Cell::ratio(now.zip(block).and_then(|(now, block)| quotient(now, block))));
        cells.extend(moved(payload(route, run), now));
        cells.push(Cell::ratio(then.zip(now).and_then(|(then, now)| quotient(then, now))));
        cells.extend([Cell::why_not(&figure), Cell::doubts([route], run)]);
        cells
    };
    row.here.iter().enumerate().map(cells).collect()
}

/// The printed figures, and the values that follow from the printed rates.
fn printed(book: &Book, entry: &record::Entry) -> Vec<Cell> {
    let kbit_s = book.recomputed_kbit_s(entry).filter(|_| entry.kbit_s.is_some());
    vec![
        Cell::Text(entry.name.clone()),
        Cell::printed(entry.rate.as_ref()),
        Cell::printed(entry.ms.as_ref()),
        Cell::printed(entry.block_moves.as_ref()),
        Cell::printed(entry.kbit_s.as_ref()),
        Cell::number(book.recomputed_ms(entry)),
        Cell::number(book.recomputed_block_moves(entry)),
        Cell::number(kbit_s),
    ]
}

fn nothing_printed() -> Vec<Cell> {
    vec![Cell::Empty; 8]
}

fn moved(bytes: Bytes, now: Option<Interval>) -> [Cell; 2] {
    let rate = now.map_or(Cell::Unknown, |now| Cell::Rate(bytes, Nanoseconds(now.value)));
    [if bytes.0 > 0 { Cell::Payload(bytes) } else { Cell::Empty }, rate]
}

/// The payload of a route that is one measured cost.
fn payload(route: &Route, run: &Run) -> Bytes {
    match (route.plus, route.minus) {
        ([part], []) => part.find(run).map_or(Bytes(0), |cost| cost.bytes),
        _ => Bytes(0),
    }
}
