//! Sending with and without a copy: a plain `send`, and one with `MSG_ZEROCOPY`, whose completion is read before the bytes may be
//! used again. Over loopback, where the kernel copies the bytes in any case once they reach a socket of the same machine, and to
//! a device that discards them, where it does not. The completions say which (`SO_EE_CODE_ZEROCOPY_COPIED`).

mod completion;
mod discarding;

use std::os::fd::OwnedFd;

use libc::{MSG_DONTWAIT, MSG_NOSIGNAL, MSG_TRUNC, MSG_ZEROCOPY};
use operation::{Axis, Failure, Loop, Operation, Setting, numbers, repeat, size};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::sockopt::set_tcp_nodelay;

use crate::kit::library::poll;
use crate::kit::{BASE, Block, Null, call, ensure, invoke, tcp_pair};
use completion::{Completed, completed};
use discarding::Discarding;

/// Bytes of a message.
const MESSAGES: Axis = size(numbers![512, 4096, 65536]).within(1, 1 << 20);

/// Bytes of a datagram: all that one holds.
const DATAGRAMS: Axis = size(numbers![512, 4096, 60_000]).within(1, 65_000);

/// A message that is sent, and gone from the sender's memory.
const SENT: Operation = BASE
    .version(2)
    .per("message")
    .axes(&[MESSAGES])
    .calls(&["sendto"])
    .follows_clock(|point| point.number("size").unwrap_or(0) <= 64 << 10)
    .moves(|point| point.number("size").unwrap_or(0));

pub(crate) const OPERATIONS: &[Operation] = &[
    SENT.id("tcp.send")
        .summary("send a message over TCP on loopback and discard it at the other end without a copy, one task")
        .calls(&["sendto", "recvfrom"])
        .prepare(|setting| over_loopback(setting, 0)),
    SENT.id("tcp.send.zerocopy")
        .summary("the same with MSG_ZEROCOPY, its completion read: the kernel copies on loopback and says so")
        .calls(&["sendto", "recvmsg", "recvfrom"])
        .prepare(|setting| over_loopback(setting, MSG_ZEROCOPY)),
    SENT.named("udp.send", "send a datagram to a network device that discards it")
        .axes(&[DATAGRAMS])
        .prepare(|setting| to_a_device(setting, 0)),
    SENT.named(
        "udp.send.zerocopy",
        "the same with MSG_ZEROCOPY, its completion read: the device takes the bytes from the program's own pages",
    )
    .calls(&["sendto", "recvmsg"])
    .axes(&[DATAGRAMS])
    .prepare(|setting| to_a_device(setting, MSG_ZEROCOPY)),
];

/// A socket to send through, with what the kernel has reported of its sends.
struct Sender {
    socket: OwnedFd,
    flags: i32,
    /// Sends whose completion is due.
    due: u32,
    /// Those of them whose bytes were copied.
    copied: u64,
}

impl Sender {
    /// With `MSG_ZEROCOPY` among the flags, sends leave the bytes where they are if they can.
    fn new(socket: OwnedFd, flags: i32) -> Result<Sender, Failure> {
        if flags & MSG_ZEROCOPY != 0 {
            // SAFETY: this option is a number of 4 bytes.
            let allowed = unsafe { invoke!(setsockopt, &socket, libc::SOL_SOCKET, libc::SO_ZEROCOPY, &[1_i32], 4) };
            allowed.map_err(|_| Failure::skip("this kernel sends nothing without a copy", "Linux 4.14 or newer"))?;
        }
        Ok(Sender { socket, flags: flags | MSG_NOSIGNAL | MSG_DONTWAIT, due: 0, copied: 0 })
    }

