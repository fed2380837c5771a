//! What changed between two bills, such as those of a program before and after a change, for each unit of its work.

use std::collections::{BTreeMap, BTreeSet};

use record::Repetition;
use serde::Serialize;

use super::charge::known_split;
use crate::form::As;
use crate::statistics::{Interval, mean, student_quantile, variance};

/// Counts that differ by no more than this share are the same: wake-ups and retries depend on the moment.
const COUNT_MARGIN: f64 = 0.01;
/// Figures whose ratio certainly lies within this share of 1 are the same.
const SAME: f64 = 0.05;
/// The chance that any of the figures of a comparison is said to differ though nothing does.
const ERROR: f64 = 0.05;

/// The units of work that a bill is divided by: so many in each repetition.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkUnit {
    /// The whole command.
    Whole,
    /// So many in each repetition, before and after.
    Given([f64; 2]),
    /// One for each of these calls, and for its variants with a digit at the end, as `accept4`.
    Call(String),
}

impl WorkUnit {
    /// The units of a repetition on this side: 0 before, 1 after.
    pub fn of(&self, side: usize, repetition: &Repetition) -> f64 {
        match self {
            WorkUnit::Whole => 1.0,
            WorkUnit::Given(units) => units[side],
            WorkUnit::Call(name) => {
                let is_variant = |call: &str| {
                    call.strip_prefix(name.as_str()).is_some_and(|rest| rest.bytes().all(|c| c.is_ascii_digit()))
                };
                repetition.calls.iter().filter(|(call, _)| is_variant(call)).map(|(_, count)| *count as f64).sum()
            }
        }
    }
}

/// What a figure of a bill did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    /// It grew.
    More,
    /// It shrank.
    Less,
    /// It changed by less than 5 %, a count by less than 1 %.
    Same,
    /// The repetitions differ too much to tell.
    Inconclusive,
    /// One repetition does not tell how far a time repeats.
    Single,
}

impl ChangeVerdict {
    pub fn word(self) -> &'static str {
        match self {
            ChangeVerdict::More => "more",
            ChangeVerdict::Less => "less",
            ChangeVerdict::Same => "same",
            ChangeVerdict::Inconclusive => "inconclusive",
            ChangeVerdict::Single => "one run",
        }
    }
}

/// What a unit of work took or asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BilledFigure {
    /// Elapsed time, in ns.
    Elapsed,
    /// Processor time without counting, in ns.
    Cpu,
    /// The part of it in user mode, in ns.
    User,
    /// The part of it in the kernel, without counting, in ns.
    Kernel,
    /// Times off the CPU of all tasks, in ns.
    Waiting,
    /// System calls.
    Calls,
    /// Page faults.
    Faults,
    /// Times that a task gave up its CPU or lost it.
    Switches,
}

impl BilledFigure {
    /// All of them, in the order of the page.
    pub const ALL: [BilledFigure; 8] = [
        BilledFigure::Elapsed,
        BilledFigure::Cpu,
        BilledFigure::User,
        BilledFigure::Kernel,
        BilledFigure::Waiting,
        BilledFigure::Calls,
        BilledFigure::Faults,
        BilledFigure::Switches,
    ];

    pub fn words(self) -> &'static str {
        match self {
            BilledFigure::Elapsed => "elapsed time",
            BilledFigure::Cpu => "processor time",
            BilledFigure::User => "user time",
            BilledFigure::Kernel => "kernel time",
            BilledFigure::Waiting => "waiting",
            BilledFigure::Calls => "system calls",
            BilledFigure::Faults => "page faults",
            BilledFigure::Switches => "switches",
        }
    }

    /// True for a number of events, false for a time in ns.
    pub fn is_count(self) -> bool {
        matches!(self, BilledFigure::Calls | BilledFigure::Faults | BilledFigure::Switches)
    }

    /// Its value in a repetition, without what counting added; `None` if it is not known.
    pub fn of(self, repetition: &Repetition) -> Option<f64> {
        let usage = &repetition.usage;
        let sum = |one: Option<u64>, other: Option<u64>| Some((one? + other?) as f64);
        match self {
            BilledFigure::Elapsed => {
                // Counting is spread over the CPUs that were busy.
                let busy = (usage.cpu_ns.unwrap_or(0.0) / repetition.elapsed_ns.max(1.0)).max(1.0);
                Some((repetition.elapsed_ns - repetition.counting_ns / busy).max(0.0))
            }
            BilledFigure::Cpu => Some((usage.cpu_ns? - repetition.counting_ns).max(0.0)),
            // No sample in one of them does not mean that it took nothing.
            BilledFigure::User => known_split(usage).map(|[user, _]| user).filter(|user| *user > 0.0),
            BilledFigure::Kernel => known_split(usage)
                .filter(|[_, kernel]| *kernel > 0.0)
                .map(|[_, kernel]| (kernel - repetition.counting_ns).max(0.0)),
            BilledFigure::Waiting => repetition.waited_ns,
            BilledFigure::Calls => {
                (!repetition.calls.is_empty()).then(|| repetition.calls.values().sum::<u64>() as f64)
            }
            BilledFigure::Faults => sum(usage.minor_faults, usage.major_faults),
            BilledFigure::Switches => sum(usage.voluntary_switches, usage.involuntary_switches),
        }
    }
}

