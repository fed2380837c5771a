//! The shared memory of a team: words by which a batch begins and ends. Does not know how the tasks are started.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use operation::Failure;

use crate::kit::check::ensure;
use crate::kit::library::{futex, sched_yield};
use crate::kit::shared::Shared;
use crate::kit::work::Work;

/// What a partner does in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// As many iterations as the timed task does.
    AsMuch,
    /// One iteration after another, until the timed task is done.
    Throughout,
    /// The same, with a pause after each iteration that is as long as the iteration.
    HalfTheTime,
}

/// The most partners that work together. Those that there are not take no memory.
pub(super) const MOST: usize = 4096;

/// The states of a member.
pub(super) const SETTING_UP: u32 = 0;
pub(super) const ASLEEP: u32 = 1;
pub(super) const AWAKE: u32 = 2;
pub(super) const FAILED: u32 = 3;
/// It got no memory in this round. It may get some in another round.
pub(super) const LOST: u32 = 4;

/// A value that has two neighbouring cache lines to itself, because some processors fetch them together.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Apart<T>(pub(crate) T);

/// The shared words. A batch has a number. 0 is no batch.
pub(super) struct Board {
    /// The batch to wake up for.
    pub(super) batch: Apart<AtomicU32>,
    /// The batch that has begun.
    pub(super) begun: Apart<AtomicU32>,
    /// The batch that is over, for members that work until it is.
    pub(super) over: Apart<AtomicU32>,
    /// Members that have not done their part of the batch.
    pub(super) working: Apart<AtomicU32>,
    /// Whether the team has ended, for members that are threads.
    pub(super) ended: AtomicU32,
    pub(super) times: AtomicU64,
    /// True if several tasks share a CPU. They then yield it instead of waiting actively.
    crowded: AtomicBool,
    pub(super) members: [Apart<Member>; MOST],
}

#[derive(Default)]
pub(super) struct Member {
    pub(super) state: AtomicU32,
    /// The last batch of which it has done its part.
    pub(super) done: AtomicU32,
    /// The total units of work that it has done.
    pub(super) units: AtomicU64,
}

impl Board {
    pub(super) fn new(crowded: bool) -> Result<Shared<Board>, Failure> {
        // SAFETY: it consists of atomic numbers and a boolean, which may be zero.
        let board = unsafe { Shared::<Board>::zeroed() }?;
        board.crowded.store(crowded, Ordering::Relaxed);
        Ok(board)
    }

    /// One turn of waiting for a task that is working.
    #[inline]
    pub(super) fn pause(&self) {
        if self.crowded.load(Ordering::Relaxed) {
            sched_yield();
        } else {
            std::hint::spin_loop();
        }
    }

    /// If tasks share CPUs, sleeps until all members have done their part, because they need the CPU of the caller. The last
    /// one wakes it. Otherwise it returns at once, and the caller waits actively.
    pub(super) fn sleep_until_done(&self, patience: Duration) -> Result<(), Failure> {
        let start = Instant::now();
        loop {
            let working = self.working.0.load(Ordering::Acquire);
            if working == 0 || !self.crowded.load(Ordering::Relaxed) {
                return Ok(());
            }
            ensure(start.elapsed() <= patience, || "another task of the team does not finish")?;
            let rest = rustix::event::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            // The sleep may end for any reason. The word says whether to go on.
            let _ = futex::wait(&self.working.0, futex::Flags::empty(), working, Some(&rest));
        }
    }

    fn part_done(&self, member: &Member, batch: u32) {
        member.done.store(batch, Ordering::Release);
        if self.working.0.fetch_sub(1, Ordering::AcqRel) == 1 && self.crowded.load(Ordering::Relaxed) {
            let _ = futex::wake(&self.working.0, futex::Flags::empty(), 1);
        }
    }

    /// Runs a member until its process is killed, the team has ended, or its work fails. The work is made by its own task.
    pub(super) fn serve<W: Work>(&self, index: usize, part: Part, made: Result<W, Failure>) -> Result<(), Failure> {
        let member = &self.members[index].0;
        let fails = |failure| {
            member.state.store(FAILED, Ordering::Release);
            failure
        };
        let mut work = made.map_err(|failure| {
            let state = if matches!(failure, Failure::Wrong(_)) { LOST } else { FAILED };
            member.state.store(state, Ordering::Release);
            failure
        })?;
        let mut seen = 0;
        loop {
            member.state.store(ASLEEP, Ordering::Release);
            while self.batch.0.load(Ordering::Acquire) == seen {
                // The sleep may end for any reason. The word says whether to go on.
                let _ = futex::wait(&self.batch.0, futex::Flags::empty(), seen, None);
            }
            if self.ended.load(Ordering::Acquire) != 0 {
                return Ok(());
            }
            seen = self.batch.0.load(Ordering::Acquire);
            let times = self.times.load(Ordering::Relaxed);
            work.ready(times).map_err(fails)?;
            member.state.store(AWAKE, Ordering::Release);
            while self.begun.0.load(Ordering::Acquire) != seen {
                if self.ended.load(Ordering::Acquire) != 0 {
                    return Ok(());
                }
                self.pause();
            }
            match part {
                Part::AsMuch => {
                    work.work(times);
                    self.part_done(member, seen);
                    work.check(times).map_err(fails)?;
                    member.units.fetch_add(times, Ordering::Release);
                }
                Part::Throughout | Part::HalfTheTime => {
                    while self.over.0.load(Ordering::Acquire) != seen {
                        let start = Instant::now();
                        work.work(1);
                        let took = start.elapsed();
                        work.check(1).map_err(fails)?;
                        member.units.fetch_add(1, Ordering::Release);
                        while part == Part::HalfTheTime && start.elapsed() < 2 * took {
                            std::hint::spin_loop();
                        }
                    }
                    self.part_done(member, seen);
                }
            }
        }
    }
}
