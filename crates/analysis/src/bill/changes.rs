//! What changed between two bills, such as those of a program before and after a change.

use std::collections::BTreeMap;

use record::{Observation, printable};
use serde::Deserialize;

/// What is read of a bill's document.
#[derive(Debug, Deserialize)]
pub struct WrittenBill {
    seen: Observation,
    rows: Vec<WrittenRow>,
}

#[derive(Debug, Deserialize)]
struct WrittenRow {
    what: String,
    count: u64,
    cpu_ns: Option<f64>,
    #[serde(default)]
    lacking: f64,
}

impl WrittenBill {
    /// Reads a document, which may come from anywhere.
    ///
    /// # Errors
    /// If it is no bill.
    pub fn read(document: &[u8]) -> Result<WrittenBill, serde_json::Error> {
        let mut bill: WrittenBill = serde_json::from_slice(document)?;
        bill.seen.what = printable(&bill.seen.what);
        bill.rows.iter_mut().for_each(|row| row.what = printable(&row.what));
        Ok(bill)
    }

    /// What it is of.
    pub fn name(&self) -> &str {
        &self.seen.what
    }

    /// The processor time in ns that was charged.
    pub fn charged_ns(&self) -> Option<f64> {
        self.seen.usage.cpu_ns
    }

    fn counts(&self) -> Vec<(&str, u64, Option<f64>)> {
        let time = |row: &WrittenRow| row.cpu_ns.filter(|_| row.lacking == 0.0);
        self.rows.iter().map(|row| (row.what.as_str(), row.count, time(row))).collect()
    }
}

/// What changed in one call between two bills.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedRow {
    /// The call.
    pub what: String,
    /// How often, before and after.
    pub count: [u64; 2],
    /// Its processor time in ns, before and after, where both have a price.
    pub cpu_ns: Option<[f64; 2]>,
}

/// What changed between two bills, the largest change of time first.
pub fn changes(before: &WrittenBill, after: &WrittenBill) -> Vec<ChangedRow> {
    changes_of([&before.counts(), &after.counts()])
}

/// How often a call was made, and its processor time in ns.
type CountAndTime = (u64, Option<f64>);

/// The same by calls with their count and processor time.
pub(super) fn changes_of(bills: [&[(&str, u64, Option<f64>)]; 2]) -> Vec<ChangedRow> {
    let mut found: BTreeMap<&str, [Option<CountAndTime>; 2]> = BTreeMap::new();
    for (place, rows) in bills.into_iter().enumerate() {
        for (what, count, time) in rows {
            found.entry(what).or_default()[place].get_or_insert((*count, *time));
        }
    }
    let mut rows: Vec<ChangedRow> = Vec::new();
    for (what, both) in found {
        let count = both.map(|row| row.map_or(0, |row| row.0));
        let [one, other] = both.map(|row| row.map_or(Some(0.0), |row| row.1));
        let cpu_ns = one.zip(other).map(|(one, other)| [one, other]);
        if count[0] != count[1] || cpu_ns.is_some_and(|[one, other]| one != other) {
            rows.push(ChangedRow { what: what.into(), count, cpu_ns });
        }
    }
    let size = |row: &ChangedRow| row.cpu_ns.map_or(0.0, |[one, other]| (other - one).abs());
    let calls = |row: &ChangedRow| row.count[1].abs_diff(row.count[0]);
    rows.sort_by(|one, other| size(other).total_cmp(&size(one)).then(calls(other).cmp(&calls(one))));
    rows
}
