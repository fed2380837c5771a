//! Prices a mix by a run: the predicted time of one unit of work, by operation and family, beside the measured time.

use record::{Cost, Doubt, Estimate, Mix, MixLine, Point, Run, WholeAs};

use crate::by_key;
use crate::derived::net;
use crate::estimate::interval;
use crate::mix::{FigureSource, Lack, Names, SharedErrors, Sum, cost_of};
use crate::statistics::Interval;
use crate::sums::{doubts_of, join, matters, sum};
use crate::typical::{gross_typical, typical};

/// The state of the machine for which prices are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum MachineState {
    /// Undisturbed: the figure by which each cost is quoted, and by which `howslow time` quotes wholes.
    #[default]
    #[cfg_attr(feature = "clap", value(help = "The core undisturbed"))]
    Quiet,
    /// The machine as it was, with its other work
    Typical,
}

impl MachineState {
    /// `quiet`, `typical`.
    pub fn word(self) -> &'static str {
        match self {
            MachineState::Quiet => "quiet",
            MachineState::Typical => "typical",
        }
    }

    /// A cost in this state, net.
    pub fn price(self, run: &Run, cost: &Cost) -> Interval {
        match self {
            MachineState::Quiet => net(cost),
            MachineState::Typical => typical(run, cost),
        }
    }
}

/// The cost that prices a line.
#[derive(Clone, Debug, PartialEq)]
pub struct By {
    /// Its identity in sums.
    pub source: FigureSource,
    pub operation: String,
    pub at: Point,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PricedLine {
    pub line: MixLine,
    /// The cost that prices it; `None` if it is missing, or has the count 0 and is not in the run.
    pub by: Option<By>,
    pub each: Sum,
    /// The share of its time during which a CPU works on it, above 1 if several do; `None` if the cost does not say.
    pub busy: Option<f64>,
    pub doubts: Vec<Doubt>,
    /// For a price that follows the clock: the run's cycle in ns and the processor that it belongs to.
    pub clock: Option<QuotedClock>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct QuotedClock {
    pub cycle_ns: f64,
    /// Family, model and stepping of the processor. An emulated processor has no cycle that compares with a real one's,
    /// and cycles of different processors are different work.
    pub processor: String,
}

impl PricedLine {
    fn nothing(line: &MixLine) -> PricedLine {
        let (line, each) = (line.clone(), Sum::default());
        PricedLine { line, by: None, each, busy: Some(0.0), doubts: Vec::new(), clock: None }
    }

    /// Its total in one unit of work.
    pub fn total(&self) -> Sum {
        total([self])
    }
}

/// The sum of the operations of one family.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyCost {
    pub family: String,
    /// The total of its operations in one unit of work.
    pub total: Sum,
}

/// Processor time and waiting time of one unit of work, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeSplit {
    /// Time during which CPUs work on it.
    pub cpu: f64,
    /// Time during which none does; negative if several CPUs worked at once.
    pub wait: f64,
}

/// The predicted time of one unit of a mix's work on the machine of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MixPrediction {
    /// In the order of the mix.
    pub rows: Vec<PricedLine>,
    /// Lines that have no price here.
    pub lacking: Vec<(MixLine, Lack)>,
    /// The measured time of one unit, in ns.
    pub measured: Option<Interval>,
    /// What is known of the mix's accuracy.
    pub accuracy: Option<Accuracy>,
}

/// How well a mix is known to predict: the share of its sum that it left out or had too much of, where that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// On this machine.
    Here(f64),
    /// On another one, where the work was counted.
    Elsewhere(f64),
}

impl Accuracy {
    /// The share that was measured.
    pub fn left_out(self) -> f64 {
        match self {
            Accuracy::Here(share) | Accuracy::Elsewhere(share) => share,
        }
    }