/// A time or count of a unit of work, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChangedFigure {
    /// Which.
    pub figure: BilledFigure,
    /// Its mean before, in ns or events a unit.
    pub before: f64,
    /// Its mean after.
    pub after: f64,
    /// The lower and upper end of after over before; the intervals of all figures hold together at 95 %. Null where either is zero or
    /// was not repeated.
    #[serde(with = "As::<Option<[f64; 2]>>")]
    pub ratio: Option<Interval>,
    /// What it did.
    pub verdict: ChangeVerdict,
}

impl ChangedFigure {
    /// After over before: the ratio that the interval is of, else that of the means.
    pub fn times(&self) -> Option<f64> {
        self.ratio.map(|ratio| ratio.value).or((self.before > 0.0).then(|| self.after / self.before))
    }

    /// True if it certainly grew, and its ratio is more than this share above 1. A share that is asked for may be smaller than what is
    /// the same otherwise.
    pub fn grew_by(&self, at_least: f64) -> bool {
        let is_above = |ratio: Interval| at_least > 0.0 && !self.figure.is_count() && ratio.low > 1.0 + at_least;
        self.ratio.is_some_and(is_above)
            || self.verdict == ChangeVerdict::More && self.times().is_none_or(|times| times > 1.0 + at_least)
    }
}

/// The figures that both sides know. Repetitions that were alternated are compared in pairs, which removes what slowed both.
pub fn changed_figures(
    before: &[Repetition],
    after: &[Repetition],
    unit: &WorkUnit,
    paired: bool,
) -> Vec<ChangedFigure> {
    let values = |side: usize, repetitions: &[Repetition], figure: BilledFigure| -> Option<Vec<f64>> {
        repetitions.iter().map(|repetition| Some(figure.of(repetition)? / unit.of(side, repetition))).collect()
    };
    let known = BilledFigure::ALL.into_iter().filter_map(|figure| {
        let (one, other) = (values(0, before, figure)?, values(1, after, figure)?);
        (!one.is_empty() && !other.is_empty()).then_some((figure, one, other))
    });
    let known: Vec<_> = known.collect();
    let can_differ = known.iter().filter(|(_, one, other)| one.iter().chain(other).any(|value| *value > 0.0)).count();
    let level = 1.0 - ERROR / can_differ.max(1) as f64;
    known.iter().map(|(figure, one, other)| changed(*figure, one, other, paired, level)).collect()
}

fn changed(figure: BilledFigure, one: &[f64], other: &[f64], paired: bool, level: f64) -> ChangedFigure {
    let (before, after) = (mean(one), mean(other));
    let ratio = log_ratio(one, other, paired, level);
    let margin = if figure.is_count() { COUNT_MARGIN } else { SAME };
    let verdict = match ratio {
        None if before == 0.0 && after == 0.0 => ChangeVerdict::Same,
        Some(ratio) if ratio.low >= 1.0 - margin && ratio.high <= 1.0 + margin => ChangeVerdict::Same,
        Some(ratio) if ratio.low > 1.0 => ChangeVerdict::More,
        Some(ratio) if ratio.high < 1.0 => ChangeVerdict::Less,
        Some(_) => ChangeVerdict::Inconclusive,
        None if figure.is_count() && are_apart(one, other, level) => counted(before, after),
        None if one.len().min(other.len()) > 1 => ChangeVerdict::Inconclusive,
        None if figure.is_count() => counted(before, after),
        None => ChangeVerdict::Single,
    };
    ChangedFigure { figure, before, after, ratio, verdict }
}

/// True if all values of one side are above all of the other, which happens by chance less often than the level allows: of all orders of
/// the values, two are so.
fn are_apart(one: &[f64], other: &[f64], level: f64) -> bool {
    let ends = |values: &[f64]| {
        values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)))
    };
    let (first, second) = (ends(one), ends(other));
    let orders: f64 = (1..=one.len()).map(|place| (other.len() + place) as f64 / place as f64).product();
    (first.1 < second.0 || second.1 < first.0) && 2.0 / orders < 1.0 - level
}

