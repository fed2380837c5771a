//! Writers by io_uring: a number of records in flight at a time, each generated in its own buffer.

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{IoUring, opcode, types};
use operation::{Failure, Operation, Setting};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::content::Content;
use super::pass::writing;
use super::target::{WrittenFile, refused, wrote};
use super::{DEEP, DEEP_POINTS, MAKING_DEEP, WRITE};
use crate::file::reading::order::VisitPlan;
use crate::kit::{register, ring, submit};

const RING: Operation = WRITE.axes(DEEP).terms(MAKING_DEEP).has_point(DEEP_POINTS);

pub(crate) const OPERATIONS: &[Operation] = &[
    RING.named("write.uring", "write a file: io_uring with several records in flight")
        .prepare(|setting| writing(setting, OFlags::empty(), |target| Ok(WriteRing::new(setting, target)?.writer()))),
    // Nothing is looked up or locked for each write.
    RING.named("write.uring.registered", "write a file: io_uring with file and buffers registered").prepare(
        |setting| {
            writing(setting, OFlags::empty(), |target| Ok(WriteRing::new(setting, target)?.registered()?.writer()))
        },
    ),
    RING.id("write.uring.direct")
        .summary("write a file: io_uring bypassing the page cache (O_DIRECT), with several records in flight")
        .prepare(|setting| writing(setting, OFlags::DIRECT, |target| Ok(WriteRing::new(setting, target)?.writer()))),
];

/// A ring, and a buffer for each request in flight. The ring is dropped before the buffers that it writes from.
struct WriteRing {
    ring: IoUring,
    file: OwnedFd,
    places: Vec<WriteBuffer>,
    plan: VisitPlan,
    registered: bool,
}

struct WriteBuffer {
    content: Content,
    offset: u64,
}

impl WriteRing {
    fn new(setting: &Setting, target: &WrittenFile) -> Result<WriteRing, Failure> {
        let depth = setting.number("depth")?.clamp(1, 4096) as u32;
        let plan = target.plan;
        let place = || WriteBuffer { content: Content::new(plan.record as usize), offset: 0 };
        let places = (0..depth).map(|_| place()).collect();
        Ok(WriteRing { ring: ring(depth)?, file: target.open()?, places, plan, registered: false })
    }

    fn registered(mut self) -> Result<WriteRing, Failure> {
        let buffers = self.places.iter_mut().map(|place| place.content.record(0));
        // SAFETY: the buffers stay where they are until the ring is dropped.
        unsafe { register(&self.ring, &self.file, buffers) }?;
        Ok(WriteRing { registered: true, ..self })
    }

    /// Generates the record at `offset` in a buffer, and puts the request to write it into the ring.
    fn enqueue(&mut self, index: usize, pass: u64, offset: u64) -> Result<(), Failure> {
        let place = &mut self.places[index];
        place.offset = offset;
        let bytes = &place.content.record(WrittenFile::number(self.plan, pass, offset))[..self.plan.length_at(offset)];
        let (start, length) = (bytes.as_ptr(), bytes.len() as u32);
        let request = match self.registered {
            true => opcode::WriteFixed::new(types::Fixed(0), start, length, index as u16).offset(offset).build(),
            false => opcode::Write::new(types::Fd(self.file.as_raw_fd()), start, length).offset(offset).build(),
        };
        // SAFETY: the buffer of the request stays, and nothing changes it before the request is complete.
        let pushed = unsafe { self.ring.submission().push(&request.user_data(index as u64)) };
        pushed.map_err(|_| Failure::wrong("the ring has fewer entries than requests in flight"))
    }

    /// Fails unless the whole record of this buffer was written.
    fn gone(&self, index: usize, result: i32) -> Result<(), Failure> {
        let offset = self.places[index].offset;
        if result < 0 {
            return Err(refused(Errno::from_raw_os_error(-result), self.plan.length));
        }
        wrote(self.plan.length_at(offset), result as usize, offset)
    }

    fn writer(mut self) -> impl FnMut(u64) -> Result<(), Failure> {
        move |pass| self.pass(pass)
    }

    fn pass(&mut self, pass: u64) -> Result<(), Failure> {
        let mut offsets = self.plan.offsets();
        let mut free: Vec<usize> = (0..self.places.len()).collect();
        let mut gone = Vec::with_capacity(free.len());
        let mut end = Ok(());
        loop {
            // After a failure nothing more is submitted, but requests in flight still read the buffers.
            while end.is_ok() && !free.is_empty() {
                let Some(offset) = offsets.next() else { break };
                let index = free.pop().unwrap_or_default();
                self.enqueue(index, pass, offset)?;
            }
            if free.len() == self.places.len() {
                return end;
            }
            submit(&mut self.ring, 1)?;
            gone.extend(self.ring.completion().map(|entry| (entry.user_data() as usize, entry.result())));
            for (index, result) in gone.drain(..) {
                free.push(index);
                end = end.and(self.gone(index, result));
            }
        }
    }
}
