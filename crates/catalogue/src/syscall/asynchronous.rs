//! Calls that submit input and output and collect the results separately: Linux's first such interface, and io_uring.

use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use operation::{Failure, Operation, repeat};
use rustix::event::{EventfdFlags, eventfd};
use rustix::mm::{MapFlags, ProtFlags, mmap};

use super::{BLOCK, CALL};
use crate::kit::{
    Null, STOCK, answered, call, consuming, device, exactly, file_of, handles, invoke, owned, producing, tried,
};

/// Contexts created in one batch: the machine allows only a few, shared by all users. The kernel takes 30 ms to destroy each of
/// them after the batch. The first of a batch is dearer than the next, because of that wait: with four of them one cost 17.5 us
/// instead of 9.6.
const CONTEXTS: u64 = 16;

/// The operations of the kernel used here, as numbered in `linux/aio_abi.h`.
const READ: u16 = 0;
const POLL: u16 = 5;

/// The offsets at which the rings and the entries are mapped, from `linux/io_uring.h`.
const RINGS: u64 = 0;
const ENTRIES: u64 = 0x1000_0000;
const GET_EVENTS: u32 = 1;
const REGISTER_FILES: u32 = 2;
const UPDATE_FILES: u32 = 6;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.io_setup", "create a context for asynchronous reads and writes")
        .prepare(|_| tried(producing(|| NumberedContext::new(1)).at_most(CONTEXTS))),
    CALL.named("call.io_destroy", "destroy a context for asynchronous reads and writes")
        // It waits until all CPUs have released it.
        .waits(|_| true)
        .prepare(|_| tried(consuming(|| NumberedContext::new(1), NumberedContext::destroy).at_most(CONTEXTS))),
    CALL.id("call.io_submit")
        .summary("submit a read of 512 bytes of a file that is in memory; it is complete when the call returns")
        .moves(|_| BLOCK as u64)
        .prepare(|setting| {
            let (context, reading) =
                (Rc::new(NumberedContext::new(STOCK)?), BoundRequest::reading(file_of(setting, BLOCK)?));
            let emptied = Rc::clone(&context);
            tried(
                repeat(move || reading.submit(&context))
                    .at_most(STOCK)
                    .verify(move |times| (0..times).try_for_each(|_| emptied.take())),
            )
        }),
    CALL.named("call.io_getevents", "take the result of a completed asynchronous read").prepare(|setting| {
        let (context, reading) =
            (Rc::new(NumberedContext::new(STOCK)?), BoundRequest::reading(file_of(setting, BLOCK)?));
        let filled = Rc::clone(&context);
        tried(
            repeat(move || context.take())
                .at_most(STOCK)
                .before(move |times| (0..times).try_for_each(|_| reading.submit(&filled))),
        )
    }),
    CALL.id("call.io_pgetevents")
        .summary("take the result of a completed asynchronous read, with other signals blocked meanwhile")
        .prepare(|setting| {
            let (context, reading) =
                (Rc::new(NumberedContext::new(STOCK)?), BoundRequest::reading(file_of(setting, BLOCK)?));
            let filled = Rc::clone(&context);
            let (mut event, mask) = ([0_u64; 4], Box::new([0_u64]));
            let signals = [mask.as_ptr() as usize, 8];
            tried(
                repeat(move || {
                    let _kept = &mask;
                    // SAFETY: there is room for one event, and the mask is kept.
                    exactly(1, unsafe { invoke!(io_pgetevents, context.0, 1, 1, &mut event, 0, &signals) }?)
                })
                .at_most(STOCK)
                .before(move |times| (0..times).try_for_each(|_| reading.submit(&filled))),
            )
        }),
    CALL.named("call.io_cancel", "cancel an asynchronous wait for a descriptor").waits(|_| true).prepare(|_| {
        let [context, filled] = handles(NumberedContext::new(STOCK)?);
        let make = move || {
            let waiting = BoundRequest::waiting()?;
            waiting.submit(&filled)?;
            Ok(waiting)
        };
        let mut event = [0_u64; 4];
        tried(consuming(make, move |waiting: BoundRequest| {
            // This error means success; the result arrives like all others.
            answered(libc::EINPROGRESS, call::io_cancel(context.0, waiting.block(), &mut event))?;
            Ok(Cancelled { context: Rc::clone(&context), _request: waiting })
        }))
    }),
    CALL.named("call.io_uring_setup", "create an io_uring of one entry").prepare(|_| {
        tried(
            producing(|| {
                let mut parameters = [0_u32; 30];
                // SAFETY: there is room for the parameters, which contain no addresses.
                Ok(owned(unsafe { invoke!(io_uring_setup, 1, &mut parameters) }?))
            })
            .at_most(CONTEXTS),
        )
    }),
    CALL.named("call.io_uring_enter", "submit one request that does nothing to an io_uring, and take its result")
        .version(2)
        .prepare(|_| {
            let ring = Ring::new()?;
            tried(repeat(move || {
                ring.submit();
                exactly(1, call::io_uring_enter(&ring.descriptor, 1, 1, GET_EVENTS, Null, 0)?)?;
                exactly(1, ring.take() as usize)
            }))
        }),
    CALL.named("call.io_uring_register", "replace a file registered with an io_uring by another").prepare(|_| {
        let (ring, null) = (Ring::new()?, device(c"/dev/null")?);
        let files = Box::new([null.as_raw_fd()]);
        // SAFETY: there is one file.
        exactly(0, unsafe { invoke!(io_uring_register, &ring.descriptor, REGISTER_FILES, &*files, 1) }?)?;
        let update = [0_u64, files.as_ptr() as u64];
        tried(repeat(move || {
            let _kept = (&files, &null);
            // SAFETY: there is one update, and its file is kept.
            exactly(1, unsafe { invoke!(io_uring_register, &ring.descriptor, UPDATE_FILES, &update, 1) }?)
        }))
    }),
];

