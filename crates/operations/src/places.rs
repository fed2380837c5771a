//! Children on another CPU than their parent: lets the scheduler put them there, and counts where they ran. Knows nothing
//! of how they are started.

use std::rc::Rc;
use std::sync::atomic::{AtomicI32, Ordering};

use measure::{Failure, Loop, Pauses, Setting, pin, repeat};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::shared::Shared;

/// Where the children of a loop run.
pub(crate) struct Places {
    /// The CPU that the parent is on between batches.
    home: u32,
    /// The other one that it and its children may use in a batch.
    other: u32,
    /// The CPU that the latest child has run on; [`NOWHERE`] before it has.
    ran: Shared<AtomicI32>,
}

/// No CPU.
const NOWHERE: i32 = -1;

/// The CPU that the caller runs on: a call that no kernel is entered for.
#[inline(always)]
fn cpu() -> i32 {
    // SAFETY: touches no memory of ours.
    unsafe { libc::sched_getcpu() }
}

impl Places {
    /// Of the CPUs of this setting.
    ///
    /// # Errors
    /// A skip where there is no second CPU.
    pub(crate) fn new(setting: &Setting) -> Result<Rc<Places>, Failure> {
        let ran = Shared::new(AtomicI32::new(NOWHERE))?;
        Ok(Rc::new(Places { home: setting.cpu(), other: setting.partner_cpu()?, ran }))
    }

    /// Told by a child that runs.
    #[inline(always)]
    pub(crate) fn child_runs(&self) {
        self.ran.store(cpu(), Ordering::Relaxed);
    }

    /// The loop of one child per iteration, which may use both CPUs during a batch. A scheduler looks for an idle CPU when
    /// a task is new; a child that it puts on the parent's CPU all the same, because something else runs on the other one,
    /// is no part of the batch, and another one is started. A parent that is woken on its child's CPU may stay there: its
    /// next child is then elsewhere, too.
    pub(crate) fn around(self: Rc<Places>, mut child: impl FnMut() -> Result<(), Failure> + 'static) -> Loop {
        /// Children one after the other that stayed, until this is no place to measure it.
        const MOST: u32 = 1000;
        let pauses = Pauses::calibrated();
        let (tries, before) = (pauses.clone(), Rc::clone(&self));
        let home = self.home;
        let children = repeat(move || {
            for _ in 0..MOST {
                let here = cpu();
                self.ran.store(NOWHERE, Ordering::Relaxed);
                let counts = || child().map(|()| ![NOWHERE, here].contains(&self.ran.load(Ordering::Relaxed)));
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
            let ran = || Shared::new(AtomicI32::new(NOWHERE)).expect("a page");
            let places = || Rc::new(Places { home: 0, other: 0, ran: ran() });
            let seen = places();
            let told = Rc::clone(&seen);
            let mut started = 0;
            let mut looped = seen.around(move || {
                started += 1;
                match started % 3 {
                    // It ran elsewhere, at home, or never.
                    0 => told.ran.store(7, Ordering::Relaxed),
                    rest => {
                        std::thread::sleep(Duration::from_millis(2));
                        if rest == 1 {
                            told.child_runs();
                        }
                    }
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
