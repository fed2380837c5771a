//! Asynchronous completion: the same trivial read, of one byte of /dev/zero, submitted and completed in every possible way.
//! Its work is so small that the cost is that of the way. A byte that was not zero before proves the read.

pub(crate) mod aio;
pub(crate) mod linux;
pub(crate) mod uring;

use std::os::fd::OwnedFd;

use operation::{Failure, Operation, repeat, term};
use rustix::fs::{Mode, OFlags};
use rustix::io::{IoSliceMut, ReadWriteFlags};

use crate::kit::library::{open, preadv2, read};
use crate::kit::{BASE, tried};

pub(crate) const OPERATIONS: &[Operation] = &[
    READ.named("async.read.plain", "read one byte of /dev/zero: submission, wait and completion in one call")
        .aliases(&["QIOW"])
        .explained_by(&[term(1.0, "syscall.getppid")])
        .prepare(|_| {
            let device = zeros()?;
            Ok(repeat(move || {
                let mut byte = [1];
                let length = read(&device, &mut byte)?;
                check(length as i64, byte[0])
            }))
        }),
    READ.id("async.read.preadv2")
        .summary("read one byte of /dev/zero by the call that takes a position, a list of buffers and flags")
        .explained_by(&[term(1.0, "async.read.plain")])
        .calls(&["preadv2"])
        .prepare(|_| {
            let device = zeros()?;
            tried(repeat(move || {
                let mut byte = [1];
                let length = preadv2(&device, &mut [IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::empty())?;
                check(length as i64, byte[0])
            }))
        }),
];

/// The defaults of the family.
const READ: Operation = BASE.per("read").moves(|_| 1);

/// The device that is read.
fn zeros() -> Result<OwnedFd, Failure> {
    Ok(open("/dev/zero", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Checks a read's result, which is a length or a negative error number, and the byte read.
#[inline(always)]
fn check(result: i64, byte: u8) -> Result<(), Failure> {
    match (result, byte) {
        (1, 0) => Ok(()),
        (..=-1, _) => Err(Failure::Errno { errno: -result as i32 }),
        _ => Err(Failure::wrong("the byte was not read")),
    }
}
