//! `howslow fleet`: one run on each of many nodes. The crate `fleet` submits, follows and gathers; this prints.

mod follow;
mod manifests;
mod run;
mod shown;

use ::fleet::Folder;

use crate::cli::{FleetArgs, FleetVerb, StatusArgs};
use crate::output::Outcome;

pub(crate) fn fleet(args: &FleetArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        FleetVerb::Run(args) if args.kubernetes => manifests::write(args),
        FleetVerb::Run(args) => run::run(args),
        FleetVerb::Attach(args) => follow::attach(args),
        FleetVerb::Retry(args) => follow::retry(args),
        FleetVerb::Cancel(args) => follow::cancel(args),
        FleetVerb::Status(args) => status(args),
    }
}

/// Prints what is known of a fleet, without asking anybody.
fn status(args: &StatusArgs) -> anyhow::Result<Outcome> {
    let folder = shown::told(Folder::of_user())?;
    let fleet = shown::told(folder.read(&shown::told(folder.find(args.fleet.id.as_deref()))?))?;
    shown::show(&fleet, args.json)
}
