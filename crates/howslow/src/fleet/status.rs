//! What every verb of a fleet ends with: its page or document, or an error with its exit status.

use ::fleet::{Fleet, FleetError};

use crate::output::{self, Misuse, Outcome};

/// Prints a fleet. The outcome says whether every node has given its documents.
pub(super) fn show(fleet: &Fleet, json: bool) -> anyhow::Result<Outcome> {
    match json {
        true => output::print_document(fleet)?,
        false => output::print_page(&report::fleet_status(fleet, output::style()))?,
    }
    Ok(if fleet.unfinished().is_empty() { Outcome::Done } else { Outcome::Skipped })
}

/// A misuse keeps its exit status.
pub(super) fn told<T>(result: Result<T, FleetError>) -> anyhow::Result<T> {
    result.map_err(|error| if error.is_misuse() { Misuse(error.to_string()).into() } else { error.into() })
}
