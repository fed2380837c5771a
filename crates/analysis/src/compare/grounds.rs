//! What the rounds of two costs show of a difference besides the figures: whether each was undisturbed often enough, and whether both
//! show the same layouts.

use record::{Cost, Estimate, Round, Run};

use super::conditions::Conditions;
use super::figure::rounds_behind;
use super::levels::ComparedLevels;
use crate::reading::{Clocking, Reading, quiet_samples, samples};
use crate::statistics::{hypergeometric_tail, median, quantile, sorted};
use crate::undisturbed::LOW;

/// Rounds of either that must have given its figure.
const LEAST_ROUNDS: usize = 2;
/// With as many, rounds show a cost's layouts. With fewer, only the batches do.
const LAYOUTS_KNOWN: usize = 9;
/// The share of the slower one's batches below the middle, and of the faster one's above it, from which on both may have the same
/// layouts in other shares. A disturbed batch of the faster one looks like its slower layout, so that more are allowed there.
const SLOWER_BELOW: f64 = 0.05;
const FASTER_ABOVE: f64 = 0.35;
/// Shares of two layouts differ if they do so by chance at most this often.
const BY_CHANCE: f64 = 1e-3;

/// Whether rounds allow a difference to be called a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grounds {
    /// They do.
    Enough,
    SingleRound,
    /// One of them was hardly undisturbed.
    FewRounds,
    SameLayouts,
    /// Other programs took another share of the CPUs, and the cost depends on it.
    OtherLoad,
}

impl Grounds {
    /// Those of two costs of these runs, of which the second is so many times the first, if that is known; if both had `longer` times as
    /// many rounds like those there are. Published costs and summaries have no rounds.
    pub(super) fn of(
        [one, two]: [(&Run, &Cost); 2],
        times: Option<f64>,
        conditions: Conditions,
        longer: u32,
    ) -> Grounds {
        let measured = || [one, two].into_iter().map(|(_, cost)| cost).filter(|cost| !cost.rounds.is_empty());
        if measured().any(|cost| cost.rounds.iter().filter(|round| !round.ns.is_empty()).count() < LEAST_ROUNDS) {
            return Grounds::SingleRound;
        }
        if !conditions.allow(&[one.1, two.1]) {
            return Grounds::OtherLoad;
        }
        let fewest = measured().map(rounds_behind).min().unwrap_or(LAYOUTS_KNOWN) * longer as usize;
        if fewest < LEAST_ROUNDS {
            return Grounds::FewRounds;
        }
        if ComparedLevels::of(one.1, two.1).is_some_and(|levels| !levels.comparable) {
            return Grounds::SameLayouts;
        }
        // Of a cost at two levels, one run may have found them and the other not.
        let unlike = one.1.levels.is_empty() != two.1.levels.is_empty();
        let few = fewest < LAYOUTS_KNOWN || unlike;
        let shared = |times: f64| {
            let (slower, faster) = if times > 1.0 { (two, one) } else { (one, two) };
            let times = times.max(1.0 / times);
            few && share_layouts(slower, faster, times) || differ_in_shares(slower, faster, times, longer)
        };
        if times.is_some_and(shared) { Grounds::SameLayouts } else { Grounds::Enough }
    }
}

/// True if both may have the same layouts in other shares.
fn share_layouts(slower: (&Run, &Cost), faster: (&Run, &Cost), times: f64) -> bool {
    let middle = times.sqrt();
    let share = |(run, cost): (&Run, &Cost), is_beyond: &dyn Fn(f64) -> bool| {
        let batches = relative_batches(cost, run.noise.cycle_ns);
        batches.iter().filter(|batch| is_beyond(**batch)).count() as f64 / batches.len().max(1) as f64
    };
    share(slower, &|batch| batch * middle < 1.0) >= SLOWER_BELOW
        || share(faster, &|batch| batch > middle) >= FASTER_ABOVE
}

/// True if rounds of one lie where the other one lies, more of them than between the two, and shares of such rounds that are the same
/// in both differ as much by chance (Fisher's exact test). Which layout the figure is one of is then chance, too.
fn differ_in_shares(slower: (&Run, &Cost), faster: (&Run, &Cost), times: f64, longer: u32) -> bool {
    const NEAR: f64 = 0.25;
    // From 0 at the figure of the faster one to 1 at that of the slower one.
    let places = |(run, cost): (&Run, &Cost), own: f64| -> Vec<f64> {
        relative_rounds(cost, run.noise.cycle_ns).into_iter().map(|round| own + round.ln() / times.ln()).collect()
    };
    let (slow, fast) = (places(slower, 1.0), places(faster, 0.0));
    let near = |places: &[f64], wanted: f64| places.iter().filter(|place| (*place - wanted).abs() < NEAR).count();
    let (own, other) = ([near(&slow, 1.0), near(&fast, 0.0)], near(&slow, 0.0) + near(&fast, 1.0));
    if own.contains(&0) || other < LEAST_ROUNDS || other <= near(&slow, 0.5) + near(&fast, 0.5) {
        return false;
    }
    let low = |places: &[f64]| places.iter().filter(|place| **place < 0.5).count() * longer as usize;
    let of = |places: &[f64]| places.len() * longer as usize;
    hypergeometric_tail(low(&fast), of(&fast), low(&fast) + low(&slow), of(&fast) + of(&slow)) > BY_CHANCE
}

/// Batches over the figure, both net: the undisturbed ones of rounds with two of them. Where single batches do not give the figure,
/// what rounds show of it.
fn relative_batches(cost: &Cost, cycle_ns: f64) -> Vec<f64> {
    const LEAST_BATCHES: usize = 2;
    if cost.headline != Estimate::Quiet || cost.cpus > 1 {
        return relative_rounds(cost, cycle_ns);
    }
    let clocking = clocking(cost, cycle_ns);
    let rounds = cost.rounds.iter().map(|round| quiet_samples(round, clocking).collect::<Vec<_>>());
    let batches = rounds.filter(|batches| batches.len() >= LEAST_BATCHES).flatten();
    batches.map(|batch| relative(cost, batch * clocking.unit())).collect()
}

/// What rounds show of the figure, over it, both net.
fn relative_rounds(cost: &Cost, cycle_ns: f64) -> Vec<f64> {
    let clocking = clocking(cost, cycle_ns);
    let rounds = cost.rounds.iter().filter_map(|round| of_round(cost, round, clocking));
    rounds.map(|figure| relative(cost, figure * clocking.unit())).collect()
}

/// What a round shows of the cost's figure; `None` if it was lost, or if it is none of those that give the figure.
fn of_round(cost: &Cost, round: &Round, clocking: Clocking) -> Option<f64> {
    let all = || samples(round, clocking);
    match cost.headline {
        Estimate::Quiet if cost.cpus > 1 => quantile(&sorted(all()), LOW),
        Estimate::Quiet => median(quiet_samples(round, clocking)),
        Estimate::Typical if round.survey == Some(false) => None,
        Estimate::Typical => median(all()),
        Estimate::Best => all().reduce(f64::min),
    }
}

/// A gross figure in ns over that of the cost, both net.
fn relative(cost: &Cost, ns: f64) -> f64 {
    let terms = cost.gross_ns.get(cost.headline).0 - cost.quoted().0;
    (ns - terms) / cost.quoted().0
}

fn clocking(cost: &Cost, cycle_ns: f64) -> Clocking {
    match cost.headline {
        Estimate::Quiet => Reading::of(cost, cycle_ns).clocking.settled(&cost.rounds),
        Estimate::Typical | Estimate::Best => Clocking::AsRead,
    }
}
