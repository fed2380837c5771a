//! io_uring: reads submitted in batches through memory shared with the kernel.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use io_uring::{IoUring, opcode, squeue, types};
use operation::{Axis, Failure, Loop, Need, Operation, Setting, count, numbers, term};

use super::{READ, check, zeros};
use crate::kit::{GET_EVENTS, Null, call, ensure, exactly, handles, polled, register, ring};

/// Reads submitted by one call.
const BATCH: Axis = count("batch", numbers![1, 8, 64, 512]).within(1, 512);

/// The same, for operations for which the smallest and the largest number say enough.
const FEWER: Axis = count("batch", numbers![1, 64]).within(1, 512);

pub(crate) const OPERATIONS: &[Operation] = &[
    READ.id("async.read.ring")
        .summary("read one byte of /dev/zero by io_uring, this many reads submitted and awaited by one call")
        .version(2)
        .aliases(&["QIO/WTSE", "QIOW"])
        .calls(&["io_uring_enter"])
        .axes(&[BATCH])
        .explained_by(&[term(1.0, "async.read.plain")])
        .prepare(|setting| {
            let mut batch = Batch::new(setting, ring(entries(setting)?)?)?;
            batch.fill(|device, byte| opcode::Read::new(types::Fd(device), byte, 1).build());
            Ok(batch.waited_for())
        }),
    // Nothing is looked up or locked for each read.
    READ.id("async.read.ring.registered")
        .summary("read one byte of /dev/zero by io_uring, file and buffer registered, this many reads by one call")
        .version(2)
        .axes(&[FEWER])
        .explained_by(&[term(1.0, "async.read.ring").same(&["batch"])])
        .prepare(|setting| {
            let mut batch = Batch::new(setting, ring(entries(setting)?)?)?;
            batch.register()?;
            Ok(batch.waited_for())
        }),
    // No system call at all: a kernel thread on another CPU polls the ring, and this task polls for completions.
    READ.named(
        "async.read.ring.polled",
        "read one byte of /dev/zero by io_uring whose kernel thread on another CPU polls for requests (SQPOLL)",
    )
    .axes(&[FEWER])
    .needs(&[Need::TwoCpus])
    .explained_by(&[term(1.0, "async.read.ring.registered").same(&["batch"])])
    .prepare(|setting| {
        // The kernel's thread may complete a batch before it has reported that the batch's slots are free again.
        let mut batch = Batch::new(setting, polled(setting, 2 * entries(setting)?)?)?;
        batch.register()?;
        Ok(batch.watched_for())
    }),
];

fn entries(setting: &Setting) -> Result<u32, Failure> {
    Ok(setting.number("batch")? as u32)
}

/// A ring, and a batch of reads that is submitted repeatedly. The bytes stay in place. The ring is dropped before the bytes
/// that it reads into.
struct Batch {
    ring: IoUring,
    requests: Vec<squeue::Entry>,
    bytes: Vec<u8>,
    device: OwnedFd,
}

impl Batch {
    fn new(setting: &Setting, ring: IoUring) -> Result<Batch, Failure> {
        let bytes = vec![1; setting.number("batch")? as usize];
        Ok(Batch { ring, requests: Vec::with_capacity(bytes.len()), bytes, device: zeros()? })
    }

    /// Creates the requests, each for a separate byte.
    fn fill(&mut self, request: impl Fn(i32, *mut u8) -> squeue::Entry) {
        let device = self.device.as_raw_fd();
        self.requests.extend(self.bytes.iter_mut().map(|byte| request(device, byte)));
    }

    /// Registers the file and the bytes with the kernel, and changes the requests to refer to them.
    fn register(&mut self) -> Result<(), Failure> {
        // SAFETY: the bytes stay in place until the ring is dropped.
        unsafe { register(&self.ring, &self.device, std::iter::once(&mut self.bytes[..])) }?;
        self.fill(|_, byte| opcode::ReadFixed::new(types::Fixed(0), byte, 1, 0).build());
        Ok(())
    }

    /// The loop in which one call submits the batch and waits for it.
    fn waited_for(self) -> Loop {
        let reads = self.requests.len();
        let [batch, before, after] = handles(RefCell::new(self));
        let batches = Loop::new(move |times| {
            let mut batch = batch.borrow_mut();
            (0..times).try_for_each(|_| {
                batch.push()?;
                batch.enter()?;
                exactly(reads, batch.collect()?)
            })
        });
        let batches = batches.before(move |_| {
            before.borrow_mut().bytes.fill(1);
            Ok(())
        });
        batches.verify(move |_| after.borrow().complete(reads)).unrolled(reads as u64)
    }

    /// The loop without system calls. The kernel's thread is awake from the beginning of the batch, and asleep again before
    /// anything else is timed.
    fn watched_for(self) -> Loop {
        let reads = self.requests.len() as u64;
        let [batch, before, after] = handles(RefCell::new(self));
        let batches = Loop::new(move |times| {
            let mut batch = batch.borrow_mut();
            (0..times).try_for_each(|_| batch.round())
        });
        let batches = batches.before(move |_| before.borrow_mut().round());
        let batches = batches.verify(move |_| {
            while !after.borrow_mut().ring.submission().need_wakeup() {
                std::thread::sleep(Duration::from_micros(100));
            }
            Ok(())
        });
        batches.unrolled(reads)
    }

    /// Submits the batch and waits for all of it, with the system call itself: the library first checks the ring's flags,
    /// which only other kinds of rings set, and goes through the C library.
    #[inline(always)]
    fn enter(&self) -> Result<(), Failure> {
        let reads = self.requests.len();
        exactly(reads, call::io_uring_enter(self.ring.as_raw_fd(), reads, reads, GET_EVENTS, Null, 0)?)
    }

    /// Submits the batch and polls for its completion. Wakes the kernel's thread if it is asleep.
    fn round(&mut self) -> Result<(), Failure> {
        self.bytes.fill(1);
        self.push()?;
        self.ring.submit()?;
        let mut completed = 0;
        while completed < self.requests.len() {
            std::hint::spin_loop();
            completed += self.collect()?;
        }
        self.complete(completed)
    }

    /// Advances the tail of the ring by the batch: plain loads, and one release store. No locked instruction.
    #[inline(always)]
    fn push(&mut self) -> Result<(), Failure> {
        // SAFETY: the bytes that the requests refer to stay in place, and the batch is awaited before they are used.
        unsafe { self.ring.submission().push_multiple(&self.requests) }.map_err(|_| Failure::wrong("the ring is full"))
    }

    /// Takes the completions that are there and checks each. Returns their number.
    #[inline]
    fn collect(&mut self) -> Result<usize, Failure> {
        let mut completed = 0;
        for completion in self.ring.completion() {
            check(i64::from(completion.result()), 0)?;
            completed += 1;
        }
        Ok(completed)
    }

    /// Checks that the whole batch was read.
    #[inline]
    fn complete(&self, completed: usize) -> Result<(), Failure> {
        // The kernel wrote them without the compiler's knowledge.
        let read = std::hint::black_box(&self.bytes).iter().all(|&byte| byte == 0);
        let all = completed == self.requests.len();
        ensure(read && all, || "not all bytes were read")
    }
}
