//! The rows of a bill, and how their prices close against what was charged.

use record::{Observation, Requests};
use serde::Serialize;

use super::charge::Charged;
use super::measured::{self, MeasuredCalls};
use super::pricing::is_of_pages;
use super::row::{BillRow, CALLS};
use crate::mix::Sum;
use crate::predict::MixPrediction;
use crate::statistics::Interval;

/// A habit that costs time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Habit {
    /// One sentence.
    pub text: String,
    /// The calls that it is about.
    #[serde(skip)]
    pub calls: Vec<String>,
    /// The processor time that it would save, at least and at most, in ns; null without a price.
    pub saves_ns: Option<[f64; 2]>,
    /// The most as a share of all charged processor time.
    pub share: Option<f64>,
    /// The elapsed time that it would save, at least and at most, in ns; null if it saves processor time alone.
    pub saves_elapsed_ns: Option<[f64; 2]>,
}

impl Habit {
    /// What a user would feel of it, in ns.
    pub fn felt_ns(&self) -> f64 {
        self.saves_elapsed_ns.or(self.saves_ns).map_or(0.0, |[least, _]| least)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bill {
    /// The dearest first; those without a price after them, by count.
    pub rows: Vec<BillRow>,
    /// The processor time that the rows explain, with counting, in ns.
    pub explained: Interval,
    /// What the rows would explain if all names and files were one that stays in the caches, and if each were another, in ns.
    pub range_ns: Option<[f64; 2]>,
    /// What counting cost the program, in ns: it is part of what it was charged.
    pub counting_ns: f64,
    /// What the kernel charged for its own work, in ns.
    pub charged: Option<Charged>,
    /// What was measured in the program, and how far the prices are from it; `None` without samples.
    pub measured: Option<MeasuredCalls>,
    /// What could be saved, the largest first.
    pub findings: Vec<Habit>,
}

impl Bill {
    pub fn explained_share(&self) -> Option<f64> {
        self.charged.filter(|charged| charged.ns > 0.0).map(|charged| self.explained.value / charged.ns)
    }

    /// What was charged less what is explained, in ns. It may be negative.
    pub fn residual_ns(&self) -> Option<f64> {
        self.charged.map(|charged| charged.ns - self.explained.value)
    }

    /// What the prices leave out or add, as a share of their sum: by call where calls were measured, so that errors do not cancel,
    /// else in all. `None` where prices are lacking, since nobody knows what is left out then.
    pub fn left_out(&self) -> Option<f64> {
        let priced = self.explained.value - self.counting_ns;
        let known = priced > 0.0 && self.rows.iter().all(|row| row.lacking == 0.0);
        let net = self.residual_ns().map(|residual| (residual / priced).abs());
        let apart = self.measured.map(|measured| measured.apart_ns / priced);
        apart.or(net).filter(|_| known)
    }

    /// The row of a call.
    pub fn row(&self, what: &str) -> Option<&BillRow> {
        self.rows.iter().find(|row| row.what == what)
    }
}

/// The bill of what was observed. The lines of the prediction belong to the row that their note names.
pub(super) fn bill(seen: &Observation, prediction: Option<&MixPrediction>) -> Bill {
    let mut rows = call_rows(&seen.together);
    let counted = rows.len();
    let mut all = Sum::default();
    for priced in prediction.iter().flat_map(|prediction| &prediction.rows) {
        let what = priced.line.note.clone().unwrap_or_else(|| priced.line.name());
        let place = rows.iter().position(|row| row.what == what).unwrap_or_else(|| {
            rows.push(BillRow::of(what, priced.line.family.clone(), 0));
            rows.len() - 1
        });
        let row = &mut rows[place];
        if place >= counted && !is_of_pages(&priced.line.term) {
            row.count += priced.line.term.times.round() as u64;
        }
        row.family.clone_from(&priced.line.family);
        if priced.by.is_none() {
            row.lacking += priced.line.term.times;
            continue;
        }
        let total = priced.total().figure();
        // Waiting for a partner or a device is no processor time. What does not show it is taken as work.
        let busy = priced.busy.unwrap_or(1.0).min(1.0);
        row.cpu_ns = Some(row.cpu_ns.unwrap_or(0.0) + total.value * busy);
        row.total = Some(row.total.map_or(total, |before| before.plus(total)));
        row.priced_by.push(priced.line.name());
        all = all.plus(priced.line.term.times * busy, &priced.each);
    }
    measured::add_tasks(&mut rows, seen);
    rows.sort_by(|one, other| {
        let cost = |row: &BillRow| row.measured.map(|measured| measured.value).or(row.cpu_ns).unwrap_or(-1.0);
        cost(other).total_cmp(&cost(one)).then(other.count.cmp(&one.count))
    });
    let counting_ns = seen.counting_ns();
    let explained = all.plus(1.0, &Sum::exactly(counting_ns)).figure();
    let measured = MeasuredCalls::of(&rows);
    Bill { rows, explained, range_ns: None, counting_ns, charged: Charged::of(seen), measured, findings: Vec::new() }
}

/// A row for each call, without a price.
fn call_rows(together: &Requests) -> Vec<BillRow> {
    let row = |call: &record::CallCount| BillRow {
        bytes: call.bytes,
        failed: call.failed(),
        measured: call.measured.map(|time| measured::all_of(call.count, time)),
        ..BillRow::of(call.call.clone(), CALLS.into(), call.count)
    };
    together.calls.iter().map(row).collect()
}
