//! `howslow study --json`.

use analysis::study::{Cell, ClaimFigure, Compared, Study, StudyAnswer, TableAnswer, Test, TestedClaim};
use record::Doubt;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::{RatioFigure, TimeFigure, all, ratio, time};

/// All studies.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StudiesDocument<'a> {
    /// The studies.
    pub studies: Vec<StudyDocument<'a>>,
}

/// One paper's tables and sentences, tested on a run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StudyDocument<'a> {
    /// The paper's short name.
    pub paper: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its tables.
    pub tables: Vec<StudyTable<'a>>,
    /// Its sentences.
    pub findings: Vec<StudyFinding<'a>>,
}

/// A table.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StudyTable<'a> {
    /// Its title.
    pub title: &'a str,
    /// The names of the columns.
    pub columns: Vec<&'static str>,
    /// The rows: one cell for each column; null where it is not known.
    pub rows: Vec<Vec<Option<StudyCell<'a>>>>,
    /// Notes below it.
    pub notes: &'a [String],
}

/// What stands in a cell.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum StudyCell<'a> {
    /// Words.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A count.
    Count(u64),
    /// A cost.
    Cost(TimeFigure),
    /// A ratio.
    Ratio(RatioFigure),
    /// The doubts of the row.
    Doubts(&'a [Doubt]),
}

/// A sentence of the paper, tested.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StudyFinding<'a> {
    /// The sentence.
    pub claim: &'static str,
    /// Whether it holds here; null where that is not known.
    pub holds: Option<bool>,
    /// The same as a word.
    pub answer: &'static str,
    /// Whether it holds by the paper's own figures.
    pub holds_in_the_paper: Option<bool>,
    /// The same as a word.
    pub answer_in_the_paper: &'static str,
    /// What was compared: in the paper first, then here.
    pub figures: Vec<StudyFigures<'a>>,
    /// Why these costs are the ones to compare.
    pub note: &'static str,
}

/// Two figures compared.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StudyFigures<'a> {
    /// `paper` or `here`.
    #[serde(rename = "where")]
    pub place: &'static str,
    /// The first.
    pub one: NamedFigure<'a>,
    /// The second.
    pub other: Option<NamedFigure<'a>>,
    /// What the comparison gives.
    pub value: Option<RatioFigure>,
    /// The share of a CPU that the sentence speaks of.
    pub share: Option<f64>,
    /// How often per second that share is reached.
    pub reached_at_per_second: Option<f64>,
    /// Whether the sentence holds for them.
    pub holds: Option<bool>,
    /// The same as a word.
    pub answer: &'static str,
    /// The doubts of the costs.
    pub doubts: &'a [Doubt],
}

/// A cost with its name.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NamedFigure<'a> {
    /// Its name.
    pub name: &'a str,
    /// The cost.
    pub figure: Option<TimeFigure>,
    /// Why it is not known.
    pub why_not: Option<&'a str>,
}

impl<'a> StudyDocument<'a> {
    /// The document.
    pub fn of(study: &Study, answer: &'a StudyAnswer) -> StudyDocument<'a> {
        StudyDocument {
            paper: study.name,
            title: answer.title,
            tables: all(&answer.tables),
            findings: all(&answer.findings),
        }
    }
}

impl<'a> From<&'a TableAnswer> for StudyTable<'a> {
    fn from(table: &'a TableAnswer) -> StudyTable<'a> {
        let kept: Vec<usize> = (0..table.columns.len()).filter(|&at| !table.columns[at].key.is_empty()).collect();
        let row = |row: &'a Vec<Cell>| kept.iter().map(|&at| cell(&row[at])).collect();
        StudyTable {
            title: &table.title,
            columns: kept.iter().map(|&at| table.columns[at].key).collect(),
            rows: table.rows.iter().map(row).collect(),
            notes: &table.notes,
        }
    }
}

/// What is not known is null; a column of its own says why.
fn cell(cell: &Cell) -> Option<StudyCell<'_>> {
    Some(match cell {
        Cell::Empty | Cell::Unknown | Cell::Missing(_) => return None,
        Cell::Text(text) => StudyCell::Text(text),
        Cell::Printed(text) => text.parse().map_or(StudyCell::Text(text), StudyCell::Number),
        Cell::Number(value) => StudyCell::Number(*value),
        Cell::Time(time) => StudyCell::Number(time.0),
        Cell::Share(share) => StudyCell::Number(*share),
        Cell::Cost(figure) => StudyCell::Cost(TimeFigure::from(figure)),
        Cell::Width(ratio) | Cell::Ratio(ratio) => StudyCell::Ratio(RatioFigure::from(ratio)),
        Cell::Payload(bytes) => StudyCell::Count(bytes.0),
        Cell::Rate(bytes, time) if bytes.0 > 0 && time.0 > 0.0 => StudyCell::Number(bytes.0 as f64 * 8e6 / time.0),
        Cell::Rate(..) => return None,
        Cell::Doubts(doubts) => StudyCell::Doubts(doubts),
    })
}

impl<'a> From<&'a TestedClaim> for StudyFinding<'a> {
    fn from(finding: &'a TestedClaim) -> StudyFinding<'a> {
        let share = match finding.test {
            Test::Load { share, .. } => Some(share),
            _ => None,
        };
        let figures = |place: &'static str, compared: &'a Compared| StudyFigures {
            place,
            one: NamedFigure::from(&compared.one),
            other: compared.other.as_ref().map(NamedFigure::from),
            value: ratio(compared.value.as_ref()),
            share,
            reached_at_per_second: compared.reached_at,
            holds: compared.holds(),
            answer: compared.answer.word(),
            doubts: &compared.doubts,
        };
        let there = std::iter::once(figures("paper", &finding.there));
        StudyFinding {
            claim: finding.claim,
            holds: finding.holds(),
            answer: finding.answer().word(),
            holds_in_the_paper: finding.there.holds(),
            answer_in_the_paper: finding.there.answer.word(),
            figures: there.chain(finding.here.iter().map(|compared| figures("here", compared))).collect(),
            note: finding.note,
        }
    }
}

impl<'a> From<&'a ClaimFigure> for NamedFigure<'a> {
    fn from(it: &'a ClaimFigure) -> NamedFigure<'a> {
        NamedFigure {
            name: &it.name,
            figure: time(it.figure.as_ref().ok()),
            why_not: it.figure.as_ref().err().map(String::as_str),
        }
    }
}
