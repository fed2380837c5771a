//! One CPU's recording as an account: how much is lost, how it spreads, what it is charged to, what comes back.

use std::collections::BTreeMap;

use record::largest_first;
use serde::Serialize;

use super::cause::{NOTHING_KNOWN, NoiseCause, single, with_steal};
use super::charge::{Charges, UNEXPLAINED, charge};
use super::gap::Gap;
use super::periods::{Series, periods};
use super::recording::Recording;
use super::windows::attribute;
use crate::form::{As, Form};
use crate::statistics::{median, quantile, sorted};
use crate::tails::Tail;

const OTHER_TASKS: &str = "other tasks (involuntary switches)";

/// The lengths of gaps, for documents.
#[derive(Serialize, JsonSchema)]
struct Gaps {
    /// Percentiles of the lengths of gaps. Without a figure where too few gaps support its interval.
    percentiles: Vec<record::Percentile>,
    /// Length of gaps in ns, and how many of that length, in windows without tracepoints.
    histogram: Vec<(f64, u64)>,
}

impl Form<Tail> for Gaps {
    fn of(tail: &Tail) -> Gaps {
        let record::Tail { percentiles, histogram, .. } = tail.recorded();
        Gaps { percentiles, histogram }
    }
}

impl Form<Clock> for (f64, f64) {
    fn of(clock: &Clock) -> (f64, f64) {
        (clock.lowest, clock.typical)
    }
}

/// Interrupts or softirqs of one line, as the kernel counts them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CountedInterrupts {
    /// The line.
    pub name: String,
    /// How many in a second.
    pub per_second: f64,
}

/// A series, with what is behind it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RepeatedSeries {
    /// The series.
    #[serde(flatten)]
    pub series: Series,
    /// What it is: the tick, or what its gaps are charged to; null if that is not known.
    pub name: Option<String>,
    /// If its gaps are turns of other tasks: how long these worked, in ns. That is the median length, without tracepoints, less
    /// what the switches take.
    #[serde(rename = "worked_ns")]
    pub worked: Option<f64>,
}

/// One of the longest gaps.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Longest {
    /// Seconds since the beginning of the recording.
    #[serde(rename = "at_s")]
    pub at: f64,
    /// Its length in ns.
    #[serde(rename = "ns")]
    pub length: f64,
    /// What most of it is charged to.
    pub cause: String,
}

/// The core's frequency between windows, each as a part of the highest one that was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    pub lowest: f64,
    pub typical: f64,
}

/// What was seen on one CPU.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CpuAccount {
    /// Its number.
    pub cpu: u32,
    /// For how long it was watched, in seconds.
    #[serde(rename = "watched_s")]
    pub watched: f64,
    /// The loop's usual step, in ns.
    #[serde(rename = "step_ns")]
    pub step: f64,
    /// A gap is a step that is longer than usual by more than this, in ns.
    #[serde(rename = "threshold_ns")]
    pub threshold: f64,
    /// The lengths of the gaps of windows without tracepoints.
    #[serde(flatten, with = "As::<Gaps>")]
    pub tail: Tail,
    /// Gaps in a second, without tracepoints.
    #[serde(rename = "gaps_per_second")]
    pub per_second: f64,
    /// The share of time lost in gaps, without tracepoints.
    pub lost: f64,
    /// What time is charged to, the largest share first.
    pub causes: Vec<NoiseCause>,
    /// `tracepoints` or `counters`.
    pub source: &'static str,
    /// Why there were no tracepoints.
    pub untraced: Option<String>,
    /// What tracepoints add to a gap, in ns, by the medians with and without them.
    #[serde(rename = "tracing_adds_ns")]
    pub tracing_adds: Option<f64>,
    /// The interrupts and softirqs that came, the most frequent first.
    pub counted: Vec<CountedInterrupts>,
    /// Gaps that come back with a period, the shortest period first.
    #[serde(rename = "periods")]
    pub repeated: Vec<RepeatedSeries>,
    /// The longest gaps of all windows, the longest first.
    pub longest: Vec<Longest>,
    /// The core's lowest and its median frequency, as parts of its highest.
    #[serde(rename = "frequency", with = "As::<Option<(f64, f64)>>")]
    pub clock: Option<Clock>,
    /// What a gap takes beyond the work of another task, in ns.
    #[serde(rename = "switching_ns")]
    pub switching: Option<f64>,
    /// The share of time in gaps with an involuntary switch.
    pub switched: f64,
    /// The share of time that the task waited for its CPU, by the scheduler's own statistics.
    pub waited: Option<f64>,
    /// The share of time that the hypervisor reports as stolen.
    pub steal: Option<f64>,
    /// Events that the kernel dropped.
    pub lost_events: u64,
    /// Gaps that found no room.
    pub lost_gaps: u64,
}

