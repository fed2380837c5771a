//! What a server asks of its TCP connections. Both ends are on this machine and in this process: the kernel carries each
//! packet to the other end within the call that sends it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use operation::{Axis, Failure, Loop, Operation, numbers, size};
use rustix::net::sockopt::{set_socket_linger, set_tcp_nodelay};
use rustix::net::{RecvFlags, SendFlags};

use super::CALLED;
use crate::kit::library::{recv, send};
use crate::kit::{Block, Null, call, consuming, exactly, for_each, handles, numbered, own_network, owned, tried};

/// A request, and a page of an answer.
pub(super) const SIZES: Axis = size(numbers![64, 4 << 10]);
/// Connections that wait to be accepted.
pub(super) const HELD: u64 = 16;
/// Messages that the buffers of a connection hold, and that may be on their way without an acknowledgement.
const SENT: u64 = 8;

/// Until version 1, messages after the first waited for others (Nagle's algorithm): calls that delivered nothing were timed.
const MOVE: Operation = CALLED.version(2).axes(&[SIZES]).moves(|point| point.number("size").unwrap_or(0));

pub(crate) const OPERATIONS: &[Operation] = &[
    CALLED.named("called.accept", "accept a TCP connection that is already waiting").calls(&["accept4"]).prepare(
        |_| {
            let [server, called] = handles(Server::new()?);
            tried(
                consuming(move || called.call(), move |client| Ok((client, server.accept()?)))
                    .at_most(HELD),
            )
        },
    ),
    MOVE.named("called.send", "send bytes over a TCP connection: the kernel delivers them before the call returns")
        .calls(&["sendto"])
        .prepare(|setting| {
            let size = setting.size()?;
            let [near, far] = Server::new()?.pair()?;
            let message = Block::new(size);
            let mut room = Block::new(size);
            tried(
                numbered(move |_| exactly(size, send(&near, &message, SendFlags::NOSIGNAL)?))
                    .at_most(SENT)
                    .verify(for_each(move |_| exactly(size, recv(&far, &mut room, RecvFlags::WAITALL)?))),
            )
        }),
    MOVE.named("called.receive", "receive bytes that wait at a TCP connection").calls(&["recvfrom"]).prepare(
        |setting| {
            let size = setting.size()?;
            let [near, far] = Server::new()?.pair()?;
            let message = Block::new(size);
            let mut room = Block::new(size);
            tried(
                numbered(move |_| exactly(size, recv(&near, &mut room, RecvFlags::empty())?))
                    .at_most(SENT)
                    .before(for_each(move |_| exactly(size, send(&far, &message, SendFlags::NOSIGNAL)?))),
            )
        },
    ),
    CALLED
        .named(
            "called.shutdown",
            "end the sending direction of a TCP connection, which the kernel tells the other end before the call \
            returns",
        )
        .calls(&["shutdown"])
        .prepare(|_| {
            ending(|[client, ours]| {
                exactly(0, call::shutdown(&ours, libc::SHUT_WR)?)?;
                Ok((client, ours))
            })
        }),
    CALLED
        .named("called.close.connection", "close a TCP connection whose other end is open")
        .calls(&["close"])
        .prepare(|_| {
            ending(|[client, ours]| {
                exactly(0, call::close(ours)?)?;
                Ok(client)
            })
        }),
    CALLED
        .named(
            "called.close.last",
            "close a TCP connection whose other end is closed, which stays in the kernel for a minute (TIME-WAIT) unless its \
            network ends before",
        )
        .calls(&["close"])
        .prepare(|_| {
            own_network()?;
            let server = Server::new()?;
            let ready = move || server.half_closed();
            tried(consuming(ready, |ours| exactly(0, call::close(ours)?)).at_most(HELD))
        }),
];

/// Ends a connection of its own in each iteration. What is left of it goes after the batch.
fn ending<T: 'static>(end: impl FnMut([OwnedFd; 2]) -> Result<T, Failure> + 'static) -> Result<Loop, Failure> {
    let server = Server::new()?;
    tried(consuming(move || server.pair(), end).at_most(HELD))
}

pub(super) struct Server {
    listener: OwnedFd,
    pub(super) name: SocketAddr,
}

impl Server {
    pub(super) fn new() -> Result<Server, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let name = listener.local_addr()?;
        Ok(Server { listener: listener.into(), name })
    }

    /// A connection that waits to be accepted, if there is one.
    pub(super) fn take(&self) -> Result<Option<OwnedFd>, Failure> {
        rustix::io::ioctl_fionbio(&self.listener, true)?;
        match self.accept() {
            Ok(accepted) => Ok(Some(accepted)),
            Err(Failure::Errno { errno: libc::EAGAIN }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Connects to it. When the client is closed, the connection is reset, so that neither end stays in the kernel for a
    /// minute (TIME-WAIT).
    fn call(&self) -> Result<OwnedFd, Failure> {
        let client: OwnedFd = TcpStream::connect(self.name)?.into();
        set_socket_linger(&client, Some(Duration::ZERO))?;
        Ok(client)
    }

    #[inline(always)]
    fn accept(&self) -> Result<OwnedFd, Failure> {
        Ok(owned(call::accept4(&self.listener, Null, Null, libc::SOCK_CLOEXEC)?))
    }

    /// An accepted connection whose client is closed.
    fn half_closed(&self) -> Result<OwnedFd, Failure> {
        let client = TcpStream::connect(self.name)?;
        let accepted = self.accept()?;
        drop(client);
        Ok(accepted)
    }

    /// A client and the accepted connection to it. What is sent is delivered by the call that sends it.
    pub(super) fn pair(&self) -> Result<[OwnedFd; 2], Failure> {
        let ends = [self.call()?, self.accept()?];
        ends.iter().try_for_each(|end| set_tcp_nodelay(end, true))?;
        Ok(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections of this thread's network in TIME-WAIT.
    fn waiting() -> Option<u64> {
        let counts = std::fs::read_to_string("/proc/thread-self/net/sockstat").ok()?;
        counts.split_once(" tw ")?.1.split(' ').next()?.parse().ok()
    }

    #[test]
    fn each_message_is_there_when_the_call_that_sends_it_returns() {
        for size in [64, 4096] {
            let ends = Server::new().and_then(|server| server.pair()).expect("a connection");
            for [from, to] in [[&ends[0], &ends[1]], [&ends[1], &ends[0]]] {
                for sent in 1..=SENT {
                    exactly(size, send(from, &vec![1; size], SendFlags::NOSIGNAL).expect("sent")).expect("all of it");
                    let there = rustix::io::ioctl_fionread(to).expect("a number");
                    assert_eq!(there, sent * size as u64, "{size}");
                }
            }
        }
    }

    #[test]
    fn an_end_that_is_closed_last_leaves_the_other_in_time_wait() {
        if let Err(why) = own_network() {
            return testing::not_tested!("{why}; run the tests as root");
        }
        let server = Server::new().expect("a server");
        for closed in 1..=8 {
            let ours = server.half_closed().expect("a connection");
            drop(ours);
            assert_eq!(waiting(), Some(closed));
        }
    }

    /// Thousands of connections must not stay behind in the kernel. In a network of its own, since a port that was just given out
    /// may have been another's, whose connections wait.
    #[test]
    fn closed_connections_are_gone() {
        if let Err(why) = own_network() {
            return testing::not_tested!("{why}; run the tests as root");
        }
        let server = Server::new().expect("a server");
        for _ in 0..8 {
            let [client, ours] = server.pair().expect("a connection");
            drop(ours);
            drop(client);
        }
        assert_eq!(waiting(), Some(0));
    }
}
