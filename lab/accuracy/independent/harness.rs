//! Timing as a careful person would do it by hand: fresh processes, each pinned, take batches between two checks of the
//! core. Nothing here comes from the instrument.

use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use super::kernel::done;

/// Shortest batch, unless the work says how many iterations it can make at most.
const BATCH: Duration = Duration::from_micros(150);
/// How long one process takes batches.
const TIME: Duration = Duration::from_millis(150);
/// Batches that a process takes at least, where one takes long.
const LEAST: usize = 8;
/// Seconds after which a process that hangs is ended.
const HANGS: i64 = 30;

/// Something that is timed.
pub(crate) struct Work {
    run: Box<dyn FnMut(u64) -> Duration>,
    pub(super) most: u64,
    pub(super) batches: usize,
    /// Operations of an iteration.
    pub(super) per: f64,
}

/// Work, or why there is none here.
pub(crate) type Made = Result<Work, String>;

impl Work {
    /// Times the whole of it.
    pub(super) fn whole(mut batch: impl FnMut(u64) + 'static) -> Work {
        Work::timed(move |times| {
            let start = Instant::now();
            batch(times);
            start.elapsed()
        })
    }

    /// One call again and again, whose answer must be right every time.
    pub(super) fn calls(mut one: impl FnMut() -> bool + 'static) -> Work {
        Work::timed(move |times| {
            let mut right = 0;
            let start = Instant::now();
            for _ in 0..times {
                right += u64::from(one());
            }
            let time = start.elapsed();
            assert_eq!(right, times, "not every answer was right");
            time
        })
    }

    /// What times itself, because a part of it does not count.
    pub(super) fn timed(run: impl FnMut(u64) -> Duration + 'static) -> Work {
        Work { run: Box::new(run), most: u64::MAX, batches: usize::MAX, per: 1.0 }
    }

    /// Does it so often and says how long that took.
    pub(super) fn run(&mut self, times: u64) -> Duration {
        (self.run)(times)
    }

    /// Iterations that a batch has at most.
    pub(super) fn at_most(self, most: u64) -> Work {
        Work { most, ..self }
    }

    /// Iterations of a batch, and batches that a process takes, of what makes itself dearer the more of it there was.
    pub(super) fn few(self, iterations: u64, batches: usize) -> Work {
        Work { most: iterations, batches, ..self }
    }

    /// Each iteration does it so often.
    pub(super) fn unrolled(self, per: u32) -> Work {
        Work { per: per.into(), ..self }
    }
}

/// The loop around each work, with nothing in it.
pub(super) fn empty() -> Made {
    Ok(Work::calls(|| {
        std::hint::black_box(());
        true
    }))
}

/// One batch.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    pub ns: f64,
    /// One core cycle around it, in ns.
    pub cycle: f64,
    /// Time of an add beside others over that of one in a chain, the worse of both checks: large on a core that is shared.
    pub share: f64,
}

impl Batch {
    pub(crate) fn cycles(&self) -> f64 {
        self.ns / self.cycle
    }
}

/// What a process said.
pub(crate) enum Taken {
    Batches(Vec<Batch>),
    Failed(String),
}

/// Has a fresh process, pinned to a CPU, prepare work and take batches of it.
pub(crate) fn alone_in_child(cpu: u32, prepare: &dyn Fn() -> Made) -> Taken {
    let mut ends = [0_i32; 2];
    if let Err(why) = done("pipe2", call!(libc::SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC)) {
        return Taken::Failed(why);
    }
    // SAFETY: the descriptors were just made and are nobody else's.
    let mut from = unsafe { std::fs::File::from_raw_fd(ends[0]) };
    // SAFETY: as above.
    let mut to = unsafe { std::fs::File::from_raw_fd(ends[1]) };
    // SAFETY: the benches' main thread is the only one, so that the copy finds every lock open.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Taken::Failed("fork failed".into());
    }
    if child == 0 {
        drop(from);
        let told = std::panic::catch_unwind(AssertUnwindSafe(|| {
            limit(cpu)?;
            Ok(batches(prepare()?))
        }));
        let bytes = encode(told.unwrap_or_else(|_| Err("a check failed (its message is above)".into())));
        let sent = to.write_all(&bytes).is_ok();
        // SAFETY: ends this process at once; what the parent must not do twice is left undone.
        unsafe { libc::_exit(i32::from(!sent)) };
    }
    drop(to);
    let mut bytes = Vec::new();
    let read = from.read_to_end(&mut bytes);
    let mut status = 0;
    // SAFETY: the child is ours and writes nothing but its status.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    match read {
        Ok(_) => decode(&bytes).unwrap_or_else(|| Taken::Failed(format!("the process ended early (status {status})"))),
        Err(error) => Taken::Failed(error.to_string()),
    }
}

