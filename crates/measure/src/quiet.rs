//! Which CPUs there are, how quiet each is, and what counts as quiet.

use std::collections::BTreeMap;

use analysis::statistics::{quantile, sorted};
use record::{CpuQuiet, Noise};
use rustix::thread::CpuSet;

use crate::batch::{Harvest, Sample};
use crate::clock::Clock;
use crate::setting::pin;
use crate::speed;
use crate::take::MeasureError;

/// More CPUs than this are not needed to find a quiet one.
const MOST_CPUS: usize = 8;

/// What the speed checks of a run have shown so far.
pub(crate) struct Quietness {
    clock: Clock,
    /// The CPUs this process could use at the start.
    allowed: CpuSet,
    usable: Vec<u32>,
    /// The CPUs that rounds take turns on.
    pub cpus: Vec<u32>,
    tolerance: f64,
    known: Option<f64>,
    /// Every chain and width seen, in ns per add.
    chains: Vec<f64>,
    widths: Vec<f64>,
    /// The core's cycle in ns, and the best width in cycles, as far as seen.
    cycle: f64,
    best: f64,
}

impl Quietness {
    /// Looks at every CPU for some milliseconds.
    ///
    /// # Errors
    /// When the CPU asked for is not ours to use.
    pub fn open(
        clock: Clock,
        asked: Option<u32>,
        known: Option<f64>,
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
        let mut quietness = Quietness {
            clock,
            allowed,
            usable,
            cpus,
            tolerance,
            known,
            chains: vec![],
            widths: vec![],
            cycle: 0.0,
            best: 0.0,
        };
        quietness.look_around();
        Ok(quietness)
    }

    fn look_around(&mut self) {
        const CHECKS: usize = 2000;
        for cpu in self.cpus.clone() {
            if pin(cpu).is_ok() {
                for _ in 0..CHECKS {
                    let speed = speed::check(&self.clock);
                    self.chains.push(speed.chain);
                    self.widths.push(speed.width);
                }
            }
        }
        self.settle();
    }

    /// Derives the cycle and the best width from what was seen. Low quantiles instead of the least: one lucky reading
    /// must not make every other look busy.
    fn settle(&mut self) {
        let low = |values: &[f64]| quantile(&sorted(values.iter().copied()), 0.01).unwrap_or(0.0);
        self.cycle = low(&self.chains);
        let seen = low(&self.widths) / self.cycle;
        self.best = self.known.map_or(seen, |known| known.min(seen));
    }

    /// Takes in what a round's checks have shown.
    pub fn take_in(&mut self, harvest: &Harvest) {
        for sample in &harvest.samples {
            for speed in [sample.around.0, sample.around.1] {
                self.chains.push(speed.chain);
                self.widths.push(speed.width);
            }
        }
    }

    /// Derives the limits anew; cheap enough once per pass.
    pub fn update(&mut self) {
        self.settle();
    }

    /// The widest check, in ns per add, at which a core counts as ours alone.
    pub fn limit(&self) -> f64 {
        self.best * self.cycle * (1.0 + self.tolerance)
    }

    /// The core's cycle in ns.
    pub fn cycle(&self) -> f64 {
        self.cycle
    }

    /// The worse width around a batch, over the best.
    pub fn width(&self, sample: &Sample) -> f64 {
        sample.around.0.width.max(sample.around.1.width) / (self.best * self.cycle)
    }

    /// Whether the core was ours alone for this batch, and no other task of this system took it: `usual` is how often a
    /// batch is switched out by its own doing.
    pub fn is_quiet(&self, sample: &Sample, usual: f64) -> bool {
        sample.switched_out <= usual && self.width(sample) <= 1.0 + self.tolerance
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
            let width = (0..3).map(|_| speed::check(&self.clock).width).fold(f64::INFINITY, f64::min);
            if width <= self.limit() {
                return cpu;
            }
            if width < best.0 {
                best = (width, cpu);
            }
        }
        best.1
    }

    /// Another CPU than this one, if there is one.
    pub fn other_than(&self, cpu: u32, random: &mut fastrand::Rng) -> Option<u32> {
        let others: Vec<u32> = self.usable.iter().copied().filter(|&other| other != cpu).collect();
        random.choice(&others).copied()
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
            best_width_cycles: self.best,
            cycle_ns: self.cycle,
            clock_ns: self.clock.cost,
            clock_step_ns: self.clock.step,
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
