//! Which CPUs there are, how quiet each is, and what counts as quiet.

use std::collections::BTreeMap;

use analysis::statistics::{quantile, sorted};
use record::{CpuQuiet, Noise};
use rustix::thread::CpuSet;

use crate::batch::{Harvest, Sample};
use crate::setting::pin;
use crate::speed::{Checker, Speed};
use crate::take::MeasureError;
use crate::topology::Topology;

/// More CPUs than this are not needed to find a quiet one.
const MOST_CPUS: usize = 8;

/// What a machine has shown at its best: kept from run to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// The smallest share: cycles per independent add.
    pub share: f64,
    /// The shortest cycle, in ns.
    pub cycle: f64,
}

/// What the speed checks of a run have shown so far.
pub(crate) struct Quietness {
    checker: Checker,
    /// The CPUs this process could use at the start.
    allowed: CpuSet,
    usable: Vec<u32>,
    /// The CPUs that rounds take turns on.
    pub cpus: Vec<u32>,
    tolerance: f64,
    known: Option<Best>,
    checks: Vec<Speed>,
    best: Best,
}

/// The clock may move by this much within a quiet batch; a step of any core's frequency is larger.
const CLOCK_TOLERANCE: f64 = 0.015;
/// What is known from earlier runs is forgotten where this run comes no nearer: the machine is another one by now.
const STILL_THE_SAME: f64 = 0.1;

