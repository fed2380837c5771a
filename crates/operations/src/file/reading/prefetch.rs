//! Reading a stretch of a user's file once by one method and its settings, explicit prefetch among them, cold or warm, by
//! a program that takes its own time over what it reads. Each pass is a process of its own: a file that is cut under a
//! mapping ends that, and nothing else.

mod device;
mod ways;

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use guard::apart;
use operation::{Failure, Setting};
use record::{Point, Value};
use rustix::time::{ClockId, clock_gettime};

use super::order::Plan;
use super::sum::sum;
use crate::file::residence;

pub use super::source::unnamed;
pub use device::{Requests, most_ahead, requests};

/// How a stretch is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `pread`, so many bytes at a time.
    Read {
        /// Bytes of a call.
        bytes: u64,
    },
    /// `pread` after `POSIX_FADV_SEQUENTIAL`.
    ReadAdvised {
        /// Bytes of a call.
        bytes: u64,
    },
    /// `pread` past the page cache (O_DIRECT).
    Direct {
        /// Bytes of a call.
        bytes: u64,
    },
    /// io_uring.
    Ring {
        /// Bytes of a request.
        bytes: u64,
        /// Requests under way.
        depth: u32,
        /// Past the page cache (O_DIRECT).
        direct: bool,
    },
    /// Mapped, with an advice for all of it.
    Mapped(Advised),
    /// With all bytes up to `distance` beyond the one being read asked for, `quantity` at a time.
    Ahead {
        /// By which call.
        way: Way,
        /// Bytes between what is read and what has been asked for.
        distance: u64,
        /// Bytes asked for at a time.
        quantity: u64,
    },
}

/// What the kernel is told of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advised {
    /// Nothing.
    Nothing,
    /// `MADV_SEQUENTIAL`.
    Sequential,
    /// `MADV_RANDOM`: it reads nothing by its own foresight.
    Random,
    /// `MAP_POPULATE`.
    Populated,
}

/// The call that asks for what is needed later, the kernel's own foresight switched off beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `MADV_WILLNEED` on a mapping.
    Mapped,
    /// `readahead` before `pread`.
    Readahead,
    /// `POSIX_FADV_WILLNEED` before `pread`.
    Advice,
}

impl Method {
    /// Whether the page cache has no part in it, so that warm is nothing else than cold.
    pub fn is_direct(self) -> bool {
        matches!(self, Method::Direct { .. } | Method::Ring { direct: true, .. })
    }

    /// Bytes that come in one piece in a pass from beginning to end.
    fn piece(self) -> u64 {
        match self {
            Method::Read { bytes }
            | Method::ReadAdvised { bytes }
            | Method::Direct { bytes }
            | Method::Ring { bytes, .. } => bytes.max(8).next_multiple_of(8),
            // A window of any size moves by pages, whatever the call that fetches it.
            Method::Mapped(_) | Method::Ahead { .. } => rustix::param::page_size() as u64,
        }
    }
}

/// What is read of the file, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first byte, at the beginning of a page.
    pub start: u64,
    /// Its bytes.
    pub length: u64,
    /// Records by chance; from beginning to end without.
    pub random: Option<Random>,
}

/// Records read by chance, none of them twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    /// Bytes of a record.
    pub record: u64,
    /// How many at most.
    pub visits: u64,
    /// Of the order.
    pub seed: u64,
}

/// Where the file is when a pass begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Out of memory, as far as that is possible.
    Cold,
    /// The stretch is in memory.
    Warm,
}

/// The program that reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Program {
    /// Nanoseconds it takes over each byte; 0: only what adding it up takes.
    pub ns_per_byte: f64,
    /// It stops reading after this time.
    pub limit: Duration,
    /// Before a cold pass the device is kept busy for so long, past the page cache: one that saves up credit while it rests
    /// would answer a pass from it.
    pub drain: Duration,
}

/// What a pass did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// Bytes read, fewer than the stretch has when the limit came first.
    pub bytes: u64,
    /// From the first call to the last byte taken.
    pub elapsed_ns: f64,
    /// Processor time of it, the program's own included.
    pub cpu_ns: f64,
    /// Pages of the file in memory when it began.
    pub resident: u64,
    /// The sum of all bytes.
    pub sum: u64,
}

