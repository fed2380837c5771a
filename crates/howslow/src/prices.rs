//! `howslow prices`: measures what bills and mixes are priced by, apart from the user's runs.

use operation::Item;
use record::printable;
use record::units::counted;

use crate::bill::kept::Kept;
use crate::bill::prices::all_items;
use crate::cli::PricesArgs;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::predict::missing_costs::of_mix;
use crate::predict::open_mix;

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
    let Some(run) = &kept.run else { anyhow::bail!(crate::session::NOTHING) };
    if let Some(path) = &args.output {
        store::write_run(run, path)?;
    }
    let lacking = wanted.iter().filter(|item| !kept.has(item.operation.id, &item.point));
    let lacking: Vec<String> = lacking.map(|item| format!("{}{}", item.operation.id, item.point.typed())).collect();
    let place = args.output.as_ref().map_or_else(|| run.id.clone(), |path| printable(&path.display().to_string()));
    output::print_page(&format!(
        "{} of this kernel are known{}; on any machine: howslow predict MIX --on {place}\n",
        counted(run.costs.len() as u64, "price"),
        if missing.is_empty() { ", and none was lacking" } else { "" },
    ))?;
    if lacking.is_empty() {
        return Ok(Outcome::Done);
    }
    let some = lacking.iter().take(6).cloned().collect::<Vec<_>>().join(", ");
    let more = if lacking.len() > 6 { ", ..." } else { "" };
    print_note(&format!("{} not measured here in {} s: {some}{more}", lacking.len(), args.budget));
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
