//! How the batches of rounds are read: as timed, or in cycles of the run's clock.

use record::{Cost, Estimate, Round, Run};

use crate::change::Difference;
use crate::statistics::{Interval, quantile, sorted};

/// The speed check resolves the clock no better than this. A batch whose clock is as near to the run's is read as timed.
pub(crate) const CLOCK: f64 = 0.0055;

/// By how much a run errs on its own clock.
pub(crate) const CALIBRATION: f64 = 0.008;

/// The cost of an add, which takes the same number of cycles at any clock and shows a run's clock better than its calibration does.
pub(crate) fn add(run: &Run) -> Option<&Cost> {
    let adds = run.costs.iter().filter(|cost| cost.operation == "instruction.add.latency");
    adds.max_by(|one, other| one.at.cmp(&other.at))
}

/// How many times as long a cycle of the second run is as one of the first, by what an add took: 1 if the adds' own
/// intervals and what a run may err by do not distinguish them. `None` without an add in both.
pub(crate) fn clock_ratio(base: &Run, other: &Run) -> Option<f64> {
    let figure = |run: &Run| {
        let (gross, headline) = add(run).map(|cost| (cost.gross_ns, cost.headline))?;
        let interval = Interval { value: gross.get(headline).0, low: gross.low.0, high: gross.high.0 };
        (interval.low > 0.0 && interval.is_bounded()).then_some(interval)
    };
    let apart = Difference::of(figure(base)?, figure(other)?);
    Some(if apart.log.abs() < CALIBRATION.hypot(apart.reach) { 1.0 } else { apart.log.exp() })
}

/// The cycle in ns at which a stored cost of a run with this clock is quoted: that of its own batches where none ran at the run's.
pub(crate) fn quoted_cycle(cost: &Cost, cycle_ns: f64) -> f64 {
    Some(cost.quoted().0 / cost.cycles).filter(|cycle| cycle.is_finite() && *cycle > 0.0).unwrap_or(cycle_ns)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The figure that is quoted.
    pub headline: Estimate,
    /// CPUs that the operation keeps busy.
    pub cpus: u32,
    pub clocking: Clocking,
}

impl Reading {
    /// That of a stored cost of a run with this clock, one cycle in ns.
    pub fn of(cost: &Cost, cycle_ns: f64) -> Reading {
        let clocking = if cost.follows_clock && cycle_ns > 0.0 { Clocking::At(cycle_ns) } else { Clocking::AsRead };
        Reading { headline: cost.headline, cpus: cost.cpus, clocking }
    }
}

/// How batches are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clocking {
    /// As timed.
    AsRead,
    /// In cycles, quoted at this cycle in ns.
    At(f64),
}

impl Clocking {
    /// The value of one batch, in ns or in cycles. A batch that ran at the clock of the run, as far as the check resolves, has the
    /// run's cycle: the check errs by more from batch to batch than the clock.
    pub fn read(self, ns: f64, cycle_ns: f64) -> f64 {
        match self {
            Clocking::AsRead => ns,
            Clocking::At(run) if (cycle_ns / run - 1.0).abs() < CLOCK => ns / run,
            Clocking::At(_) => ns / cycle_ns,
        }
    }

    /// One unit of what is read, in ns.
    pub(crate) fn unit(self) -> f64 {
        match self {
            Clocking::AsRead => 1.0,
            Clocking::At(cycle) => cycle,
        }
    }

    /// The run's clock if one of these rounds' batches ran at it, else that of their own batches.
    pub(crate) fn settled(self, rounds: &[Round]) -> Clocking {
        let Clocking::At(run) = self else { return self };
        let cycles = |wanted: bool| {
            let batches = rounds.iter().flat_map(|round| round.cycle_ns.iter().zip(&round.quiet));
            sorted(batches.filter(move |(_, quiet)| **quiet == wanted).map(|(cycle, _)| *cycle))
        };
        let own = Some(cycles(true)).filter(|own| !own.is_empty()).unwrap_or_else(|| cycles(false));
        let ran_at = |own: &[f64]| Some(*own.first()? * (1.0 - CLOCK)..=*own.last()? * (1.0 + CLOCK));
        match (ran_at(&own), quantile(&own, 0.5)) {
            (Some(range), Some(middle)) if !range.contains(&run) && middle > 0.0 => Clocking::At(middle),
            _ => self,
        }
    }
}

/// The batches of a round, in ns or in cycles per iteration.
pub(crate) fn samples(round: &Round, clocking: Clocking) -> impl Iterator<Item = f64> + '_ {
    round.ns.iter().zip(&round.cycle_ns).map(move |(ns, cycle)| clocking.read(*ns, *cycle))
}

/// The quiet batches of a round, in the same unit.
pub(crate) fn quiet_samples(round: &Round, clocking: Clocking) -> impl Iterator<Item = f64> + '_ {
    samples(round, clocking).zip(&round.quiet).filter(|(_, quiet)| **quiet).map(|(sample, _)| sample)
}
