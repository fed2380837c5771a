//! The file that is read: a scratch file of the run, created once for all its rounds, or a file of the user.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use operation::{Failure, Setting};
use record::Bytes;
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::sum::{sum, sum_of_first, word};
use crate::file::residence::{self, FileError};
use crate::kit::ensure;
use crate::kit::library::{self, fallocate, pread};

/// Bytes written in one call, or summed outside the timed region.
const CHUNK: usize = 1 << 20;

/// A file of the user, which the readers read instead of a scratch file: an operation's `argument`.
#[derive(Clone, Debug)]
pub struct UserFile {
    path: PathBuf,
    length: u64,
    sum: u64,
}

impl UserFile {
    /// Reads the file once, for the sum that every reader is checked against. Fails if it is missing, not a regular
    /// file, unreadable or empty.
    pub fn read(path: &Path) -> Result<UserFile, FileError> {
        let file = residence::open(path)?;
        let length = residence::length(&file)?;
        if length == 0 {
            return Err(FileError::Empty { path: path.into() });
        }
        let sum = sum_of(&file, length).map_err(|error| FileError::Call { call: "pread", error })?;
        Ok(UserFile { path: path.into(), length, sum })
    }

    pub fn length(&self) -> u64 {
        self.length
    }
}

/// An open file and what is known of it.
pub(crate) struct SourceFile {
    pub file: OwnedFd,
    /// Its name, for callers that open the file themselves.
    pub path: PathBuf,
    pub length: u64,
    /// The sum of its bytes.
    pub sum: u64,
}

impl SourceFile {
    /// The user's file, or one with the number of bytes that the axis `file` says.
    pub fn of(setting: &Setting) -> Result<SourceFile, Failure> {
        if let Ok(UserFile { path, length, sum }) = setting.argument::<UserFile>() {
            let file = residence::open(path)?;
            return Ok(SourceFile { file, path: path.clone(), length: *length, sum: *sum });
        }
        let length = setting.number("file")?;
        of_whole_words(length)?;
        let path = setting.shared().join(format!("file-{length}"));
        // If the file was truncated, only the round that detects it is lost.
        if std::fs::metadata(&path).map(|metadata| metadata.len()).ok() != Some(length) {
            make(&path, length)?;
        }
        Ok(SourceFile { file: residence::open(&path)?, path, length, sum: sum_of_first(length / 8) })
    }

    /// The same file, opened with additional flags.
    pub fn open_with(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        library::open(&self.path, OFlags::RDONLY | OFlags::CLOEXEC | flags, Mode::empty())
    }

    /// Reads all of it, which loads it into memory.
    pub fn read_through(&self) -> Result<(), Failure> {
        ensure(
            sum_of(&self.file, self.length)? == self.sum,
            || "the file was changed or truncated while it was measured",
        )
    }
}

/// Creates the file under another name, and renames it when it is complete and on its device.
fn make(path: &Path, length: u64) -> Result<(), Failure> {
    within_limit(length)?;
    let unfinished = path.with_extension("unfinished");
    let made = File::options().write(true).create(true).truncate(true).open(&unfinished);
    let made = made.and_then(|file| write_words(file, length)).and_then(|()| std::fs::rename(&unfinished, path));
    made.map_err(|error| {
        let _ = std::fs::remove_file(&unfinished);
        no_room(&error, length, path.ancestors().nth(2).unwrap_or(path)).unwrap_or_else(|| error.into())
    })
}

/// Skips unless a file of this size consists of words.
pub(crate) fn of_whole_words(length: u64) -> Result<(), Failure> {
    let reason = || format!("a file of {length} bytes does not consist of whole words");
    let fits = length > 0 && length.is_multiple_of(8);
    if fits { Ok(()) } else { Err(Failure::skip(reason(), "a multiple of 8 bytes")) }
}

/// Fails if a file of this size exceeds this process's limit: writing it would end the process (SIGXFSZ). The
/// skip names the limit.
pub(crate) fn within_limit(length: u64) -> Result<(), Failure> {
    match rustix::process::getrlimit(rustix::process::Resource::Fsize).current {
        Some(most) if most < length => Err(Failure::skip(
            format!("a file may have at most {} here, and needs {}", Bytes(most), Bytes(length)),
            "raise the limit: ulimit -f unlimited",
        )),
        _ => Ok(()),
    }
}

/// The failure that a full device causes for a file of this size in `folder`.
fn no_room(error: &std::io::Error, length: u64, folder: &Path) -> Option<Failure> {
    let full = matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG));
    let reason = || format!("no space for a file of {} in {}", Bytes(length), folder.display());
    full.then(|| Failure::skip(reason(), "free some, or set TMPDIR to a folder with more"))
}

/// A file of this size in `folder` without a name, complete and on its device. It disappears when nothing has it open any
/// more, whatever ends the processes. Others open it through its descriptor's path in `/proc`. Skips if there is no
/// space for it.
pub fn unnamed(folder: &Path, length: u64) -> Result<File, Failure> {
    within_limit(length)?;
    let failed = |error: std::io::Error| no_room(&error, length, folder).unwrap_or_else(|| error.into());
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = match library::open(folder, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file),
        // Some file systems have no files without a name.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
            let path = folder.join(format!("howslow-{}", std::process::id()));
            let file = File::options().read(true).write(true).create_new(true).open(&path).map_err(failed)?;
            std::fs::remove_file(&path)?;
            file
        }
        Err(error) => return Err(failed(error.into())),
    };
    let written = file.try_clone().and_then(|file| write_words(file, length));
    written.map_err(failed)?;
    Ok(file)
}

fn write_words(mut file: File, length: u64) -> std::io::Result<()> {
    // Contiguous if the file system can, and refused at once if there is no space.
    match fallocate(&file, FallocateFlags::empty(), 0, length) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    let mut chunk = Vec::with_capacity(CHUNK);
    let words = length / 8;
    for first in (0..words).step_by(CHUNK / 8) {
        chunk.clear();
        let last = words.min(first + CHUNK as u64 / 8);
        chunk.extend((first..last).flat_map(|place| word(place).to_ne_bytes()));
        file.write_all(&chunk)?;
    }
    file.sync_all()
}

/// The sum of a file's first bytes.
fn sum_of(file: &OwnedFd, length: u64) -> std::io::Result<u64> {
    let mut chunk = vec![0; CHUNK];
    let mut total = 0_u64;
    let mut offset = 0;
    while offset < length {
        let wanted = CHUNK.min((length - offset) as usize);
        read_at(file, &mut chunk[..wanted], offset)?;
        total = total.wrapping_add(sum(&chunk[..wanted]));
        offset += wanted as u64;
    }
    Ok(total)
}

/// Reads exactly this number of bytes.
fn read_at(file: &OwnedFd, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let at = offset + done as u64;
        match retry_on_intr(|| pread(file, &mut bytes[done..], at))? {
            0 => return Err(std::io::Error::other(format!("the file ends after {at} bytes: it was truncated"))),
            more => done += more,
        }
    }
    Ok(())
}

/// Fails unless the whole record was read; `returned` bytes were.
#[inline(always)]
pub fn whole(wanted: usize, returned: usize, offset: u64) -> Result<(), Failure> {
    if returned == wanted { Ok(()) } else { Err(cut(wanted, returned, offset)) }
}

#[cold]
fn cut(wanted: usize, returned: usize, offset: u64) -> Failure {
    Failure::wrong(format!(
        "only {returned} of {wanted} bytes were read at {offset}: the file was truncated, or a signal arrived"
    ))
}
