//! `howslow study --json`.

use analysis::statistics::Interval;
use analysis::study::{Cell, Compared, Study, StudyAnswer, TableAnswer, Test, TestedClaim};
use record::Doubt;
use serde::Serialize;

use super::figure::{TimeFigure, all};

/// All studies.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StudiesDocument<'a> {
    /// The studies.
    pub studies: Vec<StudyDocument<'a>>,
}

/// One paper's tables and sentences, tested on a run.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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
    Ratio(Interval),
    /// The doubts of the row.
    Doubts(&'a [Doubt]),
}

/// A sentence of the paper, tested.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct StudyFigures<'a> {
    /// `paper` or `here`.
    #[serde(rename = "where")]
    pub place: &'static str,
    /// The figures and the answer.
    #[serde(flatten)]
    pub compared: &'a Compared,
    /// For a load: the share of a CPU that is asked about.
    pub share: Option<f64>,
}

impl<'a> StudyDocument<'a> {
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
        Cell::Width(ratio) | Cell::Ratio(ratio) => StudyCell::Ratio(*ratio),
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
        let figures = |place, compared: &'a Compared| StudyFigures { place, compared, share };
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
