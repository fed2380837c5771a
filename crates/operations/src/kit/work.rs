//! Work that is done so many times and then checked, by one task or by several at once.

use std::cell::RefCell;
use std::rc::Rc;

use operation::{Failure, Loop, Took};

/// Work that a task does on its own.
pub(crate) trait Work: 'static {
    /// Gets ready to do it so many times, outside the timing.
    ///
    /// # Errors
    /// When it cannot.
    fn ready(&mut self, _times: u64) -> Result<(), Failure> {
        Ok(())
    }

    /// Does it so many times; this is what is timed.
    fn work(&mut self, times: u64);

    /// What the last call of `work` took, where not all of its time counts. Asked of the task that is timed alone.
    fn took(&mut self) -> Option<Took> {
        None
    }

    /// Checks that the last call of `work` did what it was to do, so many times.
    ///
    /// # Errors
    /// When it did not.
    fn check(&mut self, times: u64) -> Result<(), Failure>;
}

/// The loop of one task.
pub(crate) fn alone(work: impl Work) -> Loop {
    let work = Rc::new(RefCell::new(work));
    let (before, checked) = (Rc::clone(&work), Rc::clone(&work));
    let run = move |times| {
        work.borrow_mut().work(times);
        Ok(())
    };
    let ready = move |times| before.borrow_mut().ready(times);
    Loop::new(run).before(ready).verify(move |times| checked.borrow_mut().check(times))
}
