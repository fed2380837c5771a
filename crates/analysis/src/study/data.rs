//! The file of a study: a paper's words, tables and sentences, with costs as formulas. Each study fills its tables from the rows here.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::claims::{Claim, Pair, Test};
use super::table::{Cell, TableAnswer, TableForm};
use crate::derived::written::{self, NamedPoints};
use crate::derived::{DERIVATIONS, Part, Route};

/// What the file of a study holds.
#[derive(Deserialize)]
pub struct StudyData {
    /// The words of the paper that its tables and sentences use, each with what it means.
    pub legend: Vec<(String, String)>,
    /// The paper's sentences that can be tested.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// The same as the file writes them; empty once they are read.
    #[serde(rename = "claim")]
    written: Vec<ClaimText>,
    #[serde(default)]
    points: NamedPoints,
    #[serde(default, rename = "form")]
    forms: BTreeMap<String, TableForm>,
    #[serde(flatten)]
    tables: BTreeMap<String, Vec<DataTable>>,
}

/// A table of the file. What its rows hold depends on its kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataTable {
    #[serde(default)]
    pub title: String,
    /// The heading of the reads that its rows caused.
    pub reads: Option<String>,
    /// True if it also quotes the payload per second.
    #[serde(default)]
    pub payload: bool,
    /// True if its costs take long, so that only `--full` measures them.
    #[serde(default)]
    pub slow: bool,
    pub rows: Vec<Vec<String>>,
    /// The native code under an emulator, and the native code itself.
    pub emulated: Option<(String, String)>,
    #[serde(default)]
    pub notes: Vec<String>,
}

impl DataTable {
    /// A table of the file's forms as this one.
    pub fn named(&self, table: TableAnswer) -> TableAnswer {
        TableAnswer { title: self.title.clone(), notes: self.notes.clone(), ..table }
    }
}

/// A table whose rows are costs of the paper.
pub(super) struct PrintedTable {
    pub data: &'static DataTable,
    pub rows: Vec<PrintedRow>,
}

/// A cost of the paper and the same here, the nearest first; empty if there is nothing like it.
pub(super) struct PrintedRow {
    /// The cost's id in the book; empty if the paper had nothing like it.
    pub paper: &'static str,
    pub here: &'static [Route],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimText {
    claim: String,
    test: String,
    /// The only architecture whose operations it needs.
    only: Option<String>,
    there: Vec<String>,
    here: Vec<Vec<String>>,
    #[serde(default)]
    note: String,
}

impl StudyData {
    /// Reads a file that comes with howslow.
    pub(super) fn of(text: &str) -> StudyData {
        let mut data: StudyData = toml::from_str(text).unwrap_or_else(|error| unreachable!("a shipped study: {error}"));
        let written = std::mem::take(&mut data.written).into_iter();
        let claims = written.filter(|claim| claim.only.as_ref().is_none_or(|only| only == std::env::consts::ARCH));
        data.claims = claims.map(|claim| data.claim(claim)).collect();
        data
    }

    pub(super) fn tables(&self, kind: &str) -> impl Iterator<Item = &DataTable> {
        self.tables.get(kind).into_iter().flatten()
    }

    /// The tables whose rows are a cost of the paper and formulas.
    pub(super) fn printed(&'static self, kind: &str) -> Vec<PrintedTable> {
        let row = |row: &'static Vec<String>| {
            let here: Vec<Route> = row[1..].iter().map(|text| self.route(text)).collect();
            PrintedRow { paper: &row[0], here: here.leak() }
        };
        self.tables(kind).map(|data| PrintedTable { data, rows: data.rows.iter().map(row).collect() }).collect()
    }

    pub(super) fn table(&'static self, form: &str, rows: impl IntoIterator<Item = Vec<Cell>>) -> TableAnswer {
        let form = self.forms.get(form).unwrap_or_else(|| unreachable!("a shipped study has no form {form}"));
        form.filled(rows)
    }

    /// A formula, or the name and number of a route of a derivation.
    pub(super) fn route(&self, text: &str) -> Route {
        let derived = text.rsplit_once(' ').and_then(|(name, number)| {
            let derivation = DERIVATIONS.derived.iter().find(|derivation| derivation.name == name)?;
            derivation.routes.get(number.parse::<usize>().ok()?.checked_sub(1)?)
        });
        derived.copied().unwrap_or_else(|| written::route(text, &self.points))
    }

    /// One term of a formula.
    pub(super) fn part(&self, text: &str) -> Part {
        written::part(text, &self.points)
    }

    fn claim(&self, text: ClaimText) -> Claim {
        let here: Vec<Pair> = text.here.iter().map(|pair| self.pair(pair)).collect();
        Claim {
            claim: text.claim.leak(),
            test: test(&text.test),
            there: self.pair(&text.there),
            here: here.leak(),
            note: text.note.leak(),
        }
    }

    fn pair(&self, formulas: &[String]) -> Pair {
        let route = |place: usize| formulas.get(place).map_or(Route::of(&[]), |text| self.route(text));
        Pair { one: route(0), other: route(1) }
    }
}

/// The condition of a sentence: `below 0.1`, `above 2`, `between 0.8 1.25`, or `load 960 0.04`, which is times a second and a share.
fn test(text: &str) -> Test {
    let numbers: Vec<f64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
    match (text.split(' ').next(), numbers.as_slice()) {
        (Some("below"), [bound]) => Test::Below(*bound),
        (Some("above"), [bound]) => Test::Above(*bound),
        (Some("between"), [low, high]) => Test::Between(*low, *high),
        (Some("load"), [per_second, share]) => Test::Load { per_second: *per_second, share: *share },
        _ => unreachable!("a shipped study tests '{text}'"),
    }
}
