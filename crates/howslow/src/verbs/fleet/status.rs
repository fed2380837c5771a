//! `howslow fleet status`, with which every verb that follows a fleet ends too.

use ::fleet::{Fleet, Folder};

use super::args::StatusArgs;
use crate::output::{self, Outcome};

/// Prints what is known of a fleet, without asking anybody.
pub(super) fn status(args: &StatusArgs) -> anyhow::Result<Outcome> {
    let folder = Folder::of_user()?;
    let fleet = folder.read(&folder.find(args.fleet.id.as_deref())?)?;
    let shown = show(&fleet, args.json)?;
    // An open attempt may still give a document.
    Ok(if fleet.complete() < fleet.nodes.len() { Outcome::Skipped } else { shown })
}

/// Prints a fleet. The outcome says whether every node has given its documents.
pub(super) fn show(fleet: &Fleet, json: bool) -> anyhow::Result<Outcome> {
    output::answer(json, fleet, |style| report::fleet_status(fleet, style))?;
    Ok(if fleet.unfinished().is_empty() { Outcome::Done } else { Outcome::Skipped })
}
