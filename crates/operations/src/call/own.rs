//! What lets a call do its real work without touching the machine: namespaces of the round's own; and the shapes that
//! most loops of one call have.

use operation::{Failure, Loop, repeat};
use syscalls::Sysno;

use super::raw::{answered, call, tried};
use crate::child::start_and_end;
use crate::process::fork;
use crate::syscall::exactly;

/// A loop of a call that must return zero, tried once.
///
/// # Errors
/// Whatever the first call meets.
#[inline(always)]
pub(crate) fn steady(ask: impl FnMut() -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    steadily(0, ask)
}

/// A loop of a call that must return this, tried once.
///
/// # Errors
/// Whatever the first call meets.
#[inline(always)]
pub(crate) fn steadily(
    wanted: usize,
    mut ask: impl FnMut() -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    tried(repeat(move || exactly(wanted, ask()?)))
}

/// A loop of a call that is refused with the same one of these errors every time.
///
/// # Errors
/// Any other error of the first call; that it is let through.
pub(crate) fn refusing(
    errors: &'static [i32],
    mut ask: impl FnMut() -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    match ask() {
        Err(Failure::Errno { errno }) if errors.contains(&errno) => Ok(repeat(move || answered(errno, ask()))),
        Err(other) => Err(other),
        Ok(_) => Err(Failure::wrong("a call was let through that must be refused")),
    }
}

/// Puts this process into new namespaces of these kinds; who may not may as root over a namespace of users.
///
/// # Errors
/// A skip where neither is allowed.
pub(crate) fn namespaces(kinds: i32) -> Result<(), Failure> {
    let refused = |_| {
        Failure::skip(
            "no private namespace may be made here, and the machine's own is not touched",
            "run as root, or allow user namespaces and unshare in the container's seccomp profile",
        )
    };
    if call!(unshare, kinds).is_ok() { Ok(()) } else { with_own_users(kinds).map_err(refused) }
}

/// The same within a new namespace of users, where this process's user is root.
fn with_own_users(kinds: i32) -> Result<(), Failure> {
    let (user, group) = (call!(geteuid)?, call!(getegid)?);
    exactly(0, call!(unshare, kinds | libc::CLONE_NEWUSER)?)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    Ok(std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))?)
}

/// Starts a child that is lent this process's memory and ends at once; it waits to be reaped when this returns.
///
/// # Errors
/// When there is no child to be had.
pub(crate) fn ended_child() -> Result<i32, Failure> {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the child writes no memory, and this process is held until it is gone.
    let child = unsafe { start_and_end(Sysno::clone, [flags as usize, 0], Sysno::exit_group) }?;
    exactly(0, call!(waitid, libc::P_PID, child, 0, libc::WEXITED | libc::WNOWAIT, 0)?)?;
    Ok(child)
}

/// Starts a child that has a copy of this process's memory and ends at once; it waits to be reaped when this returns.
///
/// # Errors
/// When there is no child to be had.
pub(crate) fn ended_copy() -> Result<i32, Failure> {
    let child = fork(|| 0)?;
    exactly(0, call!(waitid, libc::P_PID, child, 0, libc::WEXITED | libc::WNOWAIT, 0)?)?;
    Ok(child)
}
