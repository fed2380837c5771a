//! The columns of the table: what they show of an account, and how they sort.

use std::cmp::Ordering;

use analysis::bill::{Account, Who};
use clap::ValueEnum;
use record::units::{Amount, significant};

use crate::screen::about::{About, View};

/// A column of the table, from left to right. Its help says what it shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Column {
    /// The id of the process
    Pid,
    /// Count times price
    #[default]
    Cost,
    /// System calls
    Calls,
    /// Failed calls
    Errors,
    /// Processor time in the kernel
    Kernel,
    /// Processor time in user mode
    User,
    /// Page faults
    Faults,
    /// Switches between tasks
    Switches,
    /// The name
    Name,
}

impl Column {
    /// Its heading in this view.
    pub(crate) fn title_in(self, view: View) -> &'static str {
        match (self, view) {
            (Column::Pid, View::Processes) => "PID",
            (Column::Pid, View::Cgroups) => "PROCS",
            (Column::Cost, _) => "COST ms/s",
            (Column::Calls, _) => "CALLS/s",
            (Column::Errors, _) => "ERRORS/s",
            (Column::Kernel, _) => "KERNEL %",
            (Column::User, _) => "USER %",
            (Column::Faults, _) => "FAULTS/s",
            (Column::Switches, _) => "SWITCH/s",
            (Column::Name, View::Processes) => "NAME",
            (Column::Name, View::Cgroups) => "CGROUP",
        }
    }

    /// The characters that it needs, with room for the sign of the sorted column; the last one takes the rest.
    pub(crate) fn width(self) -> u16 {
        match self {
            Column::Pid | Column::Name => 8,
            Column::Cost => 10,
            _ => 9,
        }
    }

    /// True if the larger comes first.
    fn descends(self) -> bool {
        !matches!(self, Column::Pid | Column::Name)
    }

    /// Its number; `None` if that is not known or no number.
    pub fn value(self, account: &Account, elapsed_ns: f64) -> Option<f64> {
        let seconds = elapsed_ns / 1e9;
        let per_second = |value: f64| if seconds > 0.0 { value / seconds } else { 0.0 };
        let usage = &account.usage;
        let both = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0) as f64 + other.unwrap_or(0) as f64),
        };
        let pid = if let Who::Process(pid) = account.who { Some(f64::from(pid)) } else { None };
        match self {
            Column::Pid => pid,
            Column::Cost => account.cost_ns.map(|cost| per_second(cost / 1e6)),
            Column::Calls => Some(per_second(account.calls as f64)),
            Column::Errors => Some(per_second(account.failed as f64)),
            Column::Kernel => usage.system_ns.map(|time| per_second(time / 1e7)),
            // Without a sample, all that is known is the sum.
            Column::User => {
                usage.user_ns.or(usage.cpu_ns.filter(|_| usage.system_ns.is_none())).map(|time| per_second(time / 1e7))
            }
            Column::Faults => both(usage.minor_faults, usage.major_faults).map(per_second),
            Column::Switches => both(usage.voluntary_switches, usage.involuntary_switches).map(per_second),
            Column::Name => None,
        }
    }

    /// What is shown of an account.
    pub fn text(self, account: &Account, elapsed_ns: f64) -> String {
        match self {
            Column::Name => {
                let ended = if has_ended(account) { " (ended)" } else { "" };
                format!("{}{ended}", account.name)
            }
            Column::Pid => match account.who {
                Who::Process(pid) => pid.to_string(),
                _ => format!("×{}", account.processes),
            },
            _ => match self.value(account, elapsed_ns) {
                None => "-".into(),
                // A tenth of a per cent is less than the kernel's samples show.
                Some(value) if matches!(self, Column::Kernel | Column::User) => format!("{value:.1}"),
                Some(value) if self == Column::Cost => cost(value),
                Some(value) => rate(value),
            },
        }
    }

    /// The order of two accounts in a table that is sorted by this column.
    pub fn order(self, one: &Account, other: &Account, elapsed_ns: f64) -> Ordering {
        let values = [one, other].map(|account| self.value(account, elapsed_ns));
        let order = match values {
            [Some(one), Some(other)] if self.descends() => other.total_cmp(&one),
            [Some(one), Some(other)] => one.total_cmp(&other),
            // What is not known comes last.
            [one, other] => other.is_some().cmp(&one.is_some()),
        };
        order.then_with(|| if self == Column::Name { one.name.cmp(&other.name) } else { Ordering::Equal })
    }
}

/// True for a process that was there before and ended. Others that ended say so by their number.
pub(crate) fn has_ended(account: &Account) -> bool {
    !account.running && matches!(account.who, Who::Process(_))
}

/// The columns that have something to show.
pub(crate) fn known(about: &About) -> Vec<Column> {
    let known = |column: &Column| match column {
        Column::Calls | Column::Errors => about.counts_calls,
        Column::Cost => about.prices.is_some(),
        _ => true,
    };
    Column::value_variants().iter().copied().filter(known).collect()
}

/// Milliseconds per second.
pub(crate) fn cost(value: f64) -> String {
    if value < 0.0005 {
        "0".into()
    } else if value < 10.0 {
        format!("{value:.3}")
    } else {
        significant(value)
    }
}

/// A number per second.
pub(crate) fn rate(value: f64) -> String {
    match value {
        value if value < 0.005 => "0".into(),
        value if value < 1000.0 => significant(value),
        value => Amount(value).of(""),
    }
}
