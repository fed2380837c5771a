//! Why costs are missing from a run.

use record::Run;

/// Why costs are missing: the reason they were skipped for and the remedy, where the run knows it.
pub(crate) fn why_missing(run: &Run, missing: &[String]) -> String {
    let reason = |name: &String| {
        let meant = |skip: &&record::Skip| {
            *name == format!("{}{}", skip.operation, skip.at)
                || (skip.at.0.is_empty() && name.split('@').next() == Some(&skip.operation))
        };
        match run.skipped.iter().find(meant) {
            Some(skip) if skip.remedy.is_empty() => format!("{name}: {}", skip.reason),
            Some(skip) => format!("{name}: {} ({})", skip.reason, skip.remedy),
            None => format!("{name} is not in this run"),
        }
    };
    missing.iter().map(reason).collect::<Vec<_>>().join("; ")
}
