//! Output through a path, as fast as possible or at a fixed rate, drained as an emulator does. Program, emulator and all
//! programs in between have one CPU; the kernel's thread that carries the bytes runs where the kernel likes.

use std::time::{Duration, Instant};

use analysis::terminal::pseudo::{Flow, Used};
use catalogue::terminal::drained::Drained;
use catalogue::terminal::pair::{LINE, lines, write_all};
use catalogue::terminal::paths::laid;
use operation::{Failure, Setting};
use record::smallest_first;
use rustix::fs::{SeekFrom, seek};

use super::cells::Cells;
use super::used::Account;

/// The paths of the paper's Figure 2-1, and a pipe and a file for scale.
const PATHS: [&str; 7] = ["raw", "processed", "script", "tcp", "ssh", "pipe", "file"];

const SIZES: [usize; 6] = [1, 8, 64, 512, 4096, 64 << 10];

/// Bytes a second, of Figure 2-2.
const RATES: [f64; 6] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/// Bytes of a write there.
const PACED_SIZES: [usize; 3] = [1, 64, 4096];

/// Fewer writes than this make no rate.
const FEWEST: f64 = 8.0;

/// The text that is written, piece by piece, again and again; all sizes divide it.
const TEXT: usize = 64 << 10;

/// How often each path is visited. The kernel's thread stays on one CPU for seconds and then moves to another one, so visits
/// lie far apart: all paths are visited once, then all again.
const VISITS: usize = 5;

/// Every path with every size, as fast as it goes.
pub(super) fn highest(cells: &mut Cells<'_>, time: Duration) -> Vec<Flow> {
    let each = time / (VISITS * PATHS.len() * SIZES.len()) as u32;
    let mut visits: Vec<Flow> = Vec::new();
    for _ in 0..VISITS {
        for path in PATHS {
            visits.extend(cells.take(path, |setting| flows(setting, path, &SIZES, (None, each))).unwrap_or_default());
        }
    }
    let points = PATHS.iter().flat_map(|path| SIZES.map(|size| (*path, size as u64)));
    let visits_of =
        |(path, size)| visits.iter().filter(|flow| flow.path == path && flow.size == size).cloned().collect();
    points.filter_map(|point| middle(visits_of(point))).collect()
}

/// The visit with the median rate for each second of processor time; of two in the middle, the faster one.
fn middle(mut visits: Vec<Flow>) -> Option<Flow> {
    smallest_first(&mut visits, Flow::rate_per_cpu);
    let place = visits.len() / 2;
    (!visits.is_empty()).then(|| visits.swap_remove(place))
}

/// A local terminal, and a login through a network: SSH where there is a server, else TCP alone.
pub(super) fn paced(cells: &mut Cells<'_>, time: Duration) -> Vec<Flow> {
    let remote = if cells.is_missing("ssh") { "tcp" } else { "ssh" };
    let each = time / (2 * PACED_SIZES.len() * RATES.len()) as u32;
    let mut all = Vec::new();
    for path in ["processed", remote] {
        for size in PACED_SIZES {
            for rate in RATES {
                let needed = Duration::from_secs_f64(FEWEST * size as f64 / rate);
                if needed > Duration::from_secs(1) {
                    continue;
                }
                let pace = (Some(rate), each.max(needed));
                all.extend(cells.take(path, |setting| flows(setting, path, &[size], pace)).unwrap_or_default());
            }
        }
    }
    all
}

/// Output through one path, for so long by writes of each size.
fn flows(
    setting: &Setting,
    name: &str,
    sizes: &[usize],
    (rate, time): (Option<f64>, Duration),
) -> Result<Vec<Flow>, Failure> {
    let mut path = laid(setting, name)?;
    let text = lines(TEXT);
    let flow = |size: usize, (bytes, elapsed_s, used): (u64, f64, Used)| Flow {
        path: name.into(),
        size: size as u64,
        requested: rate,
        bytes,
        elapsed_s,
        used,
    };
    let Some(end) = path.drained.take() else {
        // Nothing comes out of a file: it is written once the write returns. It grows to this length, and is then written anew.
        const LONGEST: u64 = 64 << 20;
        let mut length = 0;
        let write = |&size: &usize| {
            let mut program = Program { text: &text, size, written: 0 };
            let (account, begin) = (Account::open(&[]), Instant::now());
            program.write_for((rate, time), clock(), |piece| {
                if length >= LONGEST {
                    length = seek(&path.output, SeekFrom::Start(0))?;
                }
                length += piece.len() as u64;
                write_all(&path.output, piece)
            })?;
            let elapsed_s = begin.elapsed().as_secs_f64();
            Ok(flow(size, (program.written, elapsed_s, account.close())))
        };
        return sizes.iter().map(write).collect();
    };
    let mut drained = Drained::new(setting, path.output.try_clone()?, end)?;
    let mut tasks = path.processes();
    tasks.push(drained.reader());
    // A line's length once it has come out.
    let shown = path.shown(&text[..LINE]).len() as u64;
    let come = |written: u64| written / LINE as u64 * shown + written % LINE as u64;
    // Once around, so that all is in memory and the program begins a line.
    drained.until_come(come(TEXT as u64), |output| write_all(output, &text))?;
    let write = |&size: &usize| {
        let mut program = Program { text: &text, size, written: 0 };
        let (account, begin) = (Account::open(&tasks), Instant::now());
        drained.meanwhile(|output| {
            program.write_for((rate, time), clock(), |piece| write_all(output, piece))?;
            Ok(come(program.written))
        })?;
        // The last one is waited for, and all that came before it.
        let before = program.written;
        let last = program.piece();
        drained.until_come(come(before + size as u64) - come(before), |output| write_all(output, last))?;
        let elapsed_s = begin.elapsed().as_secs_f64();
        Ok(flow(size, (before + size as u64, elapsed_s, account.close())))
    };
    sizes.iter().map(write).collect()
}

