//! Plain loops around calls, timed by nothing but the clock: what measured costs are held against.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rustix::io::{Errno, read, write};

/// Loops are repeated for this long, because a neighbour may stay for longer than 20 ms: the smallest of 300 loops was half as much
/// again beside a compilation. Each makes this many calls, for about 100 µs.
const LONG: Duration = Duration::from_secs(1);
const CALLS: u32 = 500;

/// The smallest time per call in ns. Fails with the error of the call.
fn smallest(mut call: impl FnMut() -> Result<(), Errno>) -> Result<f64, Errno> {
    let mut least = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed() < LONG {
        let begin = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        least = least.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    Ok(least)
}

/// Asks for the parent's id, as `syscall.getppid` does.
pub fn getppid() -> Result<f64, Errno> {
    smallest(|| {
        black_box(rustix::process::getppid());
        Ok(())
    })
}

/// Writes this number of bytes to a pipe and reads them back, as `pipe.self` does. Fails if there can be no pipe.
pub fn pipe(size: usize) -> Result<f64, Errno> {
    let (reader, writer) = rustix::pipe::pipe()?;
    let mut block = vec![0; size];
    smallest(|| {
        write(&writer, &block)?;
        read(&reader, block.as_mut_slice())?;
        Ok(())
    })
}
