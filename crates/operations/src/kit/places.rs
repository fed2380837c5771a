//! Children on another CPU than their parent: lets the scheduler put them there, and counts where they ran. Knows nothing
//! of how they are started.

use std::rc::Rc;
use std::sync::atomic::{AtomicI32, Ordering};

use operation::{Failure, Loop, Pauses, Setting, pin, repeat};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::kit::shared::Shared;

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

/// The CPU that the caller runs on, by the kernel's own call. The C library's answer is a word of the thread's memory,
/// which a child that shares it finds as its parent left it.
#[inline(always)]
fn cpu() -> i32 {
    let mut cpu = 0_u32;
    let nothing = std::ptr::null_mut::<u32>();
    // SAFETY: the first pointer is to a word, the others are to nothing.
    let status = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, nothing, nothing) };
    if status == 0 { cpu as i32 } else { NOWHERE }
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
        children.excluding(pauses).before(move |_| before.allow_both()).verify(move |_| pin(home))
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

    /// A child that shares its parent's memory, its thread's own included, tells its own CPU: the C library would tell the
    /// parent's.
    #[test]
    fn a_child_in_this_memory_tells_its_own_cpu() {
        if crate::kit::trial::other_cpu().is_none() {
            return testing::not_tested!("needs two CPUs");
        }
        let thread = std::thread::spawn(|| {
            pin(0).expect("CPU 0 may be used");
            assert_eq!(cpu(), 0);
            let mut there = NOWHERE;
            let mut child = crate::kit::child::Child::new(0, || {
                pin(1)?;
                there = cpu();
                Ok(())
            });
            child.run().expect("a child");
            drop(child);
            assert_eq!((there, cpu()), (1, 0));
        });
        thread.join().expect("see above");
    }

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
