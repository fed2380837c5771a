//! Namespaces that belong to the round, in which a call does its real work without touching the machine.

use std::os::fd::AsRawFd;

use operation::Failure;
use rustix::net::{AddressFamily, SocketType, socket};

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

/// Puts this process into a network of its own, which has a loopback device only. What its connections leave behind ends with it.
///
/// # Errors
/// A skip if that is not allowed.
pub(crate) fn own_network() -> Result<(), Failure> {
    /// Bytes of `struct ifreq`, and where its flags are (include/uapi/linux/if.h).
    const REQUEST: usize = 40;
    const FLAGS: usize = 16;
    namespaces(libc::CLONE_NEWNET)?;
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut request = [0_u8; REQUEST];
    request[..2].copy_from_slice(b"lo");
    request[FLAGS..FLAGS + 2].copy_from_slice(&(libc::IFF_UP as u16).to_ne_bytes());
    // SAFETY: the kernel reads one request, and writes nothing.
    match unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCSIFFLAGS as _, request.as_ptr()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().into()),
    }
}

/// The same within a new user namespace, in which this process's user is root.
fn with_own_users(kinds: i32) -> Result<(), Failure> {
    let (user, group) = (call::geteuid()?, call::getegid()?);
    exactly(0, call::unshare(kinds | libc::CLONE_NEWUSER)?)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    Ok(std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))?)
}
