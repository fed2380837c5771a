//! Sockets: Unix pairs of all kinds, named Unix sockets, and TCP and UDP over loopback.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

use operation::{Failure, Operation, Setting, term};
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::{
    DISTANCE, ENDS, NEAR_OR_FAR, ROUNDTRIP, SELF, SIZE, SIZE_OF_ONE, SMALL, TRIP, roundtrip, there_and_back, through,
};
use crate::kit::{End, tcp_pair};

/// A round trip that others of the same kind show at other sizes and distances.
const PLAIN: Operation = TRIP.axes(&[NEAR_OR_FAR, SMALL]).moves(there_and_back);

pub(crate) const OPERATIONS: &[Operation] = &[
    SELF.named("unix.self", "write to a Unix stream socket (socketpair) and read it back, one task")
        .calls(&["write", "read"])
        .axes(&[SIZE])
        .prepare(|setting| through(setting, pair(SocketType::STREAM)?)),
    ROUNDTRIP
        .id("unix.roundtrip")
        .summary("a message to a partner process through a Unix stream socket (socketpair), and the answer")
        .axes(&[DISTANCE, SIZE])
        .moves(there_and_back)
        .explained_by(&[term(2.0, "unix.self").same(&["size"])])
        .prepare(|setting| roundtrip(setting, pair(SocketType::STREAM)?)),
    SELF.named("socketpair.datagram.self", "send through a pair of Unix datagram sockets and receive, one task")
        .axes(&[SIZE])
        .prepare(|setting| through(setting, pair(SocketType::DGRAM)?)),
    PLAIN
        .id("socketpair.datagram.roundtrip")
        .summary("a message to a partner process through a pair of Unix datagram sockets, and the answer")
        .explained_by(&[term(2.0, "socketpair.datagram.self").same(&["size"])])
        .prepare(|setting| roundtrip(setting, pair(SocketType::DGRAM)?)),
    SELF.id("socketpair.seqpacket.self")
        .summary("send through a pair of Unix sockets of sequenced packets and receive, one task")
        .axes(&[ENDS])
        .prepare(|setting| through(setting, pair(SocketType::SEQPACKET)?)),
    PLAIN
        .id("socketpair.seqpacket.roundtrip")
        .summary("a message to a partner process through a pair of Unix sockets of sequenced packets, and the answer")
        .explained_by(&[term(2.0, "socketpair.seqpacket.self").same(&["size"])])
        .prepare(|setting| roundtrip(setting, pair(SocketType::SEQPACKET)?)),
    SELF.named("unix.named.stream.self", "write to a Unix stream socket connected by name and read it back, one task")
        .axes(&[SMALL])
        .explained_by(&[term(1.0, "unix.self").same(&["size"])])
        .prepare(|setting| through(setting, named_streams(setting)?)),
    // A connection to a name. Once established it works like a pair.
    PLAIN
        .id("unix.named.stream.roundtrip")
        .summary("a message to a partner process through a Unix stream socket connected by name, and the answer")
        .explained_by(&[term(2.0, "unix.named.stream.self").same(&["size"])])
        .prepare(|setting| roundtrip(setting, named_streams(setting)?)),
    SELF.named("unix.named.datagram.self", "send to a named Unix datagram socket and receive, one task")
        .axes(&[SMALL])
        .explained_by(&[term(1.0, "socketpair.datagram.self").same(&["size"])])
        .prepare(|setting| through(setting, named_datagrams(setting)?)),
    PLAIN
        .id("unix.named.datagram.roundtrip")
        .summary("a message to a partner process through named Unix datagram sockets, and the answer")
        .explained_by(&[term(2.0, "unix.named.datagram.self").same(&["size"])])
        .prepare(|setting| roundtrip(setting, named_datagrams(setting)?)),
    SELF.named("tcp.self", "write to a TCP connection over loopback and read it back, one task")
        .axes(&[SIZE])
        .prepare(|setting| through(setting, tcp(Sending::AtOnce)?)),
    // TCP without waiting for fuller packets (Nagle off), as services that answer requests use it.
    ROUNDTRIP
        .named("tcp.roundtrip", "a message to a partner process through TCP over loopback, and the answer")
        .axes(&[DISTANCE, SIZE])
        .moves(there_and_back)
        .explained_by(&[term(2.0, "tcp.self").same(&["size"])])
        .prepare(|setting| roundtrip(setting, tcp(Sending::AtOnce)?)),
    SELF.named("tcp.nagle.self", "write to a TCP connection without NODELAY over loopback and read it back, one task")
        .axes(&[SMALL])
        .explained_by(&[term(1.0, "tcp.self").same(&["size"])])
        .prepare(|setting| through(setting, tcp(Sending::Nagle)?)),
    // TCP with default options. A message written with one call and answered before the next one never waits for a fuller
    // packet, so this should cost the same as with NODELAY.
    PLAIN
        .id("tcp.nagle.roundtrip")
        .summary("a message to a partner process through TCP without NODELAY over loopback, and the answer")
        .explained_by(&[term(1.0, "tcp.roundtrip").same(&["distance", "size"])])
        .prepare(|setting| roundtrip(setting, tcp(Sending::Nagle)?)),
    SELF.named("udp.self", "send a datagram through UDP over loopback and receive it, one task")
        .axes(&[SIZE_OF_ONE])
        .prepare(|setting| through(setting, udp()?)),
    // UDP between connected sockets. A message is one datagram, which loopback does not lose. There is no datagram of 64
    // KiB: the longest has 65507 bytes.
    ROUNDTRIP
        .named("udp.roundtrip", "a message to a partner process through UDP over loopback, and the answer")
        .axes(&[DISTANCE, SIZE_OF_ONE])
        .moves(there_and_back)
        .explained_by(&[term(2.0, "udp.self").same(&["size"])])
        .prepare(|setting| roundtrip(setting, udp()?)),
];

