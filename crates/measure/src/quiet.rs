//! Which CPUs there are, how quiet each is, and which batches count as quiet.

use std::collections::BTreeMap;

use analysis::statistics::{median, quantile, sorted};
use operation::pin;
use record::{CpuQuiet, Noise};
use rustix::thread::CpuSet;
use system::machine::{Distance, Topology};

use crate::batch::{RoundSamples, Sample};
use crate::error::MeasureError;
use crate::speed::{Anchor, Checker, Speed, correction, steady};

/// More CPUs than this are not needed to find a quiet one.
const MOST_CPUS: usize = 8;

/// The width of an undisturbed core, from the speed checks of a run. It is kept from run to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// Cycles per independent add.
    pub share: f64,
    /// True if this run has seen it. Otherwise it is remembered from an earlier run, and no check of this run came near
    /// it.
    pub seen: bool,
}

/// The results of a run's speed checks so far.
pub(crate) struct Quietness {
    checker: Checker,
    /// The CPUs that this process could use at the start.
    allowed: CpuSet,
    usable: Vec<u32>,
    /// The CPUs that rounds use in turn.
    pub cpus: Vec<u32>,
    tolerance: f64,
    /// The share that earlier runs have shown.
    remembered: Option<f64>,
    checks: Vec<Speed>,
    anchors: Vec<Anchor>,
    width: Width,
}

/// The criteria for interruptions of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Guard {
    /// How often the operation itself causes a batch to be switched out; infinite if unknown.
    pub usual_switches: f64,
    /// True if all of its tasks sleep at some moments by design.
    pub waits: bool,
}

impl Guard {
    /// True if another task of this system took the CPU during a batch.
    pub fn interrupted(self, sample: &Sample) -> bool {
        /// The kernel keeps its accounts in microseconds, separately for user and system time.
        const RESOLUTION: f64 = 4_000.0;
        /// Share of a batch that the kernel's own work between its tasks may take.
        const LEAST: f64 = 0.03;
        /// In a longer batch the kernel's own threads run for a few microseconds. The time away accounts for them.
        const SHORT: f64 = 1e6;
        let taken = !self.waits && sample.away > RESOLUTION + LEAST * sample.elapsed;
        let switched = sample.switched_out > self.usual_switches && (self.waits || sample.elapsed < SHORT);
        taken || switched
    }
}

/// Another hardware thread makes an add at least this much slower. So checks within this share of a remembered width
/// come from an undisturbed core, whatever is remembered.
const NEIGHBOUR: f64 = 0.12;
/// The clock of one core varies by no more than this within a run. A chain that took longer was interrupted.
const CLOCK_RANGE: f64 = 1.3;

/// The width of an undisturbed core, from the shares that undisturbed checks have shown. A remembered share is used in
/// two cases: checks of this run confirm it, or all checks lie so far above it that a neighbour must have been there
/// all the time. A share that is a little too good is dropped at once; one that is far off is dropped after some runs
/// (see the store).
pub(crate) fn judged(shares: &[f64], remembered: Option<f64>, tolerance: f64) -> Width {
    /// One lucky check in a hundred confirms nothing.
    const BORNE_OUT: f64 = 0.02;
    let shares = sorted(shares.iter().copied());
    // A low quantile instead of the minimum: one lucky reading must not make all others look busy.
    let own = quantile(&shares, 0.1).unwrap_or(f64::INFINITY);
    let Some(remembered) = remembered.filter(|&share| share < own) else { return Width { share: own, seen: true } };
    let near = shares.iter().filter(|&&share| share <= remembered * (1.0 + tolerance)).count();
    if near as f64 >= BORNE_OUT * shares.len() as f64 && near > 0 {
        return Width { share: remembered, seen: true };
    }
    let is_seen = own <= remembered * (1.0 + NEIGHBOUR);
    Width { share: if is_seen { own } else { remembered }, seen: is_seen }
}

