//! What is remembered of accounts from interval to interval: the last one, and the trend. What was idle for long, or ended, is
//! forgotten, so that memory stays that of what runs.

use std::collections::{HashMap, VecDeque};

use analysis::bill::{Account, Who};
use record::Usage;

/// Intervals of a trend.
pub(crate) const TREND: usize = 60;

/// An account, and how it came to that.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The last interval; empty if it was idle.
    pub account: Account,
    /// The measure of recent intervals, the newest last.
    pub trend: VecDeque<f64>,
    /// For how many intervals it did nothing.
    pub idle: usize,
}

/// All accounts of one view.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(HashMap<Who, Entry>);

impl Memory {
    /// Takes an interval in. The measure is what the trend shows.
    pub fn update(&mut self, accounts: Vec<Account>, measure: impl Fn(&Account) -> f64) {
        // Its end is shown for one interval.
        self.0.retain(|_, entry| entry.account.running && entry.idle < TREND);
        for entry in self.0.values_mut() {
            entry.idle += 1;
        }
        for account in accounts {
            let value = measure(&account);
            let unseen = || Entry { account: account.clone(), trend: VecDeque::new(), idle: 0 };
            let entry = self.0.entry(account.who.clone()).or_insert_with(unseen);
            (entry.account, entry.idle) = (account, 0);
            entry.push(value);
        }
        for entry in self.0.values_mut().filter(|entry| entry.idle > 0) {
            entry.push(0.0);
            if entry.idle == 1 {
                rest(&mut entry.account);
            }
        }
    }

    pub fn get(&self, who: &Who) -> Option<&Entry> {
        self.0.get(who)
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }
}

impl Entry {
    fn push(&mut self, value: f64) {
        if self.trend.len() == TREND {
            self.trend.pop_front();
        }
        self.trend.push_back(value);
    }
}

/// What is left of an account where nothing was done.
fn rest(account: &mut Account) {
    (account.calls, account.failed) = (0, 0);
    (account.lines, account.pairs, account.errors) = (Vec::new(), Vec::new(), Vec::new());
    let Usage { cpu_ns, user_ns, system_ns, sampled_ns, .. } = &mut account.usage;
    *sampled_ns = None;
    for time in [&mut account.cost_ns, cpu_ns, user_ns, system_ns].into_iter().flatten() {
        *time = 0.0;
    }
    let Usage { minor_faults, major_faults, voluntary_switches, involuntary_switches, .. } = &mut account.usage;
    for count in [minor_faults, major_faults, voluntary_switches, involuntary_switches].into_iter().flatten() {
        *count = 0;
    }
}
