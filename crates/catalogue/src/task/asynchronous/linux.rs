//! Linux aio: the kernel's older interface (`io_submit`, `io_getevents`). A read that need not wait is done while it is
//! submitted. So is this one, which is why a device without a disk will do.

use std::os::fd::{AsRawFd, OwnedFd};

use libc::{c_long, c_ulong};
use operation::{Failure, Operation, repeat, term};

use super::{check, zeros};
use crate::kit::{Null, Plain, call, exactly, invoke};

pub(crate) const OPERATIONS: &[Operation] = &[super::READ
    .named("async.read.linux", "read one byte of /dev/zero by Linux aio (io_submit, io_getevents)")
    .version(2)
    .aliases(&["QIO/WTSE"])
    .calls(&["io_submit", "io_getevents"])
    .explained_by(&[term(1.0, "async.read.plain"), term(1.0, "syscall.getppid")])
    .prepare(|_| {
        let context = Context::new()?;
        let mut request = Request::new()?;
        Ok(repeat(move || {
            context.submit(&mut request)?;
            let result = context.wait()?;
            check(result, *std::hint::black_box(&request.byte[0]))
        }))
    })];

/// `IOCB_CMD_PREAD` of the kernel's `linux/aio_abi.h`.
const READ_AT: u16 = 0;

/// `struct iocb` of the kernel's `linux/aio_abi.h`.
#[repr(C)]
#[derive(Default)]
struct ControlBlock {
    data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    flags_of_call: u32,
    #[cfg(target_endian = "big")]
    key: u32,
    operation: u16,
    priority: i16,
    file: u32,
    place: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event: u32,
}

/// `struct io_event` of the kernel's `linux/aio_abi.h`.
#[repr(C)]
#[derive(Default)]
struct Event {
    data: u64,
    control: u64,
    result: i64,
    second_result: i64,
}

// SAFETY: it consists of integers.
unsafe impl Plain for Event {}

/// A request and its byte, at addresses that do not change.
struct Request {
    control: Box<ControlBlock>,
    byte: Box<[u8; 1]>,
    _device: OwnedFd,
}

impl Request {
    fn new() -> Result<Request, Failure> {
        let device = zeros()?;
        let mut byte = Box::new([1_u8]);
        let control = Box::new(ControlBlock {
            operation: READ_AT,
            file: device.as_raw_fd() as u32,
            place: byte.as_mut_ptr().expose_provenance() as u64,
            length: 1,
            ..ControlBlock::default()
        });
        Ok(Request { control, byte, _device: device })
    }
}

/// The kernel's context of requests in progress.
struct Context {
    id: c_ulong,
}

impl Context {
    fn new() -> Result<Context, Failure> {
        const REQUESTS: c_long = 1;
        let mut id: c_ulong = 0;
        // SAFETY: the context is valid to write, and zero as the call requires.
        match unsafe { libc::syscall(libc::SYS_io_setup, REQUESTS, &mut id) } {
            0 => Ok(Context { id }),
            _ => Err(Failure::last_os_error()),
        }
    }

    #[inline]
    fn submit(&self, request: &mut Request) -> Result<(), Failure> {
        request.byte[0] = 1;
        let mut list: [*mut ControlBlock; 1] = [&mut *request.control];
        // The request and its byte stay in place until its event has arrived.
        // SAFETY: the request and its byte stay in place until its event has arrived.
        exactly(1, unsafe { invoke!(io_submit, self.id, 1, &mut list) }?)
    }

    /// Waits for one event and returns its result.
    #[inline]
    fn wait(&self) -> Result<i64, Failure> {
        let mut events = [Event::default()];
        exactly(1, call::io_getevents(self.id, 1, &mut events, Null)?)?;
        Ok(events[0].result)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is ours; the call waits for requests in progress.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}
