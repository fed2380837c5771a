//! What a study is, the paper's figures that it works on, and what following it gives.

use std::sync::LazyLock;

use record::{Book, Departure, Entry, Fact, Machine, Point, Run};

use super::claims::TestedClaim;
use super::data::StudyData;
use super::table::{Curves, TableAnswer};
use crate::derived::{Part, Route};
use crate::load::{Configuration, Forecasts, Measured};
use crate::statistics::Interval;

/// One paper's experiment.
pub struct Study {
    /// Its name on the command line.
    pub name: &'static str,
    /// The paper.
    pub title: &'static str,
    /// The words, tables and sentences of the paper.
    pub data: &'static LazyLock<StudyData>,
    /// The books that hold the paper's figures.
    pub books: &'static [&'static str],
    /// Every cost of this machine that its tables use.
    pub parts: fn() -> Vec<&'static Part>,
    /// Seconds for measuring them.
    pub seconds: f64,
    /// Rounds of each of them at least, if it needs more than other runs.
    pub rounds: Option<u32>,
    /// Additional costs for `--full`, if any.
    pub more: Option<SlowCosts>,
    /// An experiment with scripted users, if the paper made one.
    pub users: Option<&'static UserExperiment>,
    /// Costs that follow from the paper's other figures, if its sentences need any: printed shares and counts, and what a model makes
    /// of them. They have the form of costs of the paper.
    pub computed: Option<fn(&Paper) -> Vec<record::Cost>>,
    /// The paper's tables beside a run, in the paper's order.
    pub tables: fn(&Paper, &Run) -> Vec<TableAnswer>,
    /// Its figures, if it draws any.
    pub curves: Option<fn(&Paper, &Run) -> Vec<Curves>>,
}

/// Costs that take too long to be measured by default.
pub struct SlowCosts {
    /// The costs. A run that has any of them shows a table of them.
    pub parts: fn() -> Vec<&'static Part>,
    /// Seconds for measuring everything, these included.
    pub seconds: f64,
}

/// An experiment with scripted users, whose figures become costs of the run.
pub struct UserExperiment {
    /// The plan, of those that come with howslow.
    pub plan: &'static str,
    /// The users think for this share of the plan's times.
    pub think: f64,
    /// Seconds that each configuration is measured.
    pub time_s: f64,
    /// Seconds that the users work before that.
    pub settle_s: f64,
    /// What is measured, after one user alone.
    pub configurations: fn() -> Vec<Configuration>,
    /// Every cost that it gives.
    pub names: fn() -> Vec<(&'static str, Point)>,
    /// The costs, from the predictions that were made before and from what was measured.
    pub costs: fn(&Forecasts, &[Measured]) -> Vec<record::Cost>,
}

/// A paper's figures.
pub struct Paper<'a> {
    pub books: &'a [Book],
    /// All of them as one run. If there are several books, an id begins with the book's name and a slash.
    pub run: Run,
}

impl<'a> Paper<'a> {
    /// The figures of these books; `None` without books.
    pub fn new(books: &'a [Book]) -> Option<Paper<'a>> {
        let mut run = books.first()?.run();
        if books.len() > 1 {
            let named = |book: &Book| {
                let costs = book.run().costs.into_iter();
                let named = costs.map(|cost| record::Cost { operation: id(book, &cost.operation), ..cost });
                named.collect::<Vec<_>>()
            };
            run.costs = books.iter().flat_map(named).collect();
        }
        Some(Paper { books, run })
    }

    pub fn entry(&self, wanted: &str) -> Option<(&Book, &Entry)> {
        let several = self.books.len() > 1;
        let mut all = self.books.iter().flat_map(|book| book.costs.iter().map(move |entry| (book, entry)));
        all.find(|(book, entry)| if several { id(book, &entry.operation) == wanted } else { entry.operation == wanted })
    }

    /// The fact of this name in one of its books.
    pub fn fact(&self, name: &str) -> Option<&Fact> {
        self.books.iter().find_map(|book| book.fact(name))
    }

    /// The printed value of this id, in ns.
    pub fn cost(&self, wanted: &str) -> Option<Interval> {
        self.run.costs.iter().find(|cost| cost.operation == wanted).map(crate::derived::net)
    }
}

/// The id in the combined run of several books.
fn id(book: &Book, operation: &str) -> String {
    format!("{}/{operation}", book.name)
}

/// The source of a book, with the year of its figures unless it is there.
fn source(book: &Book) -> String {
    match &book.measured {
        year if year.is_empty() || book.source.contains(year.as_str()) => book.source.clone(),
        year => format!("{}; measured {year}", book.source),
    }
}

impl Study {
    /// Every cost of this machine that the study uses, each once. With `full`, also those that take long.
    pub fn needs(&self, full: bool) -> Vec<(&'static str, Point)> {
        let more = self.more.iter().filter(|_| full).flat_map(|more| (more.parts)());
        let pairs = self.data.claims.iter().flat_map(|claim| claim.here).flat_map(|pair| [&pair.one, &pair.other]);
        let claimed = pairs.flat_map(Route::parts).map(|(_, part)| part);
        let mut needs = Vec::new();
        for part in (self.parts)().into_iter().chain(claimed).chain(more) {
            let need = (part.term.operation, part.term.term().at);
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// The paper's figures, with those that follow from them; `None` without books.
    pub fn paper<'a>(&self, books: &'a [Book]) -> Option<Paper<'a>> {
        let mut paper = Paper::new(books)?;
        let computed = self.computed.map_or_else(Vec::new, |computed| computed(&paper));
        paper.run.costs.extend(computed);
        Some(paper)
    }

    /// Follows the study through a run, with the paper's figures beside it; `None` without a book.
    pub fn follow(&self, books: &[Book], run: &Run) -> Option<StudyAnswer> {
        let paper = self.paper(books)?;
        Some(StudyAnswer {
            title: self.title,
            source: books.first().map(source).unwrap_or_default(),
            legend: &self.data.legend,
            machines: books.iter().map(|book| book.machine.clone()).collect(),
            tables: (self.tables)(&paper, run),
            curves: self.curves.map_or_else(Vec::new, |curves| curves(&paper, run)),
            departures: books.iter().flat_map(Book::departures).collect(),
            findings: self.data.claims.iter().map(|claim| claim.test(&paper.run, run)).collect(),
        })
    }
}

/// A paper's tables and sentences beside a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyAnswer {
    /// The paper.
    pub title: &'static str,
    /// Who wrote it, where and when.
    pub source: String,
    /// Its words, each with what it means.
    pub legend: &'static [(String, String)],
    pub machines: Vec<Machine>,
    pub tables: Vec<TableAnswer>,
    /// Its figures.
    pub curves: Vec<Curves>,
    /// Printed figures that do not follow from the others.
    pub departures: Vec<Departure>,
    /// Its sentences.
    pub findings: Vec<TestedClaim>,
}
