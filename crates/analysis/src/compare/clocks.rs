//! The core clocks of runs beside each other: a ratio of its own, so that a faster clock is never told as cheaper work.

use record::{CountedIn, Run};

/// A clock further from another than this is none of the same kind: an emulator's, which tells nothing of a core.
const MOST_APART: f64 = 2.0;

/// The clocks that the runs of a comparison were quoted at.
#[derive(Clone, Debug, PartialEq)]
pub struct Clocks {
    /// Of each run: one core cycle in ns.
    pub cycle_ns: Vec<f64>,
}

impl Clocks {
    /// The clocks of measured runs on one kind of processor; `None` where they are not of a kind.
    pub(super) fn of(runs: &[Run]) -> Option<Clocks> {
        let (base, others) = runs.split_first()?;
        let alike = |other: &Run| comparable(base, other);
        others.iter().all(alike).then(|| Clocks { cycle_ns: runs.iter().map(|run| run.noise.cycle_ns).collect() })
    }

    /// How many times as long a cycle of each run but the first takes as one of the first.
    pub fn ratios(&self) -> impl Iterator<Item = f64> + '_ {
        self.cycle_ns.iter().skip(1).map(|cycle| cycle / self.cycle_ns[0])
    }
}

/// Whether cycles of two runs are the same thing: both measured, on processors of one signature, at clocks that one
/// processor can have.
pub fn comparable(base: &Run, other: &Run) -> bool {
    let known = |run: &Run| {
        let cycle = run.noise.cycle_ns;
        !run.is_published() && run.counted_in == CountedIn::Nanoseconds && cycle.is_finite() && cycle > 0.0
    };
    let model = &base.machine.cpu.signature;
    known(base)
        && known(other)
        && !model.is_empty()
        && *model == other.machine.cpu.signature
        && (other.noise.cycle_ns / base.noise.cycle_ns).ln().abs() <= MOST_APART.ln()
}
