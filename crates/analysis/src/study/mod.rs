//! Studies: one paper's experiment done again here. A study is data, which cost stands beside which printed figure and
//! which sentences of the paper are tested; this file follows the data through a run. Knows nothing of pages.

mod claims;
mod rsx;

use record::{Book, Point, Run};

pub use claims::{Claim, Compared, Figure, Finding, Pair, Test};

use crate::derived::{DERIVATIONS, Part, Route, net};
use crate::statistics::{Interval, ratio};

/// One paper's experiment.
pub struct Study {
    /// What it is asked for by.
    pub name: &'static str,
    /// The paper.
    pub title: &'static str,
    /// The book that holds the paper's figures.
    pub book: &'static str,
    /// The unit that costs are also quoted in, here.
    pub block: Part,
    /// The paper's tables, in its order.
    pub tables: &'static [Table],
    /// The paper's sentences that can be tested.
    pub claims: &'static [Claim],
}

/// One of the paper's tables.
pub struct Table {
    /// What it is about.
    pub title: &'static str,
    /// Whether it also quotes the payload per second.
    pub payload: bool,
    /// Its rows.
    pub rows: &'static [Row],
}

/// One printed cost and what does the same here.
pub struct Row {
    /// The cost's id in the book.
    pub paper: &'static str,
    /// The same here, the nearest first; none where there is nothing of the kind.
    pub here: &'static [Route],
}

/// Every study there is.
pub const STUDIES: &[&Study] = &[&rsx::RSX];

/// The study of this name.
pub fn study(name: &str) -> Option<&'static Study> {
    STUDIES.iter().copied().find(|study| study.name == name)
}

