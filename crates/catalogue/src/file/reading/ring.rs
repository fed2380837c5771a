//! Readers by io_uring: a number of records in flight at a time, each summed when it arrives, in any order.

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use io_uring::{IoUring, opcode, squeue, types};
use operation::{Failure, Need, Operation, Setting, term};
use rustix::fs::OFlags;

use super::order::VisitPlan;
use super::pass::{Reader, summing};
use super::plain::direct;
use super::source::whole;
use super::sum::{Take, sum};
use super::{DEEP, DEEP_DIRECT, DEEP_POINTS, READ, THE_SUM};
use crate::kit::{Block, polled, register, ring, submit};

pub(crate) const OPERATIONS: &[Operation] = &[
    PLAIN,
    // Nothing is looked up or locked for each read.
    READ.named("read.uring.registered", "read a file and add it up: io_uring with file and buffers registered")
        .axes(DEEP)
        .has_point(DEEP_POINTS)
        .prepare(|setting| {
            summing(setting, |source, plan| {
                requested(setting, source.open_with(OFlags::empty())?, plan, sum)?.registered()
            })
        }),
    // No system call to submit: a kernel thread on another CPU polls the ring, and this task polls for completions.
    READ.id("read.uring.polled")
        .summary("read a file and add it up: io_uring whose kernel thread on another CPU polls for requests (SQPOLL)")
        .axes(DEEP)
        .has_point(DEEP_POINTS)
        .needs(&[Need::TwoCpus])
        .waits(|_| true)
        .prepare(|setting| {
            summing(setting, |source, plan| {
                let ring = polled(setting, 2 * depth(setting))?;
                if !ring.params().is_feature_sqpoll_nonfixed() {
                    return Err(Failure::skip(
                        "such a ring takes only registered files before Linux 5.11",
                        "a newer kernel",
                    ));
                }
                let file = source.open_with(OFlags::empty())?;
                Ok(ReadRing { polls: true, ..ReadRing::new(ring, file, depth(setting), (plan, sum))? })
            })
        }),
    DIRECT,
];

pub(super) const PLAIN: Operation = READ
    .named("read.uring", "read a file and add it up: io_uring with several records in flight")
    .axes(DEEP)
    .has_point(DEEP_POINTS)
    .explained_by(&[term(1.0, "read.uring.unused").same(&["state", "depth", "order", "record", "file"]), THE_SUM])
    .prepare(|setting| {
        summing(setting, |source, plan| requested(setting, source.open_with(OFlags::empty())?, plan, sum))
    });

pub(super) const DIRECT: Operation = READ
    .named(
        "read.uring.direct",
        "read a file and add it up: io_uring bypassing the page cache (O_DIRECT), with several records in flight",
    )
    .axes(DEEP_DIRECT)
    .has_point(DEEP_POINTS)
    .explained_by(&[
        term(1.0, "read.uring.direct.unused").same(&["state", "depth", "order", "record", "file"]),
        THE_SUM,
    ])
    .prepare(|setting| summing(setting, |source, plan| requested(setting, direct(source, plan)?, plan, sum)));

/// A ring that reads a file and passes its records to `take`.
pub(super) fn requested(setting: &Setting, file: OwnedFd, plan: VisitPlan, take: Take) -> Result<ReadRing, Failure> {
    ReadRing::new(ring(2 * depth(setting))?, file, depth(setting), (plan, take))
}

/// The bytes requested before the kernel is notified, while there are completions to process. The device must not stand
/// still until all completions have been summed, and small records must not need a call each.
const AT_ONCE: u64 = 64 << 10;

/// The most requests in flight.
fn depth(setting: &Setting) -> u32 {
    setting.point().number("depth").unwrap_or(1).clamp(1, 4096) as u32
}

/// A ring, and a buffer for each request in flight. The ring is dropped before the buffers that it reads into.
pub(super) struct ReadRing {
    ring: IoUring,
    file: OwnedFd,
    places: Vec<ReadBuffer>,
    plan: VisitPlan,
    take: Take,
    registered: bool,
    polls: bool,
}

struct ReadBuffer {
    block: Block,
    /// Which record it is.
    offset: u64,
}

