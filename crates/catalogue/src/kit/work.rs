//! Work that is repeated and then checked, by one task or by several at once.

use std::cell::RefCell;

use operation::{Failure, Loop, Took};

use super::loops::handles;

/// Work that a task does without the help of another.
pub(crate) trait Work: 'static {
    /// Prepares for this number of repetitions, outside the timed region. Fails if the preparation fails.
    fn ready(&mut self, _times: u64) -> Result<(), Failure> {
        Ok(())
    }

    /// Does the work this number of times. Only this is timed.
    fn work(&mut self, times: u64);

    /// The time that the last call of `work` took, if not all of it counts. Only the task that is timed is asked.
    fn took(&mut self) -> Option<Took> {
        None
    }

    /// Checks that the last call of `work` did all of this number of repetitions. Fails if it did not. Work that cannot end without
    /// having done them, or whose sum another checks, has nothing to do here.
    fn check(&mut self, _times: u64) -> Result<(), Failure> {
        Ok(())
    }
}

/// A call that is repeated, and how the last repetitions ended.
pub(crate) struct Repeated<F> {
    call: F,
    done: Result<(), Failure>,
}

impl<F: Fn() -> Result<(), Failure> + 'static> Repeated<F> {
    pub(crate) fn new(call: F) -> Repeated<F> {
        Repeated { call, done: Ok(()) }
    }
}

impl<F: Fn() -> Result<(), Failure> + 'static> Work for Repeated<F> {
    fn work(&mut self, times: u64) {
        self.done = (0..times).try_for_each(|_| (self.call)());
    }

    fn check(&mut self, _: u64) -> Result<(), Failure> {
        std::mem::replace(&mut self.done, Ok(()))
    }
}

pub(crate) fn alone(work: impl Work) -> Loop {
    let [work, before, checked] = handles(RefCell::new(work));
    let run = move |times| {
        work.borrow_mut().work(times);
        Ok(())
    };
    let ready = move |times| before.borrow_mut().ready(times);
    Loop::new(run).before(ready).verify(move |times| checked.borrow_mut().check(times))
}
