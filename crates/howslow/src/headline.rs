//! `howslow`: the headline operations, at their headline points.

use operation::Item;

use crate::cli::How;
use crate::measuring::{self, Wanted};
use crate::output::Outcome;
use crate::run::print_run;

/// Seconds that a first look may take.
const BUDGET: f64 = 13.5;

pub(crate) fn headline(how: &How) -> anyhow::Result<Outcome> {
    let operations = operations::all().filter(|operation| operation.headline);
    let items =
        operations.flat_map(|operation| operation.points(true).into_iter().map(move |point| Item { operation, point }));
    let wanted = Wanted { items: items.collect(), patterns: Vec::new(), full: false, budget_s: BUDGET };
    match how.repeat {
        Some(count) => crate::repeat::repeat(count, &wanted, how, &|_| false),
        None => print_run(measuring::measure(wanted, how)?, how, &|_| false),
    }
}
