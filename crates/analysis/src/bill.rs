//! A bill: what a program asked of the kernel, at the prices of a run, beside what the kernel charged for it.

mod certain;
mod changes;
mod charge;
mod elsewhere;
mod findings;
mod interval;
mod measured;
mod places;
mod pricing;
mod row;
mod rows;
mod waiting;
mod written;

use record::Observation;

use crate::predict::MixPrediction;

pub use certain::{Certainty, thinned};
pub use changes::{
    BilledFigure, BilledLine, ChangeVerdict, ChangedFigure, ChangedRow, WorkUnit, changed_figures, changes,
};
pub use charge::{Charged, known_split};
pub use elsewhere::{BillElsewhere, Carried, ElsewhereRow, USER_KINDS, elsewhere, user_ratio};
pub use interval::{Account, AccountLine, Stretch, Unit, UnitPrices, Who, interval};
pub use measured::{MeasuredCalls, is_within_calls};
pub use places::{FoundPlace, place_of};
pub use pricing::{Met, OperationFacts, PriceList};
pub use row::{BillRow, CALLS};
pub use rows::{Bill, Habit};
pub use waiting::{WaitSum, WaitedFor, waits_by_cause};
pub use written::WrittenBill;

/// The bill of what was observed. The lines of the prediction belong to the row that their note names.
pub fn bill(seen: &Observation, prediction: Option<&MixPrediction>) -> Bill {
    let mut bill = rows::bill(seen, prediction);
    bill.findings = findings::findings(seen, &bill);
    bill
}

#[cfg(test)]
mod tests;
