//! Work on memory that is done so many times and then checked, by one task or by several at once.

use std::cell::RefCell;
use std::rc::Rc;

use operation::{Failure, Loop};

/// Work on memory of its own.
pub(super) trait Work: 'static {
    /// Does it so many times; this is what is timed.
    fn work(&mut self, times: u64);

    /// Checks that the last call of `work` did what it was to do, so many times.
    ///
    /// # Errors
    /// When it did not.
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
