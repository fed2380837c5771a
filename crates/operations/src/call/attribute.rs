//! Calls that read and change the attributes of files: permissions, owners, times and flags.

use measure::{Operation, repeat};
use rustix::process::{getegid, geteuid};

use super::raw::{CALL, call, enter, file_of, tried};
use crate::syscall::{exactly, new_file};

/// Room for any of the structures that describe a file or a file system.
type Room = [u64; 64];

pub(crate) const OPERATIONS: &[Operation] = &[
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.stat",
        summary: "ask for a file's attributes by its name",
        calls: &["stat"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            let mut room: Room = [0; 64];
            tried(repeat(move || exactly(0, call!(stat, c"file", &mut room)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.lstat",
        summary: "ask for the attributes of a file or link by its name",
        calls: &["lstat"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            let mut room: Room = [0; 64];
            tried(repeat(move || exactly(0, call!(lstat, c"file", &mut room)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.fstat",
        summary: "ask for the attributes of an open file",
        calls: &["fstat"],
        prepare: |setting| {
            let file = file_of(setting, 0)?;
            let mut room: Room = [0; 64];
            tried(repeat(move || exactly(0, call!(fstat, &file, &mut room)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.newfstatat",
        summary: "ask for the attributes of a file of an open folder",
        calls: &["newfstatat"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            let mut room: Room = [0; 64];
            tried(repeat(move || exactly(0, call!(newfstatat, &folder, c"file", &mut room, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.statx",
        summary: "ask for the attributes of a file of an open folder, its birth among them",
        calls: &["statx"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            let mut room: Room = [0; 64];
            tried(repeat(move || exactly(0, call!(statx, &folder, c"file", 0, libc::STATX_ALL, &mut room)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.access",
        summary: "ask whether a file may be read",
        calls: &["access"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            tried(repeat(move || exactly(0, call!(access, c"file", libc::R_OK)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.faccessat",
        summary: "ask whether a file of an open folder may be read",
        calls: &["faccessat"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            tried(repeat(move || exactly(0, call!(faccessat, &folder, c"file", libc::R_OK)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.faccessat2",
        summary: "ask whether a file of an open folder may be read, by effective identity",
        calls: &["faccessat2"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            tried(repeat(move || exactly(0, call!(faccessat2, &folder, c"file", libc::R_OK, libc::AT_EACCESS)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.chmod",
        summary: "set a file's permissions",
        calls: &["chmod"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            tried(repeat(move || exactly(0, call!(chmod, c"file", 0o600)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.fchmod",
        summary: "set an open file's permissions",
        calls: &["fchmod"],
        prepare: |setting| {
            let file = file_of(setting, 0)?;
            tried(repeat(move || exactly(0, call!(fchmod, &file, 0o600)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.fchmodat",
        summary: "set the permissions of a file of an open folder",
        calls: &["fchmodat"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            tried(repeat(move || exactly(0, call!(fchmodat, &folder, c"file", 0o600)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.fchmodat2",
        summary: "set the permissions of a file of an open folder, and not through a link",
        calls: &["fchmodat2"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            tried(repeat(move || exactly(0, call!(fchmodat2, &folder, c"file", 0o600, libc::AT_SYMLINK_NOFOLLOW)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.chown",
        summary: "set a file's owner and group to what they are",
        calls: &["chown"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            tried(repeat(move || exactly(0, call!(chown, c"file", user, group)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.lchown",
        summary: "set the owner and group of a file or link to what they are",
        calls: &["lchown"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            tried(repeat(move || exactly(0, call!(lchown, c"file", user, group)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.fchown",
        summary: "set an open file's owner and group to what they are",
        calls: &["fchown"],
        prepare: |setting| {
            let file = file_of(setting, 0)?;
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            tried(repeat(move || exactly(0, call!(fchown, &file, user, group)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.fchownat",
        summary: "set the owner and group of a file of an open folder to what they are",
        calls: &["fchownat"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            tried(repeat(move || exactly(0, call!(fchownat, &folder, c"file", user, group, 0)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.utime",
        summary: "set a file's times in seconds",
        calls: &["utime"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            tried(repeat(move || exactly(0, call!(utime, c"file", &[1_i64, 2])?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.utimes",
        summary: "set a file's times in microseconds",
        calls: &["utimes"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            tried(repeat(move || exactly(0, call!(utimes, c"file", &[1_i64, 2, 3, 4])?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.futimesat",
        summary: "set the times of a file of an open folder in microseconds",
        calls: &["futimesat"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            tried(repeat(move || exactly(0, call!(futimesat, &folder, c"file", &[1_i64, 2, 3, 4])?)))
        },
        ..CALL
    },
    Operation {
        id: "call.utimensat",
        summary: "set the times of a file of an open folder in nanoseconds",
        calls: &["utimensat"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            tried(repeat(move || exactly(0, call!(utimensat, &folder, c"file", &[1_i64, 2, 3, 4], 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.statfs",
        summary: "ask for a file system's attributes by the name of a file",
        calls: &["statfs"],
        prepare: |setting| {
            new_file(&enter(setting)?)?;
            let mut room: Room = [0; 64];
            tried(repeat(move || exactly(0, call!(statfs, c"file", &mut room)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.fstatfs",
        summary: "ask for the attributes of an open file's file system",
        calls: &["fstatfs"],
        prepare: |setting| {
            let file = file_of(setting, 0)?;
            let mut room: Room = [0; 64];
            tried(repeat(move || exactly(0, call!(fstatfs, &file, &mut room)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.ustat",
        summary: "ask for a file system's attributes by the number of its device",
        calls: &["ustat"],
        prepare: |setting| {
            let file = file_of(setting, 0)?;
            let device = rustix::fs::fstat(&file)?.st_dev;
            // The call knows devices by 32 bits, major and minor number mixed as the kernel does.
            let number = device as u32;
            let mut room: Room = [0; 64];
            tried(repeat(move || exactly(0, call!(ustat, number, &mut room)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.file_getattr",
        summary: "ask for a file's flags, as chattr shows them",
        calls: &["file_getattr"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            let mut flags = [0_u32; 6];
            tried(repeat(move || exactly(0, call!(file_getattr, &folder, c"file", &mut flags, 24, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.file_setattr",
        summary: "set a file's flags to what they are, as chattr does",
        calls: &["file_setattr"],
        prepare: |setting| {
            let folder = enter(setting)?;
            new_file(&folder)?;
            let mut flags = [0_u32; 6];
            exactly(0, call!(file_getattr, &folder, c"file", &mut flags, 24, 0)?)?;
            tried(repeat(move || exactly(0, call!(file_setattr, &folder, c"file", &flags, 24, 0)?)))
        },
        ..CALL
    },
];
