//! The paper's other subjects, each beside the same thing here: keyed files, conversions, sparse files, memory at its
//! first touch, alignment and sorting.

use std::sync::LazyLock;

use record::Run;

use super::points::DATA;
use crate::derived::{Part, Route};
use crate::study::data::DataTable;
use crate::study::definition::Paper;
use crate::study::missing::followed;
use crate::study::table::{Cell, TableAnswer, beside};

pub(super) struct SubjectTable {
    data: &'static DataTable,
    rows: Vec<SubjectRow>,
}

/// One subject, there and here.
struct SubjectRow {
    what: &'static str,
    there: There,
    here: &'static [Part],
    /// The unit of its costs here.
    unit: Part,
}

/// What the paper says about it.
enum There {
    Nothing,
    /// A cost, and its unit.
    Cost(Route, Route),
    /// A fact of the book.
    Fact(&'static str),
}

/// A row: the subject, what the paper says (`fact NAME`, or a cost `per` its unit), the unit here, and the costs here.
pub(super) static TABLES: LazyLock<Vec<SubjectTable>> = LazyLock::new(|| {
    let there = |text: &'static str| match (text.strip_prefix("fact "), text.split_once(" per ")) {
        (Some(fact), _) => There::Fact(fact),
        (None, Some((cost, unit))) => There::Cost(DATA.route(cost), DATA.route(unit)),
        (None, None) => There::Nothing,
    };
    let row = |row: &'static Vec<String>| SubjectRow {
        what: &row[0],
        there: there(&row[1]),
        here: row[3..].iter().map(|text| DATA.part(text)).collect::<Vec<_>>().leak(),
        unit: DATA.part(&row[2]),
    };
    DATA.tables("subject").map(|data| SubjectTable { data, rows: data.rows.iter().map(row).collect() }).collect()
});

impl SubjectTable {
    /// The costs of a run that it needs.
    pub fn parts(&'static self) -> impl Iterator<Item = &'static Part> {
        self.rows.iter().flat_map(|row| row.here.iter().chain([&row.unit]))
    }

    /// Its rows beside a run.
    pub fn table(&'static self, paper: &Paper, run: &Run) -> TableAnswer {
        self.data.named(DATA.table("subject", self.rows.iter().flat_map(|row| row.rows(paper, run))))
    }
}

impl SubjectRow {
    /// A row for each way here. The first row has the paper's figures.
    fn rows(&'static self, paper: &Paper, run: &Run) -> Vec<Vec<Cell>> {
        let unit = self.unit.find(run).map(|cost| self.unit.figure(cost));
        beside(&self.there(paper), self.here, |part| {
            let figure = followed(&Route::of(std::slice::from_ref(part)), run);
            let payload = part.find(run).map(|cost| cost.bytes).filter(|bytes| bytes.0 > 0);
            vec![
                Cell::Text(part.short()),
                Cell::Text(part.name()),
                Cell::cost(&figure),
                Cell::width(&figure),
                payload.map_or(Cell::Empty, Cell::Payload),
                Cell::ratio(figure.as_ref().ok().copied(), unit),
                Cell::why_not(&figure),
                Cell::doubts_of([part.find(run), self.unit.find(run)]),
            ]
        })
    }

    fn there(&self, paper: &Paper) -> Vec<Cell> {
        let what = Cell::Text(self.what.into());
        match &self.there {
            There::Nothing => vec![what, Cell::Empty, Cell::Empty],
            There::Fact(name) => {
                let printed = paper.fact(name).map(|fact| format!("{} {}", fact.printed, fact.unit));
                vec![what, printed.map_or(Cell::Empty, Cell::Text), Cell::Empty]
            }
            There::Cost(cost, unit) => {
                let (cost, unit) = (cost.follow(&paper.run).ok(), unit.follow(&paper.run).ok());
                vec![what, cost.map_or(Cell::Unknown, Cell::Cost), Cell::ratio(cost, unit)]
            }
        }
    }
}
