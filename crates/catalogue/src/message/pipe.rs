//! Pipes, with and without a name: to the same task, and a pair of them to a partner.

use std::os::fd::OwnedFd;

use operation::{Failure, Operation, Setting, numbers, size, term};
use rustix::fs::{CWD, Mode, OFlags, fcntl_setfl, mkfifoat, unlink};

use super::{
    DISTANCE_AND_FURTHER, ENDS, NEAR_OR_FAR, ROUNDTRIP, SELF, SIZE, SMALL, TRIP, is_further, itself, roundtrip,
    there_and_back,
};
use crate::kit::library::open;
use crate::kit::{End, hold};

pub(crate) const OPERATIONS: &[Operation] = &[
    // A message to the same task: the cost of the calls and the copies if no task must be woken.
    SELF.named("pipe.self", "write to a pipe and read it back, one task")
        .aliases(&["SDAT/RCVD", "VSDA/VRCD"])
        .calls(&["write", "read"])
        .headline()
        .axes(&[size(numbers![1, 26, 64, 512, 4096, 65536]).headline(numbers![26, 64]).within(1, 1 << 20)])
        .explained_by(&[term(1.0, "syscall.read.null"), term(1.0, "syscall.write.null")])
        .prepare(|setting| {
            let pipe = End::to_itself()?;
            hold(pipe.sender(), setting.size()?)?;
            itself(setting, pipe)
        }),
    // A pair of pipes to a partner. What two messages to the same task do not explain is the waking of two tasks.
    ROUNDTRIP
        .named("pipe.roundtrip", "a message to a partner process through a pipe, and the answer through another")
        .aliases(&["SDAT/RCVD", "VSDA/VRCD"])
        .axes(&[DISTANCE_AND_FURTHER, SIZE])
        // The distance of the partner shows at any size, and best at the smallest.
        .has_point(|point| !is_further(point) || point.number("size") == Some(26))
        .moves(there_and_back)
        .explained_by(&[term(2.0, "pipe.self").same(&["size"])])
        .prepare(|setting| roundtrip(setting, End::pipes()?)),
];

pub(crate) const FIFOS: &[Operation] = &[
    // Once open, a FIFO is a pipe; only its inode belongs to the file system.
    SELF.named("fifo.self", "write to a named pipe (FIFO) and read it back, one task")
        .axes(&[ENDS])
        .explained_by(&[term(1.0, "pipe.self").same(&["size"])])
        .prepare(|setting| {
            let (receiver, sender) = fifo(setting, "fifo")?;
            let fifo = End::new(receiver, sender);
            hold(fifo.sender(), setting.size()?)?;
            itself(setting, fifo)
        }),
    TRIP.id("fifo.roundtrip")
        .summary("a message to a partner process through a named pipe (FIFO), and the answer through another")
        .axes(&[NEAR_OR_FAR, SMALL])
        .moves(there_and_back)
        .explained_by(&[term(2.0, "fifo.self").same(&["size"])])
        .prepare(|setting| {
            let (our_receiver, their_sender) = fifo(setting, "answers")?;
            let (their_receiver, our_sender) = fifo(setting, "messages")?;
            roundtrip(setting, (End::new(our_receiver, our_sender), End::new(their_receiver, their_sender)))
        }),
];

/// Both ends of a FIFO in the scratch folder. Its name is removed again.
fn fifo(setting: &Setting, name: &str) -> Result<(OwnedFd, OwnedFd), Failure> {
    let path = setting.scratch().join(name);
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR)?;
    // The read end is opened first and without waiting; otherwise each open would wait for the other.
    let receiver = open(&path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let sender = open(&path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    fcntl_setfl(&receiver, OFlags::empty())?;
    unlink(&path)?;
    Ok((receiver, sender))
}
