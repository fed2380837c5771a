//! Finds when a cost changed in a series of runs. Each run says by its interval how far another run may land, so that the
//! scatter is known before there are many runs; the runs' own scatter is heeded where it is larger.
//!
//! The level is a step function with normal scatter of known variance. Steps are chosen by optimal partitioning (Jackson and
//! others, IEEE Signal Processing Letters 12:105, 2005): the sum of squares around the levels, in units of the variance, plus
//! a penalty for each step is least. A step at a given run gains less than `t^2` by chance with the probability of Student's
//! t, so that the square of what a difference between two of `costs x runs` must exceed holds the alarms over all of them below the
//! share that comparisons have.

use crate::change::{FREEDOM, deviations};
use crate::statistics::{Interval, NORMAL_95, mean, median, sorted, student_95};

/// With fewer runs before the newest one, nothing is reported.
pub const ENOUGH_RUNS: usize = 4;
/// What the intervals know of the variance is worth as much as this number of runs (the prior of Smyth, Statistical
/// Applications in Genetics and Molecular Biology 3:3, 2004).
const PRIOR: f64 = 10.0;
/// With this many times the variance that they state, runs show that they scatter more.
const MORE: f64 = 2.0;
/// A run this many deviations off, between two runs that agree, was disturbed.
const FAR: f64 = 3.0;

/// A cost in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// The figure, positive, in cycles or ns.
    pub figure: f64,
    /// How far the cost may lie, on the log scale.
    pub reach: f64,
}

impl Observed {
    /// A figure, with the interval that it has in whatever unit. The wider side of it counts: a figure at the dearer one of two layouts
    /// may as well be the cheaper one in the next run.
    pub fn of(figure: f64, interval: Interval) -> Observed {
        let Interval { value, low, high } = interval;
        Observed { figure, reach: (high / value).max(value / low).ln() }
    }
}

/// A change of one cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The first run of the new level, as a place in the series.
    pub begins: usize,
    /// The first run of the level before, as a place in the series.
    pub before: usize,
    /// The first run after the new level: the number of runs if it is the present one.
    pub ends: usize,
    /// The new level over the one before, with its 95 % interval.
    pub ratio: Interval,
}

/// How strict to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strictness {
    /// The number of costs that are watched together.
    pub costs: usize,
    /// Smaller changes are not reported, as a share.
    pub least: f64,
}

/// The changes in a series of runs, oldest first. A level of a single run is reported only if that run is the newest.
pub fn changes(series: &[Observed], strict: Strictness) -> Vec<Change> {
    if series.len() <= ENOUGH_RUNS || series.iter().any(|run| !(run.figure > 0.0 && run.reach.is_finite())) {
        return Vec::new();
    }
    // Steps are looked for twice: the scatter is taken without those that were found at first.
    let first = Steps::of(series, None, strict).find();
    let steps = Steps::of(series, Some(&first), strict);
    steps.changes(&steps.find(), strict)
}

/// The figures as the search needs them.
struct Steps {
    /// Sums of weight, weight times value, weight times square before each place. Weights are one over the variance.
    sums: Vec<[f64; 3]>,
    penalty: f64,
    /// The two-sided 95 % point for the intervals reported.
    quantile: f64,
}

