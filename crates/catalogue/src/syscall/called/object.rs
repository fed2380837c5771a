//! Calls on what is no regular file: pipes, files that the kernel writes at each read, sockets that are empty or not yet connected.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use operation::Value::Number;
use operation::{Axis, Failure, Loop, Operation, Setting, TermOf, numbers, partner, repeat, size, term, words};
use record::FixedPoint;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use rustix::pipe::{PipeFlags, pipe_with};

use super::CALLED;
use super::connection::{HELD, Server};
use crate::kit::library::{self, connect, open, pread, read, recv, socket_with, write};
use crate::kit::{Block, consuming, exactly, hold, producing, tried};

/// A byte, a page, and what a pipe holds.
const SIZES: Axis = size(numbers![1, 4 << 10, 64 << 10]);
/// What one block of the kernel's generator gives at once, and a page of many.
const RANDOM: Axis = size(numbers![32, 4 << 10]);
const STATUS: &CStr = c"/proc/self/status";
const ONE: FixedPoint = &[("size", Number(1))];
/// What a round trip between two tasks of one CPU consists of. Each switch holds a wake-up.
const TURN: &[TermOf] =
    &[term(1.0, "loop.empty"), term(2.0, "called.pipe").at(ONE), term(2.0, "switch.process").at(&[("set", Number(0))])];

const PIPE: Operation = CALLED.axes(&[SIZES]).moves(|point| point.number("size").unwrap_or(0));

pub(crate) const OPERATIONS: &[Operation] = &[
    PIPE.named("called.pipe", "write to a pipe that nobody waits at, and read it back: two calls")
        .per("pair")
        .calls(&["write", "read"])
        .prepare(|setting| {
            let (size, [reader, writer]) = (setting.size()?, empty_pipe()?);
            hold(&writer, size)?;
            let (block, mut room) = (Block::new(size), Block::new(size));
            tried(repeat(move || {
                exactly(size, write(&writer, &block)?)?;
                exactly(size, read(&reader, &mut room)?)
            }))
        }),
    CALLED
        .named(
            "called.wakes",
            "a turn of two tasks of one CPU, without its calls and switches, which hold both wake-ups",
        )
        .per("pair")
        .axes(&[partner("distance", words!["same"])])
        .terms(TURN)
        .prepare(waking),
    CALLED.named("called.read.none", "read from a pipe that is empty and does not wait (EAGAIN)").prepare(|_| {
        let [reader, writer] = empty_pipe()?;
        let mut room = [0_u8; 64];
        tried(repeat(move || {
            let _open = &writer;
            nothing(read(&reader, &mut room))
        }))
    }),
    CALLED.named("called.receive.none", "receive from an empty TCP connection that does not wait (EAGAIN)").prepare(
        |_| {
            let [near, far] = Server::new()?.pair()?;
            let mut room = [0_u8; 64];
            tried(repeat(move || {
                let _open = &far;
                nothing(recv(&near, &mut room, RecvFlags::DONTWAIT))
            }))
        },
    ),
    CALLED
        .named("called.read.proc", "read all of /proc/self/status, which the kernel writes anew")
        .calls(&["pread64"])
        .prepare(|_| {
            let file = open(STATUS, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let mut room = [0_u8; 4096];
            tried(repeat(move || match pread(&file, &mut room, 0)? {
                0 => Err(Failure::wrong("a file of /proc is empty")),
                _ => Ok(()),
            }))
        }),
    CALLED
        .named("called.read.random", "read this many random bytes from /dev/urandom")
        .axes(&[RANDOM])
        .moves(|point| point.number("size").unwrap_or(0))
        .calls(&["read"])
        .prepare(|setting| {
            let size = setting.size()?;
            let device = open("/dev/urandom", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let mut room = Block::new(size);
            tried(repeat(move || exactly(size, read(&device, &mut room[..])?)))
        }),
    CALLED.named("called.open.proc", "open /proc/self/status").calls(&["openat"]).prepare(|_| {
        let opened = || Ok(open(STATUS, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
        tried(producing(opened))
    }),
    CALLED.named("called.socket", "create a TCP socket").calls(&["socket"]).prepare(|_| tried(producing(unconnected))),
    CALLED.named("called.close.socket", "close a TCP socket that was never connected").calls(&["close"]).prepare(
        |_| {
            tried(consuming(unconnected, |socket| {
                drop(socket);
                Ok(())
            }))
        },
    ),
    CALLED
        .id("called.connect")
        .summary("connect a TCP socket over loopback: the kernel carries the three packets within the call")
        .calls(&["connect"])
        .prepare(|_| {
            let server = Server::new()?;
            let name = server.name;
            // The other end waits to be accepted, and goes before the next batch.
            let ready = move || {
                while let Some(other) = server.take()? {
                    drop(other);
                }
                unconnected()
            };
            tried(
                consuming(ready, move |socket: OwnedFd| {
                    connect(&socket, &name)?;
                    // Closed, it is reset, so that nothing stays in the kernel for a minute.
                    Ok(Reset(socket))
                })
                .at_most(HELD),
            )
        }),
];

/// A connection that is reset when it is closed.
struct Reset(OwnedFd);

impl Drop for Reset {
    fn drop(&mut self) {
        let _ = set_socket_linger(&self.0, Some(Duration::ZERO));
    }
}

fn unconnected() -> Result<OwnedFd, Failure> {
    Ok(socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// The reading and the writing end of a pipe that does not wait.
fn empty_pipe() -> Result<[OwnedFd; 2], Failure> {
    Ok(pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)?.into())
}

/// The answer of a call that found nothing.
fn nothing(answer: Result<usize, Errno>) -> Result<(), Failure> {
    match answer {
        Err(Errno::AGAIN) => Ok(()),
        Err(other) => Err(other.into()),
        Ok(_) => Err(Failure::wrong("something came from an empty pipe or connection")),
    }
}

/// Each turn wakes the partner, which sleeps, and waits until it has woken this task.
fn waking(setting: &Setting) -> Result<Loop, Failure> {
    let (there, our_writer) = library::pipe()?;
    let (our_reader, back) = library::pipe()?;
    let tell = |writer: &OwnedFd| exactly(1, write(writer, &[0])?);
    let hear = |reader: &OwnedFd| exactly(1, read(reader, &mut [0])?);
    let partner = setting.repeating_partner(setting.partner_cpu()?, || hear(&there).and_then(|()| tell(&back)))?;
    drop((there, back));
    tried(repeat(move || {
        let _alive = &partner;
        tell(&our_writer).and_then(|()| hear(&our_reader))
    }))
}
