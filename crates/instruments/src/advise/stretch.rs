//! What a pass reads, where the file is when it begins, and the program that takes what is read.

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use catalogue::reading::sum;
use catalogue::residence;
use operation::Failure;

/// What is read of the file, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Its first byte, at the beginning of a page.
    pub start: u64,
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
pub(crate) enum FileState {
    /// Out of memory, as far as that is possible.
    Cold,
    /// The stretch is in memory.
    Warm,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReadingProgram {
    /// Nanoseconds it takes over each byte; 0: only what adding it up takes.
    pub ns_per_byte: f64,
    /// It stops reading after this time.
    pub limit: Duration,
    /// How long the device is kept busy before a cold pass, past the page cache. A device that saves up credit while it
    /// rests would answer the pass from it.
    pub drain: Duration,
    /// How long the pages of the file may take to leave memory before a cold pass.
    pub patience: Duration,
}

/// How long pages are waited for that stay in memory: those that were requested ahead and never waited for may be under way
/// still, on a slow disk for seconds. Where pages `stayed` after that (another program maps or locks them), none are waited for.
pub(crate) fn patience(stayed: bool) -> Duration {
    Duration::from_secs(if stayed { 0 } else { 10 })
}

/// Puts the file out of memory, for at most about `patience`, and returns the pages left.
pub(crate) fn put_out(file: &OwnedFd, patience: Duration) -> Result<u64, Failure> {
    let began = Instant::now();
    loop {
        let left = residence::evict(file)?.resident;
        if left == 0 || began.elapsed() >= patience {
            return Ok(left);
        }
    }
}

/// The program's own work on what it reads.
pub(crate) struct Consumer {
    program: ReadingProgram,
    began: Instant,
    pub bytes: u64,
    pub total: u64,
}

impl Consumer {
    pub fn new(program: ReadingProgram) -> Consumer {
        Consumer { program, began: Instant::now(), bytes: 0, total: 0 }
    }

    /// Adds the bytes up and takes its time over them; breaks when the limit has come.
    #[inline]
    pub fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
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