impl Steps {
    /// `known` are the places where levels begin, as far as they are known.
    fn of(series: &[Observed], known: Option<&[usize]>, strict: Strictness) -> Steps {
        let mut logs: Vec<f64> = series.iter().map(|run| run.figure.ln()).collect();
        let mut own: Vec<f64> = series.iter().map(|run| (run.reach / NORMAL_95).powi(2)).collect();
        let stated = median(own.iter().copied()).unwrap_or(0.0);
        let begins = known.unwrap_or_default();
        // By the larger of both deviations: by one that is too small, usual runs would be taken for disturbed ones.
        let deviation = stated.sqrt().max(scatter(&squares_within(&logs, begins)));
        smooth(&mut logs, deviation);
        let squares = squares_within(&logs, begins);
        let (beside_steps, kept) = variance_beside_steps(&squares_within(&logs, &[]));
        let seen = if known.is_some() { mean(&squares) / 2.0 } else { beside_steps };
        // Where runs scatter more than their intervals state, what looks like a step may be scatter.
        let seen = if seen > stated { seen.max(beside_steps) } else { seen };
        let freedom = if seen > MORE * stated { kept } else { squares.len() } as f64;
        // Successive differences show two thirds as much as deviations from a known level (von Neumann, 1941).
        let freedom = freedom * 2.0 / 3.0;
        let variance = ((PRIOR * stated + freedom * seen) / (PRIOR + freedom)).max(seen);
        // Where runs scatter more than their intervals state, the intervals know nothing of it.
        let freedom = if seen > stated { freedom.max(1.0) } else { PRIOR + freedom };
        // A run with a wide interval shows less than the others.
        own.iter_mut().for_each(|own| *own = (*own / stated).max(1.0) * variance);
        let mut sums = vec![[0.0; 3]];
        for (log, own) in logs.iter().zip(&own) {
            let [weight, first, second] = sums.last().copied().unwrap_or_default();
            sums.push([weight + 1.0 / own, first + log / own, second + log * log / own]);
        }
        let freedom = (freedom.round() as u32).min(FREEDOM);
        let limit = deviations(strict.costs.max(1) * series.len(), freedom);
        Steps { sums, penalty: limit * limit, quantile: student_95(freedom) }
    }

    fn sum(&self, from: usize, to: usize) -> [f64; 3] {
        std::array::from_fn(|place| self.sums[to][place] - self.sums[from][place])
    }

    /// The squares around the mean, in units of the variance.
    fn squares(&self, from: usize, to: usize) -> f64 {
        let [weight, first, second] = self.sum(from, to);
        (second - first * first / weight).max(0.0)
    }

    /// Where new levels begin.
    fn find(&self) -> Vec<usize> {
        let count = self.sums.len() - 1;
        let mut best = vec![(f64::INFINITY, 0); count + 1];
        best[0] = (-self.penalty, 0);
        for end in 1..=count {
            for begin in 0..end {
                // A single run shows a level only at the end, where the next one is not known yet.
                if end - begin >= 2 || (end == count && begin > 0) {
                    let cost = best[begin].0 + self.squares(begin, end) + self.penalty;
                    if cost < best[end].0 {
                        best[end] = (cost, begin);
                    }
                }
            }
        }
        let mut begins = Vec::new();
        let mut end = count;
        while best[end].1 > 0 {
            end = best[end].1;
            begins.push(end);
        }
        begins.reverse();
        begins
    }

    fn changes(&self, begins: &[usize], strict: Strictness) -> Vec<Change> {
        let count = self.sums.len() - 1;
        let befores = std::iter::once(0).chain(begins.iter().copied());
        let ends = begins.iter().skip(1).copied().chain([count]);
        let change = |((before, begin), end): ((usize, &usize), usize)| {
            let [old, new] = [self.sum(before, *begin), self.sum(*begin, end)];
            let apart = new[1] / new[0] - old[1] / old[0];
            let wide = self.quantile * (1.0 / new[0] + 1.0 / old[0]).sqrt();
            let [value, low, high] = [apart, apart - wide, apart + wide].map(f64::exp);
            Change { begins: *begin, before, ends: end, ratio: Interval { value, low, high } }
        };
        let all = befores.zip(begins).zip(ends).map(change);
        all.filter(|change| change.ratio.value.ln().abs() >= strict.least.ln_1p()).collect()
    }
}

/// The squared differences of successive values within levels: a step is no scatter.
fn squares_within(logs: &[f64], begins: &[usize]) -> Vec<f64> {
    let within = (1..logs.len()).filter(|place| !begins.contains(place));
    within.map(|place| (logs[place] - logs[place - 1]).powi(2)).collect()
}

