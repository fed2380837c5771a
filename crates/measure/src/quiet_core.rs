//! Undisturbed moments for instruments that time several processes in turn: whether a core is quiet now, and whether it was
//! between two moments.

use operation::{Clock, pin};

use crate::error::MeasureError;
use crate::quiet::Quietness;
use crate::speed::{Checker, Speed, steady};

/// How far the checks around a quiet batch may be above the best width.
const TOLERANCE: f64 = 0.03;

/// A check of the core at one moment.
#[derive(Clone, Copy, Debug)]
pub struct CoreMoment(Speed);

/// Knows what an undisturbed core of this machine looks like.
pub struct QuietCore {
    checker: Checker,
    quietness: Quietness,
}

impl QuietCore {
    /// Looks at the CPUs, or at one, for some milliseconds. `remembered` is the width that earlier runs have seen.
    ///
    /// # Errors
    /// If this process may not use that CPU.
    pub fn learn(cpu: Option<u32>, remembered: Option<f64>) -> Result<QuietCore, MeasureError> {
        let checker = Checker::calibrate(Clock::calibrate());
        let quietness = Quietness::open(checker, cpu, remembered, TOLERANCE)?;
        Ok(QuietCore { checker, quietness })
    }

    /// Moves this process to the quietest CPU. What it starts from now on stays there as well. Returns false if it may not be
    /// pinned.
    pub fn settle(&mut self, random: &mut fastrand::Rng) -> bool {
        let cpu = self.quietness.quietest_now(random);
        pin(cpu).is_ok()
    }

    /// The CPUs that this process may use.
    pub fn usable(&self) -> &[u32] {
        self.quietness.usable()
    }

    /// Checks the core. Takes 4 µs: another process may have had it, so the first of two checks only warms up.
    pub fn check(&self) -> CoreMoment {
        self.checker.check();
        CoreMoment(self.checker.check())
    }

    /// True if the core is undisturbed at a moment.
    pub fn is_quiet(&self, moment: CoreMoment) -> bool {
        moment.0.share() <= self.quietness.limit()
    }

    /// True if the core was undisturbed at both moments, at one clock.
    pub fn was_quiet(&self, before: CoreMoment, after: CoreMoment) -> bool {
        self.is_quiet(before) && self.is_quiet(after) && steady(before.0, after.0)
    }

    /// The seconds now, by the clock of the checks.
    pub fn now(&self) -> f64 {
        self.checker.clock.now() / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_started_after_the_look_may_use_all_cpus() {
        let allowed = || rustix::thread::sched_getaffinity(None).expect("a set");
        let before = allowed();
        let core = QuietCore::learn(None, None).expect("it may use a CPU");
        assert_eq!(allowed(), before);
        drop(core);
    }
}
