//! The most certain price of each operation among many runs of one machine.

use std::cmp::Ordering;

use record::{Cost, Doubt, Round, Run};
use serde::{Deserialize, Serialize};

use crate::statistics::median;
use crate::typical::typical;

/// A core that was undisturbed for less than this share of a run was busy.
const CALM: f64 = 0.25;

/// How far a price can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certainty {
    /// True if calls were traced meanwhile.
    #[serde(default)]
    pub traced: bool,
    /// False if its core was busy, or if calls were traced meanwhile.
    pub calm: bool,
    /// Half of its interval as a share of it; `None` if it has none.
    pub half_width: Option<f64>,
}

impl Certainty {
    /// That of a cost of this run, as programs that share the machine pay it.
    pub fn of(run: &Run, cost: &Cost) -> Certainty {
        let price = typical(run, cost);
        let half_width = Some(price.half() / price.value.abs()).filter(|half| half.is_finite());
        let is_busy = run.noise.undisturbed().is_some_and(|share| share < CALM);
        let traced = run.noise.traced;
        let is_disturbed = |doubt: &Doubt| {
            matches!(doubt, Doubt::NeverQuiet | Doubt::FromDisturbed { .. } | Doubt::Interrupted { .. })
        };
        Certainty { traced, calm: !is_busy && !traced && !cost.doubts.iter().any(is_disturbed), half_width }
    }

    /// True if a price with this certainty is preferred to one with the other.
    pub fn exceeds(self, other: Certainty) -> bool {
        let half = |certainty: Certainty| certainty.half_width.unwrap_or(f64::INFINITY);
        let untraced = other.traced.cmp(&self.traced);
        untraced.then(self.calm.cmp(&other.calm)).then(half(other).total_cmp(&half(self))) == Ordering::Greater
    }
}

/// A cost with one sample for each of its rounds, which gives the same typical price and takes a hundredth of the room.
#[must_use]
pub fn thinned(mut cost: Cost) -> Cost {
    for round in &mut cost.rounds {
        let Some(ns) = median(round.ns.iter().copied()) else { continue };
        let cycle_ns = median(round.cycle_ns.iter().copied()).unwrap_or(0.0);
        let width = median(round.width.iter().map(|width| f64::from(*width))).unwrap_or(0.0) as f32;
        let quiet = 2 * round.quiet.iter().filter(|quiet| **quiet).count() > round.quiet.len();
        *round =
            Round { ns: vec![ns], cycle_ns: vec![cycle_ns], width: vec![width], quiet: vec![quiet], ..round.clone() };
    }
    cost
}

#[cfg(test)]
mod tests {
    use record::CpuQuiet;

    use super::*;
    use crate::example::run;

    #[test]
    fn a_calm_price_is_preferred_to_a_narrower_one_of_a_busy_or_traced_machine() {
        let certainty = |calm, half_width| Certainty { traced: false, calm, half_width };
        assert!(certainty(true, Some(0.1)).exceeds(certainty(false, Some(0.01))));
        assert!(certainty(true, Some(0.01)).exceeds(certainty(true, Some(0.1))));
        assert!(certainty(true, Some(0.5)).exceeds(certainty(true, None)));
        assert!(!certainty(true, None).exceeds(certainty(true, None)), "the known one stays");
        let traced = Certainty { traced: true, ..certainty(false, Some(0.001)) };
        assert!(certainty(false, None).exceeds(traced), "what was not traced is better than all that was");
        let mut run = run();
        run.noise.cpus = vec![CpuQuiet { cpu: 0, batches: 100, quiet: 0.9 }];
        let mut cost = run.costs[8].clone();
        cost.doubts.clear();
        assert!(Certainty::of(&run, &cost).calm);
        cost.doubts.push(Doubt::NeverQuiet);
        assert!(!Certainty::of(&run, &cost).calm);
        cost.doubts.clear();
        run.noise.traced = true;
        assert!(!Certainty::of(&run, &cost).calm && Certainty::of(&run, &cost).traced);
        (run.noise.traced, run.noise.cpus[0].quiet) = (false, 0.1);
        assert!(!Certainty::of(&run, &cost).calm);
    }

    #[test]
    fn a_thinned_cost_has_the_same_typical_price() {
        let run = run();
        for cost in &run.costs {
            let thin = thinned(cost.clone());
            assert!(thin.rounds.iter().all(|round| round.ns.len() <= 1));
            let (one, other) = (typical(&run, cost), typical(&run, &thin));
            assert!((one.value - other.value).abs() <= 1e-9 * one.value.abs(), "{}", cost.name());
            let same = one.half() == other.half() || (one.half() - other.half()).abs() < 0.05 * one.half();
            assert!(same, "{}: {one:?} {other:?}", cost.name());
        }
    }
}
