//! `rsx`: the price list of the system directives of RSX, and its sentences, beside Linux.

use std::sync::LazyLock;

use record::{Book, Bytes, Entry, Nanoseconds, Run};

use super::data::{DataTable, PrintedRow, PrintedTable, StudyData};
use super::definition::{Paper, Study};
use super::missing::followed;
use super::table::{Cell, Curve, Curves, TableAnswer, beside};
use crate::derived::{DERIVATIONS, Part, Route, net};
use crate::statistics::Interval;

pub(super) static RSX: Study = Study {
    name: "rsx",
    title: "How Fast (Slow) Is RSX?",
    data: &DATA,
    books: &["pdp-11-24"],
    parts,
    seconds: 60.0,
    rounds: None,
    more: None,
    users: None,
    computed: None,
    curves: Some(curves),
    tables: |paper, run| TABLES.iter().map(|table| prices(table, paper, run)).collect(),
};

static DATA: LazyLock<StudyData> = LazyLock::new(|| StudyData::of(include_str!("rsx.toml")));

static TABLES: LazyLock<Vec<PrintedTable>> = LazyLock::new(|| DATA.printed("table"));

static BLOCK: LazyLock<Part> = LazyLock::new(|| DATA.part("memory.copy@size=512"));

fn rows() -> impl Iterator<Item = &'static PrintedRow> {
    TABLES.iter().flat_map(|table| &table.rows)
}

/// A table filled from the book and the run.
fn prices(table: &PrintedTable, paper: &Paper, run: &Run) -> TableAnswer {
    let rows = table.rows.iter().flat_map(|row| price_rows(row, paper, run));
    let mut prices = table.data.named(DATA.table("prices", rows));
    if !table.data.payload {
        let payload = prices.columns.iter_mut().filter(|column| column.key.ends_with("kbit_s"));
        payload.for_each(|column| column.heading = None);
    }
    prices
}

/// A row for every analogue. The first row has the printed figures.
fn price_rows(row: &PrintedRow, paper: &Paper, run: &Run) -> Vec<Vec<Cell>> {
    let then = paper.cost(row.paper);
    let block = BLOCK.find(run).map(net);
    let printed = paper.entry(row.paper).map_or_else(|| vec![Cell::Empty; 8], |(book, entry)| printed(book, entry));
    if row.here.is_empty() {
        let mut cells = printed;
        cells.extend([Cell::Text("nothing of the kind".into()), Cell::Empty]);
        cells.extend([Cell::Unknown, Cell::Unknown, Cell::Unknown, Cell::Empty, Cell::Unknown, Cell::Unknown]);
        cells.extend([Cell::Text("nothing of the kind here".into()), Cell::Doubts(Vec::new())]);
        return vec![cells];
    }
    beside(&printed, row.here, |route| {
        let figure = followed(route, run);
        let (now, bytes) = (figure.as_ref().ok().copied(), payload(route, run));
        vec![
            Cell::Text(route.short_formula()),
            Cell::Text(route.formula()),
            Cell::cost(&figure),
            Cell::width(&figure),
            Cell::ratio(now, block),
            if bytes.0 > 0 { Cell::Payload(bytes) } else { Cell::Empty },
            now.map_or(Cell::Unknown, |now| Cell::Rate(bytes, Nanoseconds(now.value))),
            Cell::ratio(then, now),
            Cell::why_not(&figure),
            Cell::doubts([route], run),
        ]
    })
}

/// The printed figures, and the values that follow from the printed rates.
fn printed(book: &Book, entry: &Entry) -> Vec<Cell> {
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

/// The payload of a route that is one measured cost.
fn payload(route: &Route, run: &Run) -> Bytes {
    match (route.plus, route.minus) {
        ([part], []) => part.find(run).map_or(Bytes(0), |cost| cost.bytes),
        _ => Bytes(0),
    }
}

/// The unit, the costs of the tables, and the parts of derived costs.
fn parts() -> Vec<&'static Part> {
    let derived = DERIVATIONS.derived.iter().flat_map(|derivation| derivation.routes);
    let routes = rows().flat_map(|row| row.here).chain(derived);
    std::iter::once(&*BLOCK).chain(routes.flat_map(Route::parts).map(|(_, part)| part)).collect()
}

/// Bytes of 13 and of 256 words.
const SIZES: [u64; 2] = [26, 512];

/// The bytes a second of messages of both sizes, then and now.
fn curves(paper: &Paper, run: &Run) -> Vec<Curves> {
    let cost = |text: &str| paper.cost(text).or_else(|| DATA.part(text).find(run).map(net));
    let curve = |row: &'static Vec<String>| {
        let points = SIZES.iter().zip(&row[1..]).filter_map(|(size, text)| Some((*size, rate(*size, cost(text)?))));
        Curve { name: &row[0], points: points.collect() }
    };
    let curves = |table: &'static DataTable| Curves {
        name: "rsx-messages",
        title: table.title.clone(),
        curves: table.rows.iter().map(curve).collect(),
    };
    DATA.tables("curves").map(curves).collect()
}

/// Bytes of this size over a cost, a second.
pub(super) fn rate(size: u64, cost: Interval) -> Interval {
    cost.under(size as f64 * 1e9)
}
