//! Why costs are missing from a run.

use record::{Cost, Run, typed_name};

use crate::derived::{Part, Route};
use crate::statistics::Interval;

/// The cost of a part in a run, or why there is none.
pub(super) fn found<'a>(part: &Part, run: &'a Run) -> Result<&'a Cost, String> {
    part.find(run).ok_or_else(|| why_missing(run, &[part.name()]))
}

/// The figure of a route in a run, or why there is none.
pub(super) fn followed(route: &Route, run: &Run) -> Result<Interval, String> {
    route.follow(run).map_err(|missing| why_missing(run, &missing))
}

/// Why costs are missing: the reason they were skipped for and the remedy, where the run knows it.
pub(super) fn why_missing(run: &Run, missing: &[String]) -> String {
    let reason = |name: &String| {
        let meant = |skip: &&record::Skip| {
            *name == format!("{}{}", skip.operation, skip.at)
                || (skip.at.0.is_empty() && name.split('@').next() == Some(&skip.operation))
        };
        match run.skipped.iter().find(meant) {
            Some(skip) if skip.remedy.is_empty() => format!("{}: {}", typed_name(name), skip.reason),
            Some(skip) => format!("{}: {} ({})", typed_name(name), skip.reason, skip.remedy),
            None => format!("{} is not in this run", typed_name(name)),
        }
    };
    missing.iter().map(reason).collect::<Vec<_>>().join("; ")
}