/// A context for asynchronous reads and writes, identified by the kernel's number.
struct NumberedContext(u64);

impl NumberedContext {
    fn new(requests: u64) -> Result<NumberedContext, Failure> {
        let mut number = [0_u64];
        match call::io_setup(requests, &mut number) {
            Ok(_) => Ok(NumberedContext(number[0])),
            Err(Failure::Errno { errno: libc::EAGAIN }) => {
                Err(Failure::skip("other processes use all contexts for asynchronous requests", "raise fs.aio-max-nr"))
            }
            Err(failure) => Err(failure),
        }
    }

    fn destroy(self) -> Result<(), Failure> {
        let number = self.0;
        std::mem::forget(self);
        exactly(0, call::io_destroy(number)?)
    }

    /// Takes one result, and waits for it if necessary.
    #[inline(always)]
    fn take(&self) -> Result<(), Failure> {
        let mut event = [0_u64; 4];
        exactly(1, call::io_getevents(self.0, 1, &mut event, Null)?)
    }
}

impl Drop for NumberedContext {
    fn drop(&mut self) {
        let _ = call::io_destroy(self.0);
    }
}

/// A request in the layout of `struct iocb` of `linux/aio_abi.h`, with the descriptor and buffer it refers to.
struct BoundRequest {
    block: Box<[u64; 8]>,
    _about: (OwnedFd, Box<[u8; BLOCK]>),
}

impl BoundRequest {
    /// A request to read the first block of a file.
    fn reading(file: OwnedFd) -> BoundRequest {
        let mut room = Box::new([0_u8; BLOCK]);
        let address = room.as_mut_ptr() as u64;
        BoundRequest { block: BoundRequest::words(READ, &file, address, BLOCK as u64), _about: (file, room) }
    }

    /// A request to wait until a descriptor is readable, which never happens.
    fn waiting() -> Result<BoundRequest, Failure> {
        let counter = eventfd(0, EventfdFlags::CLOEXEC)?;
        let block = BoundRequest::words(POLL, &counter, libc::POLLIN as u64, 0);
        Ok(BoundRequest { block, _about: (counter, Box::new([0; BLOCK])) })
    }

    /// The fields: key and flags, operation and descriptor, address, length, offset and the rest.
    fn words(operation: u16, descriptor: &OwnedFd, address: u64, length: u64) -> Box<[u64; 8]> {
        let third = u64::from(operation) | (descriptor.as_raw_fd() as u64) << 32;
        Box::new([0, 0, third, address, length, 0, 0, 0])
    }