/// The standard deviation of values in the order taken, from the squares of their successive differences (von Neumann, Annals of
/// Mathematical Statistics 12:367, 1941) without the largest one: a machine that was changed between two runs, by a kernel or a
/// setting, scatters no more than before, and a drift over months is no scatter either.
fn scatter(squares: &[f64]) -> f64 {
    let count = squares.len() as f64;
    if squares.len() < 2 {
        return 0.0;
    }
    let kept = squares.iter().sum::<f64>() - squares.iter().copied().fold(0.0, f64::max);
    // What the largest of so many squares takes away of normal scatter, fitted to a simulation within 5 %.
    let left_out = 1.0 + (1.75 + count.ln()) / count;
    (kept / (2.0 * (count - 1.0)) * left_out).sqrt()
}

/// The variance while the steps are still among the squared differences: the largest of these count as the one below them.
/// Without one of them only, each of two steps would hide the other in a short series.
fn variance_beside_steps(squares: &[f64]) -> (f64, usize) {
    /// So many may be steps, and at most a third.
    const MOST: usize = 4;
    /// What that takes away of normal scatter, by simulation: 1.4 to 1.9 for 5 to 25 runs, less for more.
    const TAKEN: f64 = 1.5;
    let mut squares = sorted(squares.iter().copied());
    let kept = squares.len() - (squares.len() / 3).clamp(1, MOST);
    let below = squares[kept - 1];
    squares[kept..].fill(below);
    (TAKEN * mean(&squares) / 2.0, kept)
}