impl Quietness {
    /// Checks every CPU for some milliseconds.
    ///
    /// # Errors
    /// If this process may not use the CPU that was requested.
    pub fn open(
        checker: Checker,
        requested: Option<u32>,
        remembered: Option<f64>,
        tolerance: f64,
    ) -> Result<Quietness, MeasureError> {
        let usable = system::machine::pinnable_cpus();
        let mut allowed = CpuSet::new();
        usable.iter().for_each(|&cpu| allowed.set(cpu as usize));
        let cpus = match requested {
            Some(cpu) if usable.contains(&cpu) => vec![cpu],
            Some(cpu) => {
                let usable = usable.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                return Err(MeasureError::Cpu { cpu, usable });
            }
            None if usable.is_empty() => vec![0],
            None => {
                // Different kinds of core have different costs, so a run uses one kind: the strongest.
                let kind = |cpu: u32| Topology::here().kind_of(cpu);
                let strongest = usable.iter().map(|&cpu| kind(cpu)).min();
                let alike: Vec<u32> = usable.iter().copied().filter(|&cpu| Some(kind(cpu)) == strongest).collect();
                alike.iter().step_by(alike.len().div_ceil(MOST_CPUS).max(1)).copied().collect()
            }
        };
        let width = Width { share: f64::INFINITY, seen: false };
        let (checks, anchors) = (Vec::new(), Vec::new());
        let mut quietness = Quietness { checker, allowed, usable, cpus, tolerance, remembered, checks, anchors, width };
        quietness.look_around();
        Ok(quietness)
    }