/// Two connected Unix sockets.
pub(super) fn pair(kind: SocketType) -> Result<(End, End), Failure> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
    Ok((End::socket(ours)?, End::socket(theirs)?))
}

pub(super) fn udp() -> Result<(End, End), Failure> {
    let ours = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let theirs = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    ours.connect(theirs.local_addr()?)?;
    theirs.connect(ours.local_addr()?)?;
    Ok((End::socket(ours.into())?, End::socket(theirs.into())?))
}

/// When TCP sends less than a full packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    /// At once (NODELAY).
    AtOnce,
    /// When everything sent before has been acknowledged (RFC 896).
    Nagle,
}

fn tcp(sending: Sending) -> Result<(End, End), Failure> {
    let (ours, theirs) = tcp_pair()?;
    for socket in [&ours, &theirs] {
        set_tcp_nodelay(socket, sending == Sending::AtOnce)?;
    }
    Ok((End::socket(ours)?, End::socket(theirs)?))
}

/// Both ends of a connection to a name in the scratch folder. The name is removed again.
fn named_streams(setting: &Setting) -> Result<(End, End), Failure> {
    let path = setting.scratch().join("stream");
    let listener = UnixListener::bind(&path).map_err(short_name)?;
    let ours = UnixStream::connect(&path)?;
    let (theirs, _) = listener.accept()?;
    std::fs::remove_file(&path)?;
    Ok((End::socket(ours.into())?, End::socket(theirs.into())?))
}

/// Two datagram sockets connected to each other's name in the scratch folder. The names are removed again.
fn named_datagrams(setting: &Setting) -> Result<(End, End), Failure> {
    let paths = ["ours", "theirs"].map(|name| setting.scratch().join(name));
    let ours = UnixDatagram::bind(&paths[0]).map_err(short_name)?;
    let theirs = UnixDatagram::bind(&paths[1]).map_err(short_name)?;
    ours.connect(&paths[1])?;
    theirs.connect(&paths[0])?;
    for path in paths {
        std::fs::remove_file(path)?;
    }
    Ok((End::socket(ours.into())?, End::socket(theirs.into())?))
}

/// A socket's name has 107 bytes at most.
fn short_name(error: std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::InvalidInput => {
            Failure::skip("the scratch folder's name is too long for a socket in it", "set TMPDIR to a shorter one")
        }
        _ => error.into(),
    }
}
