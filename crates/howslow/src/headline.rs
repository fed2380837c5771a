//! `howslow`: the headline operations, at their headline points.

use operation::Item;

use crate::cli::{AgainstArgs, MeasureArgs};
use crate::output::Outcome;
use crate::session::{self, Wanted};
use crate::{against, budget};

pub(crate) fn headline(args: &MeasureArgs, beside: &AgainstArgs) -> anyhow::Result<Outcome> {
    session::has_chart(args)?;
    let operations = catalogue::all().filter(|operation| operation.headline);
    let items =
        operations.flat_map(|operation| operation.points(true).into_iter().map(move |point| Item { operation, point }));
    let wanted = Wanted { patterns: Vec::new(), ..Wanted::of(items.collect(), budget::HEADLINE) };
    match args.repeat {
        Some(count) => crate::repeat::repeat(count, &wanted, args, &|_| false),
        None => {
            let against = against::check(beside.against.as_deref())?;
            session::print_compared(session::measure(wanted, args)?, args, (against, ""), &|_| false)
        }
    }
}
