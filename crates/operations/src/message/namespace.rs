//! A namespace of its own for System V objects and POSIX queues: it ends with the last process in it, and everything
//! in it too, however the process ends.

use measure::Failure;
use rustix::process::{getgid, getuid};

/// Moves this process, and the partners it starts from now on, into a new namespace for such objects.
///
/// # Errors
/// A skip where that is not allowed; then objects could stay behind.
pub(super) fn enter() -> Result<(), Failure> {
    if unshare(libc::CLONE_NEWIPC).is_ok() {
        return Ok(());
    }
    // Whoever is not root may have it within a namespace of users that maps nobody but themselves.
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWIPC).map_err(|_| {
        let reason = "no private namespace for its objects, which could stay behind";
        Failure::skip(reason, "run as root, or allow user namespaces (sysctl user.max_ipc_namespaces)")
    })?;
    // Without names for themselves they still own what they make; queues want them, though.
    let _ = std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"));
    let _ = std::fs::write("/proc/self/setgroups", "deny");
    let _ = std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"));
    Ok(())
}

/// Raises one of the private namespace's own limits. Only after [`enter`]: before, it would be everybody's.
///
/// # Errors
/// A skip where that is not allowed.
pub(super) fn raise(limit: &str, to: usize) -> Result<(), Failure> {
    let file = format!("/proc/sys/{limit}");
    let now = std::fs::read_to_string(&file)?.trim().parse::<usize>().unwrap_or(0);
    if now >= to {
        return Ok(());
    }
    std::fs::write(&file, to.to_string())
        .map_err(|_| Failure::skip(format!("a message may have {now} bytes"), format!("run as root, or raise {file}")))
}

/// Leaves what this process shares with others.
fn unshare(what: libc::c_int) -> Result<(), Failure> {
    // SAFETY: touches no memory; the objects and users of this process alone are concerned.
    if unsafe { libc::unshare(what) } == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
}
