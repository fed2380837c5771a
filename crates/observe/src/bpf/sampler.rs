//! When calls are sampled: all the time if there are few, since what samples need slows down each call; else in short windows.

use std::ffi::CStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::maps::Maps;
use super::sys::{Attachment, Program};

/// So many calls a second take a hundredth of a CPU more while they are sampled.
const MANY: f64 = 250_000.0;
/// The length of a window, and how often the rate is looked at where calls are sampled all the time.
const WINDOW: Duration = Duration::from_millis(4);
const LOOK: Duration = Duration::from_millis(16);
/// The first time between two windows and the longest. Each is longer than the one before, so that a short program is sampled until its
/// end, and a long one is hardly slowed.
const SHORTEST: Duration = Duration::from_millis(12);
const LONGEST: Duration = Duration::from_millis(100);
const GROWTH: f64 = 1.25;
/// A window stands for this many at most.
const MOST: f64 = 64.0;

/// Begins and ends the windows.
#[derive(Debug)]
pub(super) struct Sampler {
    program: Program,
    attached: Option<Attachment>,
    begun: Instant,
    /// When the window or the time between windows began, and how long it takes.
    since: Instant,
    length: Duration,
    /// The length of the next time between windows, but for what is random.
    pause: Duration,
    /// How long the last window of many calls took: longer where the reader comes by seldom.
    window: Duration,
    /// How long windows took until now.
    sampled: Duration,
    /// How many calls had been made in windows then.
    calls: u64,
}

impl Sampler {
    const TRACEPOINT: &CStr = c"sys_enter";

    /// Begins with a window. `None` if this kernel lacks the tracepoint.
    pub(super) fn start(program: Program) -> Option<Sampler> {
        let attached = Some(program.attach(Sampler::TRACEPOINT).ok()?);
        let now = Instant::now();
        let (sampled, calls) = (Duration::ZERO, 0);
        let [length, window] = [WINDOW; 2];
        Some(Sampler { program, attached, begun: now, since: now, length, pause: SHORTEST, window, sampled, calls })
    }

    /// How long it takes until there is something to do.
    pub(super) fn due(&self) -> Duration {
        self.length.saturating_sub(self.since.elapsed())
    }

    /// The part of the time in which calls were sampled.
    pub(super) fn share(&self) -> f64 {
        let running = self.attached.as_ref().map_or(Duration::ZERO, |_| self.since.elapsed());
        (self.sampled + running).as_secs_f64() / self.begun.elapsed().as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Ends the last window. The part of the time is still known.
    pub(super) fn stop(&mut self) {
        if self.attached.take().is_some() {
            self.sampled += self.since.elapsed();
        }
        self.length = Duration::MAX;
    }

    /// Goes on to the next window or pause if it is time.
    pub(super) fn schedule(&mut self, maps: &Maps) {
        let elapsed = self.since.elapsed();
        if elapsed < self.length {
            return;
        }
        match &self.attached {
            Some(_) => {
                self.sampled += elapsed;
                let calls = maps.sampled();
                let made = calls.saturating_sub(std::mem::replace(&mut self.calls, calls));
                if is_busy(made, elapsed) {
                    self.attached = None;
                    self.window = elapsed;
                    self.length = self.pause.mul_f64(scatter());
                    self.pause = self.pause.mul_f64(GROWTH).min(LONGEST);
                } else {
                    let _ = maps.set_window(1);
                    self.length = LOOK;
                }
            }
            None => {
                let _ = maps.set_window(stands_for(elapsed, self.window));
                self.attached = self.program.attach(Sampler::TRACEPOINT).ok();
                self.length = WINDOW;
            }
        }
        self.since = Instant::now();
    }
}

/// True if this many calls in this time are too many to be sampled all the time.
fn is_busy(calls: u64, elapsed: Duration) -> bool {
    calls as f64 > MANY * elapsed.as_secs_f64()
}

/// A window of this length after this time stands for it too: else the beginning of a program, where windows are dense, would count most.
fn stands_for(pause: Duration, window: Duration) -> u32 {
    ((pause + window).as_secs_f64() / window.as_secs_f64()).round().clamp(1.0, MOST) as u32
}

/// A factor from 0.75 to 1.25, with which no program keeps step.
fn scatter() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    0.75 + 0.5 * f64::from((now.as_nanos() / 64 % 1024) as u16) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::super::timed;
    use super::*;

    #[test]
    fn a_program_of_few_calls_is_sampled_all_the_time() {
        let second = Duration::from_secs(1);
        assert!(!is_busy(10_000, second));
        assert!(is_busy(4_000_000, second));
        assert!((0..100).all(|_| (0.75..1.25).contains(&scatter())));
    }

    #[test]
    fn windows_stand_for_the_time_before_them() {
        assert_eq!(stands_for(3 * WINDOW, WINDOW), 4);
        // Where the reader comes by every 50 ms, windows are as long as the time between them.
        assert_eq!(stands_for(Duration::from_millis(50), Duration::from_millis(50)), 2);
        // A reader that was stopped for a minute does not make one window count for all.
        assert_eq!(stands_for(Duration::from_secs(60), WINDOW), MOST as u32);
    }

    #[test]
    fn what_was_sampled_is_known_after_the_end() {
        let parts = Maps::new(4, 1, 1).and_then(|maps| Ok((Program::load("sampling", &timed::sampling(&maps))?, maps)));
        let Some((program, maps)) = crate::tested(parts, "no program can be loaded") else { return };
        let mut sampler = Sampler::start(program).expect("the tracepoint is there");
        std::thread::sleep(WINDOW);
        sampler.stop();
        sampler.schedule(&maps);
        assert!(sampler.attached.is_none() && sampler.due() > Duration::from_secs(3600), "{sampler:?}");
        assert!(sampler.share() > 0.0 && sampler.share() <= 1.0, "{sampler:?}");
    }
}
