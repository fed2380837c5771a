//! Memory that is mapped for one purpose and unmapped when its value is dropped.

use std::ffi::c_void;
use std::io;
use std::ptr::{NonNull, null_mut};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Memory of its own pages, which begins as zeros and can be read and written.
#[derive(Debug)]
pub struct Mapped {
    start: NonNull<c_void>,
    bytes: usize,
}

// SAFETY: it owns its pages, as a box does, and gives their address away only as a pointer.
unsafe impl Send for Mapped {}
// SAFETY: nothing in it changes.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Memory of this process alone. Fails if there is no address space or memory left.
    pub fn private(bytes: usize) -> io::Result<Mapped> {
        Mapped::new(bytes, MapFlags::PRIVATE)
    }

    /// Memory that this process shares with those that it forks. Fails as [`Mapped::private`] does.
    pub fn shared(bytes: usize) -> io::Result<Mapped> {
        Mapped::new(bytes, MapFlags::SHARED)
    }

    fn new(bytes: usize, flags: MapFlags) -> io::Result<Mapped> {
        // SAFETY: the kernel chooses the address, so that nothing mapped before is touched.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags) }?;
        let start = NonNull::new(start).ok_or_else(|| io::Error::other("mapped at zero"))?;
        Ok(Mapped { start, bytes })
    }

    /// Its beginning, at a page.
    pub fn start<T>(&self) -> NonNull<T> {
        self.start.cast()
    }

    /// Its size, as it was requested.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Advises the kernel about all of it. Fails if the kernel does not know the advice.
    pub fn advise(&self, advice: Advice) -> io::Result<()> {
        // SAFETY: the range is that of this memory, in which all bits are zeros again at worst.
        Ok(unsafe { madvise(self.start.as_ptr(), self.bytes, advice) }?)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and every reference into it has ended.
        let _ = unsafe { munmap(self.start.as_ptr(), self.bytes) };
    }
}