/// The verdict on two counts, which are exact.
fn counted(before: f64, after: f64) -> ChangeVerdict {
    match () {
        () if (after - before).abs() <= before.max(after) * COUNT_MARGIN => ChangeVerdict::Same,
        () if after > before => ChangeVerdict::More,
        () => ChangeVerdict::Less,
    }
}

/// The ratio of two geometric means, with the interval of Student's t on logarithms (Welch's for unpaired samples). `None` with
/// fewer than two values on a side, or with zeros.
fn log_ratio(one: &[f64], other: &[f64], paired: bool, level: f64) -> Option<Interval> {
    let logs =
        |values: &[f64]| values.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect::<Option<Vec<f64>>>();
    let (one, other) = (logs(one)?, logs(other)?);
    if one.len().min(other.len()) < 2 {
        return None;
    }
    let (difference, error, freedom) = if paired && one.len() == other.len() {
        let pairs: Vec<f64> = one.iter().zip(&other).map(|(one, other)| other - one).collect();
        let count = pairs.len() as f64;
        (mean(&pairs), (variance(&pairs) / count).sqrt(), count - 1.0)
    } else {
        let [a, b] = [&one, &other].map(|logs| variance(logs) / logs.len() as f64);
        let [na, nb] = [one.len() as f64 - 1.0, other.len() as f64 - 1.0];
        // Welch and Satterthwaite.
        let freedom = if a + b > 0.0 { (a + b).powi(2) / (a * a / na + b * b / nb) } else { na + nb };
        (mean(&other) - mean(&one), (a + b).sqrt(), freedom)
    };
    let reach = student_quantile(1.0 - (1.0 - level) / 2.0, freedom.floor().max(1.0) as u32) * error;
    Some(Interval { value: difference.exp(), low: (difference - reach).exp(), high: (difference + reach).exp() })
}

/// What a bill has of one call or other line, for a unit of work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BilledLine {
    /// How often.
    pub count: f64,
    /// Its processor time in ns; `None` without a measurement and a price.
    pub cpu_ns: Option<f64>,
    /// How long tasks were off the CPU in it, in ns.
    pub waited_ns: f64,
}

/// What changed in one line between two bills, for a unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChangedRow {
    /// The call, or what else costs processor time.
    pub what: String,
    /// How often for a unit, before and after.
    pub count: [f64; 2],
    /// Its processor time for a unit in ns, before and after: measured, else by its price; null where neither is known.
    pub cpu_ns: [Option<f64>; 2],
    /// The time off the CPU in it for a unit in ns, before and after.
    pub waited_ns: [f64; 2],
}

impl ChangedRow {
    /// True if more than the last digits of a division differ.
    fn is_change(&self) -> bool {
        let differs = |one: f64, other: f64| (one - other).abs() > 1e-9 * one.abs().max(other.abs());
        let [before, after] = self.cpu_ns;
        let time = before.zip(after).map(|(one, other)| differs(one, other));
        differs(self.count[0], self.count[1])
            || differs(self.waited_ns[0], self.waited_ns[1])
            || time.unwrap_or(before != after)
    }

    /// The change of processor time in ns, where both are known.
    pub fn cpu_ns(&self) -> Option<f64> {
        let [before, after] = self.cpu_ns;
        Some(after? - before?)
    }

    pub fn waited_ns(&self) -> f64 {
        self.waited_ns[1] - self.waited_ns[0]
    }
}

/// What changed between the lines of two bills, the largest change of time first.
pub fn changes(bills: [&BTreeMap<String, BilledLine>; 2]) -> Vec<ChangedRow> {
    let names: BTreeSet<&String> = bills.iter().flat_map(|bill| bill.keys()).collect();
    let none = BilledLine { cpu_ns: Some(0.0), ..BilledLine::default() };
    let rows = names.into_iter().map(|what| {
        let lines = bills.map(|bill| bill.get(what).copied().unwrap_or(none));
        ChangedRow {
            what: what.clone(),
            count: lines.map(|line| line.count),
            cpu_ns: lines.map(|line| line.cpu_ns),
            waited_ns: lines.map(|line| line.waited_ns),
        }
    });
    let mut rows: Vec<ChangedRow> = rows.filter(ChangedRow::is_change).collect();
    let size = |row: &ChangedRow| row.cpu_ns().unwrap_or(0.0).abs() + row.waited_ns().abs();
    let calls = |row: &ChangedRow| (row.count[1] - row.count[0]).abs();
    rows.sort_by(|one, other| size(other).total_cmp(&size(one)).then(calls(other).total_cmp(&calls(one))));
    rows
}

#[cfg(test)]
mod tests;
