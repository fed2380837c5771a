//! The file that is written: a scratch file of the round, new or old when a pass begins, and checked when it ends.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use operation::{Failure, Setting};
use record::Bytes;
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::content::Content;
use crate::file::reading::order::VisitPlan;
use crate::file::reading::source::{of_whole_words, whole, within_limit};
use crate::file::residence;
use crate::file::stream::last_errno;
use crate::kit::ensure;
use crate::kit::library::{self, fallocate, fdatasync, fsync, ftruncate, pwrite};

/// A scratch file and how it is to be written.
pub(crate) struct WrittenFile {
    /// Open for reading and writing, to be synced, truncated and checked.
    pub file: OwnedFd,
    path: PathBuf,
    /// With which a writer opens it, beside those that all have.
    flags: OFlags,
    /// What the point says of the records.
    pub plan: VisitPlan,
    /// True if a pass begins with an empty file; otherwise all its blocks exist.
    pub is_new: bool,
    policy: Policy,
}

/// When the data must be on the device.
#[derive(Clone, Copy)]
pub(crate) enum Policy {
    /// Whenever the kernel writes it.
    Never,
    /// When the pass ends, by this call for the whole file.
    AtEnd(fn(&OwnedFd) -> Result<(), Errno>),
    /// When each call returns.
    EachCall,
    /// When the pass ends; the writer takes care of it.
    ByWriter,
}

impl Policy {
    /// True if the device has everything when the pass ends.
    fn waits(self) -> bool {
        !matches!(self, Policy::Never)
    }
}

impl WrittenFile {
    /// Creates the file as the point says. Skips if there is no space for it, or if syncing it means nothing.
    pub fn of(setting: &Setting, flags: OFlags) -> Result<WrittenFile, Failure> {
        let length = setting.number("file")?;
        of_whole_words(length)?;
        let plan = VisitPlan::of(setting, length)?;
        within_limit(length)?;
        let path = setting.scratch().join("written");
        let new = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let file = library::open(&path, new, Mode::RUSR | Mode::WUSR)?;
        let policy = policy_of(setting.word("sync")?)?;
        if policy.waits() && !residence::is_on_a_device(&file)? {
            return Err(in_memory("nothing is written when a file is synced"));
        }
        let is_new = setting.point().word("over") != Some("old");
        let target = WrittenFile { file, path, flags, plan, is_new, policy };
        // Space is verified before anything is timed, because a store through a mapping cannot report that there is none.
        match fallocate(&target.file, FallocateFlags::empty(), 0, length) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
            Err(error) => return Err(target.refused(error)),
        }
        if !target.is_new {
            target.fill()?;
        }
        Ok(target)
    }

    /// The number of the record at this offset in this pass, from which its content follows.
    #[inline(always)]
    pub fn number(plan: VisitPlan, pass: u64, offset: u64) -> u64 {
        pass.wrapping_mul(plan.records()).wrapping_add(offset / plan.record)
    }

    /// The file as a writer opens it. Skips if its file system does not support such writes.
    pub fn open(&self) -> Result<OwnedFd, Failure> {
        let is_direct = self.flags.contains(OFlags::DIRECT);
        if is_direct && !residence::is_on_a_device(&self.file)? {
            return Err(in_memory("no write goes past memory"));
        }
        if is_direct && has_checksums_of_btrfs(&self.file) {
            return Err(Failure::skip(
                "Btrfs takes direct writes of files with checksums through the page cache (Linux 6.15)",
                "set TMPDIR to a folder with chattr +C, or on another file system",
            ));
        }
        let dsync = if matches!(self.policy, Policy::EachCall) { OFlags::DSYNC } else { OFlags::empty() };
        let all = OFlags::WRONLY | OFlags::CLOEXEC | self.flags | dsync;
        library::open(&self.path, all, Mode::empty()).map_err(|error| match error {
            Errno::INVAL if is_direct => Failure::skip(
                format!("this file system has no direct writes of {} bytes", self.plan.record),
                "a file on a disk, and records of whole blocks (4 KiB)",
            ),
            error => error.into(),
        })
    }

    /// The failure that the error of a write means.
    pub fn refused(&self, error: Errno) -> Failure {
        refused(error, self.plan.length)
    }

    /// Brings the file into the state in which a pass begins, with nothing waiting to be written. For `past_memory` writers
    /// none of it is in memory.
    pub fn restore(&self, past_memory: bool) -> Result<(), Failure> {
        if self.is_new {
            ftruncate(&self.file, 0)?;
        }
        if residence::lives_in_memory(&self.file) {
            return Ok(());
        }
        // If space is allocated only when pages are written, this call reports that there is none.
        fsync(&self.file).map_err(|error| self.refused(error))?;
        if past_memory {
            residence::evict(&self.file)?;
        }
        Ok(())
    }

    /// Skips if writes that were to go past memory have left pages there: some file systems accept O_DIRECT and write through the page
    /// cache nevertheless. Where the kernel shows no page of the file, nothing is known.
    pub fn is_past_memory(&self) -> Result<(), Failure> {
        match residence::resident(&self.file)?.resident {
            0 if residence::is_seen(&self.file)? => Ok(()),
            0 => Err(residence::unseen()),
            _ => Err(residence::through_the_page_cache("writes")),
        }
    }

    /// The last part of a pass: what the point requires of the device.
    #[inline(always)]
    pub fn finish(&self) -> Result<(), Failure> {
        match self.policy {
            Policy::AtEnd(sync) => sync(&self.file).map_err(|error| self.refused(error)),
            Policy::Never | Policy::EachCall | Policy::ByWriter => Ok(()),
        }
    }

    /// Checks what the pass left: the length, the content, and that nothing synced waits to be written.
    pub fn verify(&self, pass: u64) -> Result<(), Failure> {
        let waiting = residence::resident(&self.file)?.dirty;
        if self.policy.waits() && waiting.is_some_and(|dirty| dirty > 0) {
            return Err(Failure::wrong("the file was synced, and pages of it still wait to be written"));
        }
        let length = residence::length(&self.file)?;
        ensure(length == self.plan.length, || format!("the file has {length} bytes, not {}", self.plan.length))?;
        let mut content = Content::new(self.plan.record as usize);
        let mut found = vec![0; self.plan.record as usize];
        for offset in (0..self.plan.length).step_by(self.plan.record as usize) {
            let length = self.plan.length_at(offset);
            whole(length, library::pread(&self.file, &mut found[..length], offset)?, offset)?;
            ensure(found[..length] == content.record(WrittenFile::number(self.plan, pass, offset))[..length], || {
                format!("the record at {offset} is not the one that was written")
            })?;
        }
        Ok(())
    }

    /// Writes all blocks once, to the device.
    fn fill(&self) -> Result<(), Failure> {
        let mut content = Content::new(self.plan.record as usize);
        for offset in (0..self.plan.length).step_by(self.plan.record as usize) {
            let record = &content.record(WrittenFile::number(self.plan, 0, offset))[..self.plan.length_at(offset)];
            let written = pwrite(&self.file, record, offset).map_err(|error| self.refused(error))?;
            wrote(record.len(), written, offset)?;
        }
        fsync(&self.file).map_err(|error| self.refused(error))
    }
}

