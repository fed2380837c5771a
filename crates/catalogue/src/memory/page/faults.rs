//! This thread's page faults, counted by the kernel.

use std::cell::Cell;
use std::rc::Rc;

use operation::{Failure, Usage};

/// The most faults around a batch that are not part of it: the first use of a page of code, stack or results.
pub(crate) const STRAY: u64 = 16;

/// Counts this thread's page faults that read nothing from a device.
#[derive(Clone, Default)]
pub(crate) struct FaultCounter(Rc<Cell<u64>>);

impl FaultCounter {
    pub(crate) fn start(&self) -> Result<(), Failure> {
        self.0.set(minor_faults());
        Ok(())
    }

    pub(crate) fn taken(&self) -> u64 {
        minor_faults() - self.0.get()
    }

    pub(crate) fn check(&self, times: u64) -> Result<(), Failure> {
        match self.taken() {
            0 => Err(Failure::skip("this kernel does not count page faults", "")),
            taken if (times..=times + STRAY).contains(&taken) => Ok(()),
            taken => Err(Failure::wrong(format!("{times} touches took {taken} page faults"))),
        }
    }
}

/// Fails if an access to the far end of each page just touched takes a fault: then the page did not have that size.
pub(crate) fn all_there(faults: &FaultCounter, look: impl FnOnce()) -> Result<(), Failure> {
    faults.start()?;
    look();
    match faults.taken() {
        0 => Ok(()),
        _ => Err(Failure::skip("the kernel gave base pages instead of huge pages", "free memory of at least 1 GiB")),
    }
}

fn minor_faults() -> u64 {
    Usage::of_this_thread().minor_faults as u64
}
