//! The open scratch folder, and the files that operations use in it.

use std::ffi::{CStr, CString};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use operation::{Failure, Setting};
use rustix::fs::{CWD, Mode, OFlags, mkdirat};

use super::check::exactly;
use crate::kit::library::{self, open, openat};

pub(crate) fn scratch(setting: &Setting) -> Result<OwnedFd, Failure> {
    Ok(openat(CWD, setting.scratch(), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// A new empty file with the name `file` in this folder, open for reading and writing.
pub(crate) fn new_file(folder: &OwnedFd) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    Ok(openat(folder, c"file", flags, Mode::RUSR | Mode::WUSR)?)
}

/// The file `file` in the scratch folder, with this number of bytes.
pub(crate) fn file_of(setting: &Setting, length: usize) -> Result<OwnedFd, Failure> {
    let file = new_file(&scratch(setting)?)?;
    exactly(length, library::pwrite(&file, &vec![1; length], 0)?)?;
    Ok(file)
}

/// Makes the scratch folder the working folder, so that names are single components. Returns it open.
pub(crate) fn enter(setting: &Setting) -> Result<OwnedFd, Failure> {
    let folder = scratch(setting)?;
    rustix::process::fchdir(&folder)?;
    Ok(folder)
}

/// The same, with a new empty file `file` in it.
pub(crate) fn with_file(setting: &Setting) -> Result<OwnedFd, Failure> {
    let folder = enter(setting)?;
    new_file(&folder)?;
    Ok(folder)
}

/// Names with these numbers.
pub(crate) fn names(prefix: &str, numbers: Range<u64>) -> Result<Vec<CString>, Failure> {
    let name = |number| CString::new(format!("{prefix}{number}")).map_err(|_| Failure::wrong("a name holds a zero"));
    numbers.map(name).collect()
}

/// A path as the kernel takes it.
pub(crate) fn c_path(path: &Path) -> Result<CString, Failure> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Failure::wrong("a path holds a zero"))
}

/// A new folder with this name in another one, open.
pub(crate) fn folder(around: &OwnedFd, name: &str) -> Result<OwnedFd, Failure> {
    mkdirat(around, name, Mode::RWXU)?;
    Ok(openat(around, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// A device that every system has, for reading and writing.
pub(crate) fn device(path: &CStr) -> Result<OwnedFd, Failure> {
    Ok(open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}
