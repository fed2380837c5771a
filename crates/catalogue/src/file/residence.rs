//! Which pages of a file are in memory, and how to load or evict them: for each file, with no right beyond the file's own,
//! and without effect on other files.

use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use operation::Failure;
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::param::page_size;

use crate::kit::Mapping;
use crate::kit::library::{self, fadvise, fstat, fsync};

/// The numbers by which `statfs` identifies file systems that keep everything in memory: tmpfs and ramfs.
const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58F6];

/// The bytes of a file that are examined at a time, so that the memory needed does not grow with the file.
const PIECE: u64 = 1 << 30;

/// Why a file cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot open {path}: {error}")]
    Open { path: PathBuf, error: std::io::Error },
    #[error("{path} is {kind}, not a regular file")]
    Kind { path: PathBuf, kind: &'static str },
    #[error("{path} is empty: there is nothing to read")]
    Empty { path: PathBuf },
    /// The kernel reports nothing about a file's pages to users that may not write the file.
    #[error("the kernel shows which pages of a file are in memory only to its owner and to users that may write it")]
    Hidden,
    #[error("it is on a file system that lives in memory (tmpfs, ramfs)")]
    InMemory,
    #[error("the kernel shows none of its pages, although one was just read")]
    Unseen,
    #[error("{call} is refused: {error}")]
    Refused { call: &'static str, error: std::io::Error },
    #[error("{call}: {error}")]
    Call { call: &'static str, error: std::io::Error },
}

impl FileError {
    /// What to do about it; empty if the reason says everything.
    pub fn remedy(&self) -> &'static str {
        match self {
            FileError::Hidden => "run as the file's owner or as root, or name a copy of your own",
            FileError::InMemory => "name a file on a disk",
            FileError::Unseen => "name a file on a local disk",
            FileError::Refused { .. } => "allow the call in the container's seccomp profile",
            FileError::Open { .. } | FileError::Kind { .. } | FileError::Empty { .. } | FileError::Call { .. } => "",
        }
    }

    /// Reason and remedy in one sentence.
    pub fn sentence(&self) -> String {
        match self.remedy() {
            "" => self.to_string(),
            remedy => format!("{self}; {remedy}"),
        }
    }
}

/// How much of a file is in memory, in pages of [`page_size`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cached {
    pub pages: u64,
    /// Those in memory.
    pub resident: u64,
    /// Those still to be written, including those being written; `None` before Linux 6.5, and for pages that a layered file system has
    /// in memory.
    pub dirty: Option<u64>,
}

impl Cached {
    /// The share of the file that is in memory; 0 for an empty file.
    pub fn share(&self) -> f64 {
        self.resident as f64 / self.pages.max(1) as f64
    }
}

/// Opens a regular file for reading. Fails with the reason why it cannot be opened. A directory, FIFO or device is
/// refused.
pub fn open(path: &Path) -> Result<OwnedFd, FileError> {
    let failed = |error: Errno| FileError::Open { path: path.into(), error: error.into() };
    let refused = |kind: &'static str| FileError::Kind { path: path.into(), kind };
    // Its type is checked before opening: opening a FIFO releases a writer that waits for a reader, and opening a device
    // may do anything.
    other_kind(rustix::fs::stat(path).map_err(failed)?.st_mode).map_or(Ok(()), |kind| Err(refused(kind)))?;
    // If it has become a FIFO meanwhile, one without a writer must not block this process.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = library::open(path, flags, Mode::empty()).map_err(failed)?;
    other_kind(fstat(&file).map_err(failed)?.st_mode).map_or(Ok(file), |kind| Err(refused(kind)))
}

/// What a file of this mode is, unless it is a regular file.
fn other_kind(mode: rustix::fs::RawMode) -> Option<&'static str> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some("a directory"),
        FileType::Fifo => Some("a FIFO"),
        FileType::BlockDevice | FileType::CharacterDevice => Some("a device"),
        FileType::Socket => Some("a socket"),
        _ => Some("something else"),
    }
}

/// True if the file's system always keeps it in memory, so that it cannot be evicted.
pub fn lives_in_memory(file: impl AsFd) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|system| IN_MEMORY.contains(&(system.f_type as u32)))
}

/// Bytes of an open file. Fails if the kernel does not report them.
pub fn length(file: impl AsFd) -> Result<u64, FileError> {
    Ok(fstat(file).map_err(|error| call("fstat", error))?.st_size as u64)
}

/// Checks whether the file can be evicted from memory and its pages counted, as far as that can be known without doing
/// it. Fails with the reason: its file system lives in memory, it belongs to another user, or a call is refused.
pub fn can_be_cold(file: impl AsFd) -> Result<(), FileError> {
    let file = file.as_fd();
    if lives_in_memory(file) {
        return Err(FileError::InMemory);
    }
    fadvise(file, 0, None, rustix::fs::Advice::Normal).map_err(|error| call("posix_fadvise", error))?;
    if is_seen(file)? { Ok(()) } else { Err(FileError::Unseen) }
}

