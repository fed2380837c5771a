//! What makes prices of counts: [`rules`] choose the operations that price a call, [`tasks`] those that price processes and switches,
//! [`memory`] those of faults and of memory that is given back. Bills and accounts of a system are priced here alike.

mod connections;
mod files;
mod list;
mod memory;
mod objects;
mod rules;
mod tasks;

use record::{CallCount, MixLine, Observation, Requests, Term};

use super::interval::{Unit, UnitPrices};
use super::row::{CALLS, is_priced_together};
pub use list::{OperationFacts, PriceList};
pub use rules::Met;
use rules::Rules;
use tasks::Tasks;

/// True for what prices the pages of a process, which is counted by another term.
pub(super) fn is_of_pages(term: &Term) -> bool {
    [memory::UNMAPPED, tasks::RESIDENT].contains(&term.operation.as_str())
}

impl PriceList {
    /// The lines that price what was counted. Each line's note is the row of the bill that it belongs to.
    pub fn lines(&self, seen: &Observation, met: Met) -> Vec<MixLine> {
        let line = |family: &str, row: &str, term| MixLine { term, family: family.into(), note: Some(row.into()) };
        let mut lines = Vec::new();
        for call in seen.together.calls.iter().filter(|call| !is_priced_together(&call.call)) {
            let terms = self.terms(call, &seen.together, met);
            lines.extend(terms.into_iter().map(|term| line(CALLS, &call.call, term)));
        }
        let tasks = Tasks::of(self, seen).terms(self, &seen.usage);
        lines.extend(tasks.into_iter().map(|(unit, term)| line(unit.family(), unit.row(), term)));
        lines
    }

    /// What prices these calls, which are among all that was asked for.
    pub fn terms(&self, call: &CallCount, requests: &Requests, met: Met) -> Vec<Term> {
        Rules { list: self, requests, met }.call(call)
    }
}

impl UnitPrices for PriceList {
    fn calls(&self, call: &CallCount, requests: &Requests) -> Option<f64> {
        self.sum(&self.terms(call, requests, Met::AsCounted))
    }

    fn unit(&self, unit: Unit) -> Option<f64> {
        self.sum(&tasks::one(self, unit))
    }
}
