//! Calls that create, name, move and remove files and folders. Names are single components in the scratch folder, which is
//! also the working folder, so that the cost does not depend on its path, but for that of `call.getcwd`.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use operation::{Failure, Loop, Operation, Setting, repeat};
use rustix::fs::{AtFlags, FileType};

use super::{CALL, PAIR};
use crate::kit::library;
use crate::kit::{
    FILES, Fresh, call, ensure, enter, exactly, for_each, handles, names, numbered, on_each, steady_with, tried,
    with_file,
};

pub(crate) const OPERATIONS: &[Operation] = &[
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.mkdir", "create a folder")
        .version(2)
        .prepare(|setting| making(setting, Kind::Folder, |_, name| exactly(0, call::mkdir(name, 0o700)?))),
    CALL.named("call.mkdirat", "create a folder in an open folder").version(2).prepare(|setting| {
        making(setting, Kind::Folder, |folder, name| exactly(0, call::mkdirat(folder, name, 0o700)?))
    }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.rmdir", "remove an empty folder")
        .version(2)
        // A file system mounted with `discard` may wait until the device has learned that the folder's block is free.
        .waits(|_| true)
        .prepare(|setting| removing(setting, Kind::Folder, |_, name| exactly(0, call::rmdir(name)?))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.mknod", "create a FIFO").version(2).prepare(|setting| {
        making(setting, Kind::File, |_, name| exactly(0, call::mknod(name, libc::S_IFIFO | 0o600, 0)?))
    }),
    CALL.named("call.mknodat", "create a FIFO in an open folder").version(2).prepare(|setting| {
        making(setting, Kind::File, |folder, name| exactly(0, call::mknodat(folder, name, libc::S_IFIFO | 0o600, 0)?))
    }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.symlink", "create a symbolic link")
        .version(2)
        .prepare(|setting| making(setting, Kind::File, |_, name| exactly(0, call::symlink(c"file", name)?))),
    CALL.named("call.symlinkat", "create a symbolic link in an open folder").version(2).prepare(|setting| {
        making(setting, Kind::File, |folder, name| exactly(0, call::symlinkat(c"file", folder, name)?))
    }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.link", "give a file a second name")
        .version(2)
        .prepare(|setting| making(setting, Kind::File, |_, name| exactly(0, call::link(c"file", name)?))),
    CALL.named("call.linkat", "give a file of an open folder a second name there").version(2).prepare(|setting| {
        making(setting, Kind::File, |folder, name| exactly(0, call::linkat(folder, c"file", folder, name, 0)?))
    }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.unlink", "remove one of a file's names")
        .version(2)
        .prepare(|setting| removing(setting, Kind::File, |_, name| exactly(0, call::unlink(name)?))),
    CALL.named("call.unlinkat", "remove one of a file's names in an open folder")
        .version(2)
        .prepare(|setting| removing(setting, Kind::File, |folder, name| exactly(0, call::unlinkat(folder, name, 0)?))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.rename", "rename a file").prepare(|setting| {
        with_file(setting)?;
        tried(there_and_back(|from, to| exactly(0, call::rename(from, to)?)))
    }),
    CALL.named("call.renameat", "rename a file of an open folder").prepare(|setting| {
        let folder = with_file(setting)?;
        tried(there_and_back(move |from, to| exactly(0, call::renameat(&folder, from, &folder, to)?)))
    }),
    CALL.named("call.renameat2", "rename a file of an open folder, unless the new name is taken").prepare(|setting| {
        let folder = with_file(setting)?;
        let free = libc::RENAME_NOREPLACE;
        tried(there_and_back(move |from, to| exactly(0, call::renameat2(&folder, from, &folder, to, free)?)))
    }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.readlink", "read the target of a symbolic link").prepare(|setting| {
        exactly(0, call::symlinkat(c"file", &enter(setting)?, c"link")?)?;
        let mut text = [0_u8; 16];
        tried(repeat(move || exactly(4, call::readlink(c"link", &mut text)?)))
    }),
    CALL.named("call.readlinkat", "read the target of a symbolic link of an open folder").prepare(|setting| {
        let folder = enter(setting)?;
        exactly(0, call::symlinkat(c"file", &folder, c"link")?)?;
        let mut text = [0_u8; 16];
        tried(repeat(move || exactly(4, call::readlinkat(&folder, c"link", &mut text)?)))
    }),
    CALL.named("call.getcwd", "ask for the working folder").prepare(|setting| {
        enter(setting)?;
        let mut path = [0_u8; 4096];
        let length = call::getcwd(&mut path)?;
        tried(repeat(move || exactly(length, call::getcwd(&mut path)?)))
    }),
    CALL.named("call.chdir", "change the working folder by name").prepare(|setting| {
        enter(setting)?;
        tried(repeat(|| exactly(0, call::chdir(c".")?)))
    }),
    CALL.named("call.fchdir", "change the working folder to an open folder")
        .prepare(|setting| steady_with(enter(setting)?, |folder| call::fchdir(&*folder))),
    #[cfg(target_arch = "x86_64")]
    PAIR.named("call.getdents", "list a folder of one file, and go back to its beginning")
        .calls(&["getdents", "lseek"])
        .prepare(|setting| {
            let folder = with_file(setting)?;
            let mut entries = [0_u8; 1024];
            tried(repeat(move || match call::getdents(&folder, &mut entries)? {
                0 => Err(Failure::wrong("a folder held nothing")),
                _ => exactly(0, call::lseek(&folder, 0, libc::SEEK_SET)?),
            }))
        }),
    PAIR.named("call.getdents64", "list a folder of one file in the newer form, and go back to its beginning")
        .calls(&["getdents64", "lseek"])
        .prepare(|setting| {
            let folder = with_file(setting)?;
            let mut entries = [0_u8; 1024];
            tried(repeat(move || match call::getdents64(&folder, &mut entries)? {
                0 => Err(Failure::wrong("a folder held nothing")),
                _ => exactly(0, call::lseek(&folder, 0, libc::SEEK_SET)?),
            }))
        }),
    CALL.named("call.umask", "set the permissions that new files do not get (umask)").prepare(|_| {
        tried(repeat(|| match call::umask(0o22)? {
            0..=0o777 => Ok(()),
            other => exactly(0, other),
        }))
    }),
];

/// The number of names of one file that are removed in one batch.
const LINKS: u64 = 64;

/// Batches of folders created in a round. Each folder is removed when the round ends, and a file system that informs its
/// device about free blocks takes milliseconds for it (ext4 mounted with `discard` and without a journal).
const FOLDERS: u32 = 8;

/// What a name refers to.
#[derive(Clone, Copy)]
enum Kind {
    File,
    Folder,
}

impl Kind {
    /// Fails unless this name exists and is of this kind.
    fn is_there(self, folder: &OwnedFd, name: &CString) -> Result<(), Failure> {
        let found = library::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        ensure(is_folder == matches!(self, Kind::Folder), || "a name is that of something else")
    }

    fn make(self, folder: &OwnedFd, name: &CString) -> Result<(), Failure> {
        exactly(
            0,
            match self {
                Kind::File => call::linkat(folder, c"file", folder, name, 0)?,
                Kind::Folder => call::mkdirat(folder, name, 0o700)?,
            },
        )
    }
}

type Named = fn(&OwnedFd, &CString) -> Result<(), Failure>;

/// A loop that creates a new name in each iteration. All of them stay until the round ends, so that none is deleted before
/// another is created: see [`Fresh`].
fn making(setting: &Setting, kind: Kind, make: Named) -> Result<Loop, Failure> {
    let [fresh, home, after] = handles(Fresh::entered(setting)?);
    let making = on_each(
        move |times| fresh.names(times),
        move |name| make(&home.folder, name),
        move |names: Vec<CString>| names.iter().try_for_each(|name| kind.is_there(&after.folder, name)),
    );
    tried(making.at_most(FILES).batches(if matches!(kind, Kind::Folder) { FOLDERS } else { FILES as u32 }))
}

/// A loop that removes a name in each iteration. All are created before the batch.
fn removing(setting: &Setting, kind: Kind, remove: Named) -> Result<Loop, Failure> {
    let [fresh, to] = handles(Fresh::entered(setting)?);
    // Removing one of a remaining file's names leaves no deleted inode behind.
    let most = if matches!(kind, Kind::Folder) { FILES } else { LINKS };
    let [names, made] = handles(names("old", 0..most)?);
    tried(
        numbered(move |turn| remove(&fresh.folder, &names[turn]))
            .at_most(most)
            .batches(FILES as u32)
            .before(for_each(move |turn| kind.make(&to.folder, &made[turn]))),
    )
}

/// A loop that renames the scratch file to another name and back. Both calls count.
fn there_and_back(mut rename: impl FnMut(&CStr, &CStr) -> Result<(), Failure> + 'static) -> Loop {
    repeat(move || {
        rename(c"file", c"other")?;
        rename(c"other", c"file")
    })
    .unrolled(2)
}
