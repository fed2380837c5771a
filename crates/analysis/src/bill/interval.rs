//! A stretch of time of a whole system as accounts: what each process or cgroup asked for, and what that cost. Each line is a
//! count times a price, so that thousands of accounts take no time.

use std::collections::{BTreeMap, BTreeSet};

use record::{CallCount, NamedCount, Observation, PairCount, ProcessCounts, Requests, Usage};
use serde::Serialize;

use super::row::is_priced_together;
use crate::form::{As, Form};

/// What prices a line by its count.
pub trait UnitPrices {
    /// The processor time of these calls together, in ns; they are among all that a process asked for.
    fn calls(&self, call: &CallCount, requests: &Requests) -> Option<f64>;
    /// The processor time of one of these, in ns.
    fn unit(&self, unit: Unit) -> Option<f64>;
}

/// What costs processor time in the kernel and is no single call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// A page fault without a device.
    MinorFault,
    /// A switch between tasks.
    Switch,
    /// A process that executes a program: its creation, the program's start, and its end.
    Exec,
    /// A process that executes none.
    Fork,
    Thread,
    /// A sleep until a device has brought a block.
    Transfer,
}

impl Unit {
    /// Its line.
    pub const fn word(self) -> &'static str {
        match self {
            Unit::MinorFault => "minor faults",
            Unit::Switch => "switches",
            Unit::Exec => "programs",
            Unit::Fork => "processes",
            Unit::Thread => "threads",
            Unit::Transfer => "transfers",
        }
    }
}

/// Whose an account is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Who {
    Process(u32),
    /// Processes that began and ended in the stretch, by their creator and name.
    Short {
        /// The id of their creator, if that was watched.
        parent: Option<u32>,
        name: String,
    },
    /// The processes of a cgroup of the unified hierarchy; empty if they are in none.
    Cgroup(String),
}

/// The processes of an account, for documents.
#[derive(Serialize, JsonSchema)]
struct ProcessIds {
    /// The id of the process; null for several.
    pid: Option<u32>,
    /// The id of the process that created short-lived ones.
    parent: Option<u32>,
}

impl Form<Who> for ProcessIds {
    fn of(who: &Who) -> ProcessIds {
        match who {
            Who::Process(pid) => ProcessIds { pid: Some(*pid), parent: None },
            Who::Short { parent, .. } => ProcessIds { pid: None, parent: *parent },
            Who::Cgroup(_) => ProcessIds { pid: None, parent: None },
        }
    }
}

/// What one process or cgroup asked for in a stretch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Account {
    /// Whose it is.
    #[serde(flatten, with = "As::<ProcessIds>")]
    pub who: Who,
    /// The name of the process or cgroup.
    pub name: String,
    /// The cgroup of a process.
    pub cgroup: Option<String>,
    /// How many processes these are.
    pub processes: u64,
    /// False if it ended.
    pub running: bool,
    /// The system calls together.
    pub calls: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// What all lines cost, in ns; null if none has a price.
    pub cost_ns: Option<f64>,
    /// The lines, the dearest first; those without a price after them, by count.
    pub lines: Vec<AccountLine>,
    /// A call and the one after it, the most frequent first.
    pub pairs: Vec<PairCount>,
    /// Failures by error, the most frequent first.
    pub errors: Vec<NamedCount>,
    /// What the kernel charged.
    pub usage: Usage,
}

/// One kind of request of an account.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AccountLine {
    /// A system call; or `minor faults`, `switches`, `programs`, `processes`, `threads`.
    pub what: String,
    /// How often.
    pub count: u64,
    /// How often it failed.
    pub failed: u64,
    /// The processor time of all of them, in ns; null if the run lacks the price, or another line holds it.
    pub cost_ns: Option<f64>,
}

impl AccountLine {
    /// The price of one, in ns.
    pub fn each(&self) -> Option<f64> {
        self.cost_ns.filter(|_| self.count > 0).map(|cost| cost / self.count as f64)
    }

    /// True for a call whose price is in the lines of processes and threads.
    pub fn is_priced_together(&self) -> bool {
        is_priced_together(&self.what)
    }
}

/// A stretch of time of a whole system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// How long it was, in ns.
    pub elapsed_ns: f64,
    /// One account for each process that did something; those that began and ended in it are put together.
    pub processes: Vec<Account>,
}

/// The accounts of what was counted. `started` are the processes that were created meanwhile.
pub fn interval(seen: &Observation, started: &BTreeSet<u32>, prices: &dyn UnitPrices) -> Stretch {
    let mut children: BTreeMap<u32, u64> = BTreeMap::new();
    let is_new = |process: &ProcessCounts| match process.pid {
        Some(pid) => started.contains(&pid),
        // Only those that ended long ago, by the measure of a stretch, are put together by the counting.
        None => process.parent.is_some(),
    };
    for process in seen.processes.iter().filter(|process| is_new(process)) {
        *children.entry(process.parent.unwrap_or(0)).or_default() += process.processes;
    }
    let mut accounts: BTreeMap<Who, Account> = BTreeMap::new();
    for process in &seen.processes {
        let created = if is_new(process) { process.processes } else { 0 };
        let children = process.pid.and_then(|pid| children.get(&pid)).copied().unwrap_or(0);
        let account = account(process, [created, children], prices);
        accounts.entry(account.who.clone()).and_modify(|same| same.add(&account)).or_insert(account);
    }
    let mut processes: Vec<Account> = accounts.into_values().collect();
    processes.iter_mut().for_each(Account::sort);
    Stretch { elapsed_ns: seen.elapsed_ns, processes }
}