    /// That of a recorded run, or of a machine whose undisturbed cores have this width: without CPUs.
    pub fn recorded(checker: Checker, share: f64, tolerance: f64) -> Quietness {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap_or_default();
        let (usable, cpus, checks, anchors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let width = Width { share, seen: true };
        Quietness { checker, allowed, usable, cpus, tolerance, remembered: Some(share), checks, anchors, width }
    }

    fn look_around(&mut self) {
        const CHECKS: usize = 2000;
        const ANCHORS: usize = 40;
        for cpu in self.cpus.clone() {
            if pin(cpu).is_ok() {
                for _ in 0..CHECKS {
                    self.checks.push(self.checker.check());
                }
            }
        }
        self.update();
        for cpu in self.cpus.clone() {
            if pin(cpu).is_ok() {
                let limit = self.limit();
                self.anchors.extend((0..ANCHORS).filter_map(|_| self.checker.anchor(limit)));
            }
        }
        // What is started from now on may use all CPUs again.
        let _ = rustix::thread::sched_setaffinity(None, &self.allowed);
    }

    /// Records the checks of a round.
    pub fn take_in(&mut self, harvest: &RoundSamples) {
        self.checks.extend(harvest.samples.iter().flat_map(|sample| [sample.around.0, sample.around.1]));
    }

    /// The factor that corrects the cycles of all batches of the run.
    pub fn correction(&self) -> f64 {
        correction(&self.anchors, self.usual_check())
    }

    /// Computes the width of an undisturbed core again.
    pub fn update(&mut self) {
        let fastest = quantile(&sorted(self.checks.iter().map(|speed| speed.chain)), 0.01).unwrap_or(f64::INFINITY);
        // An interruption of the chain makes the width beside it look small.
        let undisturbed = self.checks.iter().filter(|speed| speed.chain <= fastest * CLOCK_RANGE);
        let shares: Vec<f64> = undisturbed.map(|speed| speed.share()).collect();
        self.width = judged(&shares, self.remembered, self.tolerance);
    }

    /// Drops CPUs that can no longer be used. One may go offline at any time.
    pub fn drop_lost_cpus(&mut self) {
        // The kernel answers with the online CPUs among those requested.
        let _ = rustix::thread::sched_setaffinity(None, &self.allowed);
        let Ok(online) = rustix::thread::sched_getaffinity(None) else { return };
        let still = |cpu: &u32| online.is_set(*cpu as usize);
        let (cpus, usable): (Vec<u32>, Vec<u32>) =
            (self.cpus.iter().copied().filter(still).collect(), self.usable.iter().copied().filter(still).collect());
        // Without any CPU nothing can be measured, and each round says so.
        if !cpus.is_empty() {
            (self.cpus, self.usable) = (cpus, usable);
        }
    }

    /// The largest share at which a core counts as undisturbed.
    pub fn limit(&self) -> f64 {
        self.width.share * (1.0 + self.tolerance)
    }

    /// The width of an undisturbed core.
    pub fn alone(&self) -> Width {
        self.width
    }

    /// One core cycle in ns, by the checks alone. For a run that has measured nothing.
    pub fn usual_cycle(&self) -> f64 {
        let usual = self.usual_check();
        usual * correction(&self.anchors, usual)
    }

    /// What an add of the chain takes in half of all checks, in ns.
    fn usual_check(&self) -> f64 {
        median(self.checks.iter().map(|speed| speed.chain)).unwrap_or(0.0)
    }

    /// The larger share around a batch, divided by that of an undisturbed core.
    pub fn width(&self, sample: &Sample) -> f64 {
        sample.around.0.share().max(sample.around.1.share()) / self.width.share
    }

    /// True if the core was undisturbed during this batch, at one clock, and no other task of this system took it.
    pub fn is_quiet(&self, sample: &Sample, guard: Guard) -> bool {
        steady(sample.around.0, sample.around.1)
            && !guard.interrupted(sample)
            && self.width(sample) <= 1.0 + self.tolerance
    }

    /// A CPU whose core is quiet now: the first one found in a random order, or the least busy. Afterwards this process may use
    /// all CPUs again: on a busy host, waiting for the CPU that it checked last took 4 ms after a round.
    pub fn quietest_now(&mut self, random: &mut fastrand::Rng) -> u32 {
        let quietest = self.look_for_quiet(random);
        let _ = rustix::thread::sched_setaffinity(None, &self.allowed);
        quietest
    }

    fn look_for_quiet(&mut self, random: &mut fastrand::Rng) -> u32 {
        let mut order = self.cpus.clone();
        random.shuffle(&mut order);
        let mut best = (f64::INFINITY, order[0]);
        for cpu in order {
            if pin(cpu).is_err() {
                continue;
            }
            let width = (0..3).map(|_| self.checker.check().share()).fold(f64::INFINITY, f64::min);
            if width <= self.limit() {
                self.anchors.extend(self.checker.anchor(self.limit()));
                return cpu;
            }
            if width < best.0 {
                best = (width, cpu);
            }
        }
        best.1
    }

    /// The CPU for a partner of a task on `cpu`, at this distance or at any, if there is one.
    pub fn other_than(&self, cpu: u32, distance: Option<Distance>, random: &mut fastrand::Rng) -> Option<u32> {
        random.choice(Topology::here().partners_at(cpu, &self.usable, distance))
    }

    /// All CPUs that this process may use.
    pub fn usable(&self) -> &[u32] {
        &self.usable
    }

    /// At most `most` CPUs in addition to these two: those of the same kind as the first before others.
    pub fn beside(&self, cpu: u32, other: Option<u32>, most: usize, random: &mut fastrand::Rng) -> Vec<u32> {
        let is_free = |&free: &u32| free != cpu && Some(free) != other;
        let mut free: Vec<u32> = self.usable.iter().copied().filter(is_free).collect();
        random.shuffle(&mut free);
        let kind = |cpu| Topology::here().kind_of(cpu);
        free.sort_by_key(|&free| kind(free) != kind(cpu));
        free.truncate(most);
        free
    }

    /// The part of the run's noise that comes from the checks: shares of quiet among surveyed batches, per CPU.
    pub fn noise<'a>(&self, surveyed: impl Iterator<Item = (u32, &'a RoundSamples)>) -> Noise {
        let mut seen: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (cpu, harvest) in surveyed {
            let (all, quiet) = seen.entry(cpu).or_default();
            *all += harvest.samples.len() as u32;
            *quiet += harvest.samples.iter().filter(|sample| sample.quiet).count() as u32;
        }
        let cpus = seen.into_iter().map(|(cpu, (all, quiet))| CpuQuiet {
            cpu,
            batches: all,
            quiet: if all == 0 { 0.0 } else { f64::from(quiet) / f64::from(all) },
        });
        Noise {
            cpus: cpus.collect(),
            best_width_cycles: if self.width.share.is_finite() { self.width.share } else { 0.0 },
            clock_ns: self.checker.clock.cost,
            clock_step_ns: self.checker.clock.step,
            ..Noise::default()
        }
    }
}

