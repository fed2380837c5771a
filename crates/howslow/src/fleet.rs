//! `howslow fleet`: one run on each of many nodes. The crate `fleet` submits, follows and gathers; this prints.

mod follow;
mod manifests;
mod rows;
mod run;
mod show;
mod status;

use ::fleet::Folder;

use crate::cli::{FleetArgs, FleetVerb, StatusArgs};
use crate::output::Outcome;

pub(crate) use rows::table;

pub(crate) fn fleet(args: &FleetArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        FleetVerb::Run(args) if args.kubernetes => manifests::write(args),
        FleetVerb::Run(args) => run::run(args),
        FleetVerb::Attach(args) => follow::again(args, follow::Begin::Nothing),
        FleetVerb::Retry(args) => follow::again(args, follow::Begin::Missing),
        FleetVerb::Cancel(args) => follow::cancel(args),
        FleetVerb::Status(args) => status(args),
        FleetVerb::Show(args) => show::show(args),
    }
}

/// Prints what is known of a fleet, without asking anybody.
fn status(args: &StatusArgs) -> anyhow::Result<Outcome> {
    let folder = status::or_misuse(Folder::of_user())?;
    let fleet = status::or_misuse(folder.read(&status::or_misuse(folder.find(args.fleet.id.as_deref()))?))?;
    let shown = status::show(&fleet, args.json)?;
    // An open attempt may still give a document.
    Ok(if fleet.complete() < fleet.nodes.len() { Outcome::Skipped } else { shown })
}