impl Quietness {
    /// Looks at every CPU for some milliseconds.
    ///
    /// # Errors
    /// When the CPU asked for is not ours to use.
    pub fn open(
        checker: Checker,
        asked: Option<u32>,
        known: Option<Best>,
        tolerance: f64,
    ) -> Result<Quietness, MeasureError> {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap_or_default();
        let usable: Vec<u32> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).map(|cpu| cpu as u32).collect();
        let cpus = match asked {
            Some(cpu) if usable.contains(&cpu) => vec![cpu],
            Some(cpu) => {
                let usable = usable.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                return Err(MeasureError::Cpu { cpu, usable });
            }
            None if usable.is_empty() => vec![0],
            None => usable.iter().step_by(usable.len().div_ceil(MOST_CPUS).max(1)).copied().collect(),
        };
        let best = known.unwrap_or(Best { share: f64::INFINITY, cycle: f64::INFINITY });
        let mut quietness = Quietness { checker, allowed, usable, cpus, tolerance, known, checks: vec![], best };
        quietness.look_around();
        Ok(quietness)
    }

    fn look_around(&mut self) {
        const CHECKS: usize = 2000;
        for cpu in self.cpus.clone() {
            if pin(cpu).is_ok() {
                for _ in 0..CHECKS {
                    self.checks.push(self.checker.check());
                }
            }
        }
        self.update();
    }

    /// Takes in what a round's checks have shown.
    pub fn take_in(&mut self, harvest: &Harvest) {
        self.checks.extend(harvest.samples.iter().flat_map(|sample| [sample.around.0, sample.around.1]));
    }

    /// Derives anew what is best. Low quantiles instead of the least: one lucky reading must not make every other look
    /// busy. The cycle is that of checks on a core of our own: a neighbour delays even dependent adds.
    pub fn update(&mut self) {
        let low = |part: f64, values: Vec<f64>| quantile(&sorted(values), part).unwrap_or(f64::INFINITY);
        let fastest = low(0.01, self.checks.iter().map(|speed| speed.chain).collect());
        // Whatever delays the chain makes the width beside it look small.
        let undisturbed = |speed: &&Speed| speed.chain <= fastest * (1.0 + CLOCK_TOLERANCE);
        let share = low(0.1, self.checks.iter().filter(undisturbed).map(|speed| speed.share()).collect());
        let known = self.known.filter(|known| known.share > share * (1.0 - STILL_THE_SAME));
        let share = known.map_or(share, |known| known.share.min(share));
        let quiet = |speed: &&Speed| speed.share() <= share * (1.0 + self.tolerance);
        let chains: Vec<f64> = self.checks.iter().filter(quiet).map(|speed| speed.chain).collect();
        // The low quantile finds the fastest step of the clock, the median of that step its cycle.
        let step = low(0.01, chains.clone()) * (1.0 + CLOCK_TOLERANCE);
        let cycle = low(0.5, chains.into_iter().filter(|chain| *chain <= step).collect());
        let known = self.known.filter(|known| known.cycle > cycle * (1.0 - STILL_THE_SAME));
        self.best = Best { share, cycle: known.map_or(cycle, |known| known.cycle.min(cycle)) };
    }

    /// The largest share at which a core counts as ours alone.
    pub fn limit(&self) -> f64 {
        self.best.share * (1.0 + self.tolerance)
    }

    /// The best this machine has shown.
    pub fn best(&self) -> Best {
        self.best
    }

    /// The larger share around a batch, over the best.
    pub fn width(&self, sample: &Sample) -> f64 {
        sample.around.0.share().max(sample.around.1.share()) / self.best.share
    }

    /// Whether the core was ours alone for this batch, at one clock, and no other task of this system took it: `usual`
    /// is how often a batch is switched out by its own doing.
    pub fn is_quiet(&self, sample: &Sample, usual: f64) -> bool {
        let (before, after) = (sample.around.0.chain, sample.around.1.chain);
        let steady = (before / after - 1.0).abs() <= CLOCK_TOLERANCE;
        steady && sample.switched_out <= usual && self.width(sample) <= 1.0 + self.tolerance
    }

    /// The CPU whose core is quiet now; the first of them in a random order, or the least busy. Leaves this process
    /// pinned where it looked last: rounds pin themselves.
    pub fn quietest_now(&self, random: &mut fastrand::Rng) -> u32 {
        let mut order = self.cpus.clone();
        random.shuffle(&mut order);
        let mut best = (f64::INFINITY, order[0]);
        for cpu in order {
            if pin(cpu).is_err() {
                continue;
            }
            let width = (0..3).map(|_| self.checker.check().share()).fold(f64::INFINITY, f64::min);
            if width <= self.limit() {
                return cpu;
            }
            if width < best.0 {
                best = (width, cpu);
            }
        }
        best.1
    }

    /// The CPU for a partner of a task on `cpu`, at the distance that this word of the axis names, if there is one.
    pub fn other_than(&self, cpu: u32, distance: &str, random: &mut fastrand::Rng) -> Option<u32> {
        random.choice(Topology::here().partners_at(cpu, &self.usable, distance))
    }

    /// At most so many CPUs beside these two.
    pub fn beside(&self, cpu: u32, other: Option<u32>, most: usize, random: &mut fastrand::Rng) -> Vec<u32> {
        let is_free = |&free: &u32| free != cpu && Some(free) != other;
        random.choose_multiple(self.usable.iter().copied().filter(is_free), most)
    }

    /// The part of the run's noise that the checks tell: shares of quiet among surveyed batches, per CPU.
    pub fn noise<'a>(&self, surveyed: impl Iterator<Item = (u32, &'a Harvest, f64)>) -> Noise {
        let mut seen: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (cpu, harvest, usual) in surveyed {
            let (all, quiet) = seen.entry(cpu).or_default();
            *all += harvest.samples.len() as u32;
            *quiet += harvest.samples.iter().filter(|sample| self.is_quiet(sample, usual)).count() as u32;
        }
        let cpus = seen.into_iter().map(|(cpu, (all, quiet))| CpuQuiet {
            cpu,
            batches: all,
            quiet: if all == 0 { 0.0 } else { f64::from(quiet) / f64::from(all) },
        });
        Noise {
            cpus: cpus.collect(),
            best_width_cycles: self.best.share,
            cycle_ns: self.best.cycle,
            clock_ns: self.checker.clock.cost,
            clock_step_ns: self.checker.clock.step,
            ..Noise::default()
        }
    }
}

impl Drop for Quietness {
    /// Gives this process back the CPUs it had.
    fn drop(&mut self) {
        let _ = rustix::thread::sched_setaffinity(None, &self.allowed);
    }
}