    /// The share by which a prediction may err on this machine.
    pub fn share(self) -> f64 {
        /// What one machine does not show of another: predictions of commands under an emulator, by counts of the native system,
        /// erred by up to 0.15 of what was measured, also where the mix had left out less (docs/SYSTEMS.md).
        const OTHER_MACHINE: f64 = 0.2;
        match self {
            Accuracy::Here(share) => share,
            Accuracy::Elsewhere(share) => share.hypot(OTHER_MACHINE),
        }
    }
}

/// Prices a mix in the state in which costs are quoted. `place` identifies the run among others. Missing costs are
/// listed.
pub fn predict(mix: &Mix, run: &Run, place: usize, names: Names) -> MixPrediction {
    predict_in(MachineState::Quiet, mix, run, place, names)
}

/// Prices a mix in a state. `place` identifies the run among others. Missing costs are listed.
pub fn predict_in(state: MachineState, mix: &Mix, run: &Run, place: usize, names: Names) -> MixPrediction {
    let mut lacking = Vec::new();
    let mut rows = Vec::new();
    for line in &mix.lines {
        let mut row = PricedLine::nothing(line);
        match cost_of(run, line, names) {
            Ok(cost) => {
                let (source, price) = ((place, cost.name()), state.price(run, cost));
                let shared = SharedErrors::of(run, cost);
                // Typical figures were read at the actual clock.
                let shared = if state == MachineState::Typical { shared.without_clock() } else { shared };
                row.each = Sum::once(source.clone(), price, shared);
                row.by = Some(By { source, operation: cost.operation.clone(), at: cost.at.clone() });
                row.busy = busy(cost, price.value);
                row.doubts = doubts_of(cost);
                row.clock = clock(run, cost).filter(|_| state == MachineState::Quiet);
            }
            // What is never done costs nothing, whatever it would cost.
            Err(_) if line.term.times == 0.0 => {}
            Err(lack) => lacking.push((line.clone(), lack)),
        }
        rows.push(row);
    }
    MixPrediction { rows, lacking, measured: whole(state, mix, run), accuracy: None }
}

/// The clock at which a cost is quoted, if it follows one that the run knows.
fn clock(run: &Run, cost: &Cost) -> Option<QuotedClock> {
    let cycle_ns = run.noise.cycle_ns;
    let processor = &run.machine.cpu.signature;
    let known = cost.is_in_cycles() && cycle_ns > 0.0 && cycle_ns.is_finite();
    (known && !processor.is_empty()).then(|| QuotedClock { cycle_ns, processor: processor.clone() })
}

/// The share of this time of a cost that is processor time. An operation that does not give up the CPU is busy all the time:
/// whatever its batches waited, other programs had the CPU, and the quiet figure excludes that. For the others, the means over
/// all batches decide; of one that mostly sleeps, the mean of the processor time alone: how long a device takes differs from batch
/// to batch, and says nothing of the processor's work.
pub(crate) fn busy(cost: &Cost, ns: f64) -> Option<f64> {
    /// More than the housekeeping between iterations.
    const GIVES_UP: f64 = 0.01;
    let cpu = cost.cpu_ns.user.0 + cost.cpu_ns.system.0;
    let never_waits = cost.headline != Estimate::Typical && cost.switches.voluntary < GIVES_UP;
    // With other terms than the loop, the time is not all that was charged for.
    let is_whole = cost.terms.iter().all(|term| term.operation == "loop.empty");
    let sleeps = !never_waits && is_whole && cost.wait_ns.0 > cpu;
    let elapsed = if sleeps { ns } else { cpu + cost.wait_ns.0 };
    (cpu > 0.0 && elapsed > 0.0).then(|| if never_waits { 1.0 } else { cpu / elapsed })
}

/// The cost that the mix names as its whole, by its id and point or, where there is one alone, by its id; `None` if the run lacks it.
///
/// # Errors
/// The costs of that id, if there are several.
pub fn whole_cost<'a>(mix: &Mix, run: &'a Run) -> Result<Option<&'a Cost>, Vec<String>> {
    let Some(name) = &mix.whole else { return Ok(None) };
    let exact = run.costs.iter().find(|cost| cost.name() == *name || cost.typed() == *name);
    let of_id: Vec<&Cost> = run.costs.iter().filter(|cost| cost.operation == *name).collect();
    match (exact, of_id.as_slice()) {
        (Some(cost), _) => Ok(Some(cost)),
        (None, []) => Ok(None),
        (None, [cost]) => Ok(Some(cost)),
        (None, several) => Err(several.iter().map(|cost| cost.typed()).collect()),
    }
}

