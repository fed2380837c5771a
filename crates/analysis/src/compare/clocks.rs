//! The core clocks of runs beside each other. Their ratio is separate, so that a faster clock is never reported as
//! cheaper work.

use record::{Cost, CountedIn, Run};

use super::figure::rounds_behind;
use crate::reading::{CALIBRATION, add, clock_ratio};

/// Two clocks further apart than this are of different kinds. An emulator's clock says nothing about a core.
const MOST_APART: f64 = 2.0;

/// The clocks at which the runs of a comparison were quoted.
#[derive(Clone, Debug, PartialEq)]
pub struct Clocks {
    /// One core cycle of each run, in ns: that of an add where all runs have it. Those that differ by no more than the check resolves
    /// are the same.
    pub cycle_ns: Vec<f64>,
    /// Whether an add shows them.
    by_add: bool,
}

impl Clocks {
    /// The clocks of measured runs on one kind of processor; `None` if they cannot be compared.
    pub(super) fn of(runs: &[Run]) -> Option<Clocks> {
        let (base, others) = runs.split_first()?;
        let alike = |other: &Run| comparable(base, other);
        if !others.iter().all(alike) {
            return None;
        }
        let by_add = || {
            let first = runs.iter().map(cycle_by_add).collect::<Option<Vec<_>>>()?[0];
            runs.iter().map(|run| Some(first * explained(base, run)?)).collect()
        };
        let by_run = || runs.iter().map(|run| run.noise.cycle_ns).collect();
        let known: Option<Vec<f64>> = by_add();
        Some(Clocks { by_add: known.is_some(), cycle_ns: known.unwrap_or_else(by_run) })
    }

    /// By how much cycles of these two of the runs may be counted apart, on the log scale.
    pub(super) fn apart(&self, base: &Run, other: &Run) -> f64 {
        if self.by_add {
            return 0.0;
        }
        (CALIBRATION * std::f64::consts::SQRT_2).hypot(miscounted(base, other).unwrap_or(0.0))
    }

    /// The cycle length of each run except the first, divided by that of the first.
    pub fn ratios(&self) -> impl Iterator<Item = f64> + '_ {
        self.cycle_ns.iter().skip(1).map(|cycle| cycle / self.cycle_ns[0])
    }
}

/// The cycles of an add by the clock of its run: 1 if they were counted right.
fn cycles_of_add(run: &Run) -> Option<f64> {
    let add = add(run)?;
    Some(add.gross_ns.get(add.headline).0 * add.cycles / add.quoted().0)
}

/// By how much the cycles of an add differ, on the log scale, where adds do not give the clocks: beside a neighbour that comes and goes
/// the checks of the clock find it gone, and what is timed does not. Twelve runs beside a compilation counted 1.01 to 1.07 cycles, and
/// all other costs of the core differed as much. `None` if it is more than a run miscounts by.
fn miscounted(base: &Run, other: &Run) -> Option<f64> {
    let ratio = cycles_of_add(other)? / cycles_of_add(base)?;
    is_explained(ratio, true).then(|| ratio.ln())
}

/// One cycle of a run in ns by what an add took.
fn cycle_by_add(run: &Run) -> Option<f64> {
    let cycles = cycles_of_add(run)?;
    is_explained(cycles, is_sure(run)).then_some(run.noise.cycle_ns * cycles)
}

/// How many times as long a cycle of the second run is, by what an add took; `None` if their clocks do not explain it.
fn explained(base: &Run, other: &Run) -> Option<f64> {
    let ratio = clock_ratio(base, other)?;
    let apart = ratio * base.noise.cycle_ns / other.noise.cycle_ns;
    is_explained(apart, is_sure(base) && is_sure(other)).then_some(ratio)
}

/// True if rounds agree on what an add took. A run that disagrees with it has miscounted its cycles: the checks beside a neighbour were
/// slow, and the long chains that they are held against were not.
fn is_sure(run: &Run) -> bool {
    const LEAST_ROUNDS: usize = 3;
    let narrow = |add: &Cost| (add.gross_ns.high.0 / add.gross_ns.low.0).ln() / 2.0 < CALIBRATION;
    add(run).is_some_and(|add| rounds_behind(add) >= LEAST_ROUNDS && narrow(add))
}

/// True if clocks that differ by this much more than adds show may be those of one processor. A run whose rounds agree on the add has
/// miscounted by up to 10 %.
fn is_explained(ratio: f64, sure: bool) -> bool {
    ratio.ln().abs() < f64::ln_1p(if sure { 0.2 } else { 0.03 })
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