impl Drop for Quietness {
    /// Restores the CPUs that this process had.
    fn drop(&mut self) {
        let _ = rustix::thread::sched_setaffinity(None, &self.allowed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_width(share: f64) -> Quietness {
        Quietness::recorded(Checker::recorded(operation::Clock::plain()), share, 0.03)
    }

    fn around(share: f64, spread: f64) -> Vec<f64> {
        (0..1000).map(|check| share * (1.0 + spread * f64::from(check % 10) / 10.0)).collect()
    }

    #[test]
    fn quiet_is_found_again_whatever_is_remembered() {
        let shown = around(0.25, 0.01);
        for remembered in [0.25 * 0.93, 0.25 * 0.90, 0.25 * 0.95, 0.25, 0.3, 10.0] {
            let width = judged(&shown, Some(remembered), 0.05);
            assert!(width.seen && (0.23..0.2526).contains(&width.share), "{remembered}: {width:?}");
            let quiet = shown.iter().filter(|&&share| share <= width.share * 1.05).count();
            assert!(quiet > 900, "{remembered}: {quiet} of 1000");
        }
    }

    #[test]
    fn a_neighbour_that_never_leaves_is_known_by_what_is_remembered() {
        let width = judged(&around(0.38, 0.2), Some(0.25), 0.05);
        assert_eq!(width, Width { share: 0.25, seen: false });
        // Without a remembered width, the run's own checks decide.
        assert!(judged(&around(0.38, 0.2), None, 0.05).seen);
    }

    #[test]
    fn a_few_quiet_moments_bear_out_what_is_remembered() {
        let mut shown = around(0.38, 0.2);
        shown[..30].fill(0.252);
        assert_eq!(judged(&shown, Some(0.25), 0.05), Width { share: 0.25, seen: true });
    }

    fn sample(away: f64, elapsed: f64, switched_out: f64) -> Sample {
        let speed = Speed { chain: 0.25, width: 0.0625 };
        Sample { ns: 1.0, around: (speed, speed), cycle: 0.25, switched_out, away, elapsed, quiet: false }
    }

    #[test]
    fn a_cpu_that_is_gone_is_dropped_and_the_last_one_is_kept() {
        let allowed = with_width(1.0).allowed;
        let here = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).expect("a CPU") as u32;
        // No kernel has a CPU with the last number that a set can hold.
        let gone = CpuSet::MAX_CPU as u32 - 1;
        let with = |cpus: Vec<u32>| {
            let mut quietness = with_width(1.0);
            (quietness.usable, quietness.cpus) = (cpus.clone(), cpus);
            quietness
        };
        let mut quietness = with(vec![here, gone]);
        quietness.drop_lost_cpus();
        assert_eq!((quietness.cpus.as_slice(), quietness.usable()), ([here].as_slice(), [here].as_slice()));
        assert_eq!(quietness.other_than(here, None, &mut fastrand::Rng::with_seed(1)), None, "no partner is left");
        let mut quietness = with(vec![gone]);
        quietness.drop_lost_cpus();
        assert_eq!(quietness.cpus, [gone], "without any CPU each round says why it is lost");
    }

    #[test]
    fn a_busy_program_on_the_same_cpu_interrupts_every_long_batch() {
        // Another task takes half of every batch of 14 ms, so no batch is without a switch.
        let guard = Guard { usual_switches: f64::INFINITY, waits: false };
        assert!(guard.interrupted(&sample(7e6, 14e6, 3.0)));
        assert!(!guard.interrupted(&sample(2e3, 100e3, 60.0)), "partners on one CPU take it from each other");
        let waiting = Guard { waits: true, ..guard };
        assert!(!waiting.interrupted(&sample(7e6, 14e6, 3.0)));
        let alone = Guard { usual_switches: 0.0, waits: false };
        assert!(alone.interrupted(&sample(0.0, 100e3, 1.0)));
    }
}
