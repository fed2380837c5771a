//! `--fail-on`: which costs fail the comparison.

use analysis::compare::{Comparison, Gate, Gated, Unjudged};
use record::Run;

use super::args::CompareArgs;
use crate::pattern::Pattern;

/// The patterns of `--only` that select no cost of these runs, but one that a run skipped. A gate reports them with the reason.
pub(super) fn skipped(patterns: &[Pattern], runs: &[Run], args: &CompareArgs) -> Vec<Unjudged> {
    if args.fail_on.is_none() {
        return Vec::new();
    }
    let is_cost =
        |pattern: &Pattern| runs.iter().flat_map(|run| &run.costs).any(|cost| pattern.means(&cost.operation, &cost.at));
    let none = patterns.iter().filter(|pattern| !is_cost(pattern));
    let skips = none.flat_map(|pattern| {
        runs.iter().enumerate().filter_map(move |(place, run)| {
            let skip = run.skipped.iter().find(|skip| pattern.means(&skip.operation, &skip.at))?;
            let why = format!("skipped there: {}", skip.reason);
            Some(Unjudged { name: pattern.text().into(), run: place, why })
        })
    });
    skips.collect()
}

/// The comparison held against the gate; `None` if there is none.
pub(super) fn gated<'c>(
    comparison: &'c Comparison<'_>,
    skipped: Vec<Unjudged>,
    args: &CompareArgs,
) -> Option<Gated<'c>> {
    let gate = Gate { fail_on: args.fail_on?, at_least: args.at_least.unwrap_or(0.0) };
    let mut gated = analysis::compare::gate(comparison, gate);
    // Whole runs may hold costs that the other cannot have. Only those requested must have a verdict.
    if args.only.is_empty() {
        gated = gated.any();
    }
    gated.unjudged.extend(skipped);
    Some(gated)
}
