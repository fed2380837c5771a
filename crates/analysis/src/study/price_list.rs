//! A price list: printed rates, times and block moves, each beside the same thing here.

use record::{Book, Bytes, Nanoseconds, Run};

use super::data::PrintedRow;
use super::definition::Paper;
use super::table::{Cell, Column, DOUBTS, TableAnswer, figures, followed, shown, told, words};
use crate::derived::{Part, Route, net};
use crate::statistics::Interval;
use crate::sums::quotient;

/// One of the paper's tables.
pub(super) struct PriceTable {
    /// Its subject.
    pub title: &'static str,
    /// True if it also quotes the payload per second.
    pub payload: bool,
    pub rows: Vec<PrintedRow>,
}

/// A price list with its columns filled from the book and the run. Costs are also quoted in `block`.
pub(super) fn tables(list: &[PriceTable], block: &Part, paper: &Paper, run: &Run) -> Vec<TableAnswer> {
    let table = |table: &PriceTable| TableAnswer {
        title: table.title.into(),
        columns: columns(table.payload),
        rows: table.rows.iter().flat_map(|row| rows(row, block, paper, run)).collect(),
        notes: Vec::new(),
    };
    list.iter().map(table).collect()
}

fn columns(payload: bool) -> Vec<Column> {
    let of_payload = |column: Column| if payload { column } else { Column { heading: None, ..column } };
    vec![
        words("paper", ""),
        figures("rate", "/s").gives_way(2),
        figures("ms", "ms").gives_way(5),
        figures("block_moves", "bm").gives_way(3),
        of_payload(figures("kbit_s", "kbit/s").gives_way(1)),
        told("recomputed_ms"),
        told("recomputed_block_moves"),
        told("recomputed_kbit_s"),
        shown("here", false),
        told("here"),
        figures("here_ns", "cost"),
        shown("+-", true).gives_way(4),
        figures("here_block_moves", "bm").gives_way(3),
        told("here_bytes"),
        of_payload(figures("here_kbit_s", "payload").gives_way(1)),
        figures("faster", "times faster"),
        told("why_not"),
        DOUBTS,
    ]
}

/// A row for every analogue. The first row has the printed figures.
fn rows(row: &PrintedRow, block: &Part, paper: &Paper, run: &Run) -> Vec<Vec<Cell>> {
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
