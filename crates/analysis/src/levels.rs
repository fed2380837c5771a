//! Levels of a cost: two or more crisp values that its undisturbed batches lie on, and between which it changes within rounds and
//! between them, as with the state of a branch predictor. A median jumps from one to the other. Each level, and its share, is steady.

mod cause;

use record::{Cost, Ends, Level, Machine, Nanoseconds, Round};
use serde::Serialize;

use crate::prior::Prior;
use crate::reading::{Clocking, samples};
use crate::statistics::{Interval, binomial_tail, median, quantile, sorted, student_95};
use crate::undisturbed::{QuietRound, of_rounds};

/// The batches of a level lie within this of its middle, on the log scale.
const HALF: f64 = 0.015;
/// Levels lie at least this far apart.
const APART: f64 = 0.05;
/// The least share of the batches that makes a level, and that levels together hold. The rest was interrupted, or changed its level.
const LEAST_SHARE: f64 = 0.08;
const TOGETHER: f64 = 0.7;
/// The least number of rounds that show a level.
const LEAST_ROUNDS: usize = 3;
/// More levels than this are no levels.
const MOST: usize = 4;
/// A cost with a continuous scatter, however skewed, shows this gap between levels at most this often, before the places of levels
/// are chosen to suit.
const CHANCE: f64 = 1e-3;
/// How much denser levels are than what lies between them.
const DENSER: f64 = 4.0;

/// The batches of a round that may show a level.
struct LevelBatches {
    logs: Vec<f64>,
    /// Their share of the round's batches.
    share: f64,
}

impl LevelBatches {
    /// `None` for a round beside a neighbour, who may make a level of his own between two checks.
    fn of(round: &Round, clocking: Clocking, cpus: u32) -> Option<LevelBatches> {
        const MOSTLY: f64 = 0.5;
        let values = samples(round, clocking).zip(&round.quiet);
        // Two CPUs are hardly ever undisturbed at once.
        let counting = values.filter(|(value, quiet)| (**quiet || cpus > 1) && *value > 0.0);
        let logs: Vec<f64> = counting.map(|(value, _)| value.ln()).collect();
        let share = logs.len() as f64 / round.ns.len().max(1) as f64;
        (!logs.is_empty() && share >= MOSTLY).then_some(LevelBatches { logs, share })
    }

    /// What one of its batches counts: beyond ten, more of them tell no more of shares.
    fn weight(&self) -> f64 {
        const MOST: usize = 10;
        self.logs.len().min(MOST) as f64 / self.logs.len() as f64
    }

    /// The batches between two values that are not alone there: one that was interrupted lies anywhere.
    fn stretches(&self, low: f64, high: f64) -> usize {
        (0..self.logs.len()).filter(|&at| self.stays(at, low, high)).count()
    }

    /// True if a batch lies between two values, as the one before or after it does. A single batch has none.
    fn stays(&self, at: usize, low: f64, high: f64) -> bool {
        let is_in = |log: &f64| (low..=high).contains(log);
        let beside = || at > 0 && is_in(&self.logs[at - 1]) || self.logs.get(at + 1).is_some_and(is_in);
        is_in(&self.logs[at]) && (self.logs.len() == 1 || beside())
    }
}

pub(crate) struct LevelRounds {
    rounds: Vec<LevelBatches>,
    /// The middle between each two levels, on the log scale.
    cuts: Vec<f64>,
}

impl LevelRounds {
    /// Those of these rounds, if they show levels.
    pub(crate) fn of(rounds: &[Round], clocking: Clocking, cpus: u32) -> Option<LevelRounds> {
        let rounds: Vec<LevelBatches> =
            rounds.iter().filter_map(|round| LevelBatches::of(round, clocking, cpus)).collect();
        let middles = middles(&rounds);
        let cuts = middles.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
        (middles.len() > 1).then_some(LevelRounds { rounds, cuts })
    }

    /// The rounds that were at a level for a while, by their batches there.
    pub(crate) fn at(&self, level: usize) -> Vec<QuietRound> {
        let (low, high) = self.ends(level);
        let of = |round: &LevelBatches| {
            let there = round.stretches(low, high);
            let middle = median(round.logs.iter().copied().filter(|log| (low..=high).contains(log)))?;
            (there > 0).then(|| QuietRound { figure: middle.exp(), quiet: there, share: round.share })
        };
        self.rounds.iter().filter_map(of).collect()
    }

    fn ends(&self, level: usize) -> (f64, f64) {
        let below = level.checked_sub(1).map_or(f64::NEG_INFINITY, |below| self.cuts[below]);
        (below, self.cuts.get(level).copied().unwrap_or(f64::INFINITY))
    }

