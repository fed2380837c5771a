//! A bill as a document holds it, for comparisons.

use std::collections::BTreeMap;

use record::{Observation, printable};
use serde::Deserialize;

use super::changes::BilledLine;
use super::row::BillRow;
use super::rows::Bill;
use crate::predict::MachineState;

/// What is read of a bill's document.
#[derive(Debug, Deserialize)]
pub struct WrittenBill {
    /// What was counted.
    pub seen: Observation,
    pub(super) rows: Vec<BillRow>,
    /// The id of the run whose costs were the prices.
    #[serde(default)]
    pub run: Option<String>,
    #[serde(default)]
    by: Option<String>,
    /// What the kernel charged, in ns. Where its samples did not find the kernel, all is taken as time there.
    #[serde(default)]
    pub(super) charged_ns: Option<f64>,
    #[serde(default)]
    kernel_alone: Option<bool>,
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

    /// A bill that was not written.
    pub fn of(seen: &Observation, bill: &Bill) -> WrittenBill {
        let row = |row: &BillRow| BillRow { what: printable(&row.what), ..row.clone() };
        let seen = Observation { what: printable(&seen.what), ..seen.clone() };
        let charged = bill.charged;
        WrittenBill {
            seen,
            rows: bill.rows.iter().map(row).collect(),
            run: None,
            by: None,
            charged_ns: charged.map(|charged| charged.ns),
            kernel_alone: charged.map(|charged| charged.kernel_alone),
        }
    }

    /// The state of its prices, if the document has it.
    pub fn state(&self) -> Option<MachineState> {
        [MachineState::Quiet, MachineState::Typical].into_iter().find(|state| self.by.as_deref() == Some(state.word()))
    }

    /// The processor time beyond what was charged to the kernel, in ns; `None` where that is not known.
    pub(super) fn user_ns(&self) -> Option<f64> {
        let charged = self.charged_ns.filter(|_| self.kernel_alone == Some(true));
        self.seen.usage.cpu_ns.zip(charged).map(|(cpu, kernel)| (cpu - kernel).max(0.0))
    }

    /// True if calls were measured, and not only priced.
    pub fn is_measured(&self) -> bool {
        self.rows.iter().any(|row| row.measured.is_some())
    }

    /// Its lines for a unit of work, of which the last run had so many, to be compared with another bill: with measured times where both
    /// measured the line, else with prices.
    pub fn lines(&self, units: f64, other: &WrittenBill) -> BTreeMap<String, BilledLine> {
        let waits = &self.seen.together.waits;
        let line = |row: &BillRow| {
            let own = waits.iter().filter(|wait| wait.call.as_deref() == Some(row.what.as_str()));
            let waited_ns = own.fold(0.0, |sum, wait| sum + wait.total_ns) / units;
            let same = other.rows.iter().find(|own| own.what == row.what);
            let measured = row.measured.filter(|_| same.is_none_or(|same| same.measured.is_some()));
            let time = measured.map(|figure| figure.value);
            let cpu_ns = time.or(row.whole_cpu_ns()).map(|ns| ns / units);
            (row.what.clone(), BilledLine { count: row.count as f64 / units, cpu_ns, waited_ns })
        };
        self.rows.iter().map(line).collect()
    }
}
