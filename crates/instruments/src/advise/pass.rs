//! One pass: a stretch of a file read once by one method, cold or warm, by a program that takes its own time over what it
//! reads. Each pass is a process of its own: a file that is cut under a mapping ends that process and nothing else.

use std::path::Path;
use std::time::{Duration, Instant};

use catalogue::reading::VisitPlan;
use catalogue::residence;
use operation::Failure;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use system::guard::{Lost, apart};

use crate::advise::method::{Advised, Method};
use crate::advise::stretch::{Consumer, FileState, ReadingProgram, Stretch, put_out};
use crate::advise::{device, ways};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
/// Forks: call it while the process has one thread. Fails with why it cannot be read so: a skip where this system lacks
/// the method.
pub(crate) fn pass(
    path: &Path,
    stretch: Stretch,
    method: Method,
    state: FileState,
    program: ReadingProgram,
) -> Result<Passed, Failure> {
    // Beyond the pass: writing what is dirty and reading what must be in memory, on the slowest of disks.
    let patience = program.limit + Duration::from_secs(60);
    apart(patience, || here(path, stretch, method, state, program)).map_err(|lost| match lost {
        Lost::Killed(libc::SIGBUS) => {
            Failure::wrong("the file was truncated while it was read (SIGBUS on its mapping)")
        }
        lost => Failure::wrong(lost.to_string()),
    })?
}

impl Passed {
    /// Bytes a second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.elapsed_ns.max(1.0)
    }
}

fn here(
    path: &Path,
    stretch: Stretch,
    method: Method,
    state: FileState,
    program: ReadingProgram,
) -> Result<Passed, Failure> {
    let offsets = offsets(stretch, method)?;
    let file = residence::open(path)?;
    if residence::length(&file)? < stretch.start + stretch.length {
        return Err(Failure::wrong("the file was truncated while it was measured"));
    }
    let mut reader = ways::open(path, stretch, method)?;
    let resident = match state {
        FileState::Cold => {
            device::drain(path, stretch.start + stretch.length, program.drain)?;
            put_out(&file, program.patience)?
        }
        FileState::Warm => {
            ways::touch(&file, stretch, &offsets, method.piece())?;
            residence::resident(&file).map_or(0, |cached| cached.resident)
        }
    };
    // All is read before the first byte is taken: after a limit, that time would count for the few bytes taken by then.
    let limit = if method == Method::Mapped(Advised::Populated) { Duration::MAX } else { program.limit };
    let mut consumer = Consumer::new(ReadingProgram { limit, ..program });
    // Of the whole process, which has this one thread and the kernel's workers of a ring.
    let before = clock_gettime(ClockId::ProcessCPUTime);
    let began = Instant::now();
    reader.pass(&offsets, &mut consumer)?;
    let elapsed_ns = began.elapsed().as_nanos() as f64;
    let after = clock_gettime(ClockId::ProcessCPUTime);
    let cpu_ns = (after.tv_sec - before.tv_sec) as f64 * 1e9 + (after.tv_nsec - before.tv_nsec) as f64;
    Ok(Passed { bytes: consumer.bytes, elapsed_ns, cpu_ns, resident, sum: consumer.total })
}

/// Where each piece begins, relative to the stretch.
fn offsets(stretch: Stretch, method: Method) -> Result<Vec<u64>, Failure> {
    let Some(random) = stretch.random else {
        return Ok((0..stretch.length).step_by(method.piece() as usize).collect());
    };
    let plan = VisitPlan::random(stretch.length, random.record, random.seed)?;
    Ok(plan.offsets().take(random.visits as usize).collect())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn what_is_read_up_front_is_taken_to_its_end_whatever_the_limit() {
        const LENGTH: u64 = 64 << 10;
        let file = catalogue::reading::unnamed(&std::env::temp_dir(), LENGTH).expect("a file");
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let stretch = Stretch { start: 0, length: LENGTH, random: None };
        let program =
            ReadingProgram { ns_per_byte: 0.0, limit: Duration::ZERO, drain: Duration::ZERO, patience: Duration::ZERO };
        let bytes = |advised| {
            let passed = here(Path::new(&path), stretch, Method::Mapped(advised), FileState::Warm, program);
            passed.expect("a pass").bytes
        };
        assert!(bytes(Advised::Nothing) < LENGTH, "the limit came first");
        assert_eq!(bytes(Advised::Populated), LENGTH);
    }
}
