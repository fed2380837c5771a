//! `--repeat N --json`: how costs scatter between whole runs.

use analysis::repeated::{Needs, Repeated};
use record::{Point, Run};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::all;

/// How costs scatter between whole runs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RepeatDocument<'a> {
    /// The ids of the runs.
    pub runs: Vec<&'a str>,
    /// The precision that was asked for.
    pub precision: f64,
    /// The costs.
    pub rows: Vec<RepeatRow<'a>>,
}

/// How one cost scatters.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RepeatRow<'a> {
    /// The operation's id.
    pub operation: &'a str,
    /// Its point.
    pub at: &'a Point,
    /// Its heading.
    pub family: &'a str,
    /// What `figure` is in: `cycles` for a cost that follows the clock, else `ns`.
    pub unit: &'static str,
    /// The figure over all runs.
    pub figure: f64,
    /// Runs that have it.
    pub runs: usize,
    /// Rounds of a run.
    pub rounds: f64,
    /// The scatter between rounds, as a share of the figure.
    pub between_rounds: Option<f64>,
    /// The scatter between runs, as a share of the figure.
    pub between_runs: f64,
    /// What the precision takes; null where that is not known.
    pub needs: Option<RepeatNeeds>,
    /// The least change that two such runs tell.
    pub detectable: f64,
    /// The least change that twice all of these runs tell.
    pub detectable_by_all: f64,
}

/// What a precision takes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RepeatNeeds {
    /// One run of this many rounds.
    Rounds(u32),
    /// This many runs.
    Runs(u32),
}

impl<'a> RepeatDocument<'a> {
    /// The document.
    pub fn of(runs: &'a [Run], rows: &'a [Repeated<'a>], precision: f64) -> RepeatDocument<'a> {
        RepeatDocument { runs: runs.iter().map(|run| run.id.as_str()).collect(), precision, rows: all(rows) }
    }
}

impl<'a> From<&'a Repeated<'a>> for RepeatRow<'a> {
    fn from(row: &'a Repeated<'a>) -> RepeatRow<'a> {
        RepeatRow {
            operation: &row.cost.operation,
            at: &row.cost.at,
            family: row.cost.heading(),
            unit: if row.cost.follows_clock { "cycles" } else { "ns" },
            figure: row.figure,
            runs: row.runs,
            rounds: row.rounds,
            between_rounds: row.between_rounds,
            between_runs: row.between_runs,
            needs: match row.needs {
                Needs::Rounds(count) => Some(RepeatNeeds::Rounds(count)),
                Needs::Runs(count) => Some(RepeatNeeds::Runs(count)),
                Needs::Unknown => None,
            },
            detectable: row.detectable,
            detectable_by_all: row.detectable_by_all,
        }
    }
}
