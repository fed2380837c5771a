//! Children on another CPU than their parent: lets the scheduler put them there, and counts where they ran. Knows nothing
//! of how they are started.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use measure::{Failure, Loop, Setting, pin};
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

    /// The loop of one child per iteration, which may use both CPUs during a batch, and whose children must have used the
    /// other one. A scheduler looks for an idle CPU when a task is new, and leaves the parent where it was.
    pub(crate) fn around(self: Rc<Places>, children: Loop) -> Loop {
        let (before, after) = (Rc::clone(&self), self);
        let children = children.before(move |_| before.allow_both());
        children.verify(move |times| {
            pin(after.home)?;
            after.were_apart(times)
        })
    }

    fn allow_both(&self) -> Result<(), Failure> {
        self.apart.store(0, Ordering::Relaxed);
        let mut both = CpuSet::new();
        both.set(self.home as usize);
        both.set(self.other as usize);
        Ok(sched_setaffinity(None, &both)?)
    }

    /// One in ten may find the other CPU busy and stay; a batch with more is of both kinds.
    fn were_apart(&self, times: u64) -> Result<(), Failure> {
        let apart = self.apart.load(Ordering::Relaxed);
        if apart + times / 10 >= times {
            return Ok(());
        }
        Err(Failure::wrong(format!("only {apart} of {times} children ran on the other CPU")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_children_that_stayed_at_home_fails() {
        let places = Places { home: 0, other: 1, apart: Shared::new(AtomicU64::new(0)).expect("a page") };
        places.apart.store(90, Ordering::Relaxed);
        assert!(places.were_apart(100).is_ok());
        assert!(places.were_apart(101).is_err());
        places.apart.store(0, Ordering::Relaxed);
        assert!(places.were_apart(1).is_err());
    }
}