/// The account of a process: `created` says how many of its processes are new, and how many new ones are its children.
fn account(process: &ProcessCounts, [created, children]: [u64; 2], prices: &dyn UnitPrices) -> Account {
    let requests = &process.requests;
    let mut lines = Vec::new();
    let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
    for call in &requests.calls {
        let together = is_priced_together(&call.call);
        let cost_ns = if together { None } else { prices.calls(call, requests) };
        lines.push(AccountLine { what: call.call.clone(), count: call.count, failed: call.failed(), cost_ns });
        for error in &call.errors {
            *errors.entry(&error.name).or_default() += error.count;
        }
    }
    let usage = &process.usage;
    let both = |one: Option<u64>, other: Option<u64>| one.unwrap_or(0) + other.unwrap_or(0);
    // Of processes that are put together it is not known which of them are children of others.
    let threads = if process.pid.is_some() { requests.forks.saturating_sub(children) } else { 0 };
    // Programs that a new process executes come with its creation; others were executed by a process that was there.
    let units = [
        (Unit::Exec, requests.execs),
        (Unit::Fork, created.saturating_sub(requests.execs)),
        (Unit::Thread, threads),
        (Unit::MinorFault, usage.minor_faults.unwrap_or(0)),
        (Unit::Switch, both(usage.voluntary_switches, usage.involuntary_switches)),
    ];
    for (unit, count) in units.into_iter().filter(|(_, count)| *count > 0) {
        let cost_ns = prices.unit(unit).map(|each| each * count as f64);
        lines.push(AccountLine { what: unit.word().into(), count, failed: 0, cost_ns });
    }
    let errors = errors.into_iter().map(|(name, count)| NamedCount { name: name.into(), count }).collect();
    Account {
        who: match process.pid {
            Some(pid) if process.running || created == 0 => Who::Process(pid),
            _ => Who::Short { parent: process.parent, name: process.name.clone() },
        },
        name: process.name.clone(),
        cgroup: process.cgroup.clone(),
        processes: process.processes,
        running: process.running,
        calls: requests.total(),
        failed: requests.calls.iter().map(CallCount::failed).sum(),
        cost_ns: sum(lines.iter().map(|line| line.cost_ns)),
        lines,
        pairs: requests.pairs.clone(),
        errors,
        usage: process.usage,
    }
}

/// The sum of the costs that are known; `None` if none is.
fn sum(costs: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    costs.into_iter().flatten().reduce(|one, other| one + other)
}

impl Account {
    fn add(&mut self, other: &Account) {
        self.processes += other.processes;
        self.running |= other.running;
        self.calls += other.calls;
        self.failed += other.failed;
        self.cost_ns = sum([self.cost_ns, other.cost_ns]);
        self.usage = self.usage.plus(&other.usage);
        for line in &other.lines {
            match self.lines.iter_mut().find(|own| own.what == line.what) {
                Some(same) => {
                    same.count += line.count;
                    same.failed += line.failed;
                    same.cost_ns = sum([same.cost_ns, line.cost_ns]);
                }
                None => self.lines.push(line.clone()),
            }
        }
        for pair in &other.pairs {
            match self.pairs.iter_mut().find(|own| own.first == pair.first && own.then == pair.then) {
                Some(same) => same.count += pair.count,
                None => self.pairs.push(pair.clone()),
            }
        }
        for error in &other.errors {
            match self.errors.iter_mut().find(|own| own.name == error.name) {
                Some(same) => same.count += error.count,
                None => self.errors.push(error.clone()),
            }
        }
    }

    fn sort(&mut self) {
        let cost = |line: &AccountLine| line.cost_ns.unwrap_or(-1.0);
        self.lines.sort_by(|one, other| cost(other).total_cmp(&cost(one)).then(other.count.cmp(&one.count)));
        self.pairs.sort_by_key(|pair| std::cmp::Reverse(pair.count));
        self.errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    }
}

impl Stretch {
    /// All processes together.
    pub fn total(&self) -> Option<Account> {
        let (first, rest) = self.processes.split_first()?;
        let mut sum = Account { who: Who::Cgroup(String::new()), name: "all".into(), cgroup: None, ..first.clone() };
        rest.iter().for_each(|account| sum.add(account));
        sum.sort();
        Some(sum)
    }

    /// The accounts by cgroup. Processes in none, or in one that is not known, have one together.
    pub fn cgroups(&self) -> Vec<Account> {
        let mut sums: BTreeMap<&str, Account> = BTreeMap::new();
        for account in &self.processes {
            let name = account.cgroup.as_deref().unwrap_or_default();
            sums.entry(name).and_modify(|sum| sum.add(account)).or_insert_with(|| {
                let shown = if name.is_empty() { "(no cgroup known)" } else { name };
                Account { who: Who::Cgroup(name.into()), name: shown.into(), cgroup: None, ..account.clone() }
            });
        }
        let mut sums: Vec<Account> = sums.into_values().collect();
        sums.iter_mut().for_each(Account::sort);
        sums
    }
}

#[cfg(test)]
mod tests;
