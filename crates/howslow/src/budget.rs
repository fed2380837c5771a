//! The time that measuring may take: the defaults, which the help repeats, and budgets that cannot be kept.

use crate::output::Misuse;

/// Of the headline run, in seconds.
pub(crate) const HEADLINE: f64 = 9.0;
/// Of operations that patterns select.
pub(crate) const PATTERNS: f64 = 60.0;
/// Of a run at every point.
pub(crate) const FULL: f64 = 175.0;
/// Of `howslow time`.
pub(crate) const TIME: f64 = 30.0;

/// The seconds that one round of a cost takes: a process, its set-up, a warm-up, a batch. One round of each of 1,413 costs took
/// 20 s on a Zen 4 guest. Every cost gets one round, however short the budget is.
const ONE_ROUND: f64 = 0.014;
/// A run that takes less than this is never refused.
const SHORT: f64 = 2.0;

/// Checks that one round of each of these costs fits in the budget. The error says what time they need.
pub(crate) fn check(costs: usize, budget_s: f64) -> Result<(), Misuse> {
    let needed = costs as f64 * ONE_ROUND;
    if needed <= SHORT || needed <= budget_s {
        return Ok(());
    }
    Err(Misuse(format!(
        "--budget: one round of each of {costs} costs needs about {needed:.0} s; the budget is {}; raise it, or name fewer operations",
        seconds(budget_s)
    )))
}

/// Tells that measuring took much longer than its budget: every cost is measured at least once, and some need long to prepare.
pub(crate) fn exceeded(took_s: f64, budget_s: f64) -> Option<String> {
    /// Less is no surprise.
    const TIMES: f64 = 1.5;
    let long = took_s > budget_s * TIMES + SHORT;
    long.then(|| {
        format!(
            "--budget: it took {took_s:.0} s, not {}, because every cost is measured at least once; name fewer operations",
            seconds(budget_s)
        )
    })
}

fn seconds(budget_s: f64) -> String {
    if budget_s < 1.0 { format!("{:.0} ms", budget_s * 1e3) } else { format!("{budget_s} s") }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Command;

    #[test]
    fn a_budget_that_cannot_be_kept_is_refused_with_what_is_needed() {
        assert!(check(1, 0.001).is_ok() && check(140, 0.5).is_ok() && check(1280, FULL).is_ok());
        let why = check(1300, 2.0).expect_err("too many").0;
        assert!(why.contains("1300 costs needs about 18 s; the budget is 2 s"), "{why}");
        assert!(check(1300, 0.5).is_err_and(|why| why.0.contains("the budget is 500 ms")));
    }

    #[test]
    fn a_budget_that_was_not_kept_is_reported() {
        assert_eq!((exceeded(2.9, 1.0), exceeded(15.0, HEADLINE), exceeded(1.0, 60.0)), (None, None, None));
        let warning = exceeded(21.6, 1.0).expect("a warning");
        assert!(warning.contains("it took 22 s, not 1 s"), "{warning}");
    }

    #[test]
    fn the_help_and_the_readme_name_the_defaults() {
        let command = Command::command();
        let budget = command.get_arguments().find(|argument| argument.get_id() == "budget");
        let budget = budget.and_then(|argument| argument.get_help());
        let help = budget.expect("--budget has a help").to_string();
        let defaults =
            format!("[default: {HEADLINE}s; {PATTERNS}s with patterns; {FULL}s with --full; {TIME}s for `time`,");
        assert!(help.contains(&defaults), "{help}");
        let about = command.get_long_about().expect("a description").to_string();
        let readme = include_str!("../../../README.md");
        let rounded = format!("about {} seconds", (HEADLINE / 5.0).ceil() * 5.0);
        assert!(about.contains(&rounded), "{about}");
        for line in readme.lines().filter(|line| line.contains(" seconds") && line.contains("headline operations")) {
            assert!(line.contains(&rounded), "{line}");
        }
    }
}