impl ReadRing {
    fn new(ring: IoUring, file: OwnedFd, depth: u32, (plan, take): (VisitPlan, Take)) -> Result<ReadRing, Failure> {
        if u64::from(depth) * plan.record > system::machine::available_memory() / 8 {
            let needed = record::Bytes(u64::from(depth) * plan.record);
            return Err(Failure::skip(
                format!("the buffers of so many requests take {needed}"),
                "a smaller depth or record",
            ));
        }
        let places = (0..depth).map(|_| ReadBuffer { block: Block::new(plan.record as usize), offset: 0 }).collect();
        Ok(ReadRing { ring, file, places, plan, take, registered: false, polls: false })
    }

    fn registered(mut self) -> Result<ReadRing, Failure> {
        let buffers = self.places.iter_mut().map(|place| place.block.bytes());
        // SAFETY: the buffers stay where they are until the ring is dropped.
        unsafe { register(&self.ring, &self.file, buffers) }?;
        Ok(ReadRing { registered: true, ..self })
    }

    /// Puts the request for the record at `offset` into the ring.
    fn enqueue(&mut self, index: usize, offset: u64) -> Result<(), Failure> {
        let place = &mut self.places[index];
        place.offset = offset;
        let bytes = place.block.bytes();
        // Direct reads are of whole blocks; the end of the file truncates the last one.
        let (start, length) = (bytes.as_mut_ptr(), bytes.len() as u32);
        let request = match self.registered {
            true => opcode::ReadFixed::new(types::Fixed(0), start, length, index as u16).offset(offset).build(),
            false => opcode::Read::new(types::Fd(self.file.as_raw_fd()), start, length).offset(offset).build(),
        };
        self.push(&request.user_data(index as u64))
    }

    fn push(&mut self, request: &squeue::Entry) -> Result<(), Failure> {
        loop {
            // SAFETY: the buffer of the request stays, and nothing accesses it before the request is complete.
            if unsafe { self.ring.submission().push(request) }.is_ok() {
                return Ok(());
            }
            // The kernel's thread has yet to report that the slots of earlier requests are free again.
            self.ring.submit()?;
        }
    }

    fn submit(&mut self) -> Result<(), Failure> {
        if self.polls { Ok(self.ring.submit().map(drop)?) } else { submit(&mut self.ring, 0) }
    }

    /// Submits the requests in the ring and waits until one is complete.
    fn wait(&mut self) -> Result<(), Failure> {
        if !self.polls {
            return submit(&mut self.ring, 1);
        }
        self.ring.submit()?;
        while self.ring.completion().is_empty() {
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// The record that arrived in one buffer.
    fn come(&mut self, index: usize, result: i32) -> Result<u64, Failure> {
        let ReadBuffer { block, offset } = &mut self.places[index];
        if result < 0 {
            return Err(Failure::Errno { errno: -result });
        }
        let length = self.plan.length_at(*offset);
        whole(length, result as usize, *offset)?;
        // The kernel wrote it without the compiler's knowledge.
        Ok((self.take)(&std::hint::black_box(block.bytes())[..length]))
    }
}

impl Reader for ReadRing {
    /// Waits until the kernel's thread sleeps, before anything else is timed.
    fn before(&mut self) -> Result<(), Failure> {
        while self.polls && !self.ring.submission().need_wakeup() {
            std::thread::sleep(Duration::from_micros(100));
        }
        Ok(())
    }

    fn pass(&mut self) -> Result<u64, Failure> {
        let mut offsets = self.plan.offsets();
        let mut free: Vec<usize> = (0..self.places.len()).collect();
        let mut came = Vec::with_capacity(free.len());
        let mut total = Ok(0_u64);
        let mut unsent = 0;
        loop {
            // After a failure nothing more is requested, but requests in flight still write into the buffers.
            while total.is_ok() && !free.is_empty() {
                let Some(offset) = offsets.next() else { break };
                let index = free.pop().unwrap_or_default();
                self.enqueue(index, offset)?;
            }
            if free.len() == self.places.len() {
                return total;
            }
            self.wait()?;
            came.extend(self.ring.completion().map(|entry| (entry.user_data() as usize, entry.result())));
            for (index, result) in came.drain(..) {
                free.push(index);
                let sum = self.come(index, result);
                total = total.and_then(|total| Ok(total.wrapping_add(sum?)));
                let Some(offset) = total.as_ref().ok().and_then(|_| offsets.next()) else { continue };
                self.enqueue(free.pop().unwrap_or(index), offset)?;
                unsent += self.plan.record;
                if unsent >= AT_ONCE {
                    self.submit()?;
                    unsent = 0;
                }
            }
        }
    }
}
