//! When calls are sampled: all the time if there are few, since what samples need slows down each call; else in short windows.

use std::ffi::CStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::sys::{Attachment, Program};

/// So many calls a second take a hundredth of a CPU more while they are sampled.
const MANY: f64 = 250_000.0;
/// The rate is looked at after this time, which is also the length of a window.
const WINDOW: Duration = Duration::from_millis(15);
/// The shortest time between two windows, and how far the longest is beyond it in ms, less one: a power of two.
const PAUSE: Duration = Duration::from_millis(160);
const MORE_MS: u128 = 256;

/// Begins and ends the windows.
#[derive(Debug)]
pub(super) struct Sampler {
    program: Program,
    attached: Option<Attachment>,
    /// When the window or the pause began, and how long it takes.
    since: Instant,
    length: Duration,
    /// How many calls had been made in windows then.
    calls: u64,
}

impl Sampler {
    const TRACEPOINT: &CStr = c"sys_enter";

    /// Begins with a window. `None` if this kernel lacks the tracepoint.
    pub(super) fn start(program: Program) -> Option<Sampler> {
        let attached = Some(program.attach(Sampler::TRACEPOINT).ok()?);
        Some(Sampler { program, attached, since: Instant::now(), length: WINDOW, calls: 0 })
    }

    /// Goes on to the next window or pause if it is time. `calls` is how many were made in windows
    /// until now.
    pub(super) fn schedule(&mut self, calls: impl Fn() -> u64) {
        let elapsed = self.since.elapsed();
        if elapsed < self.length {
            return;
        }
        let now = calls();
        self.length = match &self.attached {
            Some(_) if is_busy(now.saturating_sub(self.calls), elapsed) => {
                self.attached = None;
                PAUSE + Duration::from_millis(scatter())
            }
            Some(_) => WINDOW,
            None => {
                self.attached = self.program.attach(Sampler::TRACEPOINT).ok();
                WINDOW
            }
        };
        self.calls = now;
        self.since = Instant::now();
    }
}

/// True if this many calls in this time are too many to be sampled all the time.
fn is_busy(calls: u64, elapsed: Duration) -> bool {
    calls as f64 > MANY * elapsed.as_secs_f64()
}

/// A time in ms that no program keeps step with.
fn scatter() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() / 64 % MORE_MS) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_few_calls_is_sampled_all_the_time() {
        let second = Duration::from_secs(1);
        assert!(!is_busy(10_000, second));
        assert!(is_busy(4_000_000, second));
        assert!((0..100).all(|_| u128::from(scatter()) < MORE_MS));
    }
}
