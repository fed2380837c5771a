//! Two things run in lockstep: how many times as long one takes as the other, from blocks of runs in the order A B B A.
//!
//! Whoever takes the runs hands over [`Block`]s: the time of both sides at the same moment. A slow drift hits both sides of a block
//! alike and cancels. Blocks are grouped by *round*: runs that share what may differ by chance between two processes (addresses,
//! physical pages). Take eight rounds or more, or a single one if every run is a process of its own, as those of a command are.
//!
//! - The figure is the mean of the logarithms of the ratios without the quarter of them on either side (25 % trimmed), so that bursts
//!   that hit one run of a block do not move it. Its standard error is that of Tukey and McLaughlin (Sankhya A 25:331, 1963), from
//!   the winsorized variance, with Student's t.
//! - Six rounds or more count as one value each. Otherwise blocks count, and what neighbouring blocks have in common widens the interval:
//!   by the sum of autocorrelations up to the first pair of lags, from lag 1 on, that is not positive.
//! - A change must differ from 1 at 99 %, which is stricter than the interval, and lie beyond 1 %. Looking again and again finds a change by
//!   luck: who takes more runs until the interval is narrow enough, as howslow does, may look at it; who stops on a verdict may not.
//!
//! ```
//! use howslow_analysis::lockstep::{Block, compare};
//! use howslow_analysis::compare::Verdict;
//!
//! // 40 blocks of a drifting machine; the second thing takes 4 % longer.
//! let block = |i: u32| Block::abba([100.0 + f64::from(i), 105.0 + f64::from(i), 104.2 + f64::from(i), 101.0 + f64::from(i)]);
//! let found = compare(&[(0..40).map(block).collect()]).expect("blocks");
//! assert_eq!(found.verdict, Verdict::Slower);
//! ```

use serde::{Deserialize, Serialize};

use crate::compare::Verdict;
use crate::statistics::{Interval, mean, sorted, student_quantile};

/// The times of two things at the same moment, in any unit, per iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The time of the one that the other is compared with.
    pub base: f64,
    /// The time of the other.
    pub other: f64,
    /// True if nothing is known to have disturbed either.
    pub quiet: bool,
}

impl Block {
    /// A block of four runs in the order base, other, other, base. A linear drift cancels.
    pub fn abba([first, second, third, fourth]: [f64; 4]) -> Block {
        Block { base: (first * fourth).sqrt(), other: (second * third).sqrt(), quiet: true }
    }

    fn log_ratio(&self) -> Option<f64> {
        let usable = |time: f64| time > 0.0 && time.is_finite();
        (usable(self.base) && usable(self.other)).then(|| (self.other / self.base).ln())
    }
}

/// The blocks of a round in which two things took turns, A B, B A, B A, A B: of each its times, and whether nothing disturbed it. What
/// remains of an odd number of turns is a block of two runs.
pub fn blocks(base: &[(f64, bool)], other: &[(f64, bool)]) -> Vec<Block> {
    // The product of two times below nothing, of which more was subtracted than they took, is no time.
    let middle = |one: f64, two: f64| if one > 0.0 && two > 0.0 { (one * two).sqrt() } else { f64::NAN };
    let together = |pair: &[(f64, bool)]| match *pair {
        [one, two] => (middle(one.0, two.0), one.1 && two.1),
        _ => pair[0],
    };
    let block = |(base, other): (&[_], &[_])| {
        let ((base, one), (other, two)) = (together(base), together(other));
        Block { base, other, quiet: one && two }
    };
    base.chunks(2).zip(other.chunks(2)).map(block).collect()
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lockstep {
    /// How many times as long the other takes, with its 95 % interval; from 0 to infinity if there is no scatter to judge by.
    pub ratio: Interval,
    pub verdict: Verdict,
    /// Blocks behind the figure.
    pub blocks: usize,
    /// How many times the time so far would settle it, about; absent if it is settled, or if no time would.
    pub more: Option<f64>,
}

/// How far from 1 a ratio may lie and still be the same, as a share.
const BAND: f64 = 0.01;
/// The share of pairs without a difference that may be called changed.
const ALARMS: f64 = 0.01;
/// Nothing on a computer repeats better than this: what remains between two builds of the same thing.
const FLOOR: f64 = 0.0005;
/// The share of values that is left out on either side.
const TRIMMED: f64 = 0.25;
/// Of fewer values none is left out: the interval of what remains would be too narrow.
const ENOUGH_TO_TRIM: usize = 8;
/// From this many rounds on, each counts as one value.
const ENOUGH_ROUNDS: usize = 6;
/// Only quiet blocks count if there are this many, and this share of all.
const ENOUGH_QUIET: usize = 12;
const SHARE_QUIET: f64 = 0.25;
/// Fewer values show no autocorrelation.
const ENOUGH_FOR_A_LAG: usize = 10;
/// More than this many times the time is no plan.
const MOST_TIMES: f64 = 1000.0;

/// Compares two things from blocks in the order taken, by round. `None` without a usable block.
pub fn compare(rounds: &[Vec<Block>]) -> Option<Lockstep> {
    let only_quiet = only_quiet(rounds.iter().flatten());
    judged(rounds.iter().map(|round| log_ratios(round, only_quiet)))
}

/// The same of rounds that have a pair of processes each, and its mirror, in which all was done in the other order (empty if there
/// was none). Their mean counts: what comes to the side that begins cancels, and is no scatter.
pub fn compare_mirrored(rounds: &[[Vec<Block>; 2]]) -> Option<Lockstep> {
    let only_quiet = only_quiet(rounds.iter().flatten().flatten());
    let around_mean = |[one, mirror]: &[Vec<Block>; 2]| {
        let values = log_ratios(one, only_quiet);
        if mirror.is_empty() { Some(values) } else { centred(values, log_ratios(mirror, only_quiet)) }
    };
    judged(rounds.iter().filter_map(around_mean))
}

/// The values of both, moved to the mean of their locations. `None` if either has none.
fn centred(one: Vec<f64>, other: Vec<f64>) -> Option<Vec<f64>> {
    let half = (Located::of(&other)?.value - Located::of(&one)?.value) / 2.0;
    let moved = other.into_iter().map(|value| value - half);
    Some(one.into_iter().map(|value| value + half).chain(moved).collect())
}

/// The verdict on rounds of logarithms of ratios.
fn judged(rounds: impl Iterator<Item = Vec<f64>>) -> Option<Lockstep> {
    let rounds: Vec<Vec<f64>> = rounds.filter(|round| !round.is_empty()).collect();
    let blocks = rounds.iter().map(Vec::len).sum();
    let located = located(&rounds)?;
    let half = located.reach(0.05);
    let end = |side: f64| (located.value + side * half).exp();
    let ratio = Interval { value: located.value.exp(), low: end(-1.0), high: end(1.0) };
    let limit = located.reach(ALARMS);
    let (band, value) = (BAND.ln_1p(), located.value);
    let verdict = match value {
        _ if value.abs() + half <= band => Verdict::Same,
        _ if value.abs() <= band.max(limit) => Verdict::Inconclusive,
        _ if value > 0.0 => Verdict::Slower,
        _ => Verdict::Faster,
    };
    let more = (verdict == Verdict::Inconclusive).then(|| more(value.abs(), band, half, limit)).flatten();
    Some(Lockstep { ratio, verdict, blocks, more })
}

/// How many times the time so far settles it: a change outside of the band, or an interval within it.
fn more(value: f64, band: f64, half: f64, limit: f64) -> Option<f64> {
    let times = if value > band { (limit / value).powi(2) } else { (half / (band - value)).powi(2) };
    (times > 1.0 && times < MOST_TIMES).then_some(times)
}

/// Whether enough blocks are quiet, so that only they count.
fn only_quiet<'b>(all: impl Iterator<Item = &'b Block>) -> bool {
    let (mut count, mut quiet) = (0, 0);
    for block in all {
        count += 1;
        quiet += usize::from(block.quiet);
    }
    quiet >= ENOUGH_QUIET && quiet as f64 >= SHARE_QUIET * f64::from(count)
}

