//! What earlier runs of the same build, kernel and machine tell of a cost: how much its rounds scatter, and what a neighbour adds.
//! It changes how wide an interval is, never a figure, except that of a cost that was never undisturbed.

use record::{Basis, Cost};
use serde::{Deserialize, Serialize};

use crate::reading::CLOCK;
use crate::statistics::{quantile, sorted, weighted_quantile};

/// What is known of a cost's rounds before a run, on the log scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The scatter of its undisturbed rounds.
    pub scatter: f64,
    /// Rounds of earlier runs that this comes from; 0 for the default.
    pub rounds: u32,
    /// How far disturbed rounds lie above undisturbed ones, with its standard deviation.
    pub slow_down: (f64, f64),
    /// How many runs the rounds are of that are estimated together.
    pub runs: u32,
}

impl Prior {
    /// The scatter of rounds as wide as it was found over all operations and hosts, and the slow-down of a shared core.
    pub const DEFAULT: Prior = Prior { scatter: 0.007, rounds: 0, slow_down: (0.20, 0.10), runs: 1 };
    /// The default counts as this many rounds.
    const WEIGHT: f64 = 4.0;

    /// The standard deviation of the logarithm of the scatter.
    pub fn spread(&self) -> f64 {
        (1.5 * self.share().sqrt()).max(0.4)
    }

    /// By how much an interval is stretched: the default is that of other operations.
    pub fn stretch(&self) -> f64 {
        1.0 + 0.4 * self.share()
    }

    /// The share of what is known that is the default's.
    fn share(&self) -> f64 {
        Prior::WEIGHT / (Prior::WEIGHT + f64::from(self.rounds))
    }

    /// What a stored cost was estimated by; the default for a cost of an older run.
    pub fn of(cost: &Cost) -> Prior {
        cost.basis.as_ref().map_or(Prior::DEFAULT, |basis| Prior {
            scatter: basis.scatter,
            rounds: basis.earlier_rounds,
            slow_down: (basis.slow_down, basis.slow_down_deviation),
            runs: 1,
        })
    }

    /// The form in which it is stored with a cost of this many rounds.
    pub fn basis(&self, rounds: u32) -> Basis {
        let (slow_down, slow_down_deviation) = self.slow_down;
        Basis { rounds, earlier_rounds: self.rounds, scatter: self.scatter, slow_down, slow_down_deviation }
    }
}

/// What the rounds of a cost in one run tell later runs: logarithms of ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The rounds that were mostly undisturbed, with their weights.
    pub rounds: Vec<(f32, f32)>,
    /// The median of the disturbed rounds, if there were some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<f32>,
    /// One add in that run, if the cost follows the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<f32>,
}

/// What these traces of one cost tell. Fewer than four rounds tell nothing.
pub fn learn<'a>(traces: impl Iterator<Item = &'a Trace> + Clone) -> Prior {
    const LEAST: f64 = 2e-4;
    let first = traces.clone().find_map(|trace| trace.add);
    // A clock that differs by less than the check resolves is the same.
    let clock = |trace: &Trace| trace.add.zip(first).map_or(0.0, |(add, first)| f64::from(add - first));
    let clock = |trace: &Trace| Some(clock(trace)).filter(|apart| apart.abs() > CLOCK).unwrap_or(0.0);
    let in_clock = |trace: &'a Trace| {
        trace.rounds.iter().map(move |(log, weight)| (f64::from(*log) - clock(trace), f64::from(*weight)))
    };
    let rounds: Vec<(f64, f64)> = traces
        .clone()
        .flat_map(in_clock)
        .filter(|(log, weight)| log.is_finite() && weight.is_finite() && *weight > 0.0)
        .collect();
    let Some((middle, scatter)) = scattered(&rounds) else { return Prior::DEFAULT };
    let count = rounds.len() as f64;
    let (default, weight) = (Prior::DEFAULT, Prior::WEIGHT);
    let logs = weight * default.scatter.ln() + count * scatter.max(LEAST).ln();
    let disturbed = traces.filter_map(|trace| Some(f64::from(trace.disturbed?) - clock(trace) - middle));
    let slow_downs = sorted(disturbed.filter(|by| by.is_finite()));
    let slow_down = quantile(&slow_downs, 0.5).map_or(default.slow_down, |own| learnt(own, slow_downs.len() as f64));
    Prior { scatter: (logs / (weight + count)).exp(), rounds: count as u32, slow_down, runs: 1 }
}

