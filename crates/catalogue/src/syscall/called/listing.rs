//! Listing folders as programs do: a folder is opened, listed in one call, and closed.

use std::os::fd::OwnedFd;

use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers, term};
use rustix::fs::{Mode, OFlags};

use super::CALLED;
use crate::kit::library::openat;
use crate::kit::{apart, call, consuming, create, exactly, folder, tried};

/// Files of a folder; without any, the call finds the end of the listing.
const ENTRIES: Axis = count("entries", numbers![0, 8, 64]);

/// Folders that are listed in turn.
const FOLDERS: usize = 32;
/// What the C library requests at once.
const ROOM: usize = 32 << 10;
/// Bytes of an entry with a name of 5 to 12 bytes: 19 of head, the name and its zero, in multiples of 8 (getdents64(2)).
const ENTRY: u64 = 32;
/// Bytes of the entries `.` and `..`.
const OWN: u64 = 48;

pub(crate) const OPERATIONS: &[Operation] = &[CALLED
    .id("called.list")
    .summary("list the next of many folders of so many files, with what closing it takes more than closing a file")
    .calls(&["getdents64"])
    .axes(&[ENTRIES])
    .moves(|point| point.number("entries").filter(|files| *files > 0).map_or(0, |files| files * ENTRY + OWN))
    .terms(&[term(1.0, "called.close")])
    .prepare(listing)];

/// Some file systems build a list in memory at the first call, and give it back when the folder is closed.
fn listing(setting: &Setting) -> Result<Loop, Failure> {
    let entries = setting.number("entries")? as usize;
    // Creating thousands of files takes seconds in a part of the file system where many were deleted.
    let around = apart(setting)?;
    let folders: Vec<OwnedFd> = (0..FOLDERS)
        .map(|number| {
            let home = folder(&around, &format!("folder{number}"))?;
            (0..entries).try_for_each(|file| create(&home, &name(file)?, &[]))?;
            Ok(home)
        })
        .collect::<Result<_, Failure>>()?;
    let mut next = 0;
    let (mut room, mut end) = (Box::new([0_u8; ROOM]), Box::new([0_u8; ROOM]));
    tried(consuming(
        move || {
            next = (next + 1) % FOLDERS;
            let opened =
                openat(&folders[next], c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            // Where the end is to be found, the listing itself is not timed.
            while entries == 0 && call::getdents64(&opened, &mut *end)? > 0 {}
            Ok(opened)
        },
        move |opened: OwnedFd| {
            // A file system may leave out `.` and `..`.
            match call::getdents64(&opened, &mut *room)? {
                bytes if bytes < entries * ENTRY as usize => return Err(Failure::wrong("a listing lacks files")),
                bytes if entries == 0 => exactly(0, bytes)?,
                _ => {}
            }
            exactly(0, call::close(opened)?)
        },
    ))
}

/// Names of one length, so that each entry takes the same.
fn name(file: usize) -> Result<std::ffi::CString, Failure> {
    std::ffi::CString::new(format!("file{file:03}")).map_err(|_| Failure::wrong("a name holds a zero"))
}