/// A clock that begins now: it sleeps for what it is given, then returns the time since its beginning.
fn clock() -> impl FnMut(Duration) -> Duration {
    let begin = Instant::now();
    move |pause| {
        std::thread::sleep(pause);
        begin.elapsed()
    }
}

/// A program that writes lines by pieces of one size.
struct Program<'a> {
    text: &'a [u8],
    size: usize,
    written: u64,
}

impl<'a> Program<'a> {
    fn piece(&self) -> &'a [u8] {
        &self.text[self.written as usize % TEXT..][..self.size]
    }

    /// Writes for so long: without a pause, or by a schedule. A program that is late writes without a pause until it is not.
    fn write_for(
        &mut self,
        (rate, time): (Option<f64>, Duration),
        mut clock: impl FnMut(Duration) -> Duration,
        mut write: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        /// It wakes up no more often: then it writes all that is due.
        const WAKE: f64 = 1e-3;
        /// Writes between two looks at the clock, where there is no schedule.
        const UNSEEN: u64 = 16;
        let (mut count, mut elapsed) = (0_u64, clock(Duration::ZERO));
        while elapsed < time {
            let now = elapsed.as_secs_f64();
            let due = match rate {
                None => count + UNSEEN.min(1 + TEXT as u64 / self.size as u64),
                Some(rate) => (now * rate / self.size as f64) as u64 + 1,
            };
            if count >= due
                && let Some(rate) = rate
            {
                let next = (count as f64 * self.size as f64 / rate).max(now + WAKE).min(time.as_secs_f64());
                elapsed = clock(Duration::from_secs_f64(next - now));
                continue;
            }
            // In the middle of many, the time may be over.
            let most = count + 1 + (TEXT / self.size) as u64;
            while count < due.min(most) {
                write(self.piece())?;
                self.written += self.size as u64;
                count += 1;
            }
            elapsed = clock(Duration::ZERO);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pseudo::cells;
    use std::cell::Cell;

    /// The bytes that a program writes by this schedule, each piece of which takes as long as its number says; and when it ends.
    fn written(size: usize, (rate, time): (f64, Duration), takes: impl Fn(u64) -> Duration) -> (u64, Duration) {
        let (text, now, mut come) = (lines(TEXT), Cell::new(Duration::ZERO), Vec::new());
        let mut program = Program { text: &text, size, written: 0 };
        let clock = |pause| {
            now.set(now.get() + pause);
            now.get()
        };
        let write = |piece: &[u8]| {
            assert!(
                come.len() as f64 <= now.get().as_secs_f64() * rate,
                "too early: {} B by {:?}",
                come.len(),
                now.get()
            );
            now.set(now.get() + takes((come.len() / size) as u64));
            come.extend_from_slice(piece);
            Ok(())
        };
        program.write_for((Some(rate), time), clock, write).expect("written");
        assert!(come.iter().eq(text.iter().cycle().take(come.len())));
        (come.len() as u64, now.get())
    }

    #[test]
    fn a_program_keeps_its_rate_never_exceeds_it_and_catches_up() {
        let (rate, time) = (64e3, Duration::from_millis(200));
        for late in [Duration::ZERO, Duration::from_millis(100)] {
            let (bytes, end) = written(64, (rate, time), |piece| if piece == 10 { late } else { Duration::ZERO });
            let is_in_time = end < time + Duration::from_millis(1);
            assert!((199 * 64..=200 * 64).contains(&bytes) && is_in_time, "{bytes} B until {end:?}");
        }
    }

    #[test]
    fn a_rate_that_is_not_reached_ends_all_the_same() {
        let time = Duration::from_millis(50);
        let (bytes, _) = written(1, (1e9, time), |_| Duration::from_micros(10));
        // What fits into the time, and what is written between two looks at the clock.
        assert!(bytes <= 5000 + TEXT as u64 + 1, "{bytes}");
    }

    #[test]
    fn the_middle_visit_stands_for_all() {
        let visit = |bytes: u64| {
            let used = Used { tasks_s: 1.0, kernel_threads_s: Some(0.0) };
            Flow { path: "raw".into(), size: 1, requested: None, bytes, elapsed_s: 1.0, used }
        };
        assert_eq!(middle(vec![visit(9), visit(1), visit(3), visit(2), visit(8)]).map(|flow| flow.bytes), Some(3));
        assert_eq!(middle(Vec::new()), None);
    }

    #[test]
    fn every_byte_comes_out_and_all_processor_time_is_positive() {
        for path in PATHS {
            for rate in [None, Some(1e5)] {
                let done = cells::apart(|setting| flows(setting, path, &[64], (rate, Duration::from_millis(50))));
                let flow = match done {
                    Err(Failure::Skip { reason, remedy }) if ["script", "ssh"].contains(&path) => {
                        testing::left_out!("{path}: {reason}; {remedy}");
                        assert!(reason.starts_with("there is no") || reason.starts_with("sshd"), "{reason}");
                        continue;
                    }
                    flows => flows.expect("measured").remove(0),
                };
                assert!(flow.bytes >= 64 && flow.bytes % 64 == 0, "{flow:?}");
                assert!(flow.used.tasks_s > 0.0 && flow.elapsed_s > 0.0, "{flow:?}");
                assert!(rate.is_none_or(|rate| flow.rate() <= 1.1 * rate), "{flow:?}");
            }
        }
    }
}
