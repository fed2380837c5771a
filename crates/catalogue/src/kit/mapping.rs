//! Mapped memory that is touched byte by byte.

use std::ffi::c_void;
use std::ptr::null_mut;

use operation::Failure;
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::huge::{HUGE, is_of_this_size, withheld};
use crate::kit::library::{madvise, mmap, mmap_anonymous, munmap};

/// Mapped memory; dropping it unmaps it.
pub(crate) struct Mapping {
    start: *mut u8,
    pub(crate) length: usize,
}

impl Mapping {
    #[inline(always)]
    pub(crate) fn anonymous(length: usize) -> Result<Mapping, Failure> {
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
        let start = unsafe { mmap_anonymous(null_mut(), length, writable(), MapFlags::PRIVATE) }?;
        Ok(Mapping { start: start.cast(), length })
    }

    /// Private memory in huge pages that an administrator has reserved, one [`HUGE`] each.
    pub(crate) fn set_aside(length: usize) -> Result<Mapping, Failure> {
        let flags = MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB;
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
        let start = unsafe { mmap_anonymous(null_mut(), length, writable(), flags) }?;
        Ok(Mapping { start: start.cast(), length })
    }

    /// Addresses that nothing may access: there, where nothing is mapped yet, or where the kernel chooses.
    pub(crate) fn guard(there: Option<*mut c_void>, length: usize) -> Result<Mapping, Failure> {
        let place = if there.is_some() { MapFlags::FIXED_NOREPLACE } else { MapFlags::empty() };
        let flags = MapFlags::PRIVATE | place;
        // SAFETY: no existing mapping is replaced.
        let start = unsafe { mmap_anonymous(there.unwrap_or(null_mut()), length, ProtFlags::empty(), flags) }?;
        Ok(Mapping { start: start.cast(), length })
    }

    /// The beginning of a file, read-only.
    pub(crate) fn shared(file: impl AsFd, length: usize) -> Result<Mapping, Failure> {
        Ok(Mapping::of_file(ProtFlags::READ, MapFlags::SHARED, file, (0, length))?)
    }

    /// The beginning of a file, writable without changing the file.
    pub(crate) fn private(file: impl AsFd, length: usize) -> Result<Mapping, Failure> {
        Ok(Mapping::of_file(writable(), MapFlags::PRIVATE, file, (0, length))?)
    }

    /// So many bytes of a file from an offset on, a multiple of the page.
    #[inline(always)]
    pub(crate) fn of_file(
        access: ProtFlags,
        flags: MapFlags,
        file: impl AsFd,
        (offset, length): (u64, usize),
    ) -> Result<Mapping, Errno> {
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
        let start = unsafe { mmap(null_mut(), length, access, flags, file, offset) }?;
        Ok(Mapping { start: start.cast(), length })
    }

    /// Writes one byte, as a volatile access that the compiler does not move. In a function that returns: the return after a page
    /// fault may cost 1.3 times as much in one place of a loop as in another (docs/METHOD.md, "What is less steady").
    #[inline(never)]
    pub(crate) fn write(&self, offset: usize) {
        self.write_inline(offset);
    }

    /// The same where the page is there.
    #[inline(always)]
    pub(crate) fn write_inline(&self, offset: usize) {
        // SAFETY: `at` has checked that the byte is mapped; only private mappings, which are writable, are written.
        unsafe { self.at(offset).write_volatile(1) }
    }

    /// Reads one byte, as [`write`](Mapping::write) writes one.
    #[inline(never)]
    pub(crate) fn read(&self, offset: usize) {
        // SAFETY: `at` has checked that the byte is mapped, and every mapping is readable.
        unsafe { self.at(offset).read_volatile() };
    }

    /// The offset at which the first huge page can lie.
    pub(crate) fn first_huge(&self) -> usize {
        self.start.align_offset(HUGE)
    }

    #[inline(always)]
    fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.length, "a touch outside the mapping");
        self.start.wrapping_add(offset)
    }

    /// The bytes of a mapped file that nothing writes or truncates.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes are mapped as long as `self` lives, and the scratch file behind them stays as it is.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    pub(crate) fn advise(&self, advice: Advice) -> Result<(), Failure> {
        self.advise_on(advice, 0, self.length)
    }

    /// The same for this number of bytes from `offset` on, as far as they are mapped.
    pub(crate) fn advise_on(&self, advice: Advice, offset: usize, length: usize) -> Result<(), Failure> {
        let length = length.min(self.length.saturating_sub(offset));
        // SAFETY: the range lies in this mapping, and advice on page sizes and on what is read does not change its content.
        Ok(unsafe { madvise(self.address().wrapping_byte_add(offset), length, advice) }?)
    }

    /// Drops all pages, `piece` bytes at a time. The next touch of each page faults.
    pub(crate) fn drop_pages(&self, piece: usize) -> Result<(), Failure> {
        for offset in (0..self.length).step_by(piece) {
            let length = piece.min(self.length - offset);
            // SAFETY: the range lies in this mapping, and its content is either unused or still in the file.
            unsafe { madvise(self.at(offset).cast(), length, Advice::LinuxDontNeed) }?;
        }
        Ok(())
    }

    /// Unmaps it now. Returns whether that succeeded.
    #[inline(always)]
    pub(crate) fn unmap(self) -> Result<(), Failure> {
        let (start, length) = (self.address(), self.length);
        std::mem::forget(self);
        // SAFETY: the range was this mapping, which is not used again.
        Ok(unsafe { munmap(start, length) }?)
    }

    pub(crate) fn address(&self) -> *mut c_void {
        self.start.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping, and nothing borrows from it any more. A failure could only leak memory.
        let _ = unsafe { munmap(self.address(), self.length) };
    }
}

fn writable() -> ProtFlags {
    ProtFlags::READ | ProtFlags::WRITE
}

/// Keeps huge pages of any size out of a mapping. A kernel that rejects the advice has no huge pages.
pub(crate) fn base_pages_only(mapping: &Mapping) -> Result<(), Failure> {
    match mapping.advise(Advice::LinuxNoHugepage) {
        Ok(()) | Err(Failure::Errno { errno: libc::EINVAL }) => Ok(()),
        refused => refused,
    }
}

/// Requests huge pages for a mapping. Skips if the kernel has none of [`HUGE`].
pub(crate) fn huge_pages(mapping: &Mapping) -> Result<(), Failure> {
    if !is_of_this_size() {
        return Err(withheld("huge pages do not have 2 MiB here", false));
    }
    mapping.advise(Advice::LinuxHugepage).map_err(|_| Failure::skip("this kernel has no huge pages", ""))
}
