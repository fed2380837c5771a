//! What earlier runs of the same build, kernel and machine show of a cost: how much its rounds scatter, and what a neighbour adds.
//! It changes how wide an interval is, never a figure, except that of a cost that was never undisturbed.

use record::{Basis, Cost};
use serde::{Deserialize, Serialize};

use crate::kind::KindOfWork;
use crate::reading::CLOCK;
use crate::statistics::{quantile, sorted, weighted_quantile};

/// What is known of a cost of some kind, on any machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsualNoise {
    /// The scatter of its undisturbed rounds.
    scatter: f64,
    /// How far disturbed rounds lie above undisturbed ones, with its standard deviation.
    slow_down: (f64, f64),
}

/// What is known of a cost's rounds before a run, on the log scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The scatter of its undisturbed rounds.
    pub scatter: f64,
    /// Rounds of earlier runs that this comes from; 0 for the default.
    pub rounds: u32,
    /// How far disturbed rounds lie above undisturbed ones, with its standard deviation.
    pub slow_down: (f64, f64),
    /// What was known before the first run.
    pub usual: UsualNoise,
    /// How many runs the rounds are of that are estimated together.
    pub runs: u32,
}

impl Prior {
    /// The scatter of rounds as wide as it was found over all operations and hosts, and the slow-down of a shared core.
    pub const DEFAULT: Prior = Prior::from_usual(UsualNoise { scatter: 0.007, slow_down: (0.20, 0.10) });
    /// The default counts as this many rounds.
    const WEIGHT: f64 = 4.0;

    /// The default for an operation with this id.
    pub fn usual(operation: &str, follows_clock: bool) -> Prior {
        Prior::from_usual(UsualNoise::of(operation, follows_clock))
    }

    pub fn usual_for(cost: &Cost) -> Prior {
        Prior::usual(&cost.operation, cost.follows_clock)
    }

    /// What was known of the cost before the first run.
    pub fn first(&self) -> Prior {
        Prior::from_usual(self.usual)
    }

    const fn from_usual(usual: UsualNoise) -> Prior {
        Prior { scatter: usual.scatter, rounds: 0, slow_down: usual.slow_down, usual, runs: 1 }
    }

    /// The standard deviation of the logarithm of the scatter.
    pub fn spread(&self) -> f64 {
        self.share().sqrt().max(0.4)
    }

    /// By how much an interval is stretched: the default is that of other operations.
    pub fn stretch(&self) -> f64 {
        1.0 + 0.2 * self.share()
    }

    /// The share of what is known that is the default's.
    fn share(&self) -> f64 {
        Prior::WEIGHT / (Prior::WEIGHT + f64::from(self.rounds))
    }

    /// The scatter by this many rounds, which is `own`, and by what was known before.
    pub(crate) fn joined(&self, own: f64, rounds: usize) -> f64 {
        const LEAST: f64 = 2e-4;
        let count = rounds as f64;
        let logs = Prior::WEIGHT * self.scatter.ln() + count * own.max(LEAST).ln();
        (logs / (Prior::WEIGHT + count)).exp()
    }

    /// What a stored cost was estimated by; the default for a cost of an older run.
    pub fn of(cost: &Cost) -> Prior {
        let usual = Prior::usual_for(cost);
        cost.basis.as_ref().map_or(usual, |basis| Prior {
            scatter: basis.scatter,
            rounds: basis.earlier_rounds,
            slow_down: (basis.slow_down, basis.slow_down_deviation),
            ..usual
        })
    }

    /// The form in which it is stored with a cost of this many rounds.
    pub fn basis(&self, rounds: u32) -> Basis {
        let (slow_down, slow_down_deviation) = self.slow_down;
        Basis { rounds, earlier_rounds: self.rounds, scatter: self.scatter, slow_down, slow_down_deviation }
    }
}

impl UsualNoise {
    /// That of work of one kind: medians over the operations of three sets of runs, any two of which give nearly the same. A chain
    /// of dependent instructions leaves the ports to the neighbour; work in distant memory waits for it and not for the core.
    fn of(operation: &str, follows_clock: bool) -> UsualNoise {
        /// Work within the core, calls, what makes the kernel touch memory or switch, and memory that is shared with others.
        const CORE: f64 = 0.001;
        const CALL: f64 = 0.004;
        const TASK: f64 = 0.010;
        const MEMORY: f64 = 0.025;
        let (scatter, slow_down) = match KindOfWork::of(operation) {
            KindOfWork::Memory if !follows_clock => (MEMORY, (0.06, 0.10)),
            KindOfWork::Memory => (CORE, (0.17, 0.08)),
            KindOfWork::Loop => (CORE, (0.56, 0.10)),
            KindOfWork::Chain => (CORE, (0.0, 0.05)),
            KindOfWork::Instruction => (CORE, (0.10, 0.10)),
            KindOfWork::Call => (CALL, (0.21, 0.06)),
            KindOfWork::Signal => (TASK, (0.21, 0.06)),
            KindOfWork::Pages | KindOfWork::Tasks => (TASK, (0.27, 0.08)),
            KindOfWork::File => (TASK, Prior::DEFAULT.usual.slow_down),
            KindOfWork::Other => (Prior::DEFAULT.scatter, Prior::DEFAULT.usual.slow_down),
        };
        UsualNoise { scatter: if follows_clock { scatter } else { scatter.max(MEMORY) }, slow_down }
    }
}

