//! io_uring: reads asked for in batches through memory shared with the kernel.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use io_uring::{IoUring, opcode, squeue, types};
use operation::{Axis, Failure, Loop, Need, Operation, Setting, Value, count, term};

use super::{READ, check, zeros};
use crate::kit::check::exactly;
use crate::kit::invoke::call;
use crate::kit::ring::{build, ring};

/// Reads asked for by one call.
const BATCH: Axis =
    count("batch", &[Value::Number(1), Value::Number(8), Value::Number(64), Value::Number(512)]).within(1, 512);

/// The same, where its ends say enough.
const FEWER: Axis = count("batch", &[Value::Number(1), Value::Number(64)]).within(1, 512);

pub(crate) const OPERATIONS: &[Operation] = &[
    // One call asks for a batch of reads and waits for them all.
    Operation {
        id: "async.read.ring",
        version: 2,
        summary: "read one byte of /dev/zero by io_uring, so many reads asked and waited for by one call",
        aliases: &["QIO/WTSE", "QIOW"],
        calls: &["io_uring_enter"],
        axes: &[BATCH],
        explained_by: &[term(1.0, "async.read.plain")],
        prepare: |setting| {
            let mut batch = Batch::new(setting, ring(entries(setting))?)?;
            batch.fill(|device, byte| opcode::Read::new(types::Fd(device), byte, 1).build());
            Ok(batch.waited_for())
        },
        ..READ
    },
    // Nothing is looked up or locked per read.
    Operation {
        id: "async.read.ring.registered",
        version: 2,
        summary: "read one byte of /dev/zero by io_uring, file and buffer registered, so many reads by one call",
        axes: &[FEWER],
        explained_by: &[term(1.0, "async.read.ring").same(&["batch"])],
        prepare: |setting| {
            let mut batch = Batch::new(setting, ring(entries(setting))?)?;
            batch.register()?;
            Ok(batch.waited_for())
        },
        ..READ
    },
    // No call at all: a thread of the kernel on another CPU watches the ring, and we watch for its completions.
    Operation {
        id: "async.read.ring.polled",
        summary: "read one byte of /dev/zero by io_uring whose kernel thread on another CPU polls for requests (SQPOLL)",
        axes: &[FEWER],
        needs: &[Need::TwoCpus],
        explained_by: &[term(1.0, "async.read.ring.registered").same(&["batch"])],
        prepare: |setting| {
            let mut builder = IoUring::builder();
            builder.setup_sqpoll(AWAKE).setup_sqpoll_cpu(setting.other_cpu()?);
            // The kernel's thread may complete a batch before it has said that the batch's places are free again.
            let mut batch = Batch::new(setting, build(builder, 2 * entries(setting))?)?;
            batch.register()?;
            Ok(batch.watched_for())
        },
        ..READ
    },
];

/// Milliseconds that the kernel's thread polls on after the last request: longer than any pause in a batch, and the fewest there are, for
/// it would run beside the clock's checks between batches.
const AWAKE: u32 = 1;

/// `IORING_ENTER_GETEVENTS` of the kernel's `linux/io_uring.h`.
const GET_EVENTS: u32 = 1;

/// As many as a batch has.
fn entries(setting: &Setting) -> u32 {
    setting.number("batch") as u32
}

/// A ring, and a batch of reads that is asked for again and again. The bytes stay in place; the ring is dropped first,
/// before what it reads into.
struct Batch {
    ring: IoUring,
    requests: Vec<squeue::Entry>,
    bytes: Vec<u8>,
    device: OwnedFd,
}

impl Batch {
    fn new(setting: &Setting, ring: IoUring) -> Result<Batch, Failure> {
        let bytes = vec![1; setting.number("batch") as usize];
        Ok(Batch { ring, requests: Vec::with_capacity(bytes.len()), bytes, device: zeros()? })
    }

    /// Makes the requests, each for a byte of its own.
    fn fill(&mut self, request: impl Fn(i32, *mut u8) -> squeue::Entry) {
        let device = self.device.as_raw_fd();
        self.requests.extend(self.bytes.iter_mut().map(|byte| request(device, byte)));
    }

    /// Tells the kernel the file and the bytes beforehand, and makes the requests refer to that.
    fn register(&mut self) -> Result<(), Failure> {
        self.ring.submitter().register_files(&[self.device.as_raw_fd()])?;
        let bytes = libc::iovec { iov_base: self.bytes.as_mut_ptr().cast(), iov_len: self.bytes.len() };
        // SAFETY: the bytes stay in place until the ring is gone.
        unsafe { self.ring.submitter().register_buffers(&[bytes]) }?;
        self.fill(|_, byte| opcode::ReadFixed::new(types::Fixed(0), byte, 1, 0).build());
        Ok(())
    }

    /// The loop in which one call asks for the batch and waits for it.
    fn waited_for(self) -> Loop {
        let reads = self.requests.len();
        let batch = Rc::new(RefCell::new(self));
        let (before, after) = (Rc::clone(&batch), Rc::clone(&batch));
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

    /// The loop in which nobody is called. The kernel's thread is awake from the batch's beginning on, and asleep again
    /// before anything else is timed.
    fn watched_for(self) -> Loop {
        let reads = self.requests.len() as u64;
        let batch = Rc::new(RefCell::new(self));
        let (before, after) = (Rc::clone(&batch), Rc::clone(&batch));
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

    /// Asks for the batch and waits for all of it, by the call itself: the library looks at the ring's flags first, which
    /// only other kinds of rings set, and goes by the C library.
    #[inline(always)]
    fn enter(&self) -> Result<(), Failure> {
        let reads = self.requests.len();
        exactly(reads, call!(io_uring_enter, self.ring.as_raw_fd(), reads, reads, GET_EVENTS, 0, 0)?)
    }

    /// Asks for the batch and watches for its completion; wakes the kernel's thread if that is asleep.
    fn round(&mut self) -> Result<(), Failure> {
        self.prepare()?;
        self.ring.submit()?;
        let mut completed = 0;
        while completed < self.requests.len() {
            std::hint::spin_loop();
            completed += self.collect()?;
        }
        self.complete(completed)
    }

    /// Puts the batch into the ring, its bytes unread.
    #[inline]
    fn prepare(&mut self) -> Result<(), Failure> {
        self.bytes.fill(1);
        self.push()
    }

    /// Moves the tail of the ring by the batch: plain loads, and one store that releases. Nothing is locked.
    #[inline(always)]
    fn push(&mut self) -> Result<(), Failure> {
        // SAFETY: the bytes that the requests refer to stay in place, and the batch is waited for before they are used.
        unsafe { self.ring.submission().push_multiple(&self.requests) }.map_err(|_| Failure::wrong("the ring is full"))
    }

    /// Takes the completions that are there and checks each; returns how many there were.
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
        // The kernel wrote them behind the compiler's back.
        let read = std::hint::black_box(&self.bytes).iter().all(|&byte| byte == 0);
        let all = completed == self.requests.len();
        if read && all { Ok(()) } else { Err(Failure::wrong("not all bytes were read")) }
    }
}
