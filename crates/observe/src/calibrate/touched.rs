//! Memory that is touched page by page and given back, so that each touch is a page fault.

use std::ffi::c_void;
use std::io;
use std::ptr;
use std::time::Instant;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;

/// So many pages.
const PAGES: usize = 64;

/// Memory of this process alone.
pub(super) struct Touched {
    address: *mut c_void,
}

impl Touched {
    pub(super) fn new() -> io::Result<Touched> {
        // SAFETY: the kernel chooses the place, so nothing else is there.
        let address =
            unsafe { mmap_anonymous(ptr::null_mut(), bytes(), ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)? };
        Ok(Touched { address })
    }

    /// The time of one page fault, in ns, with a loop around it that takes next to nothing.
    pub(super) fn fault_ns(&mut self) -> f64 {
        // SAFETY: the memory belongs to this value, and nothing in it is kept.
        let given_back = unsafe { madvise(self.address, bytes(), Advice::LinuxDontNeed) };
        let size = page_size();
        let begin = Instant::now();
        for page in 0..PAGES {
            let place = self.address.cast::<u8>().wrapping_add(page * size);
            // SAFETY: the byte is within the memory.
            unsafe { place.write_volatile(1) };
        }
        if given_back.is_err() { f64::INFINITY } else { begin.elapsed().as_nanos() as f64 / PAGES as f64 }
    }

    /// The time of one page fault in ns, with its part of giving the memory back.
    pub(super) fn round_ns(&mut self) -> f64 {
        let begin = Instant::now();
        self.fault_ns();
        begin.elapsed().as_nanos() as f64 / PAGES as f64
    }
}

/// The size of them all.
fn bytes() -> usize {
    PAGES * page_size()
}

impl Drop for Touched {
    fn drop(&mut self) {
        // SAFETY: the memory belongs to this value, and nothing points into it any more.
        let _ = unsafe { munmap(self.address, bytes()) };
    }
}