/// What the rounds of a cost in one run show to later runs: logarithms of ns.
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

/// What these traces of one cost show, beyond what is usual. Fewer than four rounds show nothing.
pub fn learn<'a>(traces: impl Iterator<Item = &'a Trace> + Clone, usual: Prior) -> Prior {
    let first = traces.clone().find_map(|trace| trace.add);
    // A clock that differs by less than the check resolves is the same.
    let clock = |trace: &Trace| {
        let apart = trace.add.zip(first).map_or(0.0, |(add, first)| f64::from(add - first));
        if apart.abs() > CLOCK { apart } else { 0.0 }
    };
    let in_clock = |trace: &'a Trace| {
        trace.rounds.iter().map(move |(log, weight)| (f64::from(*log) - clock(trace), f64::from(*weight)))
    };
    let is_sound = |(log, weight): &(f64, f64)| log.is_finite() && weight.is_finite() && *weight > 0.0;
    let rounds: Vec<(f64, f64)> = traces.clone().flat_map(in_clock).filter(is_sound).collect();
    let Some((middle, scatter)) = scattered(&rounds) else { return usual };
    let disturbed = traces.filter_map(|trace| Some(f64::from(trace.disturbed?) - clock(trace) - middle));
    let slow_downs = sorted(disturbed.filter(|by| by.is_finite()));
    let slow_down = quantile(&slow_downs, 0.5);
    let slow_down = slow_down.map_or(usual.slow_down, |own| learnt(own, slow_downs.len() as f64, usual.slow_down));
    Prior { scatter: usual.joined(scatter, rounds.len()), rounds: rounds.len() as u32, slow_down, ..usual }
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

/// The slow-down by this many runs and the usual one, with its standard deviation.
fn learnt(own: f64, runs: f64, (usual, deviation): (f64, f64)) -> (f64, f64) {
    /// By how much the slow-down differs from run to run, and what never averages out.
    const BETWEEN_RUNS: f64 = 0.05;
    const LEFT: f64 = 0.04;
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
        let known = learn([&steady, &steady, &steady].into_iter(), Prior::DEFAULT);
        assert!(known.scatter < 0.0015 && known.rounds == 12, "{known:?}");
        assert!(known.spread() < Prior::DEFAULT.spread() && known.stretch() < Prior::DEFAULT.stretch());
        assert!((0.3..0.4).contains(&known.slow_down.0) && known.slow_down.1 < 0.1, "{known:?}");
        let wild = trace(&[4.0, 4.2, 3.9, 4.1], None);
        assert!(learn([&wild, &wild].into_iter(), Prior::DEFAULT).scatter > 0.03);
    }

    #[test]
    fn a_neighbour_slows_each_kind_of_work_as_usual_until_runs_show_how() {
        let [chain, call] = ["instruction.add.latency", "syscall.stat"].map(|id| Prior::usual(id, true));
        assert!(chain.slow_down.0 < 0.05 && call.slow_down.0 > 0.15, "{chain:?} {call:?}");
        assert!(Prior::usual("memory.load", false).slow_down.0 < Prior::usual("memory.load", true).slow_down.0);
        assert_eq!(Prior::usual("", true).slow_down, Prior::DEFAULT.slow_down);
        assert!(Prior::usual("", true).scatter < Prior::usual("", false).scatter);
        let slow = trace(&[4.0, 4.001, 3.999, 4.0], Some(4.3));
        let known = learn([&slow; 5].into_iter(), chain);
        assert!(known.slow_down.0 > 0.2 && known.first() == chain, "{known:?}");
    }

    #[test]
    fn another_clock_is_no_scatter_and_a_trembling_one_no_clock() {
        let at = |add: f32, by: f32| Trace { add: Some(add), ..trace(&[4.0 + by, 4.001 + by, 3.999 + by], None) };
        let same = learn([&at(-1.3, 0.0), &at(-1.297, 0.0)].into_iter(), Prior::DEFAULT);
        assert!(same.scatter < 0.003, "{same:?}");
        let moved = learn([&at(-1.3, 0.0), &at(-1.2, 0.1)].into_iter(), Prior::DEFAULT);
        assert!((moved.scatter / same.scatter - 1.0).abs() < 0.1, "{moved:?}");
    }

    #[test]
    fn few_rounds_and_damaged_ones_show_nothing() {
        assert_eq!(learn([].into_iter(), Prior::DEFAULT), Prior::DEFAULT);
        assert_eq!(learn([&trace(&[4.0, 4.1, 4.2], Some(5.0))].into_iter(), Prior::DEFAULT), Prior::DEFAULT);
        let busy = trace(&[], Some(4.4));
        let known = learn([&busy; 9].into_iter(), Prior::DEFAULT);
        assert_eq!(known, Prior::DEFAULT, "disturbed rounds alone show no slow-down");
        let damaged = trace(&[f32::NAN, f32::INFINITY, 4.0, 4.0, 4.0], Some(f32::NAN));
        assert_eq!(learn([&damaged].into_iter(), Prior::DEFAULT), Prior::DEFAULT);
    }
}