pub fn account(recording: &Recording) -> CpuAccount {
    let seen = Seen::of(recording);
    let mut tail = Tail::default();
    let places: Vec<usize> = (0..recording.gaps.len()).filter(|&place| seen.is_plain(place)).collect();
    places.iter().for_each(|&place| tail.record(recording.gaps[place].length));
    let plain_time = if seen.untraced_time == 0.0 { seen.time } else { seen.untraced_time };
    let lost = places.iter().fold(0.0, |sum, &place| sum + recording.gaps[place].length);
    let repeated = repeated(recording, &seen);
    let switched = recording.gaps.iter().filter(|gap| gap.switched).fold(0.0, |sum, gap| sum + gap.length);
    CpuAccount {
        cpu: recording.cpu,
        watched: seen.time / 1e9,
        step: recording.step,
        threshold: recording.threshold,
        per_second: places.len() as f64 / plain_time * 1e9,
        lost: lost / plain_time,
        tail,
        causes: causes(recording, &seen),
        source: if recording.untraced.is_none() { "tracepoints" } else { "counters" },
        untraced: recording.untraced.clone(),
        tracing_adds: tracing_adds(recording, &seen, &repeated),
        counted: counted(recording),
        longest: longest(recording, &seen),
        repeated,
        clock: clock(recording),
        switching: recording.switching,
        switched: switched / seen.time,
        waited: recording.waited.map(|waited| waited / seen.time),
        steal: recording.steal.map(|steal| steal / seen.time),
        lost_events: recording.lost_events,
        lost_gaps: recording.lost_gaps,
    }
}

/// What is computed once.
struct Seen {
    /// All watched time, that without tracepoints, and that with them, in ns.
    time: f64,
    untraced_time: f64,
    traced_time: f64,
    /// Whether each gap is in a traced window.
    traced: Vec<bool>,
    window: Vec<usize>,
    /// What each gap of a traced window is charged to.
    charges: Vec<Charges>,
}

impl Seen {
    fn of(recording: &Recording) -> Seen {
        let windows = &recording.windows;
        let time = |traced: bool| -> f64 {
            windows.iter().filter(|window| window.traced == traced).map(|window| window.end - window.start).sum()
        };
        let (untraced_time, traced_time) = (time(false), time(true));
        let place = |gap: &Gap| windows.partition_point(|window| window.start <= gap.start).saturating_sub(1);
        let window: Vec<usize> = recording.gaps.iter().map(place).collect();
        let traced: Vec<bool> = window.iter().map(|&place| windows[place].traced).collect();
        let mut charges = charge(&recording.gaps, &recording.events);
        for (charges, traced) in charges.iter_mut().zip(&traced) {
            if !traced {
                charges.clear();
            }
        }
        let time = (untraced_time + traced_time).max(1.0);
        Seen { time, untraced_time, traced_time, traced, window, charges }
    }

    /// True if tracepoints did not make this gap longer, or all were on.
    fn is_plain(&self, gap: usize) -> bool {
        !self.traced[gap] || self.untraced_time == 0.0
    }
}

fn causes(recording: &Recording, seen: &Seen) -> Vec<NoiseCause> {
    let mut causes =
        if recording.untraced.is_none() { traced_causes(recording, seen) } else { counted_causes(recording, seen) };
    largest_first(&mut causes, |one| one.share);
    causes
}

/// From what each gap of the traced windows is charged to.
fn traced_causes(recording: &Recording, seen: &Seen) -> Vec<NoiseCause> {
    let mut by_cause: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (cause, time) in seen.charges.iter().flatten() {
        by_cause.entry(*cause).or_default().push(*time);
    }
    let time = seen.traced_time.max(1.0);
    let unexplained = by_cause.remove(&UNEXPLAINED).unwrap_or_default();
    let name = |cause: usize| recording.names.get(cause).map_or("", String::as_str);
    let mut causes: Vec<_> = by_cause.into_iter().map(|(cause, times)| single(name(cause), &times, time)).collect();
    let rest = single(NOTHING_KNOWN, &unexplained, time);
    causes.extend(with_steal(rest, recording.steal.map(|steal| steal / seen.time)));
    causes
}