/// The time of one unit, from the cost that the mix names as its whole, if it is known which.
pub fn whole(state: MachineState, mix: &Mix, run: &Run) -> Option<Interval> {
    let cost = whole_cost(mix, run).ok()??;
    let all = match (mix.whole_as, state) {
        (WholeAs::Net, _) => state.price(run, cost),
        (WholeAs::Gross, MachineState::Quiet) => interval(&cost.gross_ns, cost.headline),
        (WholeAs::Gross, MachineState::Typical) => gross_typical(cost),
    };
    Some(all.times(1.0 / mix.whole_units))
}

/// What these lines take in one unit of work.
fn total<'a>(rows: impl IntoIterator<Item = &'a PricedLine>) -> Sum {
    rows.into_iter().fold(Sum::default(), |sum, row| sum.plus(row.line.term.times, &row.each))
}

impl MixPrediction {
    /// The sum of all rows. It is a lower bound if something is missing.
    pub fn total(&self) -> Sum {
        total(&self.rows).without_unbounded_trifles()
    }

    /// Families in the order of the mix.
    pub fn families(&self) -> Vec<FamilyCost> {
        let families = by_key(self.rows.iter().map(|row| (&row.line.family, row)));
        families.into_iter().map(|(family, rows)| FamilyCost { family: family.clone(), total: total(rows) }).collect()
    }

    /// A part divided by the total; `None` if the total is not positive.
    pub fn share(&self, part: &Sum) -> Option<f64> {
        let total = self.total().figure().value;
        (total > 0.0).then(|| part.figure().value / total)
    }

    /// The measured time minus the total: what the mix and the costs leave unexplained.
    pub fn residual(&self) -> Option<Interval> {
        Some(sum([(1.0, self.measured?), (-1.0, self.total().figure())]))
    }

    /// The size of the residual divided by the total; `None` if nothing was measured, a price is missing, or the total
    /// is not positive.
    pub fn left_out(&self) -> Option<f64> {
        let total = self.total().figure().value;
        let complete = self.lacking.is_empty() && total > 0.0;
        self.residual().filter(|_| complete).map(|residual| residual.value.abs() / total)
    }

    /// The total with the known accuracy of the mix: the interval of the prices, and what the mix may leave out on this
    /// machine, added by squares. If nothing is known of that, the interval of the prices alone.
    pub fn figure(&self) -> Interval {
        let total = self.total().figure();
        let left_out = self.accuracy.map_or(0.0, Accuracy::share) * total.value.abs();
        let known = sum([(1.0, total), (1.0, Interval::around(0.0, left_out))]);
        // Work does not take less than no time.
        Interval { low: known.low.max(total.low.min(0.0)), ..known }
    }

    /// The doubts of the costs that matter to the total.
    pub fn doubts(&self) -> Vec<Doubt> {
        let total = self.total().figure();
        let mut doubts = Vec::new();
        for row in self.rows.iter().filter(|row| matters(&total, row.line.term.times, &row.each.figure())) {
            join(&mut doubts, row.doubts.iter().cloned());
        }
        doubts
    }

    /// Processor time and waiting time, if every cost states them.
    pub fn split(&self) -> Option<TimeSplit> {
        let mut split = TimeSplit { cpu: 0.0, wait: 0.0 };
        for row in self.rows.iter().filter(|row| row.line.term.times > 0.0) {
            let total = row.total().figure().value;
            let busy = row.busy?;
            split.cpu += total * busy;
            split.wait += total * (1.0 - busy);
        }
        (self.lacking.is_empty()).then_some(split)
    }
}
