//! A network device that discards what is sent to it, in a network namespace of the round's own, which ends with it: a `dummy`,
//! or an `ifb` that nothing is redirected to. Neither copies the bytes, as a card does not, and neither reads them.

use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::path::Path;

use libc::{c_char, c_ulong, ifreq};
use operation::Failure;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::kit::library::{recv, send, socket_with};
use crate::kit::sandbox;

const NAME: &str = "discards";
/// The kinds of devices, the plainer first.
const KINDS: [&str; 2] = ["dummy", "ifb"];
/// More than the largest datagram, so that none is sent in parts: the kernel would copy these.
const LARGEST: u32 = 65_535 + 28;
const OWN: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const BEHIND: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

pub(super) struct Discarding;

impl Discarding {
    /// Makes it in a new namespace, which this thread enters. Skips where there may be no namespace, or the kernel has
    /// no such device. Its module is not loaded for that: it would stay, for the whole machine.
    pub(super) fn new() -> Result<Discarding, Failure> {
        sandbox::namespaces(libc::CLONE_NEWNET)?;
        let is_there = |kind: &&&str| Path::new("/sys/module").join(kind).exists();
        if !KINDS.iter().filter(is_there).any(|kind| make(kind).is_ok()) {
            let reason = "the kernel has loaded no network device that discards what is sent to it";
            return Err(Failure::skip(reason, "as root: modprobe dummy numdummies=0"));
        }
        let control = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        let set = |what: c_ulong, fill: &dyn Fn(&mut ifreq)| sandbox::set_device(&control, NAME, what, fill);
        set(libc::SIOCSIFADDR as c_ulong, &|request| request.ifr_ifru.ifru_addr = address(OWN))?;
        set(libc::SIOCSIFNETMASK as c_ulong, &|request| {
            request.ifr_ifru.ifru_netmask = address(Ipv4Addr::new(255, 255, 255, 0));
        })?;
        let up = (libc::IFF_UP | libc::IFF_RUNNING | libc::IFF_NOARP) as i16;
        set(libc::SIOCSIFFLAGS as c_ulong, &|request| request.ifr_ifru.ifru_flags = up)?;
        Ok(Discarding)
    }

    /// A socket whose datagrams go to it.
    pub(super) fn socket(&self) -> Result<OwnedFd, Failure> {
        let socket = UdpSocket::bind((OWN, 0))?;
        socket.connect((BEHIND, 9))?;
        Ok(socket.into())
    }

    /// Datagrams that came to it so far: a dummy counts them as sent, an ifb as received.
    pub(super) fn packets(&self) -> Result<u64, Failure> {
        let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
        let line = text.lines().find_map(|line| line.trim().strip_prefix(NAME)?.strip_prefix(':'));
        let counts: Vec<u64> =
            line.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // Received: bytes, packets, errors, dropped, and four more; then the same of what was sent.
        let count = |place: usize| counts.get(place).copied().unwrap_or(0);
        Ok(count(1).max(count(3)) + count(9))
    }
}

/// An IPv4 address as requests hold it.
fn address(host: Ipv4Addr) -> libc::sockaddr {
    let mut data = [0 as c_char; 14];
    // Behind the port.
    data[2..6].iter_mut().zip(host.octets()).for_each(|(place, byte)| *place = byte as c_char);
    libc::sockaddr { sa_family: libc::AF_INET as libc::sa_family_t, sa_data: data }
}

/// Makes a device of this kind (`RTM_NEWLINK`; `linux/rtnetlink.h`).
fn make(kind: &str) -> Result<(), Failure> {
    let linked = attribute(libc::IFLA_LINKINFO, &attribute(libc::IFLA_INFO_KIND, kind.as_bytes()));
    let attributes = [
        attribute(libc::IFLA_IFNAME, format!("{NAME}\0").as_bytes()),
        attribute(libc::IFLA_MTU, &LARGEST.to_ne_bytes()),
        linked,
    ]
    .concat();
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_CREATE | libc::NLM_F_EXCL | libc::NLM_F_ACK) as u16;
    let length = 16 + 16 + attributes.len() as u32;
    let mut message = Vec::with_capacity(length as usize);
    // The header: length, kind, flags, sequence, sender; then an empty description of a device.
    message.extend(length.to_ne_bytes());
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 16]);
    message.extend(attributes);
    // Protocol 0 is NETLINK_ROUTE.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &message, rustix::net::SendFlags::empty())?;
    let mut answer = [0_u8; 1024];
    let got = recv(&socket, &mut answer[..], rustix::net::RecvFlags::empty())?;
    let error =
        answer.get(16..20).filter(|_| got >= 20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match error {
        Some(0) => Ok(()),
        Some(errno) => Err(Failure::Errno { errno: -errno }),
        None => Err(Failure::wrong("the kernel's answer is too short")),
    }
}

/// An attribute of a netlink message, padded to four bytes.
fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::from(((content.len() + 4) as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
