//! Children on another CPU than their parent: lets the scheduler put them there, and counts where they ran. Knows nothing
//! of how they are started.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use measure::{Failure, Loop, Pauses, Setting, pin, repeat};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::shared::Shared;

/// Where the children of a loop run.
pub(crate) struct Places {
    /// The parent's CPU.
    home: u32,
    /// The other one that it and its children may use in a batch.
    other: u32,
    /// How many children have run there.
    apart: Shared<AtomicU64>,
}

impl Places {
    /// Of the CPUs of this setting.
    ///
    /// # Errors
    /// A skip where there is no second CPU.
    pub(crate) fn new(setting: &Setting) -> Result<Rc<Places>, Failure> {
        let apart = Shared::new(AtomicU64::new(0))?;
        Ok(Rc::new(Places { home: setting.cpu(), other: setting.partner_cpu()?, apart }))
    }

    /// Told by a child that runs: a call that no kernel is entered for, and an atomic addition.
    #[inline(always)]
    pub(crate) fn child_runs(&self) {
        // SAFETY: touches no memory of ours.
        if unsafe { libc::sched_getcpu() } == self.other as i32 {
            self.apart.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The loop of one child per iteration, which may use both CPUs during a batch. A scheduler looks for an idle CPU when
    /// a task is new, and leaves the parent where it was; a child that it puts on the parent's CPU all the same, because
    /// something else runs on the other one, is no part of the batch and another one is started.
    pub(crate) fn around(self: Rc<Places>, mut child: impl FnMut() -> Result<(), Failure> + 'static) -> Loop {
        /// Children one after the other that stayed, until this is no place to measure it.
        const MOST: u32 = 1000;
        let pauses = Pauses::calibrated();
        let (tries, before) = (pauses.clone(), Rc::clone(&self));
        let home = self.home;
        let children = repeat(move || {
            for _ in 0..MOST {
                let apart = self.apart.load(Ordering::Relaxed);
                let counts = || child().map(|()| self.apart.load(Ordering::Relaxed) == apart + 1);
                if tries.counts_if(counts)? {
                    return Ok(());
                }
            }
            Err(Failure::wrong(format!("{MOST} children one after the other ran on their parent's CPU")))
        });
        children.less(pauses).before(move |_| before.allow_both()).verify(move |_| pin(home))
    }

    fn allow_both(&self) -> Result<(), Failure> {
        let mut both = CpuSet::new();
        both.set(self.home as usize);
        both.set(self.other as usize);
        Ok(sched_setaffinity(None, &both)?)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn children_that_stayed_at_home_do_not_count() {
        // In a thread of its own, whose CPUs it may change.
        let thread = std::thread::spawn(|| {
            let places =
                || Rc::new(Places { home: 0, other: 0, apart: Shared::new(AtomicU64::new(0)).expect("a page") });
            let seen = places();
            let told = Rc::clone(&seen);
            let mut started = 0;
            let mut looped = seen.around(move || {
                started += 1;
                if started % 3 == 0 {
                    told.child_runs();
                } else {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Ok(())
            });
            let start = Instant::now();
            let counted = looped.timed(10).expect("ten that count");
            // Two of three took two milliseconds and do not count.
            assert!(start.elapsed() >= Duration::from_millis(40));
            assert!(counted < Duration::from_millis(20), "{counted:?}");
            assert!(places().around(|| Ok(())).perform(1).is_err());
        });
        thread.join().expect("see above");
    }
}
