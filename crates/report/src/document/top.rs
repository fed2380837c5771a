//! `howslow top --once --json`: what each process or cgroup requested in one interval, and what that cost.

use analysis::bill::Account;
use record::{CountingCost, Loss, Observation, PassedOver};
use serde::Serialize;

/// One interval of the whole system. Counts and times are those of the interval; divide them by its length.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TopDocument<'a> {
    /// How it was counted: `eBPF`, or `accounts`, which tells no calls.
    pub source: &'a str,
    /// Better ways of counting that were not possible, with the reason.
    pub passed_over: &'a [PassedOver],
    /// The length of the interval, in ns.
    pub elapsed_ns: f64,
    /// The id of the run whose costs are the prices.
    pub run: Option<&'a str>,
    /// The state whose prices were taken: `quiet` or `typical`.
    pub by: &'static str,
    /// What counting cost the programs.
    pub counting: Option<&'a CountingCost>,
    /// What could not be counted.
    pub losses: &'a [Loss],
    /// Processes, or cgroups, that did something, in the order that was asked for.
    pub accounts: Vec<&'a Account>,
}

impl<'a> TopDocument<'a> {
    /// The document of these accounts.
    pub fn of(
        seen: &'a Observation,
        run: Option<&'a str>,
        by: &'static str,
        accounts: impl Iterator<Item = &'a Account>,
    ) -> TopDocument<'a> {
        TopDocument {
            source: &seen.source,
            passed_over: &seen.passed_over,
            elapsed_ns: seen.elapsed_ns,
            run,
            by,
            counting: seen.counting.as_ref(),
            losses: &seen.losses,
            accounts: accounts.collect(),
        }
    }
}