fn policy_of(word: &str) -> Result<Policy, Failure> {
    Ok(match word {
        "none" => Policy::Never,
        "fsync" => Policy::AtEnd(|file| fsync(file)),
        "fdatasync" => Policy::AtEnd(|file| fdatasync(file)),
        "range" => Policy::AtEnd(range),
        "dsync" => Policy::EachCall,
        "msync" => Policy::ByWriter,
        other => return Err(Failure::wrong(format!("there is no sync '{other}'"))),
    })
}

/// Writes all pages of the file to its device and waits for that only: no metadata, and no flush of the device's cache.
fn range(file: &OwnedFd) -> Result<(), Errno> {
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: the call takes no pointer, and the descriptor is open.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, all) } {
        0 => Ok(()),
        _ => Err(last_errno()),
    }
}

/// Nothing of such a write stays in the page cache, so it cannot be seen there. Which earlier kernels took this over, their numbers do
/// not tell.
fn has_checksums_of_btrfs(file: &OwnedFd) -> bool {
    const BTRFS: u32 = 0x9123_683e;
    let is_btrfs = rustix::fs::fstatfs(file).is_ok_and(|system| system.f_type as u32 == BTRFS);
    is_btrfs && !rustix::fs::ioctl_getflags(file).is_ok_and(|flags| flags.contains(rustix::fs::IFlags::NOCOW))
}

fn in_memory(what: &str) -> Failure {
    Failure::skip(format!("the scratch folder is in memory (tmpfs): {what}"), "set TMPDIR to a folder on a disk")
}

/// The failure that the error of a write means, for a file of this size.
pub(crate) fn refused(error: Errno, length: u64) -> Failure {
    Failure::from(error).skip_on(
        &[libc::ENOSPC, libc::EDQUOT, libc::EFBIG],
        format!("no space for a file of {} in the scratch folder", Bytes(length)),
        "free some, or set TMPDIR to a folder with more",
    )
}

/// Fails unless the whole record was written; `written` bytes were.
#[inline(always)]
pub(crate) fn wrote(wanted: usize, written: usize, offset: u64) -> Result<(), Failure> {
    if written == wanted { Ok(()) } else { Err(less(wanted, written, offset)) }
}

/// A write stops short where the space ends; the next one would report it.
#[cold]
fn less(wanted: usize, written: usize, offset: u64) -> Failure {
    Failure::skip(
        format!(
            "only {written} of {wanted} bytes could be written at {offset}: there is no more space, or a signal arrived"
        ),
        "free some, or set TMPDIR to a folder with more",
    )
}
