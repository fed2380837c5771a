//! What counting costs a system call: the same call, timed before and while it is counted.

mod followed;

use std::io;
use std::thread;
use std::time::Instant;

use rustix::process::getppid;

pub(crate) use followed::followed_call;

/// Calls of a batch, which takes about 0.1 ms.
const CALLS: u32 = 1000;
/// The quickest of this many batches is taken, so that other programs do not matter.
const BATCHES: u32 = 16;

/// The time of one call in a new thread that has first done `enrol`, in ns.
///
/// # Errors
/// Those of `enrol`.
pub(crate) fn per_call(enrol: impl FnOnce() -> io::Result<()> + Send) -> io::Result<f64> {
    let timed = || {
        enrol()?;
        batch();
        Ok((0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min))
    };
    thread::scope(|scope| scope.spawn(timed).join()).unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

fn batch() -> f64 {
    let begin = Instant::now();
    for _ in 0..CALLS {
        call();
    }
    begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

/// A call as programs make it: by a function that returns, which on some processors makes it and its counting dearer.
#[inline(never)]
fn call() {
    let _ = std::hint::black_box(getppid());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_time_and_a_refusal_is_passed_on() {
        assert!(per_call(|| Ok(())).is_ok_and(|time| time > 1.0));
        assert!(per_call(|| Err(io::ErrorKind::PermissionDenied.into())).is_err());
    }
}