/// From the switches of each gap, and the interrupts of each window.
fn counted_causes(recording: &Recording, seen: &Seen) -> Vec<NoiseCause> {
    let switched: Vec<f64> = recording.gaps.iter().filter(|gap| gap.switched).map(|gap| gap.length).collect();
    let mut lost = vec![0.0; recording.windows.len()];
    for (gap, &window) in recording.gaps.iter().zip(&seen.window).filter(|(gap, _)| !gap.switched) {
        lost[window] += gap.length;
    }
    let mut left = lost.iter().sum::<f64>() / seen.time;
    let counting = counting(recording);
    let mut causes = Vec::new();
    if !switched.is_empty() {
        causes.push(single(OTHER_TASKS, &switched, seen.time));
    }
    let lines = attribute(&recording.windows, &lost);
    let shares: Vec<f64> = lines.iter().map(|line| line.each * line.count as f64 / seen.time).collect();
    // What the lines cost together cannot be more than what was lost.
    let scale = (left / shares.iter().sum::<f64>().max(1e-300)).min(1.0);
    for (line, share) in lines.iter().zip(&shares).filter(|(line, _)| line.each > 0.0) {
        left -= share * scale;
        causes.push(NoiseCause {
            name: recording.lines.get(line.line).cloned().unwrap_or_default(),
            per_second: Some(line.count as f64 / counting * 1e9),
            share: share * scale,
            each: Some(line.each * scale),
            longest: None,
        });
    }
    let rest = NoiseCause { name: NOTHING_KNOWN.into(), share: left.max(0.0), ..NoiseCause::default() };
    causes.extend(with_steal(rest, recording.steal.map(|steal| steal / seen.time)));
    causes
}

/// How long lines were counted, in ns: also between the windows.
fn counting(recording: &Recording) -> f64 {
    recording.windows.iter().map(|window| window.counting).sum::<f64>().max(1.0)
}

fn counted(recording: &Recording) -> Vec<CountedInterrupts> {
    let time = counting(recording);
    let rate = |line: usize| {
        let counts = recording.windows.iter().filter_map(|window| window.counts.get(line));
        counts.sum::<u64>() as f64 / time * 1e9
    };
    let lines = recording.lines.iter().enumerate();
    let mut counted: Vec<CountedInterrupts> =
        lines.map(|(line, name)| CountedInterrupts { name: name.clone(), per_second: rate(line) }).collect();
    counted.retain(|line| line.per_second > 0.0);
    largest_first(&mut counted, |one| one.per_second);
    counted
}

/// The name of what most of a gap is charged to.
fn main_cause(recording: &Recording, charges: &Charges, gap: &Gap) -> Option<String> {
    let largest = charges.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    match largest {
        Some((UNEXPLAINED, _)) => Some(NOTHING_KNOWN.into()),
        Some((cause, _)) => recording.names.get(*cause).cloned(),
        None if gap.switched => Some("another task".into()),
        None => None,
    }
}

fn repeated(recording: &Recording, seen: &Seen) -> Vec<RepeatedSeries> {
    let found = periods(&recording.gaps, &recording.windows);
    let repeated = |mut series: Series| {
        series.measure(&recording.gaps, |member| seen.is_plain(member));
        let (name, worked) =
            (name(recording, seen, &series), recording.worked(&series, |member| seen.is_plain(member)));
        RepeatedSeries { name, worked, series }
    };
    found.into_iter().map(repeated).collect()
}

