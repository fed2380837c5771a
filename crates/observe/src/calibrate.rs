//! What counting costs a system call: the same call, timed before and while it is counted.

mod followed;

use std::io;
use std::thread;
use std::time::Instant;

use rustix::fs::{Access, access};
use rustix::process::getppid;

pub(crate) use followed::followed_call;

/// Calls of a batch, which takes about 0.1 ms.
const CALLS: u32 = 200;
/// The memory in bytes that is written between two calls: what the first cache of a core holds.
const OWN: usize = 32 << 10;
/// The quickest of this many batches is taken, so that other programs do not matter.
const BATCHES: u32 = 32;

/// What is timed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Timed {
    /// A call without a name.
    Plain,
    /// A call that takes a name.
    Named,
}

/// The time of one call in a new thread that has first done `enrol`, in ns.
///
/// # Errors
/// Those of `enrol`.
pub(crate) fn per_call(timed: Timed, enrol: impl FnOnce() -> io::Result<()> + Send) -> io::Result<f64> {
    let batch = match timed {
        Timed::Plain => || batch(plain),
        Timed::Named => || batch(named),
    };
    let timed = || {
        enrol()?;
        batch();
        Ok((0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min))
    };
    thread::scope(|scope| scope.spawn(timed).join()).unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

/// What a program does between its calls takes the place of what counting touches.
#[inline(always)]
fn batch(call: impl Fn()) -> f64 {
    let mut own = vec![0_u8; OWN];
    let begin = Instant::now();
    for turn in 0..CALLS {
        call();
        own.fill(turn as u8);
        std::hint::black_box(&mut own);
    }
    begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

/// A call as programs make it: by a function that returns, which on some processors makes it and its counting dearer.
#[inline(never)]
fn plain() {
    let _ = std::hint::black_box(getppid());
}

/// The same for one that takes a name.
#[inline(never)]
fn named() {
    let _ = std::hint::black_box(access(c"/proc/self", Access::EXISTS));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_time_and_a_refusal_is_passed_on() {
        assert!(per_call(Timed::Plain, || Ok(())).is_ok_and(|time| time > 1.0));
        assert!(per_call(Timed::Named, || Err(io::ErrorKind::PermissionDenied.into())).is_err());
    }
}
