//! The core clocks of runs beside each other. Their ratio is separate, so that a faster clock is never reported as
//! cheaper work.

use record::{CountedIn, Run};

/// Two clocks further apart than this are of different kinds. An emulator's clock says nothing about a core.
const MOST_APART: f64 = 2.0;

/// The clocks at which the runs of a comparison were quoted.
#[derive(Clone, Debug, PartialEq)]
pub struct Clocks {
    /// One core cycle of each run, in ns.
    pub cycle_ns: Vec<f64>,
}

impl Clocks {
    /// The clocks of measured runs on one kind of processor; `None` if they cannot be compared.
    pub(super) fn of(runs: &[Run]) -> Option<Clocks> {
        let (base, others) = runs.split_first()?;
        let alike = |other: &Run| comparable(base, other);
        others.iter().all(alike).then(|| Clocks { cycle_ns: runs.iter().map(|run| run.noise.cycle_ns).collect() })
    }

    /// The cycle length of each run except the first, divided by that of the first.
    pub fn ratios(&self) -> impl Iterator<Item = f64> + '_ {
        self.cycle_ns.iter().skip(1).map(|cycle| cycle / self.cycle_ns[0])
    }
}

/// True if cycles of two runs mean the same: both are measured, on processors of one signature, at clocks that one
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
