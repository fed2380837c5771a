//! The methods of a pass, each set up outside the timing.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use catalogue::reading::{Ahead, Block, MappedView, whole};
use catalogue::ring;
use io_uring::{IoUring, opcode, types};
use operation::Failure;
use rustix::fs::{Advice, Mode, OFlags, fadvise};
use rustix::io::{Errno, pread};
use rustix::mm::MapFlags;

use crate::advise::method::{Advised, Method, Way};
use crate::advise::stretch::{Consumer, Stretch};

/// Bytes that `pread` takes at a time behind a window that other calls fetch.
const BEHIND_WINDOW: u64 = 128 << 10;

/// A method over an open file.
pub(crate) struct OpenReader {
    file: OwnedFd,
    stretch: Stretch,
    method: Method,
    /// Bytes of a piece.
    piece: u64,
    kind: Access,
}

enum Access {
    Calls(Block),
    Ring(Box<InFlight>),
    Mapped,
}

/// A ring and a place for each request under way; the ring goes first, before what it reads into.
struct InFlight {
    ring: IoUring,
    places: Vec<(Block, u64)>,
}

/// Opens the file for the method. Skips where this system, or this file's, lacks it.
pub(crate) fn open(path: &Path, stretch: Stretch, method: Method) -> Result<OpenReader, Failure> {
    let flags = if method.is_direct() { OFlags::DIRECT } else { OFlags::empty() };
    let piece = match (method, stretch.random) {
        (_, Some(random)) => random.record,
        (Method::Ahead { way: Way::Readahead | Way::Advice, .. }, None) => BEHIND_WINDOW,
        (method, None) => method.piece(),
    };
    let file = open_with(path, flags).map_err(|error| refused(error, method, piece))?;
    if method.is_direct() {
        pread(&file, Block::new(piece as usize).bytes(), stretch.start)
            .map_err(|error| refused(error, method, piece))?;
    }
    let kind = match method {
        Method::Ring { depth, .. } => {
            let places = (0..depth).map(|_| (Block::new(piece as usize), 0)).collect();
            Access::Ring(Box::new(InFlight { ring: ring(2 * depth)?, places }))
        }
        Method::Mapped(_) | Method::Ahead { way: Way::Mapped, .. } => Access::Mapped,
        _ => Access::Calls(Block::new(piece as usize)),
    };
    match method {
        Method::ReadAdvised { .. } => fadvise(&file, 0, None, Advice::Sequential)?,
        Method::Ahead { way: Way::Readahead | Way::Advice, .. } => fadvise(&file, 0, None, Advice::Random)?,
        _ => {}
    }
    Ok(OpenReader { file, stretch, method, piece, kind })
}

pub(crate) fn open_with(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | flags, Mode::empty())
}

fn refused(error: Errno, method: Method, piece: u64) -> Failure {
    match error {
        Errno::INVAL | Errno::OPNOTSUPP if method.is_direct() => Failure::skip(
            format!("this file's system has no direct reads of {piece} bytes"),
            "a file on a disk, and records of whole blocks (4 KiB)",
        ),
        error => error.into(),
    }
}

/// Reads what a pass will read, so that it is in memory.
pub(crate) fn touch(file: &OwnedFd, stretch: Stretch, offsets: &[u64], piece: u64) -> Result<(), Failure> {
    let piece = stretch.random.map_or(piece, |random| random.record);
    let mut block = Block::new(piece as usize);
    for &offset in offsets {
        let wanted = piece.min(stretch.length - offset) as usize;
        whole(wanted, pread(file, &mut block.bytes()[..wanted], stretch.start + offset)?, stretch.start + offset)?;
    }
    Ok(())
}

impl OpenReader {
    /// Reads every piece once.
    pub fn pass(&mut self, offsets: &[u64], consumer: &mut Consumer) -> Result<(), Failure> {
        let OpenReader { file, stretch, method, piece, kind } = self;
        match (kind, *method) {
            (Access::Ring(requested), _) => requested.pass(file, *stretch, *piece, (offsets, consumer)),
            (Access::Calls(block), Method::Ahead { way, distance, quantity }) => {
                let mut window = Ahead::new(distance, quantity, stretch.length);
                for offset in (0..stretch.length).step_by(*piece as usize) {
                    window.reach(offset, |start, length| request(file, way, stretch.start + start, length))?;
                    if call(file, *stretch, block, offset, consumer)?.is_break() {
                        break;
                    }
                }
                Ok(())
            }
            (Access::Calls(block), _) => {
                for &offset in offsets {
                    if call(file, *stretch, block, offset, consumer)?.is_break() {
                        break;
                    }
                }
                Ok(())
            }
            (Access::Mapped, method) => mapped(file, *stretch, method, *piece, (offsets, consumer)),
        }
    }
}

