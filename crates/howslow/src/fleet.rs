//! `howslow fleet`: one run on each of many nodes. The crate `fleet` submits, follows and gathers; this prints.

use crate::cli::{FleetArgs, FleetVerb};
use crate::output::Outcome;

pub(crate) fn fleet(args: &FleetArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        FleetVerb::Run(_)
        | FleetVerb::Attach(_)
        | FleetVerb::Retry(_)
        | FleetVerb::Cancel(_)
        | FleetVerb::Status(_) => anyhow::bail!("this verb comes with the next commits of this branch"),
    }
}
