//! Linux aio: the kernel's older interface for requests that are submitted and collected separately.

use std::os::fd::{AsRawFd, OwnedFd};

use operation::Failure;
use rustix::event::{EventfdFlags, eventfd};

use super::call;
use super::check::exactly;
use super::invoke::{Null, invoke};

/// The operations of the kernel used here, as numbered in `linux/aio_abi.h`.
const READ: u16 = 0;
const POLL: u16 = 5;

/// The bytes that a request may read.
const ROOM: usize = 512;

/// A context for asynchronous reads and writes, identified by the kernel's number.
pub(crate) struct NumberedContext(u64);

impl NumberedContext {
    pub(crate) fn new(requests: u64) -> Result<NumberedContext, Failure> {
        let mut number = [0_u64];
        match call::io_setup(requests, &mut number) {
            Ok(_) => Ok(NumberedContext(number[0])),
            Err(Failure::Errno { errno: libc::EAGAIN }) => {
                Err(Failure::skip("other processes use all contexts for asynchronous requests", "raise fs.aio-max-nr"))
            }
            Err(failure) => Err(failure),
        }
    }

    pub(crate) fn destroy(self) -> Result<(), Failure> {
        let number = self.0;
        std::mem::forget(self);
        exactly(0, call::io_destroy(number)?)
    }

    #[inline(always)]
    pub(crate) fn number(&self) -> u64 {
        self.0
    }

    /// Takes one result, and waits for it if necessary: a length or a negative error number.
    #[inline(always)]
    pub(crate) fn take(&self) -> Result<i64, Failure> {
        // The structure `io_event`: the request's own word, its address, the result and a second one.
        let mut event = [0_u64; 4];
        exactly(1, call::io_getevents(self.0, 1, &mut event, Null)?)?;
        Ok(event[2] as i64)
    }
}

impl Drop for NumberedContext {
    fn drop(&mut self) {
        let _ = call::io_destroy(self.0);
    }
}

/// A request in the layout of `struct iocb` of `linux/aio_abi.h`, with the descriptor and buffer it refers to.
pub(crate) struct BoundRequest {
    block: Box<[u64; 8]>,
    room: Box<[u8; ROOM]>,
    _about: OwnedFd,
}

impl BoundRequest {
    /// A request to read this many bytes from the beginning of a file, up to [`ROOM`].
    pub(crate) fn reading(file: OwnedFd, length: usize) -> BoundRequest {
        let length = length.min(ROOM);
        let mut room = Box::new([0; ROOM]);
        let address = room.as_mut_ptr().expose_provenance() as u64;
        BoundRequest { block: BoundRequest::words(READ, &file, address, length as u64), room, _about: file }
    }

    /// A request to wait until a descriptor is readable, which never happens.
    pub(crate) fn waiting() -> Result<BoundRequest, Failure> {
        let counter = eventfd(0, EventfdFlags::CLOEXEC)?;
        let block = BoundRequest::words(POLL, &counter, libc::POLLIN as u64, 0);
        Ok(BoundRequest { block, room: Box::new([0; ROOM]), _about: counter })
    }

    /// The fields: key and flags, operation and descriptor, address, length, offset and the rest.
    fn words(operation: u16, descriptor: &OwnedFd, address: u64, length: u64) -> Box<[u64; 8]> {
        let third = u64::from(operation) | (descriptor.as_raw_fd() as u64) << 32;
        Box::new([0, 0, third, address, length, 0, 0, 0])
    }

    /// The first byte that is read.
    #[inline(always)]
    pub(crate) fn first_byte(&mut self) -> &mut u8 {
        &mut self.room[0]
    }

    pub(crate) fn block(&self) -> &[u64; 8] {
        &self.block
    }

    #[inline(always)]
    pub(crate) fn submit(&self, context: &NumberedContext) -> Result<(), Failure> {
        let list = [self.block.as_ptr()];
        // SAFETY: the request and the memory that it refers to stay in place until its event has arrived.
        exactly(1, unsafe { invoke!(io_submit, context.0, 1, &list) }?)
    }
}
