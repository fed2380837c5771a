//! Calls on mounts. All of it happens in a separate mount namespace of the round's process, on file systems in memory that
//! end with it.

use std::ffi::{CStr, CString};

use libc::{AT_FDCWD, MNT_DETACH, MS_PRIVATE, MS_REC};
use operation::{Failure, Operation, Setting, repeat};

use super::CALL;
use crate::kit::{
    FILES, Null, back_and_forth, c_path, call, consuming, emptied, enter, exactly, file_of, invoke, names, namespaces,
    owned, producing, refilled, refusing, tried,
};

/// Commands of `fsconfig`, and flags of related calls, as numbered in `linux/mount.h`.
const SET_STRING: i32 = 1;
const CREATE: i32 = 6;
const CLONE: i32 = 1;
const NO_DEVICES: u64 = 4;
const UNIQUE_MOUNT: i32 = 0x4000;
const ALL_MOUNTS: u64 = u64::MAX;

/// File systems, copies of mounts and the like created in one batch. They are removed after it.
const TREES: u64 = 64;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.mount", "mount a file system in memory").prepare(|setting| {
        emptied(
            FILES,
            folders(setting)?,
            |names, turn| mount_memory(&names[turn]),
            |names, turn| exactly(0, call::umount2(&names[turn], MNT_DETACH)?),
        )
    }),
    CALL.named("call.umount2", "unmount a file system in memory")
        // It waits until all CPUs have released it.
        .waits(|_| true)
        .prepare(|setting| {
            refilled(
                FILES,
                folders(setting)?,
                |names, turn| mount_memory(&names[turn]),
                |names, turn| exactly(0, call::umount2(&names[turn], 0)?),
            )
        }),
    CALL.named("call.pivot_root", "exchange the root mount for another, or back").prepare(|setting| {
        private(setting)?;
        exactly(0, call::mkdirat(AT_FDCWD, c"new", 0o700)?)?;
        mount_memory(c"new")?;
        exactly(0, call::mkdirat(AT_FDCWD, c"new/old", 0o700)?)?;
        exactly(0, call::chroot(c".")?)?;
        back_and_forth(|| {
            exactly(0, call::pivot_root(c"/new", c"/new/old")?)?;
            exactly(0, call::pivot_root(c"/old", c"/old/new")?)
        })
    }),
    CALL.named("call.chroot", "change the root to the working folder").prepare(|setting| {
        private(setting)?;
        tried(repeat(|| exactly(0, call::chroot(c".")?)))
    }),
    CALL.named("call.fsopen", "begin to create a file system in memory").prepare(|setting| {
        private(setting)?;
        tried(producing(|| Ok(owned(call::fsopen(c"tmpfs", 1)?))).at_most(TREES))
    }),
    CALL.named("call.fsconfig", "set the size of a file system that is being created").prepare(|setting| {
        private(setting)?;
        let new = owned(call::fsopen(c"tmpfs", 1)?);
        tried(repeat(move || exactly(0, call::fsconfig(&new, SET_STRING, c"size", c"1m", Null)?)))
    }),
    CALL.named("call.fsmount", "create a mount of a new file system, not yet attached").prepare(|setting| {
        private(setting)?;
        let make = || {
            let new = owned(call::fsopen(c"tmpfs", 1)?);
            exactly(0, call::fsconfig(&new, CREATE, Null, Null, Null)?)?;
            Ok(new)
        };
        tried(consuming(make, |new| Ok((owned(call::fsmount(&new, 1, 0)?), new))).at_most(TREES))
    }),
    CALL.named("call.fspick", "begin to reconfigure a mounted file system").prepare(|setting| {
        private(setting)?;
        tried(producing(|| Ok(owned(call::fspick(AT_FDCWD, c".", 1)?))).at_most(TREES))
    }),
    CALL.named("call.move_mount", "move a mount to another folder").prepare(|setting| {
        folders(setting)?;
        mount_memory(c"0")?;
        back_and_forth(|| {
            exactly(0, call::move_mount(AT_FDCWD, c"0", AT_FDCWD, c"1", 0)?)?;
            exactly(0, call::move_mount(AT_FDCWD, c"1", AT_FDCWD, c"0", 0)?)
        })
    }),
    CALL.named("call.open_tree", "copy a mount, not attached").prepare(|setting| {
        private(setting)?;
        tried(producing(|| Ok(owned(call::open_tree(AT_FDCWD, c".", CLONE)?))).at_most(TREES))
    }),
    CALL.named("call.open_tree_attr", "copy a mount, not attached, and forbid devices on it").prepare(|setting| {
        private(setting)?;
        let attributes = [NO_DEVICES, 0, 0, 0];
        let make = move || Ok(owned(call::open_tree_attr(AT_FDCWD, c".", CLONE, &attributes)?));
        tried(producing(make).at_most(TREES))
    }),
    CALL.named("call.mount_setattr", "forbid or allow devices on a mount").prepare(|setting| {
        private(setting)?;
        let (without, with) = ([NO_DEVICES, 0, 0, 0], [0, NO_DEVICES, 0, 0_u64]);
        // Not on a mount that the namespace's owner may not change.
        exactly(0, call::mkdirat(AT_FDCWD, c"own", 0o700)?)?;
        mount_memory(c"own")?;
        back_and_forth(move || {
            exactly(0, call::mount_setattr(AT_FDCWD, c"own", 0, &without)?)?;
            exactly(0, call::mount_setattr(AT_FDCWD, c"own", 0, &with)?)
        })
    }),
    CALL.named("call.statmount", "ask for a mount's attributes, its mount point and its file system, by its number")
        .prepare(|setting| {
            private(setting)?;
            let mut room = [0_u64; 32];
            exactly(0, call::statx(AT_FDCWD, c".", 0, UNIQUE_MOUNT, &mut room)?)?;
            // The mount's number is at byte 144 of the result of statx.
            let (request, mut answer) = ([24, room[18], 0x7f], [0_u64; 256]);
            // SAFETY: the request has the size that its first word says, and the room has 2048 bytes.
            tried(repeat(move || exactly(0, unsafe { invoke!(statmount, &request, &mut answer, 2048, 0) }?)))
        }),
    CALL.named("call.listmount", "list the numbers of the mounts, up to 256").prepare(|setting| {
        private(setting)?;
        let (request, mut numbers) = ([24, ALL_MOUNTS, 0], [0_u64; 256]);
        // SAFETY: the request has the size that its first word says, and there is room for 256 numbers.
        let mounts = unsafe { invoke!(listmount, &request, &mut numbers, 256, 0) }?;
        // SAFETY: the request has the size that its first word says, and there is room for 256 numbers.
        tried(repeat(move || exactly(mounts, unsafe { invoke!(listmount, &request, &mut numbers, 256, 0) }?)))
    }),
    CALL.named("call.swapon", "fail to swap to a device that has no blocks (/dev/null)")
        .version(2)
        .refused()
        // The kernel logs each file whose first page it reads in vain.
        .prepare(|_| refusing(&[libc::EINVAL, libc::EPERM], || call::swapon(c"/dev/null", 0))),
    CALL.named("call.swapoff", "fail to stop swapping to a file that is not in use").refused().prepare(|setting| {
        file_of(setting, 64 << 10)?;
        enter(setting)?;
        refusing(&[libc::EINVAL, libc::EPERM], || call::swapoff(c"file"))
    }),
];

/// Gives this process a separate mount namespace, in which the scratch folder is a file system in memory and the working
/// folder.
fn private(setting: &Setting) -> Result<(), Failure> {
    let folder = c_path(setting.scratch())?;
    namespaces(libc::CLONE_NEWNS)?;
    let alone = call::mount(Null, c"/", Null, MS_REC | MS_PRIVATE, Null).map_err(|failure| {
        let reason = "the root folder is no mount point (a chroot)";
        failure.skip_on(&[libc::EINVAL], reason, "run it outside of the chroot")
    });
    exactly(0, alone?)?;
    mount_memory(&folder)?;
    exactly(0, call::chdir(&folder)?)
}

/// Folders to mount on, in a separate mount namespace.
fn folders(setting: &Setting) -> Result<Vec<CString>, Failure> {
    private(setting)?;
    let names = names("", 0..FILES)?;
    names.iter().try_for_each(|name| exactly(0, call::mkdirat(AT_FDCWD, name, 0o700)?))?;
    Ok(names)
}

#[inline(always)]
fn mount_memory(place: &CStr) -> Result<(), Failure> {
    exactly(0, call::mount(c"none", place, c"tmpfs", 0, Null)?)
}
