//! `--repeat N --json`: how costs scatter between whole runs.

use analysis::repeated::Repeated;
use record::Run;
use serde::Serialize;

/// How costs scatter between whole runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepeatDocument<'a> {
    /// The ids of the runs.
    pub runs: Vec<&'a str>,
    /// The precision that was asked for.
    pub precision: f64,
    /// The costs.
    pub rows: &'a [Repeated<'a>],
}

impl<'a> RepeatDocument<'a> {
    pub fn of(runs: &'a [Run], rows: &'a [Repeated<'a>], precision: f64) -> RepeatDocument<'a> {
        RepeatDocument { runs: runs.iter().map(|run| run.id.as_str()).collect(), precision, rows }
    }
}
