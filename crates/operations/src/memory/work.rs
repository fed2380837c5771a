//! Work on memory that is done a number of times and then checked, by one task or by several at once.

use std::cell::RefCell;
use std::rc::Rc;

use operation::{Failure, Loop};

/// Work on memory that it owns.
pub(super) trait Work: 'static {
    /// Does the work this number of times. This is the timed part.
    fn work(&mut self, times: u64);

    /// Checks that the last call of `work` did all of its work.
    ///
    /// # Errors
    /// If it did not.
    fn check(&mut self, times: u64) -> Result<(), Failure>;
}

/// The loop of one task.
pub(super) fn alone(work: impl Work) -> Loop {
    let work = Rc::new(RefCell::new(work));
    let checked = Rc::clone(&work);
    let run = move |times| {
        work.borrow_mut().work(times);
        Ok(())
    };
    Loop::new(run).verify(move |times| checked.borrow_mut().check(times))
}