/// Brings the file into `state` and reads the stretch once, in a process of its own; `patience` bounds all of that.
/// Forks: call it while the process has one thread.
///
/// # Errors
/// Why it cannot be read so: a skip where this system lacks the method.
pub fn pass(path: &Path, stretch: Stretch, method: Method, state: State, program: Program) -> Result<Passed, Failure> {
    // Beyond the pass: writing what is dirty and reading what must be in memory, on the slowest of disks.
    let patience = program.limit + Duration::from_secs(60);
    let apart = apart(patience, || here(path, stretch, method, state, program).map(Passed::into_numbers));
    let done = apart.map_err(|reason| match reason.contains("SIGBUS") {
        true => Failure::wrong("the file was cut short while it was read (SIGBUS on its mapping)"),
        false => Failure::wrong(reason),
    })?;
    Ok(Passed::from_numbers(done?))
}

impl Passed {
    fn into_numbers(self) -> (u64, f64, f64, u64, u64) {
        (self.bytes, self.elapsed_ns, self.cpu_ns, self.resident, self.sum)
    }

    fn from_numbers((bytes, elapsed_ns, cpu_ns, resident, sum): (u64, f64, f64, u64, u64)) -> Passed {
        Passed { bytes, elapsed_ns, cpu_ns, resident, sum }
    }

    /// Bytes a second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.elapsed_ns.max(1.0)
    }
}

fn here(path: &Path, stretch: Stretch, method: Method, state: State, program: Program) -> Result<Passed, Failure> {
    let offsets = offsets(stretch, method)?;
    let file = residence::open(path)?;
    if residence::length(&file)? < stretch.start + stretch.length {
        return Err(Failure::wrong("the file was cut short while it was measured"));
    }
    let mut reader = ways::open(path, stretch, method)?;
    let resident = match state {
        State::Cold => {
            device::drain(path, stretch.start + stretch.length, program.drain)?;
            put_out(&file)?
        }
        State::Warm => {
            ways::touch(&file, stretch, &offsets, method.piece())?;
            residence::resident(&file).map_or(0, |cached| cached.resident)
        }
    };
    let mut consumer = Consumer::new(program);
    let before = clock_gettime(ClockId::ThreadCPUTime);
    let began = Instant::now();
    reader.pass(&offsets, &mut consumer)?;
    let elapsed_ns = began.elapsed().as_nanos() as f64;
    let after = clock_gettime(ClockId::ThreadCPUTime);
    let cpu_ns = (after.tv_sec - before.tv_sec) as f64 * 1e9 + (after.tv_nsec - before.tv_nsec) as f64;
    Ok(Passed { bytes: consumer.bytes, elapsed_ns, cpu_ns, resident, sum: consumer.total })
}

/// Puts the file out of memory and returns the pages left. What was asked for ahead in an earlier pass and never waited for
/// may be under way still, on a slow disk for seconds.
fn put_out(file: &OwnedFd) -> Result<u64, Failure> {
    const PATIENCE: Duration = Duration::from_secs(10);
    let began = Instant::now();
    loop {
        let left = residence::evict(file)?.resident;
        if left == 0 || began.elapsed() > PATIENCE {
            return Ok(left);
        }
    }
}

/// Where each piece begins, relative to the stretch.
fn offsets(stretch: Stretch, method: Method) -> Result<Vec<u64>, Failure> {
    let Some(random) = stretch.random else {
        return Ok((0..stretch.length).step_by(method.piece() as usize).collect());
    };
    let words = Point::default().with("order", Value::Word("random".into()));
    let point = words.with("record", Value::Number(random.record));
    let plan = Plan::of(&Setting::new(point, "/".into(), 0, None, random.seed), stretch.length)?;
    Ok(plan.offsets().take(random.visits as usize).collect())
}

/// The program's own work on what it reads.
struct Consumer {
    program: Program,
    began: Instant,
    bytes: u64,
    total: u64,
}

impl Consumer {
    fn new(program: Program) -> Consumer {
        Consumer { program, began: Instant::now(), bytes: 0, total: 0 }
    }

    /// Adds the bytes up and takes its time over them; breaks when the limit has come.
    #[inline]
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let start = Instant::now();
        // The kernel may have written them behind the compiler's back.
        self.total = self.total.wrapping_add(sum(std::hint::black_box(bytes)));
        self.bytes += bytes.len() as u64;
        let wanted = bytes.len() as f64 * self.program.ns_per_byte;
        while wanted > 0.0 && (start.elapsed().as_nanos() as f64) < wanted {
            std::hint::spin_loop();
        }
        if start.duration_since(self.began) > self.program.limit {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
