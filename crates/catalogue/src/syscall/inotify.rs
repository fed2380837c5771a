//! Calls that watch files, find them by handles, and query file systems.

use std::cell::Cell;
use std::ffi::CString;
use std::os::fd::OwnedFd;

use libc::{AT_FDCWD, FAN_MARK_ADD, FAN_MARK_REMOVE, FAN_OPEN};
use operation::{Failure, Operation, Setting, repeat};

use super::{CALL, PAIR};
use crate::kit::library;
use crate::kit::{
    FILES, call, emptied, enter, exactly, file_of, for_each, handles, invoke, names, owned, producing, refilled, tried,
    with_file,
};

/// The flags of fanotify for users other than root: it reports files by handles.
const BY_HANDLE: u32 = libc::FAN_CLASS_NOTIF | libc::FAN_REPORT_FID | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK;

/// The maximum size of a file handle in bytes, and of the fields before it.
const HANDLE: u32 = 128;

pub(crate) const OPERATIONS: &[Operation] = &[
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.inotify_init", "create a descriptor from which file changes are read (inotify)")
        .prepare(|_| tried(producing(|| Ok(owned(call::inotify_init()?))).at_most(FILES))),
    CALL.named("call.inotify_init1", "create a descriptor from which file changes are read (inotify), closed on exec")
        .prepare(|_| tried(producing(watcher).at_most(FILES))),
    CALL.named("call.inotify_add_watch", "watch a file").prepare(|setting| {
        emptied(FILES, Watched::new(setting)?, Watched::add, |watched, turn| {
            watched.remove(turn).and_then(|()| watched.forget())
        })
    }),
    CALL.named("call.inotify_rm_watch", "stop watching a file").prepare(|setting| {
        let [watched, events] = handles(Watched::new(setting)?);
        let removing =
            refilled(FILES, watched, |watched, turn| watched.add(turn), |watched, turn| watched.remove(turn));
        Ok(removing?.verify(for_each(move |_| events.forget())))
    }),
    CALL.named("call.fanotify_init", "create a descriptor from which file accesses are read (fanotify)")
        .prepare(|_| tried(producing(fan).at_most(FILES))),
    PAIR.named("call.fanotify_mark", "start and stop watching for a file to be opened")
        .calls(&["fanotify_mark", "fanotify_mark"])
        .prepare(|setting| {
            with_file(setting)?;
            let fan = fan()?;
            tried(repeat(move || {
                exactly(0, call::fanotify_mark(&fan, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, c"file")?)?;
                exactly(0, call::fanotify_mark(&fan, FAN_MARK_REMOVE, FAN_OPEN, AT_FDCWD, c"file")?)
            }))
            .map_err(|failure| {
                let reason = "fanotify cannot name this file system's files by handles, as on btrfs";
                failure.skip_on(&[libc::EXDEV, libc::ENODEV], reason, "set TMPDIR to a folder of ext4 or XFS")
            })
        }),
    CALL.named("call.name_to_handle_at", "ask for a file's handle").prepare(|setting| {
        with_file(setting)?;
        let mut mount = [0_i32];
        tried(repeat(move || {
            let mut handle = [HANDLE; 34];
            // SAFETY: the first word is the room behind the two words of the header, which the handle has.
            exactly(0, unsafe { invoke!(name_to_handle_at, AT_FDCWD, c"file", &mut handle, &mut mount, 0) }?)
        }))
    }),
    CALL.named("call.open_by_handle_at", "open a file by its handle").prepare(|setting| {
        let file = file_of(setting, 0)?;
        enter(setting)?;
        let (mut handle, mut mount) = ([HANDLE; 34], [0_i32]);
        // SAFETY: the first word is the room behind the two words of the header, which the handle has.
        exactly(0, unsafe { invoke!(name_to_handle_at, AT_FDCWD, c"file", &mut handle, &mut mount, 0) }?)?;
        // SAFETY: the kernel wrote the handle, with its length.
        let make = move || Ok(owned(unsafe { invoke!(open_by_handle_at, &file, &handle, libc::O_RDONLY) }?));
        tried(producing(make))
    }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.sysfs", "ask for the name of the kernel's first file system").prepare(|_| {
        let mut name = [0_u8; 64];
        // SAFETY: this command writes the name of the first file system; no name has 64 letters.
        tried(repeat(move || exactly(0, unsafe { invoke!(sysfs, 2, 0, &mut name) }?)))
    }),
];

fn watcher() -> Result<OwnedFd, Failure> {
    Ok(owned(call::inotify_init1(libc::IN_CLOEXEC)?))
}

fn fan() -> Result<OwnedFd, Failure> {
    Ok(owned(call::fanotify_init(BY_HANDLE, libc::O_RDONLY)?))
}

/// Files to watch, and the numbers of the watches.
struct Watched {
    watcher: OwnedFd,
    files: Vec<(CString, Cell<usize>)>,
}

impl Watched {
    fn new(setting: &Setting) -> Result<Watched, Failure> {
        let folder = enter(setting)?;
        let files = names("", 0..FILES)?;
        for name in &files {
            drop(owned(call::openat(&folder, name, libc::O_CREAT | libc::O_CLOEXEC, 0o600)?));
        }
        let files = files.into_iter().map(|name| (name, Cell::new(0))).collect();
        Ok(Watched { watcher: watcher()?, files })
    }

    #[inline(always)]
    fn add(&self, turn: usize) -> Result<(), Failure> {
        let (name, watch) = &self.files[turn];
        watch.set(call::inotify_add_watch(&self.watcher, name, libc::IN_MODIFY)?);
        Ok(())
    }

    #[inline(always)]
    fn remove(&self, turn: usize) -> Result<(), Failure> {
        exactly(0, call::inotify_rm_watch(&self.watcher, self.files[turn].1.get())?)
    }

    /// Takes the event that reports the end of a watch.
    fn forget(&self) -> Result<(), Failure> {
        exactly(16, library::read(&self.watcher, &mut [0; 16])?)
    }
}
