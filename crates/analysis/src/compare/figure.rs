//! The figure by which a cost is compared, in time or in cycles, and what is known about it.

use record::{Cost, CountedIn, Estimate, Origin, Round, Run};

use crate::estimate;
use crate::statistics::Interval;

/// A cost in the form in which it is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparedFigure {
    /// It is distinguishable from zero.
    Value(Interval),
    /// It is not distinguishable from zero: at most its upper end.
    AtMost(Interval),
    Unknown(String),
}

impl ComparedFigure {
    /// The estimate with its ends, if there is one.
    pub fn interval(&self) -> Option<Interval> {
        match self {
            ComparedFigure::Value(interval) | ComparedFigure::AtMost(interval) => Some(*interval),
            ComparedFigure::Unknown(_) => None,
        }
    }
}

/// The headline figure of a run's cost in this unit, and in cycles of this length in ns instead of the run's.
pub(super) fn figure(run: &Run, cost: &Cost, unit: CountedIn, cycle_ns: Option<f64>) -> ComparedFigure {
    let net = estimate::interval(&cost.net_ns, cost.headline);
    let factor = match unit {
        CountedIn::Nanoseconds => 1.0,
        CountedIn::Cycles => match cycles_per_ns(run, cost) {
            Some(factor) => factor * cycle_ns.map_or(1.0, |cycle| run.noise.cycle_ns / cycle),
            None => return ComparedFigure::Unknown("it is not known in cycles".into()),
        },
    };
    if !cost.has_interval() {
        return ComparedFigure::Unknown("it rests on a single round, so it has no interval".into());
    }
    let interval = net.times(factor);
    if !(interval.low <= interval.value && interval.value <= interval.high && interval.is_bounded()) {
        return ComparedFigure::Unknown("its figure lies outside its own interval".into());
    }
    if interval.low > 0.0 {
        ComparedFigure::Value(interval)
    } else if interval.high > 0.0 {
        ComparedFigure::AtMost(interval)
    } else if interval.high < 0.0 {
        ComparedFigure::Unknown("its baseline cost more than the whole".into())
    } else {
        ComparedFigure::Unknown("it is zero".into())
    }
}

/// The clock that converts a cost to cycles. A cost of zero uses the clock of its run.
fn cycles_per_ns(run: &Run, cost: &Cost) -> Option<f64> {
    let own = cost.cycles / cost.quoted().0;
    let of_run = 1.0 / run.noise.cycle_ns;
    [own, of_run].into_iter().find(|factor| factor.is_finite() && *factor > 0.0)
}

/// True for a cost of a book or of another tool: it has no samples, and its interval is the printed one. A measured cost without
/// samples, as in a summary, is none.
pub fn is_published(run: &Run, cost: &Cost) -> bool {
    run.origin != Origin::Measured && cost.rounds.is_empty()
}

/// The rounds that give a cost its figure.
pub fn rounds_behind(cost: &Cost) -> usize {
    let gives = |round: &&Round| match cost.headline {
        Estimate::Quiet if cost.cpus <= 1 => round.quiet.contains(&true),
        Estimate::Typical => round.survey != Some(false) && !round.ns.is_empty(),
        Estimate::Quiet | Estimate::Best => !round.ns.is_empty(),
    };
    cost.rounds.iter().filter(gives).count()
}