/// False if the kernel reports none of the file's pages in memory although one was just read, as of file systems that keep their files in
/// memory of their own (ZFS) or on another system: then it cannot be known what is in memory.
pub(crate) fn is_seen(file: impl AsFd) -> Result<bool, FileError> {
    if resident(&file)?.resident > 0 {
        return Ok(true);
    }
    match library::pread(&file, &mut [0], 0) {
        // It is empty, or open for writing alone.
        Ok(0) | Err(Errno::BADF) => Ok(true),
        read => read.map_err(|error| call("pread", error)).and_then(|_| Ok(resident(&file)?.resident > 0)),
    }
}

/// The number by which `statfs` identifies overlayfs, whose files are kept where its upper layer is.
const LAYERED: u32 = 0x794c_7630;

/// Skips if nothing of this scratch file, open for reading and writing, is ever written to a device.
pub(crate) fn on_a_device(file: &OwnedFd) -> Result<(), Failure> {
    if is_on_a_device(file)? {
        return Ok(());
    }
    Err(Failure::skip("the scratch folder is in memory", "set TMPDIR to a folder on a disk"))
}

/// False if nothing of this scratch file, open for reading and writing, is ever written to a device. A layered file system does not
/// report what is below it: there the file, or a byte if it is empty, is evicted, and what stays is all there is.
pub(crate) fn is_on_a_device(file: &OwnedFd) -> Result<bool, Failure> {
    let is_layered = rustix::fs::fstatfs(file).is_ok_and(|system| system.f_type as u32 == LAYERED);
    Ok(!(lives_in_memory(file) || is_layered && stays_in_memory(file)?))
}

fn stays_in_memory(file: &OwnedFd) -> Result<bool, Failure> {
    let is_empty = length(file)? == 0;
    if is_empty {
        library::pwrite(file, &[1], 0)?;
    }
    let left = evict(file)?.resident;
    if is_empty {
        library::ftruncate(file, 0)?;
    }
    Ok(left > 0)
}

/// Writes the file's dirty pages to its device and waits for it. Fails if the device fails or is full.
pub fn sync(file: impl AsFd) -> Result<(), FileError> {
    fsync(file).map_err(|error| call("fsync", error))
}

/// Evicts the file from memory: its dirty pages are written, then all pages that are not mapped, locked or being read are
/// dropped. Returns what is left, which callers that need none must check. Fails if it cannot be written, or the kernel
/// refuses.
pub fn evict(file: impl AsFd) -> Result<Cached, FileError> {
    const TRIES: u32 = 8;
    let file = file.as_fd();
    // A sync of a clean file still flushes its device, which takes long.
    if resident(file)?.dirty != Some(0) {
        sync(file)?;
    }
    let mut left = Cached::default();
    for attempt in 0..TRIES {
        fadvise(file, 0, None, rustix::fs::Advice::DontNeed).map_err(|error| call("posix_fadvise", error))?;
        left = resident(file)?;
        if left.resident == 0 {
            break;
        }
        // Pages in a CPU's own list, or being read ahead, can be dropped a moment later.
        std::thread::sleep(Duration::from_millis(1 << attempt.min(5)));
        sync(file)?;
    }
    Ok(left)
}

/// The same for operations that cannot be measured if pages stay. Skips if pages of it stay: in a folder in memory, or
/// if other processes have the file mapped.
pub fn put_out_of_memory(file: impl AsFd) -> Result<(), Failure> {
    let is_seen = is_seen(&file)?;
    match evict(file)?.resident {
        0 if !is_seen => Err(unseen()),
        0 => Ok(()),
        resident => Err(Failure::skip(
            format!("{resident} pages of a file in the scratch folder stay in memory"),
            "set TMPDIR to a folder on a disk",
        )),
    }
}

/// The skip where [`is_seen`] is false.
pub(crate) fn unseen() -> Failure {
    Failure::skip(
        "the kernel reports none of a file's pages in memory, although they have just been read",
        "set TMPDIR to a folder on a local disk",
    )
}

/// Skips if this direct read of the file, open for reading, leaves pages of it in memory: some file systems accept O_DIRECT and
/// read through the page cache nevertheless. The file is evicted first. Where the kernel counts no pages, nothing is checked.
pub fn is_past_memory(file: impl AsFd, mut read: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
    /// Others that read the file at this moment bring pages in too.
    const TRIES: u32 = 3;
    if is_seen(&file).is_ok_and(|is_seen| !is_seen) {
        return Err(unseen());
    }
    for _ in 0..TRIES {
        let before = evict(&file);
        read()?;
        let (Ok(before), Ok(after)) = (before, resident(&file)) else { return Ok(()) };
        if after.resident <= before.resident {
            return Ok(());
        }
    }
    Err(through_the_page_cache("reads"))
}