/// The median of logarithms with their weights, and their scatter by the eight in ten that are nearest to it. `None` for fewer than
/// four.
pub(crate) fn scattered(rounds: &[(f64, f64)]) -> Option<(f64, f64)> {
    const FEWEST: usize = 4;
    /// Eight in ten normal deviates lie within this many standard deviations.
    const EIGHT_IN_TEN: f64 = 1.2816;
    let middle = weighted_quantile(rounds, 0.5).filter(|_| rounds.len() >= FEWEST)?;
    let off: Vec<(f64, f64)> = rounds.iter().map(|(log, weight)| ((log - middle).abs(), *weight)).collect();
    let count = rounds.len() as f64;
    Some((middle, weighted_quantile(&off, 0.8)? / EIGHT_IN_TEN * (count / (count - 1.0)).sqrt()))
}

/// The slow-down by this many runs and the default, with its standard deviation.
fn learnt(own: f64, runs: f64) -> (f64, f64) {
    /// By how much the slow-down differs from run to run, and what never averages out.
    const BETWEEN_RUNS: f64 = 0.05;
    const LEFT: f64 = 0.04;
    let (usual, deviation) = Prior::DEFAULT.slow_down;
    let (before, now) = (deviation.powi(-2), runs * BETWEEN_RUNS.powi(-2));
    ((before * usual + now * own) / (before + now), (before + now).powf(-0.5).hypot(LEFT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(logs: &[f32], disturbed: Option<f32>) -> Trace {
        Trace { rounds: logs.iter().map(|log| (*log, 5.0)).collect(), disturbed, add: None }
    }

    #[test]
    fn rounds_of_earlier_runs_narrow_what_is_thought_of_their_scatter() {
        let steady = trace(&[4.0, 4.0005, 3.9995, 4.0003], Some(4.4));
        let known = learn([&steady, &steady, &steady].into_iter());
        assert!(known.scatter < 0.0015 && known.rounds == 12, "{known:?}");
        assert!(known.spread() < Prior::DEFAULT.spread() && known.stretch() < Prior::DEFAULT.stretch());
        assert!((0.3..0.4).contains(&known.slow_down.0) && known.slow_down.1 < 0.1, "{known:?}");
        let wild = trace(&[4.0, 4.2, 3.9, 4.1], None);
        assert!(learn([&wild, &wild].into_iter()).scatter > 0.03);
    }

    #[test]
    fn another_clock_is_no_scatter_and_a_trembling_one_no_clock() {
        let at = |add: f32, by: f32| Trace { add: Some(add), ..trace(&[4.0 + by, 4.001 + by, 3.999 + by], None) };
        let same = learn([&at(-1.3, 0.0), &at(-1.297, 0.0)].into_iter());
        assert!(same.scatter < 0.003, "{same:?}");
        let moved = learn([&at(-1.3, 0.0), &at(-1.2, 0.1)].into_iter());
        assert!((moved.scatter / same.scatter - 1.0).abs() < 0.1, "{moved:?}");
    }

    #[test]
    fn few_rounds_and_damaged_ones_tell_nothing() {
        assert_eq!(learn([].into_iter()), Prior::DEFAULT);
        assert_eq!(learn([&trace(&[4.0, 4.1, 4.2], Some(5.0))].into_iter()), Prior::DEFAULT);
        let busy = trace(&[], Some(4.4));
        assert_eq!(learn([&busy; 9].into_iter()), Prior::DEFAULT, "disturbed rounds alone show no slow-down");
        let damaged = trace(&[f32::NAN, f32::INFINITY, 4.0, 4.0, 4.0], Some(f32::NAN));
        assert_eq!(learn([&damaged].into_iter()), Prior::DEFAULT);
    }
}
