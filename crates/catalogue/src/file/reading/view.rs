//! A file's bytes through a read-only mapping.

use std::os::fd::AsFd;

use operation::Failure;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::order::VisitPlan;
use super::source::SourceFile;
use crate::kit::{Mapping, MemoryKind, huge_bytes};

/// A mapped part of a file; dropping it unmaps it.
pub struct MappedView(pub(crate) Mapping);

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
        Mapping::of_file(access, flags, file, (offset, length as usize)).map(MappedView).map_err(not_mapped)
    }

    pub(super) fn of(source: &SourceFile, flags: MapFlags) -> Result<MappedView, Failure> {
        MappedView::new(&source.file, (0, source.length), flags)
    }

    /// All of it. If the file is truncated meanwhile, an access beyond its end ends the process by SIGBUS. This costs only
    /// the round, or the process created for a pass.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    #[inline(always)]
    pub(super) fn record(&self, plan: VisitPlan, offset: u64) -> &[u8] {
        &self.bytes()[offset as usize..][..plan.length_at(offset)]
    }

    /// Gives the kernel this advice on this number of bytes from `offset` on, as far as they are mapped. Fails with the
    /// error of advice that the kernel rejects.
    pub fn advise(&self, advice: Advice, offset: u64, length: usize) -> Result<(), Failure> {
        self.0.advise_on(advice, offset as usize, length)
    }

    /// The bytes of it that the page tables map by huge pages.
    pub(super) fn huge_bytes(&self) -> Result<usize, Failure> {
        huge_bytes(self.0.address(), MemoryKind::OfFile)
    }
}

fn not_mapped(error: Errno) -> Failure {
    Failure::from(error).skip_on(
        &[libc::ENODEV],
        "this file system does not support mapped files",
        "a file on another file system",
    )
}
