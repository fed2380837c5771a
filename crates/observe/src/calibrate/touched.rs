//! Memory that is touched page by page and given back, so that each touch is a page fault.

use std::io;
use std::time::Instant;

use rustix::mm::Advice;
use rustix::param::page_size;
use system::mapped::Mapped;

/// So many pages.
const PAGES: usize = 64;

/// Memory of this process alone.
pub(super) struct Touched(Mapped);

impl Touched {
    pub(super) fn new() -> io::Result<Touched> {
        Mapped::private(PAGES * page_size()).map(Touched)
    }

    /// The time of one page fault, in ns, with a loop around it that takes next to nothing.
    pub(super) fn fault_ns(&mut self) -> f64 {
        let given_back = self.0.advise(Advice::LinuxDontNeed);
        let (start, size) = (self.0.start::<u8>().as_ptr(), page_size());
        let begin = Instant::now();
        // SAFETY: the byte is within the memory.
        (0..PAGES).for_each(|page| unsafe { write_byte(start.wrapping_add(page * size)) });
        if given_back.is_err() { f64::INFINITY } else { begin.elapsed().as_nanos() as f64 / PAGES as f64 }
    }

    /// The time of one page fault in ns, with its part of giving the memory back.
    pub(super) fn round_ns(&mut self) -> f64 {
        let begin = Instant::now();
        self.fault_ns();
        begin.elapsed().as_nanos() as f64 / PAGES as f64
    }
}

/// Writes a byte, in a function that returns, as the catalogue's operations touch pages.
///
/// # Safety
/// The byte must be memory of the caller's that no reference points to.
#[inline(never)]
unsafe fn write_byte(place: *mut u8) {
    // SAFETY: the caller guarantees it.
    unsafe { place.write_volatile(1) };
}
