//! Whether something on disk is this user's alone. It is opened without following a link and then examined by its descriptor, so
//! that nobody can put something else in its place in between.

use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, fstatfs, openat};

/// Opens a folder of this user's to which nobody else may write.
pub(super) fn folder(path: &Path) -> Result<OwnedFd> {
    own(openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a regular file of this user's in such a folder, to which nobody else may write and which has no other name.
pub(super) fn file(folder: &OwnedFd, name: &str, flags: OFlags) -> Result<File> {
    // A FIFO would keep a reader waiting for its writer.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = own(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?)?;
    let stat = fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1 {
        true => Ok(file.into()),
        false => Err(Error::other("it is no regular file with one name")),
    }
}

fn own(opened: OwnedFd) -> Result<OwnedFd> {
    let stat = fstat(&opened)?;
    let others = Mode::WGRP | Mode::WOTH;
    match stat.st_uid == rustix::process::geteuid().as_raw() {
        false => Err(Error::other("it belongs to another user")),
        true if Mode::from_raw_mode(stat.st_mode).intersects(others) => {
            Err(Error::other("other users may write to it"))
        }
        true => Ok(opened),
    }
}

/// Opens a folder or file of the kernel's control groups; `None` for one of any other file system.
pub(super) fn of_control_groups(path: &Path, flags: OFlags) -> Result<Option<OwnedFd>> {
    /// CGROUP_SUPER_MAGIC and CGROUP2_SUPER_MAGIC (linux/magic.h).
    const MAGIC: [u64; 2] = [0x0027_e0eb, 0x6367_7270];
    // What may be no file of the kernel is not even opened for writing.
    let found = openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    if !MAGIC.contains(&(fstatfs(&found)?.f_type as u64)) {
        return Ok(None);
    }
    let again = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&found.as_fd()));
    Ok(Some(openat(CWD, again, flags | OFlags::CLOEXEC, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_what_nobody_else_can_have_written_is_ours() {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        let mode = |name: &str, mode| fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).expect("ours");
        for name in ["own", "shared"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        mode("own", 0o700);
        mode("shared", 0o777);
        symlink(at("own"), at("link")).expect("a link");
        assert!(folder(&at("own")).is_ok());
        assert!(folder(&at("shared")).is_err_and(|error| error.to_string().contains("other users may write")));
        assert!(folder(&at("link")).is_err() && folder(&at("none")).is_err());

        let own = folder(&at("own")).expect("ours");
        for name in ["file", "open", "twice"] {
            fs::write(at("own").join(name), "").expect("a file");
            mode(&format!("own/{name}"), if name == "open" { 0o666 } else { 0o600 });
        }
        fs::hard_link(at("own/twice"), at("own/again")).expect("a name");
        symlink(at("own/file"), at("own/pointer")).expect("a link");
        rustix::fs::mknodat(CWD, at("own/fifo"), FileType::Fifo, Mode::RUSR, 0).expect("a FIFO");
        assert!(file(&own, "file", OFlags::RDONLY).is_ok());
        for name in ["open", "twice", "pointer", "fifo", "none"] {
            assert!(file(&own, name, OFlags::RDONLY).is_err(), "{name}");
        }
        if rustix::process::geteuid().is_root() {
            rustix::fs::chown(at("own/file"), Some(rustix::fs::Uid::from_raw(65_534)), None).expect("another owner");
            assert!(file(&own, "file", OFlags::RDONLY).is_err_and(|error| error.to_string().contains("another user")));
        }
        assert!(of_control_groups(&at("own/open"), OFlags::RDONLY).is_ok_and(|found| found.is_none()));
    }
}