/// Sets a run that lies far off, between two that agree, to their middle: a disturbed run is no change.
fn smooth(logs: &mut [f64], deviation: f64) {
    let given = logs.to_vec();
    for place in 1..given.len().saturating_sub(1) {
        let [before, here, after] = [given[place - 1], given[place], given[place + 1]];
        let around = (before + after) / 2.0;
        if (before - after).abs() <= FAR * deviation && (here - around).abs() > FAR * deviation {
            logs[place] = around;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    /// Runs whose figures scatter by `deviation`, with intervals that say so; from run `from` on times `factor`.
    fn runs(random: &mut fastrand::Rng, count: usize, deviation: f64, from: usize, factor: f64) -> Vec<Observed> {
        let run = |place: usize| {
            let level = if place >= from { 100.0 * factor } else { 100.0 };
            Observed { figure: level * (deviation * normal(random)).exp(), reach: NORMAL_95 * deviation }
        };
        (0..count).map(run).collect()
    }

    #[test]
    fn the_scatter_of_normal_runs_is_their_standard_deviation() {
        const TRIES: u32 = 20_000;
        let mut random = fastrand::Rng::with_seed(3);
        for runs in [4, 6, 11, 30] {
            let mut variance = || {
                let values: Vec<f64> = (0..runs).map(|_| normal(&mut random)).collect();
                scatter(&squares_within(&values, &[])).powi(2)
            };
            let variance = (0..TRIES).map(|_| variance()).sum::<f64>() / f64::from(TRIES);
            assert!((0.9..=1.1).contains(&variance), "{runs}: {variance}");
        }
    }

    const STRICT: Strictness = Strictness { costs: 80, least: 0.03 };

    #[test]
    fn runs_that_differ_in_nothing_give_few_alarms() {
        let mut random = fastrand::Rng::with_seed(16);
        for count in [5, 8, 20] {
            // Each of these watches 10 costs; at most 5 in 100 may report a change.
            let strict = Strictness { costs: 10, ..STRICT };
            let alarm = |random: &mut fastrand::Rng| {
                (0..10).any(|_| !changes(&runs(random, count, 0.02, count, 1.0), strict).is_empty())
            };
            let alarms = (0..200).filter(|_| alarm(&mut random)).count();
            assert!(alarms <= 14, "{count} runs: {alarms} of 200");
        }
    }

    #[test]
    fn runs_that_scatter_more_than_their_intervals_state_give_few_alarms() {
        let mut random = fastrand::Rng::with_seed(3);
        let alarm = |random: &mut fastrand::Rng| {
            let mut runs = runs(random, 20, 0.03, 20, 1.0);
            runs.iter_mut().for_each(|run| run.reach = NORMAL_95 * 0.005);
            !changes(&runs, STRICT).is_empty()
        };
        let alarms = (0..500).filter(|_| alarm(&mut random)).count();
        assert!(alarms <= 5, "{alarms} of 500 costs");
    }

    #[test]
    fn a_change_is_found_where_it_began() {
        let mut random = fastrand::Rng::with_seed(5);
        for (factor, deviation, least) in [(1.05, 0.005, 97), (1.10, 0.015, 95), (1.10, 0.02, 75), (0.9, 0.015, 95)] {
            let found = |random: &mut fastrand::Rng| {
                let changes = changes(&runs(random, 20, deviation, 12, factor), STRICT);
                changes.len() == 1
                    && changes[0].begins.abs_diff(12) <= 1
                    && changes[0].ratio.low < factor
                    && factor < changes[0].ratio.high
            };
            let found = (0..100).filter(|_| found(&mut random)).count();
            // The interval holds the factor 95 times in 100.
            assert!(found as f64 >= 0.93 * f64::from(least), "{factor} with {deviation}: {found}");
        }
    }

    #[test]
    fn the_newest_run_alone_is_reported_when_it_is_far_off() {
        let mut random = fastrand::Rng::with_seed(9);
        let mut series = runs(&mut random, 10, 0.005, 9, 1.1);
        let found = changes(&series, STRICT);
        assert_eq!((found.len(), found[0].begins, found[0].ends), (1, 9, 10), "{found:?}");
        // The next runs show that it was disturbed.
        series.extend(runs(&mut random, 3, 0.005, 3, 1.0));
        assert!(changes(&series, STRICT).is_empty());
    }

    #[test]
    fn small_changes_few_runs_and_unknown_figures_are_not_reported() {
        let mut random = fastrand::Rng::with_seed(11);
        assert!(changes(&runs(&mut random, 20, 0.001, 10, 1.02), STRICT).is_empty());
        assert!(changes(&runs(&mut random, 4, 0.001, 3, 2.0), STRICT).is_empty());
        let mut series = runs(&mut random, 20, 0.001, 10, 2.0);
        series[3].figure = 0.0;
        assert!(changes(&series, STRICT).is_empty());
        assert!(changes(&[], STRICT).is_empty());
    }

    #[test]
    fn a_change_that_went_back_is_found_in_a_short_series() {
        let mut random = fastrand::Rng::with_seed(17);
        for (lengths, factor) in [([4, 4, 4], 3.0), ([8, 2, 2], 2.0), ([8, 2, 2], 1.2)] {
            let mut series = runs(&mut random, lengths[0], 0.005, lengths[0], 1.0);
            series.extend(runs(&mut random, lengths[1], 0.005, 0, factor));
            series.extend(runs(&mut random, lengths[2], 0.005, lengths[2], 1.0));
            let found = changes(&series, STRICT);
            let begins: Vec<usize> = found.iter().map(|change| change.begins).collect();
            assert_eq!(begins, [lengths[0], lengths[0] + lengths[1]], "{factor}: {found:?}");
            assert!(found[0].ratio.low > 0.96 * factor && found[1].ratio.high < 1.04 / factor, "{found:?}");
        }
    }

    #[test]
    fn several_changes_are_distinguished() {
        let mut random = fastrand::Rng::with_seed(13);
        let mut series = runs(&mut random, 10, 0.005, 10, 1.0);
        series.extend(runs(&mut random, 10, 0.005, 0, 1.1));
        series.extend(runs(&mut random, 10, 0.005, 0, 1.0));
        let found = changes(&series, STRICT);
        assert_eq!(
            found.iter().map(|change| (change.before, change.begins, change.ends)).collect::<Vec<_>>(),
            [(0, 10, 20), (10, 20, 30)]
        );
        assert!(found[0].ratio.low > 1.08 && found[1].ratio.high < 0.93);
    }
}