/// The skip for direct `reads` or `writes` that a file system accepts and takes through the page cache nevertheless.
pub(crate) fn through_the_page_cache(what: &str) -> Failure {
    Failure::skip(
        format!("direct {what} of this file system go through the page cache"),
        "set TMPDIR to a folder of ext4 or XFS",
    )
}

/// How much of the file, open for reading, is in memory. Fails if the kernel does not report it, or not this user.
pub fn resident(file: impl AsFd) -> Result<Cached, FileError> {
    let file = file.as_fd();
    let pages = length(file)?.div_ceil(page_size() as u64);
    if let Some([cache, dirty, writeback, ..]) = counted(file)
        && cache > 0
    {
        // Pages beyond the end, read ahead before the file was truncated, do not count.
        return Ok(Cached { pages, resident: cache.min(pages), dirty: Some(dirty + writeback) });
    }
    // Layered file systems keep the pages under another file, so that the file itself has none. A mapping is of the file
    // that has them.
    let mut resident = 0;
    let walked = walk(file, pages, &mut |_, inside| resident += u64::from(inside));
    let counted = counted(file);
    // Nobody counts the dirty pages of the other file.
    let dirty = counted.filter(|_| resident == 0).map(|[_, dirty, ..]| dirty);
    match walked {
        // No lower layer has pages that could be mapped, so the kernel's own count is all there is.
        Err(FileError::Call { error, .. }) if error.raw_os_error() == Some(libc::ENODEV) && counted.is_some() => {}
        walked => walked?,
    }
    Ok(Cached { pages, resident, dirty })
}

/// The ranges of pages of the file, open for reading, that are in memory, in ascending order. Fails as [`resident`]
/// does.
pub fn resident_ranges(file: impl AsFd) -> Result<Vec<Range<u64>>, FileError> {
    let file = file.as_fd();
    let pages = length(file)?.div_ceil(page_size() as u64);
    let mut ranges: Vec<Range<u64>> = Vec::new();
    walk(file, pages, &mut |page, inside| match ranges.last_mut() {
        _ if !inside => {}
        Some(last) if last.end == page => last.end += 1,
        _ => ranges.push(page..page + 1),
    })?;
    Ok(ranges)
}

/// The kernel's own count for the whole file: pages cached, dirty, written back, evicted, and evicted lately; `None` before
/// Linux 6.5, and if it is refused.
fn counted(file: BorrowedFd<'_>) -> Option<[u64; 5]> {
    let mut counts = [0; 5];
    // Offset 0 and length 0 mean: to the end of the file.
    crate::kit::call::cachestat(file.as_raw_fd(), &[0_u64; 2], &mut counts, 0).ok()?;
    Some(counts)
}

/// Calls `mincore` over a mapping to find for each page whether it is in memory.
fn walk(file: BorrowedFd<'_>, pages: u64, each: &mut dyn FnMut(u64, bool)) -> Result<(), FileError> {
    if !may_see(file) {
        return Err(FileError::Hidden);
    }
    let page = page_size() as u64;
    let mut inside = vec![0_u8; (PIECE / page).min(pages) as usize];
    for first in (0..pages).step_by((PIECE / page) as usize) {
        let count = (PIECE / page).min(pages - first) as usize;
        let range = (first * page, count * page as usize);
        let mapped =
            Mapping::of_file(ProtFlags::READ, MapFlags::SHARED, file, range).map_err(|error| call("mmap", error))?;
        // SAFETY: the mapping is ours, and the list has a byte for each of its pages.
        if unsafe { libc::mincore(mapped.address(), range.1, inside.as_mut_ptr()) } != 0 {
            return Err(refused_or_failed("mincore", std::io::Error::last_os_error()));
        }
        inside[..count].iter().zip(first..).for_each(|(&state, page)| each(page, state & 1 == 1));
    }
    Ok(())
}

/// True if `mincore` reports the truth to this user. To other users it reports that everything is in memory (Linux 5.2).
fn may_see(file: BorrowedFd<'_>) -> bool {
    let euid = library::geteuid();
    let owned = fstat(file).is_ok_and(|status| status.st_uid == euid.as_raw());
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    owned || euid.is_root() || rustix::fs::accessat(rustix::fs::CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

fn call(call: &'static str, error: Errno) -> FileError {
    refused_or_failed(call, error.into())
}

fn refused_or_failed(call: &'static str, error: std::io::Error) -> FileError {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => FileError::Refused { call, error },
        _ => FileError::Call { call, error },
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        Failure::skip(error.to_string(), error.remedy())
    }
}

#[cfg(test)]
mod tests;
