//! `howslow run`: measures the operations that patterns select.

use operation::Item;
use record::{Cost, Run, Skip};

use crate::cli::RunArgs;
use crate::output::{self, Misuse, Outcome};
use crate::pattern::Pattern;
use crate::session::{self, Wanted};
use crate::{against, budget, pattern, resolve};

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Outcome> {
    if args.patterns.is_empty() && !args.full {
        return crate::headline::headline(&args.measure, &args.beside);
    }
    session::has_chart(&args.measure)?;
    let patterns = resolve::patterns(&args.patterns)?;
    let mut items = pattern::choose(&patterns, args.full)?;
    if patterns.is_empty() {
        items.retain(|item| !item.operation.opt_in);
    }
    let paired = if args.ratio { compared(&items)? } else { 0 };
    let budget_s = if args.full { budget::FULL } else { budget::PATTERNS };
    let wanted = Wanted { items, patterns: args.patterns.clone(), full: args.full, paired, budget_s };
    let by_name =
        |skip: &Skip| patterns.iter().any(|pattern| pattern.is_by_name() && pattern.means(&skip.operation, &skip.at));
    if let Some(count) = args.measure.repeat {
        return crate::repeat::repeat(count, &wanted, &args.measure, &by_name);
    }
    let against = against::check(args.beside.against.as_deref())?;
    let mut measured = session::measure(wanted, &args.measure)?;
    let sentences = if args.ratio { ratios(&mut measured.run, &patterns) } else { String::new() };
    session::print_compared(measured, &args.measure, (against, &sentences), &by_name)
}

/// The number of costs whose ratios are taken. Refuses a number that cannot be measured in turn within one moment.
fn compared(items: &[Item]) -> Result<usize, Misuse> {
    const MOST: usize = 8;
    match items.len() {
        2..=MOST => Ok(items.len()),
        count => Err(Misuse(format!(
            "--ratio measures 2 to {MOST} costs in turn, and the patterns name {count}; name each at one point, as in \
             'pipe.self@size=64' (`howslow list` shows them)"
        ))),
    }
}

/// Adds how many times as long each cost takes as that of the first pattern. Returns the same in sentences.
fn ratios(run: &mut Run, patterns: &[Pattern]) -> String {
    let named = |cost: &&Cost| patterns.iter().any(|pattern| pattern.means(&cost.operation, &cost.at));
    let costs: Vec<&Cost> = run.costs.iter().filter(named).collect();
    let base = costs.iter().copied().find(|cost| patterns[0].means(&cost.operation, &cost.at));
    let (ratios, sentences) = (report::ratios(&costs, base), report::relatives(&costs, base, output::style()));
    run.ratios = ratios;
    sentences
}
