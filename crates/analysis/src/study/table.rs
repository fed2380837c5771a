//! A study's tables: named columns and rows of typed cells, so that a page and a document can each show them in their
//! own way.

use record::{Bytes, Cost, Doubt, Nanoseconds, Run};
use serde::Deserialize;

use crate::derived::Route;
use crate::statistics::Interval;
use crate::sums::{doubts_of_all, join, quotient};

/// A table of a paper beside a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TableAnswer {
    /// Its subject.
    pub title: String,
    /// Its columns. A page uses the title as the heading of the first.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// Sentences below it.
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in a document; empty if only a page shows it.
    pub key: &'static str,
    /// Its heading on a page; `None` if only a document has it.
    pub heading: Option<&'static str>,
    /// True if it is aligned to the right.
    pub right: bool,
    /// Its turn to be left out of a narrow page: those of turn 1 first, together. 0 if it stays.
    pub gives_way: u8,
}

impl Column {
    /// A column as the file of a study has it: `figures KEY | HEADING | TURN`. It is `words`, `figures`, or `document` in documents
    /// only; without a key only pages show it. The turn is that in which a narrow page leaves it out: what others imply, or fewest
    /// ask for, first.
    fn of(text: &'static str) -> Column {
        let mut parts = text.split('|').map(str::trim);
        let (kind, key) = parts.next().map_or(("", ""), |first| first.split_once(' ').unwrap_or((first, "")));
        Column {
            key,
            heading: Some(parts.next().unwrap_or_default()).filter(|_| kind != "document"),
            right: kind != "words",
            gives_way: parts.next().and_then(|turn| turn.parse().ok()).unwrap_or(0),
        }
    }
}

/// A kind of table in the file of a study: what all tables of the kind have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableForm {
    #[serde(default)]
    title: String,
    /// A line for each column.
    columns: String,
    #[serde(default)]
    notes: Vec<String>,
}

impl TableForm {
    pub(super) fn filled(&'static self, rows: impl IntoIterator<Item = Vec<Cell>>) -> TableAnswer {
        TableAnswer {
            title: self.title.clone(),
            columns: self.columns.lines().map(Column::of).collect(),
            rows: rows.into_iter().collect(),
            notes: self.notes.clone(),
        }
    }
}

impl TableAnswer {
    /// The table with a figure in the place of its name in the notes.
    pub(super) fn filled(mut self, name: &str, figure: &str) -> TableAnswer {
        self.notes.iter_mut().for_each(|note| *note = note.replace(name, figure));
        self
    }
}

/// A row for each cost here. The first has the paper's cells, the others have empty ones in their place.
pub(super) fn beside<T>(there: &[Cell], here: &'static [T], cells: impl Fn(&'static T) -> Vec<Cell>) -> Vec<Vec<Cell>> {
    let row = |(place, one)| {
        let there = if place == 0 { there.to_vec() } else { vec![Cell::Empty; there.len()] };
        [there, cells(one)].concat()
    };
    here.iter().enumerate().map(row).collect()
}

/// A figure of a paper, drawn from a run: rates by size, both on logarithmic scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// Its short name, for a file.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    pub curves: Vec<Curve>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: &'static str,
    /// Bytes, and the bytes a second that they reach.
    pub points: Vec<(u64, Interval)>,
}

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// There is no value here.
    Empty,
    /// It is not known.
    Unknown,
    /// The reason why the cost of this row is not known.
    Missing(String),
    /// Words.
    Text(String),
    /// As printed: the digits show how exact it is.
    Printed(String),
    /// Recomputed.
    Number(f64),
    /// A cost in ns.
    Cost(Interval),
    /// A time without an interval.
    Time(Nanoseconds),
    /// The width of a cost's interval.
    Width(Interval),
    /// A ratio, or a cost with another cost as its unit.
    Ratio(Interval),
    Share(f64),
    Payload(Bytes),
    /// Payload and the time it took.
    Rate(Bytes, Nanoseconds),
    /// The doubts of the costs behind a row.
    Doubts(Vec<Doubt>),
}

impl Cell {
    /// The printed text, or an empty cell.
    pub(super) fn printed(text: Option<&String>) -> Cell {
        text.map_or(Cell::Empty, |text| Cell::Printed(text.clone()))
    }

    /// A recomputed number, or an empty cell.
    pub(super) fn number(value: Option<f64>) -> Cell {
        value.map_or(Cell::Empty, Cell::Number)
    }

    /// A number that is not known yet, or is.
    pub(super) fn known(value: Option<f64>) -> Cell {
        value.map_or(Cell::Unknown, Cell::Number)
    }

    /// One cost divided by another, if both are known and distinguishable from zero.
    pub(super) fn ratio(over: Option<Interval>, under: Option<Interval>) -> Cell {
        let ratio = over.zip(under).and_then(|(over, under)| quotient(over, under));
        ratio.map_or(Cell::Unknown, Cell::Ratio)
    }

    /// The width of an interval, if the figure itself is known.
    pub(super) fn width(figure: &Result<Interval, String>) -> Cell {
        match figure {
            Ok(figure) if figure.is_bounded() && !figure.holds_zero() && figure.value > 0.0 => Cell::Width(*figure),
            _ => Cell::Unknown,
        }
    }

    /// A cost, or the reason why it is missing.
    pub(super) fn cost(figure: &Result<Interval, String>) -> Cell {
        match figure {
            Ok(figure) => Cell::Cost(*figure),
            Err(why) => Cell::Missing(why.clone()),
        }
    }

    /// The reason why a cost is missing, as a cell of its own.
    pub(super) fn why_not(figure: &Result<Interval, String>) -> Cell {
        figure.as_ref().err().map_or(Cell::Empty, |why| Cell::Text(why.clone()))
    }

    /// The doubts of these routes' costs.
    pub(super) fn doubts<'a>(routes: impl IntoIterator<Item = &'a Route>, run: &Run) -> Cell {
        let mut doubts = Vec::new();
        for route in routes {
            join(&mut doubts, route.doubts(run));
        }
        Cell::Doubts(doubts)
    }

    /// The doubts of these costs, for those that the run has.
    pub(super) fn doubts_of<'a>(costs: impl IntoIterator<Item = Option<&'a Cost>>) -> Cell {
        Cell::Doubts(doubts_of_all(costs.into_iter().flatten()))
    }
}