/// What is behind a series: the tick, by the kernel's own rate or the usual ones; else what most of its gaps are charged to.
fn name(recording: &Recording, seen: &Seen, series: &Series) -> Option<String> {
    const USUAL: [u32; 4] = [100, 250, 300, 1000];
    const NEAR: f64 = 0.002;
    let is = |hz: u32, ticks: u32| (series.period * f64::from(hz) / f64::from(ticks) / 1e9 - 1.0).abs() < NEAR;
    let most = most_often(recording, seen, series);
    // A task that runs every 4 ms is no tick, where that is known.
    let is_timer = most.as_ref().is_none_or(|most| most.contains("timer") || most == NOTHING_KNOWN);
    let usual = USUAL.into_iter().find(|&hz| is(hz, 1));
    let unseen = most.as_deref() == Some(NOTHING_KNOWN);
    match (recording.tick_hz, usual) {
        (Some(hz), _) if is_timer && is(hz, 1) => Some(format!("the tick (CONFIG_HZ={hz})")),
        (None, Some(hz)) if is_timer => Some(format!("the tick (CONFIG_HZ={hz}, by the period)")),
        // The kernel below has a tick of its own.
        (_, Some(hz)) if unseen => Some(format!("{NOTHING_KNOWN}; {hz} a second, as the tick of a host")),
        (Some(hz), _) if is_timer && !unseen => {
            let every = (2..=10).find(|&ticks| is(hz, ticks)).map(|ticks| format!("every {ticks} ticks"));
            every.or(most).or_else(|| line_at(recording, series))
        }
        _ => most.or_else(|| line_at(recording, series)),
    }
}

/// What most gaps of a series are charged to. Tracepoints report it of the windows in which they were on. The counters show of
/// every gap whether it was a switch, and nothing else of it.
fn most_often(recording: &Recording, seen: &Seen, series: &Series) -> Option<String> {
    let cause = |member: usize| main_cause(recording, &seen.charges[member], &recording.gaps[member]);
    let members = series.members.iter().copied();
    let causes: Vec<Option<String>> = match recording.untraced {
        None => members.filter(|&member| seen.traced[member]).map(cause).filter(Option::is_some).collect(),
        Some(_) => members.map(cause).collect(),
    };
    let mut counts: BTreeMap<&Option<String>, usize> = BTreeMap::new();
    causes.iter().for_each(|cause| *counts.entry(cause).or_default() += 1);
    let (cause, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let name = cause.clone()?;
    Some(if 2 * count > causes.len() { name } else { format!("several; most often {name}") })
}

/// The only line that interrupts as often as the series comes.
fn line_at(recording: &Recording, series: &Series) -> Option<String> {
    const NEAR: f64 = 0.02;
    let rate = 1e9 / series.period;
    let mut fitting = counted(recording).into_iter().filter(|line| (line.per_second / rate - 1.0).abs() < NEAR);
    let line = fitting.next()?;
    fitting.next().is_none().then(|| format!("perhaps {}", line.name))
}

/// How much longer the gaps of the best known series are with tracepoints; `None` if they are not.
fn tracing_adds(recording: &Recording, seen: &Seen, repeated: &[RepeatedSeries]) -> Option<f64> {
    let series = &repeated.iter().max_by_key(|found| found.series.members.len())?.series;
    let typical = |traced: bool| {
        let members = series.members.iter().filter(|&&member| seen.traced[member] == traced);
        median(members.map(|&member| recording.gaps[member].length))
    };
    Some(typical(true)? - typical(false)?).filter(|adds| *adds > 0.0)
}

fn longest(recording: &Recording, seen: &Seen) -> Vec<Longest> {
    const SHOWN: usize = 5;
    let begin = recording.windows.first().map_or(0.0, |window| window.start);
    let mut places: Vec<usize> = (0..recording.gaps.len()).collect();
    largest_first(&mut places, |&one| recording.gaps[one].length);
    let shown = places.into_iter().take(SHOWN).map(|place| {
        let gap = &recording.gaps[place];
        let cause = main_cause(recording, &seen.charges[place], gap);
        // The tracepoints were off, and no switch was counted.
        let cause = cause.unwrap_or_else(|| "an interrupt, or unexplained".into());
        Longest { at: (gap.start - begin) / 1e9, length: gap.length, cause }
    });
    shown.collect()
}

/// The chain's time is inversely proportional to the frequency.
fn clock(recording: &Recording) -> Option<Clock> {
    let chains = sorted(recording.windows.iter().map(|window| window.chain).filter(|chain| *chain > 0.0));
    let (fastest, slowest) = (quantile(&chains, 0.0)?, quantile(&chains, 1.0)?);
    Some(Clock { lowest: fastest / slowest, typical: fastest / quantile(&chains, 0.5)? })
}

#[cfg(test)]
mod tests;
