//! `howslow fleet run --kubernetes`: writes manifests, and starts nothing.

use crate::cli::FleetRunArgs;
use crate::output::Outcome;

pub(super) fn write(args: &FleetRunArgs) -> anyhow::Result<Outcome> {
    let _ = super::run::plan(&args.plan)?;
    anyhow::bail!("manifests are not written yet")
}
