//! `howslow prices`: measures what bills and mixes are priced by, apart from the user's runs.

use std::path::PathBuf;

use clap::Args;
use operation::Item;
use record::units::counted;

use crate::cli::value::seconds;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::pattern::few;
use crate::verbs::bill::kept::Kept;
use crate::verbs::bill::prices::all_items;
use crate::verbs::predict::missing_costs::of_mix;
use crate::verbs::predict::open_mix;

const PRICED: &str = "\
Prices are kept apart from your runs, for this kernel, command line and processor. `howslow bill` and `top` use the most certain
one of each, whether a run has it or this. Without --for, all that bills use is measured anew.
Examples: howslow prices
          howslow prices --for mix.toml -o there.json
          howslow predict mix.toml --on there.json
Exit status: 0 done; 1 failed; 2 misused; 3 done, but not all could be measured; 130 interrupted.";

/// Measure what bills are priced by, once for this kernel, or what one mix lacks
#[derive(Debug, Args)]
#[command(after_help = PRICED)]
pub(crate) struct PricesArgs {
    /// Measure only what this mix lacks: a file, or a mix that comes with howslow; may be repeated
    #[arg(long = "for", value_name = "MIX", add = clap_complete::ArgValueCompleter::new(crate::complete::mixes))]
    pub mixes: Vec<String>,
    /// Write the prices as a run, which `bill --on` and `predict --on` take on any machine
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How long to measure
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: f64,
}

/// Measures them.
pub(crate) fn prices(args: &PricesArgs) -> anyhow::Result<Outcome> {
    output::check_writable(&args.output)?;
    let mut kept = Kept::here();
    let wanted = if args.mixes.is_empty() { all_items() } else { wanted_by(&args.mixes)? };
    // Without a mix, all prices are measured anew: the more certain one stays.
    let known = |item: &Item| kept.has(item.operation.id, &item.point);
    let missing: Vec<Item> = wanted.iter().filter(|item| args.mixes.is_empty() || !known(item)).cloned().collect();
    if !missing.is_empty()
        && let Some(signal) = kept.measure_here(&missing, args.budget)?
    {
        return Ok(Outcome::Interrupted(signal));
    }
    let Some(run) = kept.run() else { anyhow::bail!(crate::session::NOTHING) };
    if let Some(path) = &args.output {
        store::write_run(run, path)?;
    }
    let lacking = wanted.iter().filter(|item| !kept.has(item.operation.id, &item.point));
    let lacking: Vec<String> = lacking.map(|item| format!("{}{}", item.operation.id, item.point.typed())).collect();
    let place = args.output.as_ref().map_or_else(|| run.id.clone(), |path| output::shown(path));
    output::print_page(&format!(
        "{} of this kernel are known{}; on any machine: howslow predict MIX --on {place}\n",
        counted(run.costs.len() as u64, "price"),
        if missing.is_empty() { ", and none was lacking" } else { "" },
    ))?;
    if lacking.is_empty() {
        return Ok(Outcome::Done);
    }
    let some = few(&lacking, 6, ", ");
    print_note(&format!("{} not measured here in {} s: {some}", lacking.len(), args.budget));
    Ok(Outcome::Skipped)
}

/// What these mixes are priced by.
fn wanted_by(mixes: &[String]) -> Result<Vec<Item>, Misuse> {
    let mut wanted: Vec<Item> = Vec::new();
    for name in mixes {
        for item in of_mix(&open_mix(name)?)? {
            if !wanted.iter().any(|known| known.operation.id == item.operation.id && known.point == item.point) {
                wanted.push(item);
            }
        }
    }
    Ok(wanted)
}
