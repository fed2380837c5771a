//! Calls that read and change the attributes of files: permissions, owners, times and flags.

use operation::{Failure, Loop, Operation, repeat};
use rustix::process::getgroups;

use super::CALL;
use crate::kit::library::{self, getegid, geteuid};
use crate::kit::{call, exactly, file_of, steady_with, tried, turning, with_file};

/// Space for any of the structures that describe a file or a file system.
const ROOM: [u64; 64] = [0; 64];

/// `FS_XFLAG_NODUMP` of linux/fs.h: backups omit the file.
const NO_DUMP: u32 = 0x80;

pub(crate) const OPERATIONS: &[Operation] = &[
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.stat", "ask for a file's attributes by its name")
        .prepare(|setting| steady_with((with_file(setting)?, ROOM), |(_, room)| call::stat(c"file", room))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.lstat", "ask for the attributes of a file or link by its name")
        .prepare(|setting| steady_with((with_file(setting)?, ROOM), |(_, room)| call::lstat(c"file", room))),
    CALL.named("call.fstat", "ask for the attributes of an open file")
        .prepare(|setting| steady_with((file_of(setting, 0)?, ROOM), |(file, room)| call::fstat(&*file, room))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.newfstatat", "ask for the attributes of a file of an open folder").prepare(|setting| {
        steady_with((with_file(setting)?, ROOM), |(folder, room)| call::newfstatat(&*folder, c"file", room, 0))
    }),
    CALL.named("call.statx", "ask for the attributes of a file of an open folder, including its creation time")
        .prepare(|setting| {
            let folder = with_file(setting)?;
            let mut room = ROOM;
            tried(repeat(move || exactly(0, call::statx(&folder, c"file", 0, libc::STATX_ALL, &mut room)?)))
        }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.access", "ask whether a file may be read")
        .prepare(|setting| steady_with(with_file(setting)?, |_| call::access(c"file", libc::R_OK))),
    CALL.named("call.faccessat", "ask whether a file of an open folder may be read")
        .prepare(|setting| steady_with(with_file(setting)?, |folder| call::faccessat(&*folder, c"file", libc::R_OK))),
    CALL.id("call.faccessat2")
        .summary("ask whether a file of an open folder may be read, with the effective user and group")
        .prepare(|setting| {
            steady_with(with_file(setting)?, |folder| call::faccessat2(&*folder, c"file", libc::R_OK, libc::AT_EACCESS))
        }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.chmod", "set a file's permissions")
        .prepare(|setting| steady_with(with_file(setting)?, |_| call::chmod(c"file", 0o600))),
    CALL.named("call.fchmod", "set an open file's permissions")
        .prepare(|setting| steady_with(file_of(setting, 0)?, |file| call::fchmod(&*file, 0o600))),
    CALL.named("call.fchmodat", "set the permissions of a file of an open folder")
        .prepare(|setting| steady_with(with_file(setting)?, |folder| call::fchmodat(&*folder, c"file", 0o600))),
    CALL.named("call.fchmodat2", "set the permissions of a file of an open folder, without following a link").prepare(
        |setting| {
            let folder = with_file(setting)?;
            tried(repeat(move || exactly(0, call::fchmodat2(&folder, c"file", 0o600, libc::AT_SYMLINK_NOFOLLOW)?)))
        },
    ),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.chown", "give a file to another owner or group, and back: one of the two calls")
        .version(2)
        .prepare(|setting| {
            with_file(setting)?;
            giving(move |(user, group)| call::chown(c"file", user, group))
        }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.lchown", "give a file or link to another owner or group, and back: one of the two calls")
        .version(2)
        .prepare(|setting| {
            with_file(setting)?;
            giving(move |(user, group)| call::lchown(c"file", user, group))
        }),
    CALL.named("call.fchown", "give an open file to another owner or group, and back: one of the two calls")
        .version(2)
        .prepare(|setting| {
            let file = file_of(setting, 0)?;
            giving(move |(user, group)| call::fchown(&file, user, group))
        }),
    CALL.id("call.fchownat")
        .summary("give a file of an open folder to another owner or group, and back: one of the two calls")
        .version(2)
        .prepare(|setting| {
            let folder = with_file(setting)?;
            giving(move |(user, group)| call::fchownat(&folder, c"file", user, group, 0))
        }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.utime", "set a file's times in seconds")
        .prepare(|setting| steady_with(with_file(setting)?, |_| call::utime(c"file", &[1_i64, 2]))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.utimes", "set a file's times in microseconds")
        .prepare(|setting| steady_with(with_file(setting)?, |_| call::utimes(c"file", &[1_i64, 2, 3, 4]))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.futimesat", "set the times of a file of an open folder in microseconds").prepare(|setting| {
        steady_with(with_file(setting)?, |folder| call::futimesat(&*folder, c"file", &[1_i64, 2, 3, 4]))
    }),
    CALL.named("call.utimensat", "set the times of a file of an open folder in nanoseconds").prepare(|setting| {
        steady_with(with_file(setting)?, |folder| call::utimensat(&*folder, c"file", &[1_i64, 2, 3, 4], 0))
    }),
    CALL.named("call.statfs", "ask for a file system's attributes by the name of a file")
        .prepare(|setting| steady_with((with_file(setting)?, ROOM), |(_, room)| call::statfs(c"file", room))),
    CALL.named("call.fstatfs", "ask for the attributes of an open file's file system")
        .prepare(|setting| steady_with((file_of(setting, 0)?, ROOM), |(file, room)| call::fstatfs(&*file, room))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.ustat", "ask for a file system's attributes by the number of its device").prepare(|setting| {
        let file = file_of(setting, 0)?;
        let device = library::fstat(&file)?.st_dev;
        // The call identifies a device by 32 bits that mix the major and minor number as the kernel does.
        let number = device as u32;
        let mut room = ROOM;
        tried(repeat(move || exactly(0, call::ustat(number, &mut room)?))).map_err(|failure| {
            let reason = "this file system's device has a number that no mounted file system is found by, as on btrfs";
            failure.skip_on(&[libc::EINVAL], reason, "set TMPDIR to a folder of ext4 or XFS")
        })
    }),
    CALL.named("call.file_getattr", "ask for a file's flags, as chattr shows them").prepare(|setting| {
        let folder = with_file(setting)?;
        let mut flags = [0_u32; 6];
        tried(repeat(move || exactly(0, call::file_getattr(&folder, c"file", &mut flags, 0)?)))
    }),
    CALL.named("call.file_setattr", "set or clear a file's no-dump flag, as chattr does").version(2).prepare(
        |setting| {
            let folder = with_file(setting)?;
            let mut flags = [0_u32; 6];
            exactly(0, call::file_getattr(&folder, c"file", &mut flags, 0)?)?;
            let mut without = flags;
            // The flags of `linux/fs.h` are the first word of the structure, of 64 bits.
            without[0] |= NO_DUMP;
            turning([without, flags], move |flags| call::file_setattr(&folder, c"file", &flags, 0))
        },
    ),
];

/// A loop that gives a file to another owner and takes it back.
fn giving(give: impl FnMut((u32, u32)) -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    turning(owners()?, give).map_err(|failure| {
        failure.skip_on(
            &[libc::EINVAL],
            "this user namespace has no second owner",
            "run as root outside of a container",
        )
    })
}

/// Another owner and group that this process may give a file to, and its current ones. A file system may do less for a file
/// that already has them (ext4 then starts no change of the quotas).
fn owners() -> Result<[(u32, u32); 2], Failure> {
    const NOBODY: u32 = 65534;
    let own = (geteuid().as_raw(), getegid().as_raw());
    if geteuid().is_root() {
        return Ok([(NOBODY, own.1), own]);
    }
    let groups = getgroups()?;
    let other = groups.iter().map(|group| group.as_raw()).find(|&group| group != own.1);
    let other = other.ok_or_else(|| {
        Failure::skip("files cannot be given to another owner or group", "run as root, or as a user of two groups")
    })?;
    Ok([(own.0, other), own])
}
