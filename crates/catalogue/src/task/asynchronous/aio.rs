//! POSIX aio: threads of the C library read; completion is awaited, or reported by a signal.

use std::os::fd::{AsRawFd, OwnedFd};

use libc::{aiocb, c_int};
use operation::{Failure, Operation, repeat, term};

use super::{READ, check, zeros};
use crate::kit::{Mask, by_c_library};

pub(crate) const OPERATIONS: &[Operation] = &[
    READ.named(
        "async.read.posix",
        "read one byte of /dev/zero by POSIX aio (aio_read, aio_suspend), which a thread of the C library does",
    )
    .version(by_c_library(1))
    .aliases(&["QIO/WTSE"])
    .explained_by(&[term(1.0, "async.read.plain")])
    .prepare(|_| {
        let mut request = AioRequest::new(libc::SIGEV_NONE)?;
        Ok(repeat(move || {
            request.submit()?;
            request.wait()?;
            request.take()
        }))
    }),
    // Without the wait of `async.read.posix`, but with a signal, its handler and the return from it.
    READ.id("async.read.signal")
        .summary("read one byte of /dev/zero by POSIX aio, asleep until a signal's handler has run at its completion")
        .version(by_c_library(1))
        .aliases(&["QIOW w/AST"])
        .explained_by(&[term(1.0, "async.read.posix")])
        .prepare(|_| {
            let mut request = AioRequest::new(libc::SIGEV_SIGNAL)?;
            let signals = Mask::hold_off(SIGNAL_OF_COMPLETION)?;
            Ok(repeat(move || {
                request.submit()?;
                signals.sleep();
                request.take()
            }))
        }),
];

const SIGNAL_OF_COMPLETION: c_int = libc::SIGUSR1;

/// A request and its byte, at addresses that do not change while it is in progress.
struct AioRequest {
    control: Box<aiocb>,
    byte: Box<[u8; 1]>,
    _device: OwnedFd,
}

impl AioRequest {
    /// A read of one byte whose completion is reported as `notify` says.
    fn new(notify: c_int) -> Result<AioRequest, Failure> {
        let device = zeros()?;
        let mut byte = Box::new([1]);
        // SAFETY: zero is a valid value of every field.
        let mut control: Box<aiocb> = Box::new(unsafe { std::mem::zeroed() });
        control.aio_fildes = device.as_raw_fd();
        control.aio_buf = byte.as_mut_ptr().cast();
        control.aio_nbytes = 1;
        control.aio_sigevent.sigev_notify = notify;
        control.aio_sigevent.sigev_signo = SIGNAL_OF_COMPLETION;
        Ok(AioRequest { control, byte, _device: device })
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Failure> {
        self.byte[0] = 1;
        // SAFETY: the request and its byte stay in place until it has completed, which every caller awaits.
        if unsafe { libc::aio_read(&mut *self.control) } == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
    }

    #[inline]
    fn wait(&self) -> Result<(), Failure> {
        let requests: [*const aiocb; 1] = [&*self.control];
        while self.state() == libc::EINPROGRESS {
            // SAFETY: the list holds one valid request; there is no time limit.
            let status = unsafe { libc::aio_suspend(requests.as_ptr(), 1, std::ptr::null()) };
            let failure = Failure::last_os_error();
            if status != 0 && failure != (Failure::Errno { errno: libc::EINTR }) {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// The result of a completed request.
    #[inline]
    fn take(&mut self) -> Result<(), Failure> {
        match self.state() {
            0 => {}
            errno => return Err(Failure::Errno { errno }),
        }
        // SAFETY: the request has completed, and its result is taken once.
        let length = unsafe { libc::aio_return(&mut *self.control) };
        // The thread wrote it without the compiler's knowledge.
        check(length as i64, *std::hint::black_box(&self.byte[0]))
    }

    fn state(&self) -> c_int {
        // SAFETY: the request is valid.
        unsafe { libc::aio_error(&*self.control) }
    }
}

impl Drop for AioRequest {
    fn drop(&mut self) {
        // A request in progress would write into freed memory.
        while self.state() == libc::EINPROGRESS {
            std::thread::yield_now();
        }
    }
}
