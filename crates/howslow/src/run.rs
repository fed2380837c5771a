//! `howslow run`: measures the operations that patterns select.

use record::Skip;

use crate::against::Against;
use crate::cli::RunArgs;
use crate::output::Outcome;
use crate::session::{self, Wanted};
use crate::{budget, pattern, resolve};

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
    let wanted = Wanted {
        items,
        patterns: args.patterns.clone(),
        full: args.full,
        budget_s: if args.full { budget::FULL } else { budget::PATTERNS },
    };
    let by_name =
        |skip: &Skip| patterns.iter().any(|pattern| pattern.is_by_name() && pattern.means(&skip.operation, &skip.at));
    match args.measure.repeat {
        Some(count) => crate::repeat::repeat(count, &wanted, &args.measure, &by_name),
        None => {
            let against = Against::check(args.beside.against.as_deref())?;
            session::print_beside(session::measure(wanted, &args.measure)?, &args.measure, against, &by_name)
        }
    }
}
