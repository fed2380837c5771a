//! `howslow top --once --json`: what each process or cgroup asked for in one interval, and what that cost.

use analysis::bill::{Account, AccountLine, Who};
use record::{CountingCost, Loss, NamedCount, Observation, PairCount, PassedOver, Usage};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// One interval of the whole system. Counts and times are those of the interval; divide them by its length.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    pub accounts: Vec<TopAccount<'a>>,
}

/// What one process or cgroup did.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TopAccount<'a> {
    /// The id of the process; null for several.
    pub pid: Option<u32>,
    /// The id of the process that created short-lived ones.
    pub parent: Option<u32>,
    /// The name of the process or cgroup.
    pub name: &'a str,
    /// The cgroup of the process.
    pub cgroup: Option<&'a str>,
    /// How many processes these are.
    pub processes: u64,
    /// False if it ended in the interval.
    pub running: bool,
    /// System calls.
    pub calls: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// The processor time that all lines cost, in ns; null without prices.
    pub cost_ns: Option<f64>,
    /// What the kernel charged.
    pub usage: &'a Usage,
    /// The lines, the dearest first.
    pub lines: Vec<TopLine<'a>>,
    /// A call and the one after it, the most frequent first.
    pub pairs: &'a [PairCount],
    /// Failures by error, the most frequent first.
    pub errors: &'a [NamedCount],
}

/// One kind of request.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TopLine<'a> {
    /// A system call; or `minor faults`, `switches`, `programs`, `processes`, `threads`.
    pub what: &'a str,
    /// How often.
    pub count: u64,
    /// How often it failed.
    pub failed: u64,
    /// The processor time of all of them, in ns; null without a price, or if another line holds it.
    pub cost_ns: Option<f64>,
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
            accounts: accounts.map(told).collect(),
        }
    }
}

fn told(account: &Account) -> TopAccount<'_> {
    let (pid, parent) = match account.who {
        Who::Process(pid) => (Some(pid), None),
        Who::Short { parent, .. } => (None, parent),
        Who::Cgroup(_) => (None, None),
    };
    TopAccount {
        pid,
        parent,
        name: &account.name,
        cgroup: account.cgroup.as_deref(),
        processes: account.processes,
        running: account.running,
        calls: account.calls,
        failed: account.failed,
        cost_ns: account.cost_ns,
        usage: &account.usage,
        lines: account.lines.iter().map(line).collect(),
        pairs: &account.pairs,
        errors: &account.errors,
    }
}

fn line(line: &AccountLine) -> TopLine<'_> {
    TopLine { what: &line.what, count: line.count, failed: line.failed, cost_ns: line.cost_ns }
}
