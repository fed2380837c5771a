//! Pipes: to oneself, and a pair of them to a partner.

use measure::{Choice, Failure, Operation, Setting, repeat, size, term};
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

use super::{DISTANCE, ROUNDTRIP as SHAPE, SIZE, roundtrip, there_and_back};
use crate::channel::End;

/// A message to oneself: what the calls and the copies cost when nobody has to be woken.
pub(super) const ITSELF: Operation = Operation {
    id: "pipe.self",
    summary: "write to a pipe and read it back, one task",
    per: "message",
    like: &["SDAT/RCVD"],
    headline: true,
    axes: &[size(&[
        Choice::Number(1),
        Choice::Number(26),
        Choice::Number(64),
        Choice::Number(512),
        Choice::Number(4096),
        Choice::Number(65536),
    ])
    .headline(&[Choice::Number(26), Choice::Number(64)])],
    moves: |point| point.number("size").unwrap_or(0),
    explained_by: &[term(1.0, "syscall.read.null"), term(1.0, "syscall.write.null")],
    prepare: |setting| {
        let pipe = End::to_itself()?;
        // A message larger than the pipe would wait for a reader for ever. The usual capacity is 64 KiB, but a user
        // with many pipes gets smaller ones.
        if fcntl_getpipe_size(pipe.sender())? < setting.size() {
            fcntl_setpipe_size(pipe.sender(), setting.size()).map_err(|_| {
                Failure::skip("the pipe is smaller than the message", "raise /proc/sys/fs/pipe-user-pages-soft")
            })?;
        }
        let mut block = vec![0; setting.size()];
        Ok(repeat(move || {
            pipe.send(&block)?;
            pipe.receive(&mut block)
        }))
    },
    ..crate::DEFAULT
};

/// A pair of pipes to a partner. What two messages to oneself do not explain is the waking of two tasks.
pub(super) const ROUNDTRIP: Operation = Operation {
    id: "pipe.roundtrip",
    summary: "a message to a partner process through a pipe, and the answer through another",
    like: &["SDAT/RCVD"],
    axes: &[DISTANCE, SIZE],
    moves: there_and_back,
    explained_by: &[term(2.0, "pipe.self").same(&["size"])],
    prepare: |setting: &Setting| {
        let (ours, theirs) = End::pipes()?;
        roundtrip(setting, ours, theirs)
    },
    ..SHAPE
};
