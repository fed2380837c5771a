//! What the rounds of two costs show of a difference besides the figures: whether each was undisturbed often enough, and whether both
//! show the same layouts.

use record::{Cost, Estimate, Run};

use super::conditions::Conditions;
use super::figure::rounds_behind;
use super::levels::ComparedLevels;
use crate::estimate::RoundsFigures;
use crate::reading::{Clocking, Reading, quiet_samples};

/// Rounds of either that must have given its figure.
const LEAST_ROUNDS: usize = 2;
/// With as many, rounds show a cost's layouts. With fewer, only the batches do.
const LAYOUTS_KNOWN: usize = 9;
/// The share of the slower one's batches below the middle, and of the faster one's above it, from which on both may have the same
/// layouts in other shares. A disturbed batch of the faster one looks like its slower layout, so that more are allowed there.
const SLOWER_BELOW: f64 = 0.05;
const FASTER_ABOVE: f64 = 0.35;

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
        let shared = |times: f64| {
            let (slower, faster) = if times > 1.0 { (two, one) } else { (one, two) };
            share_layouts(slower, faster, times.max(1.0 / times))
        };
        // Of a cost at two levels, one run may have found them and the other not.
        let unlike = one.1.levels.is_empty() != two.1.levels.is_empty();
        let few = fewest < LAYOUTS_KNOWN || unlike;
        if few && times.is_some_and(shared) { Grounds::SameLayouts } else { Grounds::Enough }
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

/// Batches over the figure, both net: the undisturbed ones of rounds with two of them. Where single batches do not give the figure,
/// what rounds show of it.
fn relative_batches(cost: &Cost, cycle_ns: f64) -> Vec<f64> {
    const LEAST_BATCHES: usize = 2;
    let clocking = match cost.headline {
        Estimate::Quiet => Reading::of(cost, cycle_ns).clocking.settled(&cost.rounds),
        Estimate::Typical | Estimate::Best => Clocking::AsRead,
    };
    let terms = cost.gross_ns.get(cost.headline).0 - cost.quoted().0;
    let net = |figure: f64| (figure * clocking.unit() - terms) / cost.quoted().0;
    if cost.headline == Estimate::Quiet && cost.cpus <= 1 {
        let rounds = cost.rounds.iter().map(|round| quiet_samples(round, clocking).map(net).collect::<Vec<_>>());
        return rounds.filter(|batches| batches.len() >= LEAST_BATCHES).flatten().collect();
    }
    let figures = RoundsFigures::of(&cost.rounds, cost.headline, clocking);
    cost.rounds.iter().filter_map(|round| figures.figure(round)).map(|round| net(round.figure)).collect()
}
