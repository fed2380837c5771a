//! `howslow run`: what patterns name; and what every measuring verb does with its run.

use record::Skip;

use crate::cli::{How, RunAsked};
use crate::measuring::{self, Measured, Wanted};
use crate::output::{self, Outcome, say};
use crate::pattern::{self, Pattern};

/// Seconds that operations asked for may take, and all of them at every point.
const BUDGET: f64 = 60.0;
const FULL_BUDGET: f64 = 175.0;

pub(crate) fn run(asked: &RunAsked) -> anyhow::Result<Outcome> {
    if asked.patterns.is_empty() && !asked.full {
        return crate::headline::headline(&asked.how);
    }
    let patterns = asked.patterns.iter().map(|text| Pattern::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let mut items = pattern::choose(&patterns, asked.full)?;
    if patterns.is_empty() {
        items.retain(|item| !item.operation.opt_in);
    }
    let wanted = Wanted {
        items,
        patterns: asked.patterns.clone(),
        full: asked.full,
        budget_s: if asked.full { FULL_BUDGET } else { BUDGET },
    };
    let by_name =
        |skip: &Skip| patterns.iter().any(|pattern| pattern.is_by_name() && pattern.means(&skip.operation, &skip.at));
    match asked.how.repeat {
        Some(count) => crate::repeat::repeat(count, &wanted, &asked.how, &by_name),
        None => print_run(measuring::measure(wanted, &asked.how)?, &asked.how, &by_name),
    }
}

/// Keeps a run and prints it; `by_name` tells whether a skip is of something asked for by name. A run that cannot be
/// kept is printed all the same.
pub(crate) fn print_run(measured: Measured, how: &How, by_name: &dyn Fn(&Skip) -> bool) -> anyhow::Result<Outcome> {
    let Measured { run, interrupted, width } = measured;
    if interrupted.is_none() && !run.costs.is_empty() {
        measuring::keep(&run, width);
    }
    // Written before it is printed: a reader that goes away must not cost the file.
    let written = how.output.as_ref().map(|path| store::write_run(&run, path));
    if how.json {
        output::print_json(&run)?;
    } else {
        output::print(&report::page(&run, output::style()))?;
    }
    written.transpose()?;
    if let Some(signal) = interrupted {
        say("interrupted: this is what was measured until then; it is not kept (-o FILE writes it)");
        return Ok(Outcome::Interrupted(signal));
    }
    if run.skipped.iter().any(by_name) {
        return Ok(Outcome::Skipped);
    }
    if run.costs.is_empty() {
        anyhow::bail!("nothing could be measured here; `howslow doctor` says what is in the way");
    }
    Ok(Outcome::Done)
}