    /// The share of the batches at a level, with its interval (Wilson, J. Am. Statist. Assoc. 22:209, 1927): rounds are what is
    /// drawn, as a batch is mostly at the level of the one before it.
    fn share(&self, level: usize) -> Interval {
        let (low, high) = self.ends(level);
        let of = |round: &LevelBatches| {
            let there = round.logs.iter().filter(|log| (low..high).contains(*log)).count() as f64;
            (there / round.logs.len() as f64, round.logs.len() as f64 * round.weight())
        };
        let rounds: Vec<(f64, f64)> = self.rounds.iter().map(of).collect();
        let (count, sum) = (rounds.len() as f64, rounds.iter().map(|(_, weight)| weight).sum::<f64>());
        let share = rounds.iter().map(|(share, weight)| share * weight).sum::<f64>() / sum;
        let squares: f64 = rounds.iter().map(|(own, weight)| (weight * (own - share)).powi(2)).sum();
        let variance = squares / sum.powi(2) * count / (count - 1.0).max(1.0);
        let batches: usize = self.rounds.iter().map(|round| round.logs.len()).sum();
        let drawn = (share * (1.0 - share) / variance).clamp(1.0, batches as f64);
        let square = student_95((rounds.len() as u32 - 1).max(1)).powi(2);
        let middle = (share + square / (2.0 * drawn)) / (1.0 + square / drawn);
        let half = (square * (share * (1.0 - share) / drawn + square / (4.0 * drawn * drawn))).sqrt();
        let half = half / (1.0 + square / drawn);
        Interval { value: share, low: (middle - half).max(0.0), high: (middle + half).min(1.0) }
    }

    /// The level that the cost is quoted at: the lowest at which, or below which, it is for long enough. A rarer one is not found in
    /// every run, and the figure would move with that.
    pub(crate) fn quoted(&self) -> usize {
        const LONG: f64 = 0.4;
        let mut share = 0.0;
        let mut is_long = |level: &usize| {
            share += self.share(*level).value;
            share >= LONG
        };
        (0..=self.cuts.len()).find(|level| is_long(level)).unwrap_or(0)
    }

    /// The levels in ns, as timed, cheapest first. `None` if one of them has no interval.
    pub(crate) fn levels(&self, clocking: Clocking, prior: &Prior) -> Option<Vec<Level>> {
        // What is reported of the scatter of such a cost includes its changes of level.
        let crisp = Prior { scatter: prior.scatter.min(HALF), ..*prior };
        let one = |level: usize| {
            let (cost, share) =
                (of_rounds(&self.at(level), clocking, &crisp)?.times(clocking.unit()), self.share(level));
            Some(Level {
                ns: Nanoseconds(cost.value),
                interval_ns: Ends { low: cost.low, high: cost.high },
                share: share.value,
                share_interval: Ends { low: share.low, high: share.high },
            })
        };
        (0..=self.cuts.len()).map(one).collect()
    }
}

/// The levels of one cost, and why it has some.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostLevels<'a> {
    /// The cost's id and point.
    pub cost: String,
    /// The levels, cheapest first.
    pub levels: &'a [Level],
    /// Their mean by shares, in ns.
    pub mean_ns: Option<f64>,
    /// What is known of their cause, and what helps.
    pub why: &'static [&'static str],
}

impl<'a> CostLevels<'a> {
    /// Those of the costs that have some.
    pub fn all(costs: impl Iterator<Item = &'a Cost>, machine: &Machine) -> Vec<CostLevels<'a>> {
        let of = |cost: &'a Cost| CostLevels {
            cost: cost.name(),
            levels: &cost.levels,
            mean_ns: Level::mean(&cost.levels).map(|mean| mean.0),
            why: cause::sentences(machine),
        };
        costs.filter(|cost| !cost.levels.is_empty()).map(of).collect()
    }
}

/// The place of the level that a cost with levels is quoted at.
pub(crate) fn quoted(cost: &Cost) -> usize {
    let apart = |level: &Level| (level.ns.0 / cost.quoted().0).ln().abs();
    let places = cost.levels.iter().map(apart).zip(0..);
    places.min_by(|one, two| one.0.total_cmp(&two.0)).map_or(0, |(_, place)| place)
}

/// The cost at a level with its interval, in ns.
pub fn interval(level: &Level) -> Interval {
    Interval { value: level.ns.0, low: level.interval_ns.low, high: level.interval_ns.high }
}

