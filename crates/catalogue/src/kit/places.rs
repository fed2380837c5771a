//! Children that run on another CPU than their parent: lets the scheduler place them, and counts where they ran. Does not
//! know how they are started.

use std::rc::Rc;
use std::sync::atomic::{AtomicI32, Ordering};

use operation::{Failure, Loop, Setting, pin};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::kit::loops::pausing;
use crate::kit::shared::Shared;

/// Where the children of a loop run.
pub(crate) struct Places {
    /// The CPU of the parent between batches.
    home: u32,
    /// The other CPU that the parent and its children may use during a batch.
    other: u32,
    /// The CPU that the latest child ran on; [`NOWHERE`] before it has run.
    ran: Shared<AtomicI32>,
}

const NOWHERE: i32 = -1;

/// The CPU that the caller runs on, from the kernel itself. The C library answers from a word of the thread's memory, and a
/// child that shares this memory would read its parent's CPU.
#[inline(always)]
fn cpu() -> i32 {
    let mut cpu = 0_u32;
    let nothing = std::ptr::null_mut::<u32>();
    // SAFETY: the first pointer is to a word, the others are null.
    let status = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, nothing, nothing) };
    if status == 0 { cpu as i32 } else { NOWHERE }
}

impl Places {
    /// Uses the CPUs of this setting. Skips if there is no second CPU.
    pub(crate) fn new(setting: &Setting) -> Result<Rc<Places>, Failure> {
        let ran = Shared::new(AtomicI32::new(NOWHERE))?;
        Ok(Rc::new(Places { home: setting.cpu(), other: setting.partner_cpu()?, ran }))
    }

    /// Called by a running child to report its CPU.
    #[inline(always)]
    pub(crate) fn child_runs(&self) {
        self.ran.store(cpu(), Ordering::Relaxed);
    }

    /// The loop of one child per iteration. Parent and child may use both CPUs during a batch. The scheduler looks for an
    /// idle CPU for a new task. If something else runs on the other CPU, it may put the child on the parent's CPU; such a
    /// child is not part of the batch, and another one is started. A parent that is woken on its child's CPU may stay
    /// there; its next child then runs on the other one.
    pub(crate) fn around(self: Rc<Places>, mut child: impl FnMut() -> Result<(), Failure> + 'static) -> Loop {
        /// The number of children in a row that stayed on the parent's CPU after which the operation is given up here.
        const MOST: u32 = 1000;
        let (home, other) = (self.home, self.other);
        let children = pausing(move |tries| {
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
        let mut both = CpuSet::new();
        both.set(home as usize);
        both.set(other as usize);
        children.before(move |_| Ok(sched_setaffinity(None, &both)?)).verify(move |_| pin(home))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A child that shares its parent's memory, including thread-local memory, reports its own CPU. The C library would
    /// report the parent's.
    #[test]
    fn a_child_in_this_memory_notes_its_own_cpu() {
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
        // In a separate thread, because it changes its CPU affinity.
        let thread = std::thread::spawn(|| {
            let ran = || Shared::new(AtomicI32::new(NOWHERE)).expect("a page");
            let places = || Rc::new(Places { home: 0, other: 0, ran: ran() });
            let seen = places();
            let reported = Rc::clone(&seen);
            let mut started = 0;
            let mut looped = seen.around(move || {
                started += 1;
                match started % 3 {
                    // It ran on the other CPU, on the parent's CPU, or not yet.
                    0 => reported.ran.store(7, Ordering::Relaxed),
                    rest => {
                        std::thread::sleep(Duration::from_millis(2));
                        if rest == 1 {
                            reported.child_runs();
                        }
                    }
                }
                Ok(())
            });
            let start = Instant::now();
            let counted = looped.timed(10).expect("ten that count");
            let took = start.elapsed();
            // Two of three took two milliseconds each and do not count.
            assert!(counted + Duration::from_millis(40) <= took, "{counted:?} of {took:?}");
            assert!(places().around(|| Ok(())).perform(1).is_err());
        });
        thread.join().expect("see above");
    }
}
