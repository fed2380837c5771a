//! `howslow fleet`: one run on each of many nodes. The crate `fleet` submits, follows and gathers; this prints.

mod follow;
mod manifests;
mod rows;
mod run;
mod show;

use ::fleet::{Fleet, FleetError, Folder};

use crate::cli::{FleetArgs, FleetVerb, StatusArgs};
use crate::output::{self, Misuse, Outcome};

pub(crate) fn fleet(args: &FleetArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        FleetVerb::Run(args) if args.kubernetes => manifests::write(args),
        FleetVerb::Run(args) => run::run(args),
        FleetVerb::Attach(args) => follow::attach(args),
        FleetVerb::Retry(args) => follow::retry(args),
        FleetVerb::Cancel(args) => follow::cancel(args),
        FleetVerb::Status(args) => status(args),
        FleetVerb::Show(args) => show::show(args),
    }
}

/// Prints what is known of a fleet, without asking anybody.
fn status(args: &StatusArgs) -> anyhow::Result<Outcome> {
    let folder = told(Folder::of_user())?;
    let fleet = told(folder.read(&told(folder.find(args.fleet.id.as_deref()))?))?;
    show(&fleet, args.json)
}

/// Prints a fleet. The outcome says whether every node has given its documents.
fn show(fleet: &Fleet, json: bool) -> anyhow::Result<Outcome> {
    match json {
        true => output::print_document(fleet)?,
        false => output::print(&report::fleet_status(fleet, output::style()))?,
    }
    Ok(if fleet.unfinished().is_empty() { Outcome::Done } else { Outcome::Skipped })
}

/// A misuse keeps its exit status.
fn told<T>(result: Result<T, FleetError>) -> anyhow::Result<T> {
    result.map_err(|error| if error.is_misuse() { Misuse(error.to_string()).into() } else { error.into() })
}
