//! A recorded run in place of the machine: its rounds go through the schedule, the estimates and the rules once more.

use std::collections::VecDeque;
use std::time::Duration;

use operation::{Item, Usage};
use record::{Cost, Launchers, Noise, Round, Run};

use crate::batch::{RoundSamples, Sample};
use crate::launcher::Pool;
use crate::round::{RoundEnd, RoundRequest};
use crate::signals::{Ended, Signals};
use crate::speed::Speed;

/// Where the rounds of a run come from.
pub(crate) enum Rounds {
    /// Launchers start them.
    Taken(Pool),
    /// An earlier run took them: those that are left of each item.
    Recorded { left: Vec<VecDeque<Round>>, width: f64, batch: f64 },
}

impl Rounds {
    /// Those of a recorded run, by item.
    pub fn recorded(run: &Run, items: &[Item]) -> Rounds {
        let is_of = |item: &Item, cost: &&Cost| cost.operation == item.operation.id && cost.at == item.point;
        let found = items.iter().map(|item| run.costs.iter().find(|cost| is_of(item, cost)));
        let left = found.map(|cost| cost.map_or_else(VecDeque::new, in_order)).collect();
        // A number of iterations that was requested may make any batch shorter.
        let batch = if run.settings.count.is_none() { run.settings.batch_us * 1e3 } else { 0.0 };
        Rounds::Recorded { left, width: run.noise.best_width_cycles, batch }
    }

    pub fn are_recorded(&self) -> bool {
        matches!(self, Rounds::Recorded { .. })
    }

    /// The recorded round that an item has next.
    pub fn next(&self, item: usize) -> Option<&Round> {
        match self {
            Rounds::Taken(_) => None,
            Rounds::Recorded { left, .. } => left[item].front(),
        }
    }

    /// False if an item has no round left.
    pub fn has_more(&self, item: usize) -> bool {
        !self.are_recorded() || self.next(item).is_some()
    }

    /// The number of the launcher of an item's next round.
    pub fn launcher(&self, item: usize) -> u32 {
        match self {
            Rounds::Taken(pool) => pool.number(),
            Rounds::Recorded { .. } => self.next(item).map_or(0, |round| round.launcher),
        }
    }

    /// Starts a new launcher.
    pub fn renew(&mut self) {
        if let Rounds::Taken(pool) = self {
            pool.renew();
        }
    }

    /// The number of launchers, and how they were started.
    pub fn launchers(&self) -> Option<Launchers> {
        match self {
            Rounds::Taken(pool) => Some(pool.launchers()),
            Rounds::Recorded { .. } => None,
        }
    }

    /// Runs one round, or takes the next recorded one.
    ///
    /// # Errors
    /// If a signal came in the meantime, or the launcher is gone.
    pub fn round(&mut self, request: RoundRequest, signals: &Signals) -> Result<RoundEnd, Ended> {
        match self {
            Rounds::Taken(pool) => pool.launcher.round(request, signals),
            Rounds::Recorded { left, width, batch } => Ok(match left[request.item].pop_front() {
                Some(Round { lost: Some(reason), .. }) => RoundEnd::Lost(reason),
                Some(round) => RoundEnd::Measured(samples(&round, *width, *batch)),
                None => RoundEnd::Skipped(NOT_RECORDED.into(), String::new()),
            }),
        }
    }

    /// The duration of a round: by the clock, or of the batches that are recorded, so that a replay never depends on the machine.
    pub fn duration(&self, end: &RoundEnd, by_clock: Duration) -> Duration {
        match end {
            _ if !self.are_recorded() => by_clock,
            RoundEnd::Measured(samples) => Duration::from_secs_f64(samples.took / 1e9),
            _ => Duration::ZERO,
        }
    }
}

pub(crate) const NOT_RECORDED: &str = "the recorded run has no round of it";

fn in_order(cost: &Cost) -> VecDeque<Round> {
    let mut rounds = cost.rounds.clone();
    rounds.sort_by_key(|round| round.order);
    rounds.into()
}

/// The batches of a round, of which some would not be judged as undisturbed.
fn samples(round: &Round, width: f64, batch: f64) -> RoundSamples {
    let mut samples = RoundSamples { batch, reads: None, ..RoundSamples::empty(round.times) };
    let (cpu, wait) = (round.cpu_ns.unwrap_or_default().0, round.wait_ns.unwrap_or_default().0);
    for (place, &ns) in round.ns.iter().enumerate() {
        let (cycle, quiet) = (round.cycle_ns[place], round.quiet[place]);
        let share = f64::from(round.width.get(place).copied().unwrap_or(1.0)) * width;
        let speed = |factor: f64| Speed { chain: cycle * factor, width: cycle * factor * share };
        // The interruptions of a batch are not recorded. A batch that was not quiet is given two clocks.
        let around = if quiet { (speed(1.0), speed(1.0)) } else { (speed(0.98), speed(1.02)) };
        let elapsed = ns * round.times as f64;
        samples.samples.push(Sample { ns, around, cycle, switched_out: 0.0, away: 0.0, elapsed, quiet });
        samples.operations += round.times as f64;
        samples.took += elapsed;
        samples.batch = samples.batch.max(elapsed);
    }
    samples.usage = Usage { user: cpu * samples.operations, ..Usage::default() };
    samples.elapsed = (cpu + wait) * samples.operations;
    samples.queued = round.queued_ns.unwrap_or_default().0 * samples.operations;
    samples
}

/// Takes from a recorded run what its rounds do not hold: where and when it was taken, and what costs have beside their time.
pub(crate) fn complete(run: &mut Run, recorded: &Run) {
    let noise = Noise {
        cpus: std::mem::take(&mut run.noise.cpus),
        cycle_ns: run.noise.cycle_ns,
        cycle_range_ns: run.noise.cycle_range_ns,
        more: run.noise.more,
        ..recorded.noise.clone()
    };
    let costs = std::mem::take(&mut run.costs).into_iter().map(|cost| {
        let same = |other: &&Cost| other.operation == cost.operation && other.at == cost.at;
        let Some(of) = recorded.costs.iter().find(same).cloned() else { return cost };
        Cost {
            cpu_ns: of.cpu_ns,
            wait_ns: of.wait_ns,
            cpu_interval_ns: of.cpu_interval_ns,
            wait_interval_ns: of.wait_interval_ns,
            faults: of.faults,
            switches: of.switches,
            reads: of.reads,
            hidden: of.hidden,
            tails: of.tails,
            tallies: of.tallies,
            ..cost
        }
    });
    let costs = costs.collect();
    let (skipped, settings) = (std::mem::take(&mut run.skipped), run.settings.clone());
    *run = Run { noise, costs, skipped, settings, schema: std::mem::take(&mut run.schema), ..recorded.clone() };
}
