//! `--beside`: work that runs beside everything that is measured.

use std::path::Path;

use instruments::interference::{Cpus, Loads};
use record::{Achieved, Noise, Place, Settings};

use crate::cli::measure::MeasureArgs;

/// Shortest batch in µs beside work elsewhere: two periods of work that rests now and then.
const BATCH_US: f64 = 8_000.0;
/// The same beside work on the same CPU: several of the scheduler's turns of 3 to 4 ms, or most batches would meet none.
const SHARED_BATCH_US: f64 = 24_000.0;

/// Starts the work that was requested, and notes in the settings what that changes: one CPU for all rounds, and longer
/// batches. `None` if none was requested.
pub(crate) fn start(args: &MeasureArgs, settings: &mut Settings, scratch: &Path) -> anyhow::Result<Option<Loads>> {
    if args.beside.is_empty() {
        return Ok(None);
    }
    let cpus = Cpus::around(args.cpu)?;
    let loads = Loads::start(&args.beside, &cpus, scratch)?;
    let shares = args.beside.iter().any(|load| load.place == Place::Same);
    settings.cpu = Some(cpus.victim);
    settings.batch_us = if shares { SHARED_BATCH_US } else { BATCH_US };
    settings.beside = loads.described();
    Ok(Some(loads))
}

/// Ends the work. Returns what it did, and takes its processor time out of that of other programs on a machine of so
/// many CPUs.
pub(crate) fn finish(loads: Option<Loads>, noise: &mut Noise, cpus: u32) -> anyhow::Result<Vec<Achieved>> {
    let Some(loads) = loads else { return Ok(Vec::new()) };
    let achieved = loads.finish()?;
    let own: f64 = achieved.iter().map(|achieved| achieved.cpu).sum();
    noise.others = (noise.others - own / f64::from(cpus.max(1))).max(0.0);
    Ok(achieved)
}
