//! Namespaces that belong to the round, in which a call does its real work without touching the machine.

use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use libc::{c_char, c_ulong, ifreq};
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

/// Puts this process into a network of its own, which has a loopback device only. What its connections leave behind ends with it.
/// A skip if that is not allowed.
pub(crate) fn own_network() -> Result<(), Failure> {
    namespaces(libc::CLONE_NEWNET)?;
    let control = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    set_device(&control, "lo", libc::SIOCSIFFLAGS as c_ulong, |request| {
        request.ifr_ifru.ifru_flags = libc::IFF_UP as i16;
    })
}

/// Asks the kernel to change the network device of this name.
pub(crate) fn set_device(
    control: &UdpSocket,
    name: &str,
    what: c_ulong,
    fill: impl FnOnce(&mut ifreq),
) -> Result<(), Failure> {
    // SAFETY: all bits zero are an empty request.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name.iter_mut().zip(name.bytes()).for_each(|(place, byte)| *place = byte as c_char);
    fill(&mut request);
    // SAFETY: the request is a whole one that outlives the call.
    match unsafe { libc::ioctl(control.as_raw_fd(), what as _, &raw mut request) } {
        0 => Ok(()),
        _ => Err(Failure::last_os_error()),
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
