//! What every verb of a fleet ends with: its page or document, or an error with its exit status.

use ::fleet::{Fleet, FleetError};

use crate::output::{self, Outcome};

/// Prints a fleet. The outcome says whether every node has given its documents.
pub(super) fn show(fleet: &Fleet, json: bool) -> anyhow::Result<Outcome> {
    output::answer(json, fleet, |style| report::fleet_status(fleet, style))?;
    Ok(if fleet.unfinished().is_empty() { Outcome::Done } else { Outcome::Skipped })
}

/// A misuse keeps its exit status.
pub(super) fn or_misuse<T>(result: Result<T, FleetError>) -> anyhow::Result<T> {
    result.map_err(|error| output::refused(error.is_misuse(), error))
}
