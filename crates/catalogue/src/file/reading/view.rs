//! A file's bytes through a read-only mapping.

use std::ffi::c_void;
use std::os::fd::AsFd;
use std::ptr::null_mut;

use operation::Failure;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::order::VisitPlan;
use super::source::SourceFile;
use crate::kit::library::{madvise, mmap, munmap};
use crate::kit::{MemoryKind, huge_bytes};

/// A mapped part of a file; dropping it unmaps it.
pub struct MappedView {
    pub(crate) start: *mut c_void,
    pub length: usize,
}

impl MappedView {
    /// `length` bytes from `offset` on, a multiple of the page. Skips if the file system does not support mappings.
    pub fn new(file: impl AsFd, range: (u64, u64), flags: MapFlags) -> Result<MappedView, Failure> {
        MappedView::with(ProtFlags::READ, file, range, flags)
    }

    /// The same with this access, which includes reading.
    #[inline(always)]
    pub(crate) fn with(
        access: ProtFlags,
        file: impl AsFd,
        (offset, length): (u64, u64),
        flags: MapFlags,
    ) -> Result<MappedView, Failure> {
        let length = length as usize;
        // SAFETY: the kernel chooses the address, so the mapping replaces nothing.
        let start = unsafe { mmap(null_mut(), length, access, flags, file, offset) }.map_err(not_mapped)?;
        Ok(MappedView { start, length })
    }

    pub(super) fn of(source: &SourceFile, flags: MapFlags) -> Result<MappedView, Failure> {
        MappedView::new(&source.file, (0, source.length), flags)
    }

    /// All of it. If the file is truncated meanwhile, an access beyond its end ends the process by SIGBUS. This costs only
    /// the round, or the process created for a pass.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the range is mapped and readable as long as `self` lives; nothing writes the file while it is measured.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }

    #[inline(always)]
    pub(super) fn record(&self, plan: VisitPlan, offset: u64) -> &[u8] {
        &self.bytes()[offset as usize..][..plan.length_at(offset)]
    }

    /// Gives the kernel this advice on this number of bytes from `offset` on, as far as they are mapped. Fails with the
    /// error of advice that the kernel rejects.
    pub fn advise(&self, advice: Advice, offset: u64, length: usize) -> Result<(), Failure> {
        let length = length.min(self.length.saturating_sub(offset as usize));
        // SAFETY: the range lies in this mapping; none of these advices changes its content.
        Ok(unsafe { madvise(self.start.wrapping_byte_add(offset as usize), length, advice) }?)
    }

    /// The bytes of it that the page tables map by huge pages.
    pub(super) fn huge_bytes(&self) -> Result<usize, Failure> {
        huge_bytes(self.start, MemoryKind::OfFile)
    }
}

fn not_mapped(error: Errno) -> Failure {
    Failure::from(error).skip_on(
        &[libc::ENODEV],
        "this file system does not support mapped files",
        "a file on another file system",
    )
}

impl Drop for MappedView {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping, and nothing borrows from it any more. A failure could only leak memory.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}
