//! Sockets: a Unix pair, and TCP and UDP over loopback.

use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};

use measure::Operation;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::{DISTANCE, ROUNDTRIP, SIZE, roundtrip, there_and_back};
use crate::channel::End;

/// A connected pair of Unix stream sockets.
pub(super) const UNIX: Operation = Operation {
    id: "unix.roundtrip",
    summary: "a message to a partner process through a Unix stream socket, and the answer",
    axes: &[DISTANCE, SIZE],
    moves: there_and_back,
    prepare: |setting| {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        roundtrip(setting, End::socket(ours)?, End::socket(theirs)?)
    },
    ..ROUNDTRIP
};

/// TCP with the waiting for fuller packets (Nagle) off, as every service that answers requests has it.
pub(super) const TCP: Operation = Operation {
    id: "tcp.roundtrip",
    summary: "a message to a partner process through TCP over loopback, and the answer",
    axes: &[DISTANCE, SIZE],
    moves: there_and_back,
    prepare: |setting| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let ours = TcpStream::connect(listener.local_addr()?)?;
        let (theirs, _) = listener.accept()?;
        ours.set_nodelay(true)?;
        theirs.set_nodelay(true)?;
        roundtrip(setting, End::socket(ours.into())?, End::socket(theirs.into())?)
    },
    ..ROUNDTRIP
};

/// UDP between sockets connected to each other; a message is one datagram, which loopback does not lose.
pub(super) const UDP: Operation = Operation {
    id: "udp.roundtrip",
    summary: "a message to a partner process through UDP over loopback, and the answer",
    axes: &[DISTANCE, SIZE],
    moves: there_and_back,
    prepare: |setting| {
        let ours = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let theirs = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        ours.connect(theirs.local_addr()?)?;
        theirs.connect(ours.local_addr()?)?;
        roundtrip(setting, End::socket(ours.into())?, End::socket(theirs.into())?)
    },
    ..ROUNDTRIP
};
