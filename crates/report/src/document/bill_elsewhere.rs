//! `howslow bill A.json --on RUN --json`: what a billed program would take on another machine.

use analysis::bill::{BillElsewhere, ElsewhereRow};
use serde::Serialize;

use super::figure::{TimeFigure, time};

/// A bill at the prices of another machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BillElsewhereDocument<'a> {
    /// What the bill is of.
    pub what: &'a str,
    /// The id of the other machine's run.
    pub run: &'a str,
    /// The processor time here without counting, in ns; null if it is not known.
    pub here_ns: Option<f64>,
    /// The processor time there; the upper end is null if something is lacking, so that this is the least.
    pub there: TimeFigure,
    /// Its lines, the dearest there first.
    pub rows: &'a [ElsewhereRow],
    /// What was charged here beyond the lines and counting, in ns, and what becomes of it.
    pub rest_ns: Option<f64>,
    /// That time there.
    pub rest_there: Option<TimeFigure>,
    /// The time in user mode here, in ns.
    pub user_ns: Option<f64>,
    /// That time there; null if the runs do not tell.
    pub user_there: Option<TimeFigure>,
    /// The lines without a price there.
    pub lacking: &'a [String],
}

impl<'a> BillElsewhereDocument<'a> {
    /// The document.
    pub fn of(found: &'a BillElsewhere, what: &'a str, run: &'a str) -> BillElsewhereDocument<'a> {
        BillElsewhereDocument {
            what,
            run,
            here_ns: found.here_ns,
            there: TimeFigure::from(&found.there),
            rows: &found.rows,
            rest_ns: found.rest.map(|(here, _)| here),
            rest_there: time(found.rest.as_ref().map(|(_, there)| there)),
            user_ns: found.user.map(|(here, _)| here),
            user_there: time(found.user.as_ref().and_then(|(_, there)| there.as_ref())),
            lacking: &found.lacking,
        }
    }
}
