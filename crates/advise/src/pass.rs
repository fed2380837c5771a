//! One pass: a stretch of a file read once by one method, cold or warm, by a program that takes its own time over what it
//! reads. Each pass is a process of its own: a file that is cut under a mapping ends that process and nothing else.

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use guard::{Lost, apart};
use operation::Failure;
use operations::reading::{Plan, sum};
use operations::residence;
use rustix::time::{ClockId, clock_gettime};

use crate::method::Method;
use crate::{device, ways};

/// What is read of the file, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Its first byte, at the beginning of a page.
    pub start: u64,
    /// Its bytes.
    pub length: u64,
    /// Records in random order; `None` reads from beginning to end.
    pub random: Option<Random>,
}

/// Records read in random order, each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Random {
    /// Bytes of a record.
    pub record: u64,
    /// How many at most.
    pub visits: u64,
    /// Of the order.
    pub seed: u64,
}

/// Where the file is when a pass begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Out of memory, as far as that is possible.
    Cold,
    /// The stretch is in memory.
    Warm,
}

/// The program that reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Program {
    /// Nanoseconds it takes over each byte; 0: only what adding it up takes.
    pub ns_per_byte: f64,
    /// It stops reading after this time.
    pub limit: Duration,
    /// How long the device is kept busy before a cold pass, past the page cache. A device that saves up credit while it
    /// rests would answer the pass from it.
    pub drain: Duration,
}

/// What a pass did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passed {
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

/// Brings the file into `state` and reads the stretch once, in a process of its own.
/// Forks: call it while the process has one thread.
///
/// # Errors
/// Why it cannot be read so: a skip where this system lacks the method.
pub(crate) fn pass(
    path: &Path,
    stretch: Stretch,
    method: Method,
    state: State,
    program: Program,
) -> Result<Passed, Failure> {
    // Beyond the pass: writing what is dirty and reading what must be in memory, on the slowest of disks.
    let patience = program.limit + Duration::from_secs(60);
    let apart = apart(patience, || here(path, stretch, method, state, program).map(Passed::into_numbers));
    let done = apart.map_err(|lost| match lost {
        Lost::Killed(libc::SIGBUS) => {
            Failure::wrong("the file was cut short while it was read (SIGBUS on its mapping)")
        }
        lost => Failure::wrong(lost.to_string()),
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
pub(crate) fn put_out(file: &OwnedFd) -> Result<u64, Failure> {
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
    let plan = Plan::random(stretch.length, random.record, random.seed)?;
    Ok(plan.offsets().take(random.visits as usize).collect())
}

/// The program's own work on what it reads.
pub(crate) struct Consumer {
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
    pub(crate) fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
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