/// The process ends with its parent and when it hangs, runs on one CPU, and has queues and semaphores of its own where it
/// may: they end with it.
pub(super) fn limit(cpu: u32) -> Result<(), String> {
    done("prctl", call!(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
    let alarm = [0, 0, HANGS, 0];
    done("setitimer", call!(libc::SYS_setitimer, libc::ITIMER_REAL, alarm.as_ptr(), 0))?;
    call!(libc::SYS_unshare, libc::CLONE_NEWIPC);
    pin(cpu)
}

/// This process runs on one CPU.
pub(super) fn pin(cpu: u32) -> Result<(), String> {
    let mut mask = [0_u64; 16];
    *mask.get_mut(cpu as usize / 64).ok_or("a CPU beyond the thousandth")? |= 1 << (cpu % 64);
    done("sched_setaffinity", call!(libc::SYS_sched_setaffinity, 0, size_of_val(&mask), mask.as_ptr()))?;
    Ok(())
}

fn batches(mut work: Work) -> Vec<Batch> {
    let checks = Checks::new();
    let mut times = 1;
    for _ in 0..2 {
        // The shortest of three: one may have been delayed.
        while times < work.most && (0..3).map(|_| work.run(times)).min() < Some(BATCH) {
            times = (times * 2).min(work.most);
        }
    }
    let best = (0..200).map(|_| checks.take().share).fold(f64::INFINITY, f64::min);
    let (start, mut taken) = (Instant::now(), Vec::new());
    while taken.len() < work.batches && (start.elapsed() < TIME || (taken.len() < LEAST && start.elapsed() < TIME * 20))
    {
        let before = checks.take();
        // A batch that begins on a shared core is not worth its time, unless there is no other.
        if before.share > best * 1.06 && start.elapsed() < TIME / 2 {
            continue;
        }
        let ns = work.run(times).as_nanos() as f64 / times as f64 / work.per;
        let after = checks.take();
        taken.push(Batch { ns, cycle: (before.cycle + after.cycle) / 2.0, share: before.share.max(after.share) });
    }
    taken
}

fn encode(told: Result<Vec<Batch>, String>) -> Vec<u8> {
    match told {
        Ok(batches) => {
            let numbers = batches.iter().flat_map(|batch| [batch.ns, batch.cycle, batch.share]);
            [0].into_iter().chain(numbers.flat_map(f64::to_ne_bytes)).collect()
        }
        Err(why) => [1].into_iter().chain(why.into_bytes()).collect(),
    }
}

fn decode(bytes: &[u8]) -> Option<Taken> {
    let (kind, rest) = bytes.split_first()?;
    if *kind == 1 {
        return Some(Taken::Failed(String::from_utf8_lossy(rest).into()));
    }
    let number = |bytes: &[u8]| Some(f64::from_ne_bytes(bytes.try_into().ok()?));
    let batch = |bytes: &[u8]| {
        Some(Batch { ns: number(&bytes[..8])?, cycle: number(&bytes[8..16])?, share: number(&bytes[16..])? })
    };
    Some(Taken::Batches(rest.chunks_exact(24).map(batch).collect::<Option<_>>()?))
}

/// What a reading of the clock takes, by which the checks appear longer than they are.
struct Checks {
    reading: Duration,
}

struct Check {
    cycle: f64,
    share: f64,
}

impl Checks {
    fn new() -> Checks {
        let pair = |_| {
            let start = Instant::now();
            Instant::now() - start
        };
        Checks { reading: (0..1000).map(pair).min().unwrap_or_default() }
    }

    /// About 10 µs: a chain of adds, each a cycle, and as many adds side by side, which need the whole core.
    fn take(&self) -> Check {
        const TURNS: u64 = 500;
        let start = Instant::now();
        chain(TURNS);
        let middle = Instant::now();
        beside(TURNS);
        let end = Instant::now();
        let ns = |time: Duration| time.saturating_sub(self.reading).as_nanos() as f64 / (TURNS * 48) as f64;
        let cycle = ns(middle - start);
        Check { cycle, share: ns(end - middle) / cycle }
    }
}

#[cfg(target_arch = "x86_64")]
fn chain(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 48", "add {sum}, {by}", ".endr", "dec {turns}", "jnz 2b",
            sum = inout(reg) 0_u64 => _, by = in(reg) 3_u64, turns = inout(reg) turns => _, options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "x86_64")]
fn beside(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 8", "add {a}, {by}", "add {b}, {by}", "add {c}, {by}", "add {d}, {by}", "add {e}, {by}",
            "add {f}, {by}", ".endr", "dec {turns}", "jnz 2b",
            a = inout(reg) 0_u64 => _, b = inout(reg) 0_u64 => _, c = inout(reg) 0_u64 => _,
            d = inout(reg) 0_u64 => _, e = inout(reg) 0_u64 => _, f = inout(reg) 0_u64 => _,
            by = in(reg) 3_u64, turns = inout(reg) turns => _, options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn chain(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 48", "add {sum}, {sum}, {by}", ".endr", "subs {turns}, {turns}, #1", "b.ne 2b",
            sum = inout(reg) 0_u64 => _, by = in(reg) 3_u64, turns = inout(reg) turns => _, options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn beside(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 8", "add {a}, {a}, {by}", "add {b}, {b}, {by}", "add {c}, {c}, {by}", "add {d}, {d}, {by}",
            "add {e}, {e}, {by}", "add {f}, {f}, {by}", ".endr", "subs {turns}, {turns}, #1", "b.ne 2b",
            a = inout(reg) 0_u64 => _, b = inout(reg) 0_u64 => _, c = inout(reg) 0_u64 => _,
            d = inout(reg) 0_u64 => _, e = inout(reg) 0_u64 => _, f = inout(reg) 0_u64 => _,
            by = in(reg) 3_u64, turns = inout(reg) turns => _, options(nomem, nostack)
        );
    }
}
