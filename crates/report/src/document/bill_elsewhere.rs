//! `howslow bill A.json --on RUN --json`: what a billed program would take on another machine.

use analysis::bill::BillElsewhere;
use serde::Serialize;

use super::figure::{TimeFigure, finite, time};

/// A bill at the prices of another machine.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub rows: Vec<BillElsewhereLine<'a>>,
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

/// A line of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillElsewhereLine<'a> {
    /// A system call, or what else costs processor time in the kernel.
    pub what: &'a str,
    /// How often.
    pub count: u64,
    /// The processor time of all of them here, in ns.
    pub here_ns: Option<f64>,
    /// True if that was measured in the program, false if it is a price.
    pub measured: bool,
    /// The price there over the price here.
    pub ratio: Option<f64>,
    /// The processor time of all of them there; null without a price.
    pub there: Option<TimeFigure>,
}

impl<'a> BillElsewhereDocument<'a> {
    /// The document.
    pub fn of(found: &'a BillElsewhere, what: &'a str, run: &'a str) -> BillElsewhereDocument<'a> {
        let line = |row: &'a analysis::bill::ElsewhereRow| BillElsewhereLine {
            what: &row.what,
            count: row.count,
            here_ns: row.here_ns,
            measured: row.is_measured,
            ratio: row.ratio.and_then(finite),
            there: time(row.there.as_ref()),
        };
        BillElsewhereDocument {
            what,
            run,
            here_ns: found.here_ns,
            there: TimeFigure::from(&found.there),
            rows: found.rows.iter().map(line).collect(),
            rest_ns: found.rest.map(|(here, _)| here),
            rest_there: time(found.rest.as_ref().map(|(_, there)| there)),
            user_ns: found.user.map(|(here, _)| here),
            user_there: time(found.user.as_ref().and_then(|(_, there)| there.as_ref())),
            lacking: &found.lacking,
        }
    }
}