impl Study {
    /// Every cost of this machine that the study looks at, each once: its own, the unit, and what is derived.
    pub fn needs(&self) -> Vec<(&'static str, Point)> {
        let rows = self.tables.iter().flat_map(|table| table.rows).flat_map(|row| row.here);
        let pairs = self.claims.iter().flat_map(|claim| claim.here).flat_map(|pair| [&pair.one, &pair.other]);
        let derived = DERIVATIONS.iter().flat_map(|derivation| derivation.routes);
        let parts = rows.chain(pairs).chain(derived).flat_map(Route::parts).map(|(_, part)| part);
        let mut needs = Vec::new();
        for part in [&self.block].into_iter().chain(parts) {
            let need = (part.operation, part.point());
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// Every cost of the book that the study looks at.
    pub fn printed(&self) -> Vec<&'static str> {
        let pairs = self.claims.iter().flat_map(|claim| [&claim.there.one, &claim.there.other]);
        let named = pairs.flat_map(Route::parts).map(|(_, part)| part.operation);
        self.tables.iter().flat_map(|table| table.rows).map(|row| row.paper).chain(named).collect()
    }

    /// Follows the study through a run, with the paper's figures beside it.
    pub fn follow(&self, book: &Book, run: &Run) -> Answer {
        let paper = book.run();
        let rows = |row: &Row| self.rows(row, book, &paper, run);
        let table = |table: &Table| TableAnswer {
            title: table.title,
            payload: table.payload,
            rows: table.rows.iter().flat_map(rows).collect(),
        };
        Answer {
            title: self.title,
            tables: self.tables.iter().map(table).collect(),
            findings: self.claims.iter().map(|claim| claim.test(&paper, run)).collect(),
        }
    }

    /// A row for every analogue; the printed figures stand in the first.
    fn rows(&self, row: &Row, book: &Book, paper: &Run, run: &Run) -> Vec<RowAnswer> {
        let then = paper.costs.iter().find(|cost| cost.operation == row.paper).map(net);
        let block = self.block.find(run).map(net);
        let nothing = RowAnswer {
            printed: printed(book, row.paper),
            here: String::new(),
            short: String::new(),
            figure: Err("nothing of the kind here".into()),
            block_moves: None,
            bytes: 0,
            faster: None,
        };
        if row.here.is_empty() {
            return vec![nothing];
        }
        let answer = |(index, route): (usize, &Route)| {
            let figure = route.follow(run).map_err(|missing| why_missing(run, &missing));
            let now = figure.as_ref().ok().copied();
            RowAnswer {
                printed: if index == 0 { nothing.printed.clone() } else { None },
                here: route.formula(),
                short: route.short_formula(),
                block_moves: now.zip(block).and_then(|(now, block)| ratio(now, block)),
                bytes: payload(route, run),
                faster: then.zip(now).and_then(|(then, now)| ratio(then, now)),
                figure,
            }
        };
        row.here.iter().enumerate().map(answer).collect()
    }
}

/// The payload of a route that is one measured cost.
fn payload(route: &Route, run: &Run) -> u64 {
    match (route.plus, route.minus) {
        ([part], []) => part.find(run).map_or(0, |cost| cost.bytes.0),
        _ => 0,
    }
}

/// Why costs are missing: the reason they were skipped for, where the run knows it.
pub(crate) fn why_missing(run: &Run, missing: &[String]) -> String {
    let reason = |name: &String| {
        let meant = |skip: &&record::Skip| {
            *name == format!("{}{}", skip.operation, skip.at)
                || (skip.at.0.is_empty() && name.split('@').next() == Some(&skip.operation))
        };
        match run.skipped.iter().find(meant) {
            Some(skip) => format!("{name}: {}", skip.reason),
            None => format!("{name} is not in this run"),
        }
    };
    missing.iter().map(reason).collect::<Vec<_>>().join("; ")
}

fn printed(book: &Book, operation: &str) -> Option<Printed> {
    let entry = book.entry(operation)?;
    Some(Printed {
        name: entry.name.clone(),
        rate: entry.rate.clone(),
        ms: entry.ms.clone(),
        block_moves: entry.block_moves.clone(),
        kbit_s: entry.kbit_s.clone(),
        recomputed_ms: book.recomputed_ms(entry),
        recomputed_block_moves: book.recomputed_block_moves(entry),
        recomputed_kbit_s: book.recomputed_kbit_s(entry).filter(|_| entry.kbit_s.is_some()),
    })
}

/// A paper's tables and sentences beside a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The paper.
    pub title: &'static str,
    /// Its tables.
    pub tables: Vec<TableAnswer>,
    /// Its sentences.
    pub findings: Vec<Finding>,
}

/// One of the paper's tables beside a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TableAnswer {
    /// What it is about.
    pub title: &'static str,
    /// Whether it also quotes the payload per second.
    pub payload: bool,
    /// Its rows.
    pub rows: Vec<RowAnswer>,
}

/// One printed cost beside one cost of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RowAnswer {
    /// As printed; `None` for further analogues of the row before.
    pub printed: Option<Printed>,
    /// What was measured here, as a formula of ids and points.
    pub here: String,
    /// The same, for tables.
    pub short: String,
    /// What it costs here in ns, or why that is not known.
    pub figure: Result<Interval, String>,
    /// In block moves of this machine.
    pub block_moves: Option<Interval>,
    /// Payload.
    pub bytes: u64,
    /// How many times cheaper than printed.
    pub faster: Option<Interval>,
}

/// A cost as printed, and what the printed rates give.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    /// As the paper calls it.
    pub name: String,
    /// Operations per second.
    pub rate: Option<String>,
    /// Milliseconds.
    pub ms: Option<String>,
    /// Block moves.
    pub block_moves: Option<String>,
    /// Thousands of payload bits per second.
    pub kbit_s: Option<String>,
    /// Milliseconds by the rates.
    pub recomputed_ms: Option<f64>,
    /// Block moves by the rates.
    pub recomputed_block_moves: Option<f64>,
    /// Thousands of payload bits per second by the rate.
    pub recomputed_kbit_s: Option<f64>,
}
