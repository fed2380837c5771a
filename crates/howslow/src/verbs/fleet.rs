//! `howslow fleet`: one run on each of many nodes. The crate `fleet` submits, follows and gathers; this prints.

pub(crate) mod args;
mod follow;
mod manifests;
mod rows;
mod run;
mod show;
mod status;

use crate::output::Outcome;
use args::{FleetArgs, FleetVerb};
pub(crate) use rows::table;

pub(crate) fn fleet(args: &FleetArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        FleetVerb::Run(args) if args.kubernetes => manifests::write(args),
        FleetVerb::Run(args) => run::run(args),
        FleetVerb::Attach(args) => follow::again(args, follow::Begin::Nothing),
        FleetVerb::Retry(args) => follow::again(args, follow::Begin::Missing),
        FleetVerb::Cancel(args) => follow::cancel(args),
        FleetVerb::Status(args) => status::status(args),
        FleetVerb::Show(args) => show::show(args),
    }
}