/// The logarithms of the ratios of the blocks that count.
fn log_ratios(round: &[Block], only_quiet: bool) -> Vec<f64> {
    round.iter().filter(|block| block.quiet || !only_quiet).filter_map(Block::log_ratio).collect()
}

/// Where the values of these rounds lie.
fn located(rounds: &[Vec<f64>]) -> Option<Located> {
    let middles: Vec<f64> = rounds.iter().filter_map(|round| Located::of(round)).map(|round| round.value).collect();
    let of_rounds = Located::of(&middles)?;
    if rounds.len() >= ENOUGH_ROUNDS {
        return Some(of_rounds);
    }
    let of_blocks = Located::of(&rounds.concat())?;
    // What rounds differ by cannot be seen within them.
    let wider = rounds.len() > 1 && of_rounds.reach(0.05) > of_blocks.reach(0.05);
    Some(if wider { of_rounds } else { of_blocks })
}

/// The location of values, with its standard error.
#[derive(Clone, Copy)]
struct Located {
    value: f64,
    error: f64,
    freedom: u32,
}

impl Located {
    /// That of values in the order taken, without the outer ones. `None` for no values.
    fn of(values: &[f64]) -> Option<Located> {
        let ordered = sorted(values.iter().copied());
        let cut = if ordered.len() < ENOUGH_TO_TRIM { 0 } else { (ordered.len() as f64 * TRIMMED) as usize };
        let inner = ordered.get(cut..ordered.len() - cut).filter(|inner| !inner.is_empty())?;
        let kept = inner.len() as f64;
        let value = mean(inner);
        if values.len() < 2 {
            return Some(Located { value, error: f64::INFINITY, freedom: 1 });
        }
        let (lowest, highest) = (inner[0], inner[inner.len() - 1]);
        let winsorized: Vec<f64> = values.iter().map(|one| one.clamp(lowest, highest)).collect();
        let middle = mean(&winsorized);
        let off: Vec<f64> = winsorized.iter().map(|one| one - middle).collect();
        let squares: f64 = off.iter().map(|one| one * one).sum();
        // Yuen's form of it (Biometrika 61:165, 1974).
        let error = (squares / (kept * (kept - 1.0)) * inflation(&off, squares)).sqrt();
        Some(Located { value, error, freedom: inner.len() as u32 - 1 })
    }

    /// Student's t that is exceeded on either side with this probability in total.
    fn quantile(&self, error: f64) -> f64 {
        student_quantile(1.0 - error / 2.0, self.freedom.max(1))
    }

    /// How far from the value the truth lies at most, but for this error.
    fn reach(&self, error: f64) -> f64 {
        (self.quantile(error) * self.error).hypot(FLOOR)
    }
}

/// By how many times the variance of the mean exceeds that of independent values, from the deviations in the order taken.
fn inflation(off: &[f64], squares: f64) -> f64 {
    let count = off.len();
    if count < ENOUGH_FOR_A_LAG || squares <= 0.0 {
        return 1.0;
    }
    let correlation = |lag: usize| off.iter().zip(&off[lag..]).map(|(one, other)| one * other).sum::<f64>() / squares;
    let mut sum = 0.0;
    for lag in (1..count / 4).step_by(2) {
        let pair = correlation(lag) + correlation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        sum += pair;
    }
    (1.0 + 2.0 * sum).clamp(1.0, count as f64 / 4.0)
}

#[cfg(test)]
mod tests;