    fn block(&self) -> &[u64; 8] {
        &self.block
    }

    #[inline(always)]
    fn submit(&self, context: &NumberedContext) -> Result<(), Failure> {
        let list = [self.block.as_ptr()];
        // SAFETY: the request and the memory that it refers to stay in place until its event has arrived.
        exactly(1, unsafe { invoke!(io_submit, context.0, 1, &list) }?)
    }
}

/// A cancelled request whose result has not been taken yet.
struct Cancelled {
    context: Rc<NumberedContext>,
    _request: BoundRequest,
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        let _ = self.context.take();
    }
}

/// An io_uring of one entry, which requests nothing.
struct Ring {
    descriptor: OwnedFd,
    /// The tail of the requests, and the head and the tail of the results, in memory shared with the kernel.
    words: [&'static AtomicU32; 3],
}

impl Ring {
    fn new() -> Result<Ring, Failure> {
        // Ten words, then two groups of ten words with the offsets of the parts of each ring.
        let mut parameters = [0_u32; 30];
        // SAFETY: there is room for the parameters, which contain no addresses.
        let descriptor = owned(unsafe { invoke!(io_uring_setup, 1, &mut parameters) }?);
        let rings = map(&descriptor, RINGS)?;
        map(&descriptor, ENTRIES)?;
        let word = |at: usize| {
            let place = rings.wrapping_add(parameters[at] as usize).cast();
            // SAFETY: the kernel says that this offset is a word of the rings, which stay mapped as long as the process
            // lives.
            unsafe { AtomicU32::from_ptr(place) }
        };
        Ok(Ring { words: [word(11), word(20), word(21)], descriptor })
    }

    /// Submits one request. Its entry is all zero, which requests nothing.
    #[inline(always)]
    fn submit(&self) {
        // Only this process changes the tail, so no locked instruction such as `fetch_add` is needed.
        let tail = self.words[0].load(Ordering::Relaxed);
        self.words[0].store(tail.wrapping_add(1), Ordering::Release);
    }

    /// Takes all results that are there. Returns their number.
    #[inline(always)]
    fn take(&self) -> u32 {
        let (tail, head) = (self.words[2].load(Ordering::Acquire), self.words[1].load(Ordering::Relaxed));
        self.words[1].store(tail, Ordering::Release);
        tail.wrapping_sub(head)
    }
}

/// Maps a page of an io_uring permanently.
fn map(ring: &OwnedFd, offset: u64) -> Result<*mut u8, Failure> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::POPULATE;
    // SAFETY: the kernel chooses a free address, so no memory in use is replaced.
    Ok(unsafe { mmap(std::ptr::null_mut(), 4096, access, flags, ring, offset) }?.cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_answers_every_request_of_a_ring() {
        const TIMES: u32 = 23;
        let Ok(ring) = Ring::new() else {
            testing::left_out!("io_uring is refused here");
            return;
        };
        // The kernel alone writes the tail of the results.
        let answered = || ring.words[2].load(Ordering::Acquire);
        assert_eq!(answered(), 0);
        for taken in 1..=TIMES {
            ring.submit();
            assert_eq!(call::io_uring_enter(&ring.descriptor, 1, 1, GET_EVENTS, Null, 0).expect("entered"), 1);
            assert_eq!((answered(), ring.take(), ring.take()), (taken, 1, 0));
        }
    }

    /// Loads and release stores are plain moves on x86-64. All else that changes shared memory at once is a locked instruction.
    #[test]
    fn a_ring_is_driven_by_loads_and_stores_alone() {
        let text = include_str!("asynchronous.rs").split("#[cfg(test)]").next().unwrap_or_default();
        let ring = text.split("impl Ring {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("the ring");
        let code: String = ring.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        assert!(code.contains("fn submit(") && code.contains("fn take(") && code.contains("Release"), "{code}");
        for locked in ["fetch_", "swap", "compare_", "SeqCst", "AcqRel", "fence("] {
            assert!(!code.contains(locked), "{locked} in the loop of call.io_uring_enter");
        }
    }
}
