//! Namespaces that belong to the round, in which a call does its real work without touching the machine.

use operation::Failure;

use super::call;
use crate::kit::check::exactly;

/// Puts this process into new namespaces of these kinds. If that is not allowed, tries as root of a new user namespace.
/// A skip if neither is allowed.
pub(crate) fn namespaces(kinds: i32) -> Result<(), Failure> {
    let refused = |_| {
        Failure::skip(
            "no private namespace can be created here, and the machine's own must not be changed",
            "run as root, or allow user namespaces and unshare in the container's seccomp profile",
        )
    };
    if call::unshare(kinds).is_ok() { Ok(()) } else { with_own_users(kinds).map_err(refused) }
}

/// The same within a new user namespace, in which this process's user is root.
fn with_own_users(kinds: i32) -> Result<(), Failure> {
    let (user, group) = (call::geteuid()?, call::getegid()?);
    exactly(0, call::unshare(kinds | libc::CLONE_NEWUSER)?)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    Ok(std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))?)
}
