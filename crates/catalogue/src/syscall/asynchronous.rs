//! Calls that submit input and output and collect the results separately: Linux's first such interface, and io_uring.

use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use operation::{Failure, Operation, repeat};
use rustix::mm::{MapFlags, ProtFlags};

use super::{BLOCK, CALL};
use crate::kit::library::mmap;
use crate::kit::{
    BoundRequest, GET_EVENTS, Null, NumberedContext, STOCK, answered, call, consuming, device, exactly, file_of,
    handles, invoke, owned, producing, tried,
};

/// Contexts created in one batch: the machine allows only a few, shared by all users. The kernel takes 30 ms to destroy each of
/// them after the batch. The first of a batch is dearer than the next, because of that wait: with four of them one cost 17.5 us
/// instead of 9.6.
const CONTEXTS: u64 = 16;

/// The offsets at which the rings and the entries are mapped, from `linux/io_uring.h`.
const RINGS: u64 = 0;
const ENTRIES: u64 = 0x1000_0000;
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
            let [context, emptied] = handles(NumberedContext::new(STOCK)?);
            let reading = BoundRequest::reading(file_of(setting, BLOCK)?, BLOCK);
            tried(
                repeat(move || reading.submit(&context))
                    .at_most(STOCK)
                    .verify(move |times| (0..times).try_for_each(|_| emptied.take().map(drop))),
            )
        }),
    CALL.named("call.io_getevents", "take the result of a completed asynchronous read").prepare(|setting| {
        let [context, filled] = handles(NumberedContext::new(STOCK)?);
        let reading = BoundRequest::reading(file_of(setting, BLOCK)?, BLOCK);
        tried(
            repeat(move || context.take().map(drop))
                .at_most(STOCK)
                .before(move |times| (0..times).try_for_each(|_| reading.submit(&filled))),
        )
    }),
    CALL.id("call.io_pgetevents")
        .summary("take the result of a completed asynchronous read, with other signals blocked meanwhile")
        .prepare(|setting| {
            let [context, filled] = handles(NumberedContext::new(STOCK)?);
            let reading = BoundRequest::reading(file_of(setting, BLOCK)?, BLOCK);
            let (mut event, mask) = ([0_u64; 4], Box::new([0_u64]));
            let signals = [mask.as_ptr() as usize, 8];
            tried(
                repeat(move || {
                    let _kept = &mask;
                    // SAFETY: there is room for one event, and the mask is kept.
                    exactly(1, unsafe { invoke!(io_pgetevents, context.number(), 1, 1, &mut event, 0, &signals) }?)
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
            answered(libc::EINPROGRESS, call::io_cancel(context.number(), waiting.block(), &mut event))?;
            Ok(Cancelled { context: Rc::clone(&context), _request: waiting })
        }))
    }),
    CALL.named("call.io_uring_setup", "create an io_uring of one entry").prepare(|_| {
        let made = producing(|| {
            let mut parameters = [0_u32; 30];
            // SAFETY: there is room for the parameters, which contain no addresses.
            Ok(owned(unsafe { invoke!(io_uring_setup, 1, &mut parameters) }?))
        });
        let mut made = tried(made.at_most(CONTEXTS))?;
        // Before Linux 5.12, rings count as locked memory, also for a while after they are closed.
        let reason = "too little memory may be locked for so many rings";
        let whole = (0..2).try_for_each(|_| made.perform(CONTEXTS));
        whole.map_err(|failure| failure.skip_on(&[libc::ENOMEM], reason, "ulimit -l unlimited, or Linux 5.12"))?;
        Ok(made)
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
    CALL.named("call.io_uring_register", "replace a file registered with an io_uring by the same file").prepare(|_| {
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