/// One `pread` and what is done with it. Always of a whole block, since direct reads take no other.
#[inline]
fn call(
    file: &OwnedFd,
    stretch: Stretch,
    block: &mut Block,
    offset: u64,
    consumer: &mut Consumer,
) -> Result<ControlFlow<()>, Failure> {
    let at = stretch.start + offset;
    let record = block.bytes();
    let wanted = record.len().min((stretch.length - offset) as usize);
    let got = pread(file, &mut *record, at)?;
    whole(wanted, got.min(wanted), at)?;
    Ok(consumer.take(&record[..wanted]))
}

/// Requests what is read later.
fn request(file: &OwnedFd, way: Way, start: u64, length: usize) -> Result<(), Failure> {
    if way == Way::Advice {
        return Ok(fadvise(file, start, NonZeroU64::new(length as u64), Advice::WillNeed)?);
    }
    // SAFETY: the call takes no pointer; the descriptor is open.
    match unsafe { libc::readahead(file.as_raw_fd(), start as libc::off64_t, length) } {
        0 => Ok(()),
        _ => Err(Failure::last_os_error()),
    }
}

/// Maps, advises, reads, unmaps.
fn mapped(
    file: &OwnedFd,
    stretch: Stretch,
    method: Method,
    piece: u64,
    (offsets, consumer): (&[u64], &mut Consumer),
) -> Result<(), Failure> {
    let populated = match method {
        Method::Mapped(Advised::Populated) => MapFlags::POPULATE,
        _ => MapFlags::empty(),
    };
    let view = MappedView::new(file, (stretch.start, stretch.length), MapFlags::SHARED | populated)?;
    let mut window = Ahead::new(0, 0, stretch.length);
    match method {
        Method::Mapped(Advised::Sequential) => view.advise(rustix::mm::Advice::Sequential, 0, view.bytes().len())?,
        Method::Mapped(Advised::Random) => view.advise(rustix::mm::Advice::Random, 0, view.bytes().len())?,
        Method::Ahead { distance, quantity, .. } => {
            view.advise(rustix::mm::Advice::Random, 0, view.bytes().len())?;
            window = Ahead::new(distance, quantity, stretch.length);
        }
        _ => {}
    }
    for &offset in offsets {
        window.reach(offset, |start, length| view.advise(rustix::mm::Advice::WillNeed, start, length))?;
        let length = piece.min(stretch.length - offset) as usize;
        if consumer.take(&view.bytes()[offset as usize..][..length]).is_break() {
            break;
        }
    }
    Ok(())
}

impl InFlight {
    fn pass(
        &mut self,
        file: &OwnedFd,
        stretch: Stretch,
        piece: u64,
        (offsets, consumer): (&[u64], &mut Consumer),
    ) -> Result<(), Failure> {
        let mut offsets = offsets.iter().copied();
        let mut free: Vec<usize> = (0..self.places.len()).collect();
        let mut came = Vec::with_capacity(free.len());
        let mut going = Ok(ControlFlow::Continue(()));
        loop {
            // After a failure or at the limit nothing more is requested, but what is under way writes into our memory.
            while matches!(going, Ok(ControlFlow::Continue(()))) && !free.is_empty() {
                let Some(offset) = offsets.next() else { break };
                let index = free.pop().unwrap_or_default();
                self.enqueue(file, index, stretch.start, offset)?;
            }
            if free.len() == self.places.len() {
                return going.map(|_| ());
            }
            self.ring.submit_and_wait(1)?;
            came.extend(self.ring.completion().map(|entry| (entry.user_data() as usize, entry.result())));
            for (index, result) in came.drain(..) {
                free.push(index);
                let (block, offset) = &mut self.places[index];
                let wanted = piece.min(stretch.length - *offset) as usize;
                going = going.and_then(|so_far| {
                    let got = usize::try_from(result).map_err(|_| Failure::Errno { errno: -result })?;
                    whole(wanted, got.min(wanted), stretch.start + *offset)?;
                    let now = consumer.take(&block.bytes()[..wanted]);
                    Ok(if so_far.is_break() { so_far } else { now })
                });
            }
        }
    }

    fn enqueue(&mut self, file: &OwnedFd, index: usize, start: u64, offset: u64) -> Result<(), Failure> {
        let (block, place) = &mut self.places[index];
        *place = offset;
        let bytes = block.bytes();
        let request = opcode::Read::new(types::Fd(file.as_raw_fd()), bytes.as_mut_ptr(), bytes.len() as u32)
            .offset(start + offset)
            .build()
            .user_data(index as u64);
        // SAFETY: the place that the request names stays, and nobody looks at it before the request is complete.
        let pushed = unsafe { self.ring.submission().push(&request) };
        pushed.map_err(|_| Failure::wrong("the ring has no room for as many requests as it was made for"))
    }
}