    /// Sends as much as there is room for; returns how much that was.
    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        // The bytes are the caller's, who keeps them until their completion has been read.
        match call::sendto(&self.socket, bytes, self.flags, Null) {
            Err(Failure::Errno { errno: libc::EAGAIN }) => Ok(0),
            sent => {
                self.due += u32::from(sent.is_ok() && self.flags & MSG_ZEROCOPY != 0);
                sent
            }
        }
    }

    /// Reads completions until every send has one.
    #[inline(always)]
    fn complete(&mut self) -> Result<(), Failure> {
        while self.due > 0 {
            match completed(&self.socket)? {
                Some(Completed { sends, copied }) if sends <= self.due => {
                    self.due -= sends;
                    self.copied += if copied { u64::from(sends) } else { 0 };
                }
                Some(_) => return Err(Failure::wrong("the kernel told of more sends than there were")),
                None => self.wait()?,
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn wait(&self) -> Result<(), Failure> {
        let mut waits = [PollFd::new(&self.socket, PollFlags::ERR)];
        let second = Timespec { tv_sec: 1, tv_nsec: 0 };
        match poll(&mut waits, Some(&second))? {
            0 => Err(Failure::wrong("the kernel did not tell that it is done with the bytes")),
            _ => Ok(()),
        }
    }
}

/// Messages over a TCP connection of one task's, discarded where they arrive. The kernel acknowledges what was taken at once, so
/// that the completion is there.
fn over_loopback(setting: &Setting, flags: i32) -> Result<Loop, Failure> {
    let (ours, receiver) = tcp_pair()?;
    set_tcp_nodelay(&ours, true)?;
    let mut sender = Sender::new(ours, flags)?;
    let block = Block::new(setting.size()?);
    let copied = (flags & MSG_ZEROCOPY != 0)
        .then(|| (setting.tally("sends of a message"), setting.tally("copied by the kernel")));
    Ok(repeat(move || {
        let (mut sent, mut arrived, before) = (0, 0, sender.copied);
        let mut sends = 0;
        while arrived < block.len() {
            if sent < block.len() {
                let more = sender.send(&block[sent..])?;
                sends += u64::from(more > 0);
                sent += more;
            }
            arrived += discard(&receiver, sent - arrived)?;
        }
        sender.complete()?;
        if let Some((all, copied)) = &copied {
            all.pass(sends);
            copied.pass(sender.copied - before);
        }
        Ok(())
    }))
}

/// Takes at most this number of bytes out of a TCP socket without copying them. Returns how many it took.
#[inline(always)]
fn discard(socket: &OwnedFd, most: usize) -> Result<usize, Failure> {
    let null = std::ptr::null_mut::<u8>();
    // SAFETY: with MSG_TRUNC the kernel writes nothing to the buffer of a TCP socket.
    match unsafe { invoke!(recvfrom, socket, null, most, MSG_TRUNC | MSG_DONTWAIT, 0, 0) } {
        Ok(0) if most > 0 => Err(Failure::wrong("the connection ended")),
        Err(Failure::Errno { errno: libc::EAGAIN }) => Ok(0),
        taken => taken,
    }
}

/// Datagrams to a device in a network of the round's own. The device's counters prove that they came to it.
fn to_a_device(setting: &Setting, flags: i32) -> Result<Loop, Failure> {
    let device = Discarding::new()?;
    let mut sender = Sender::new(device.socket()?, flags)?;
    let block = Block::new(setting.size()?);
    let copied = (flags & MSG_ZEROCOPY != 0).then(|| setting.tally("copied by the kernel"));
    let mut packets = device.packets()?;
    let sending = repeat(move || {
        let before = sender.copied;
        ensure(sender.send(&block)? == block.len(), || "a datagram was not sent")?;
        sender.complete()?;
        if let Some(copied) = &copied {
            copied.pass(sender.copied - before);
        }
        Ok(())
    });
    Ok(sending.verify(move |times| {
        let now = device.packets()?;
        let came = now - std::mem::replace(&mut packets, now);
        ensure(came >= times, || format!("{came} datagrams of {times} came to the device"))
    }))
}

#[cfg(test)]
mod tests {
    use record::{Point, Value};

    use super::*;

    #[test]
    fn every_message_is_sent_and_completed() {
        // The private network must not become that of the other tests.
        let tested = std::thread::spawn(|| crate::kit::trial::perform_all(OPERATIONS));
        tested.join().expect("they are sent");
    }

    #[test]
    fn loopback_copies_what_a_device_does_not() {
        let copied = |id: &str| {
            let operation = OPERATIONS.iter().find(|operation| operation.id == id).expect(id);
            let point = Point::default().with("size", Value::Number(16384));
            let setting = Setting::new(point, std::env::temp_dir(), 0, None, 1);
            let mut sends = match operation.set_up(&setting) {
                Err(Failure::Skip { reason, remedy }) => {
                    testing::left_out!("{id}: {reason}; {remedy}");
                    return None;
                }
                sends => sends.expect(id),
            };
            sends.perform(20).expect("messages");
            setting.tallied().get("copied by the kernel").copied()
        };
        let reported = std::thread::spawn(move || (copied("tcp.send.zerocopy"), copied("udp.send.zerocopy")));
        let (loopback, device) = reported.join().expect("they are sent");
        assert!(loopback.is_none_or(|copied| copied >= 1.0), "{loopback:?}");
        assert!(device.is_none_or(|copied| copied == 0.0), "{device:?}");
    }
}