/// The middles of the levels, ascending; empty if there is one or none.
fn middles(rounds: &[LevelBatches]) -> Vec<f64> {
    let logs = sorted(rounds.iter().flat_map(|round| round.logs.iter().copied()));
    let Some((low, high)) = quantile(&logs, LEAST_SHARE / 4.0).zip(quantile(&logs, 1.0 - LEAST_SHARE / 4.0)) else {
        return Vec::new();
    };
    if rounds.len() < LEAST_ROUNDS || high - low < APART - HALF {
        return Vec::new();
    }
    let found = candidates(rounds, low, high);
    let mut middles = sorted(found.iter().copied());
    // Of two that are not apart, the one with fewer batches is none.
    while let Some(at) = middles.windows(2).position(|pair| !are_apart(rounds, pair[0], pair[1])) {
        let rank = |middle: f64| found.iter().position(|candidate| *candidate == middle);
        middles.remove(if rank(middles[at]) > rank(middles[at + 1]) { at } else { at + 1 });
    }
    let whole: f64 = rounds.iter().map(|round| round.weight() * round.logs.len() as f64).sum();
    let together: f64 = middles.iter().map(|middle| weight_at(rounds, *middle)).sum();
    if middles.len() > 1 && together >= TOGETHER * whole { middles } else { Vec::new() }
}

/// Where most batches lie, then where most of the others lie, and so on.
fn candidates(rounds: &[LevelBatches], low: f64, high: f64) -> Vec<f64> {
    const STEP: f64 = HALF / 3.0;
    /// A cost that spreads over a factor of e^5 has no levels within a factor of a few.
    const STEPS: f64 = 1000.0;
    let steps = ((high - low) / STEP).ceil().min(STEPS) as usize;
    let mut grid: Vec<(f64, f64)> = (0..=steps).map(|step| (0.0, low + step as f64 * STEP)).collect();
    rounds.iter().for_each(|round| add_weights(round, STEP, &mut grid));
    let whole: f64 = rounds.iter().map(|round| round.weight() * round.logs.len() as f64).sum();
    let mut found: Vec<f64> = Vec::new();
    while found.len() < MOST {
        let apart = |at: f64| found.iter().all(|known| (known - at).abs() >= APART);
        let free = grid.iter().filter(|(_, at)| apart(*at));
        let Some(&(weight, at)) = free.max_by(|one, other| one.0.total_cmp(&other.0)) else { break };
        let own = rounds.iter().flat_map(|round| &round.logs).copied().filter(|log| (log - at).abs() <= HALF);
        let Some(middle) = median(own).filter(|_| weight >= LEAST_SHARE * whole) else { break };
        // The middle may lie nearer to a known one than the window did.
        if !apart(middle) {
            break;
        }
        found.push(middle);
    }
    found
}

/// Adds what a round's batches count around each value of a grid with these steps, to its weight: as [`weight_at`] says, but each batch
/// is asked at the few values that it lies near.
fn add_weights(round: &LevelBatches, step: f64, grid: &mut [(f64, f64)]) {
    let mut counts = vec![0_u32; grid.len()];
    for (at, log) in round.logs.iter().enumerate() {
        // One more to either side than rounding could leave out.
        let first = ((log - HALF - grid[0].1) / step).floor() - 1.0;
        let end = ((log + HALF - grid[0].1) / step).ceil() + 2.0;
        for place in (first.max(0.0) as usize)..(end.max(0.0) as usize).min(grid.len()) {
            let middle = grid[place].1;
            counts[place] += u32::from(round.stays(at, middle - HALF, middle + HALF));
        }
    }
    let each = round.weight();
    grid.iter_mut().zip(counts).for_each(|((weight, _), count)| *weight += each * f64::from(count));
}

/// What the batches around a value count.
fn weight_at(rounds: &[LevelBatches], at: f64) -> f64 {
    rounds.iter().map(|round| round.weight() * round.stretches(at - HALF, at + HALF) as f64).sum()
}

/// True if two levels are no parts of one scatter. If the density had one peak, whatever its shape, what lies between them would be at
/// least as dense as one of the two: of the rounds that stay there or at that level, as many as the widths say.
fn are_apart(rounds: &[LevelBatches], low: f64, high: f64) -> bool {
    let between = (low + HALF, high - HALF);
    let width = (between.1 - between.0).max(HALF / 2.0);
    let at = |middle: f64| rounds.iter().filter(|round| round.stretches(middle - HALF, middle + HALF) > 0).count();
    let stays = rounds.iter().filter(|round| round.stretches(between.0, between.1) * 4 > round.logs.len()).count();
    let is_inside = |log: &&f64| (between.0..between.1).contains(*log);
    let inside: f64 =
        rounds.iter().map(|round| round.weight() * round.logs.iter().filter(is_inside).count() as f64).sum();
    [low, high].into_iter().all(|middle| {
        let there = at(middle);
        let by_chance = binomial_tail(there, there + stays, 2.0 * HALF / (2.0 * HALF + width));
        there >= LEAST_ROUNDS
            && by_chance < CHANCE
            && weight_at(rounds, middle) / (2.0 * HALF) > DENSER * inside / width
    })
}

#[cfg(test)]
mod tests;
