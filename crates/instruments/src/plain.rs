//! Plain loops around calls, timed by nothing but the clock: what measured costs are held against. As there, each call is made by a
//! function that returns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use operation::in_a_function;
use rustix::io::{Errno, read, write};

/// The calls of a loop, for about 100 µs. Loops are repeated for as long as is requested, because a neighbour may stay for longer than
/// 20 ms: the smallest of 300 loops was half as much again beside a compilation.
const CALLS: u32 = 500;

/// The smallest time per call in ns. Fails with the error of the call.
fn smallest(length: Duration, mut call: impl FnMut() -> Result<(), Errno>) -> Result<f64, Errno> {
    let mut least = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed() < length {
        let begin = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        least = least.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    Ok(least)
}

/// Asks for the parent's id, as `syscall.getppid` does.
pub fn getppid(length: Duration) -> Result<f64, Errno> {
    smallest(length, || {
        black_box(in_a_function(rustix::process::getppid));
        Ok(())
    })
}

/// Writes this number of bytes to a pipe and reads them back, as `pipe.self` does. Fails if there can be no pipe.
pub fn pipe(size: usize, length: Duration) -> Result<f64, Errno> {
    let (reader, writer) = rustix::pipe::pipe()?;
    let mut block = vec![0; size];
    smallest(length, || {
        in_a_function(|| write(&writer, &block))?;
        in_a_function(|| read(&reader, block.as_mut_slice()))?;
        Ok(())
    })
}
