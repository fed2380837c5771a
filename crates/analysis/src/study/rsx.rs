//! `rsx`: the price list of the system directives of RSX, and its sentences, beside Linux.

use std::sync::LazyLock;

use record::Run;

use super::data::{DataTable, PrintedRow, PrintedTable, StudyData};
use super::definition::{Paper, Study};
use super::price_list;
use super::table::{Curve, Curves, TableAnswer};
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
    let rows = table.rows.iter().flat_map(|row| price_list::rows(row, &BLOCK, paper, run));
    let mut prices = table.data.named(DATA.table("prices", rows));
    if !table.data.payload {
        let payload = prices.columns.iter_mut().filter(|column| column.key.ends_with("kbit_s"));
        payload.for_each(|column| column.heading = None);
    }
    prices
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
