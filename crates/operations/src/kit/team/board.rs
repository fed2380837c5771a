//! Where a team meets: words of memory that all its tasks see, by which a batch begins and ends. Knows nothing of how the
//! tasks are started.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use operation::Failure;
use rustix::thread::{futex, sched_yield};

use crate::kit::work::Work;

/// What a partner does in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// As many iterations as we.
    AsMuch,
    /// One after another until we are done.
    Throughout,
    /// The same, pausing after each for as long as it took.
    HalfTheTime,
}

/// The most tasks that work together.
pub(super) const MOST: usize = 256;

/// What a member is doing.
pub(super) const SETTING_UP: u32 = 0;
pub(super) const ASLEEP: u32 = 1;
pub(super) const AWAKE: u32 = 2;
pub(super) const FAILED: u32 = 3;
/// It has no memory this time, and may have some in another round.
pub(super) const LOST: u32 = 4;

/// A value with a cache line of its own, and its neighbour's.
#[repr(align(128))]
#[derive(Default)]
pub(super) struct Apart<T>(pub(super) T);

/// What all tasks see. A batch has a number; 0 is none.
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
    /// Whether several of its tasks have one CPU: they give it away instead of watching on.
    crowded: bool,
    pub(super) members: [Apart<Member>; MOST],
}

#[derive(Default)]
pub(super) struct Member {
    pub(super) state: AtomicU32,
    /// The batch it has done its part of.
    pub(super) done: AtomicU32,
    /// Units of work it has done in all.
    pub(super) units: AtomicU64,
}

impl Board {
    pub(super) fn new(crowded: bool) -> Board {
        Board {
            batch: Apart::default(),
            begun: Apart::default(),
            over: Apart::default(),
            working: Apart::default(),
            ended: AtomicU32::new(0),
            times: AtomicU64::new(0),
            crowded,
            members: std::array::from_fn(|_| Apart::default()),
        }
    }

    /// What a task does while it waits for another one that is at work.
    #[inline]
    pub(super) fn pause(&self) {
        if self.crowded {
            sched_yield();
        } else {
            std::hint::spin_loop();
        }
    }

    /// Waits until all of so many members have done their part. On a CPU of its own the caller watches. Otherwise it
    /// sleeps, for the members need its CPU; the last one wakes it.
    pub(super) fn sleep_until_done(&self, patience: Duration) -> Result<(), Failure> {
        let start = Instant::now();
        loop {
            let working = self.working.0.load(Ordering::Acquire);
            if working == 0 || !self.crowded {
                return Ok(());
            }
            if start.elapsed() > patience {
                return Err(Failure::wrong("another task of the team does not come to its end"));
            }
            let rest = futex::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            // Whatever ends the sleep, the word says whether to go on.
            let _ = futex::wait(&self.working.0, futex::Flags::empty(), working, Some(&rest));
        }
    }

    /// A member has done its part of this batch.
    fn part_done(&self, member: &Member, batch: u32) {
        member.done.store(batch, Ordering::Release);
        if self.working.0.fetch_sub(1, Ordering::AcqRel) == 1 && self.crowded {
            let _ = futex::wake(&self.working.0, futex::Flags::empty(), 1);
        }
    }

    /// A member's life: it ends when its process is killed, when the team has ended, or when it cannot do its work.
    pub(super) fn serve<W: Work>(
        &self,
        index: usize,
        part: Part,
        make: impl FnOnce() -> Result<W, Failure>,
    ) -> Result<(), Failure> {
        let member = &self.members[index].0;
        let fails = |failure| {
            member.state.store(FAILED, Ordering::Release);
            failure
        };
        let mut work = make().map_err(|failure| {
            let state = if matches!(failure, Failure::Wrong(_)) { LOST } else { FAILED };
            member.state.store(state, Ordering::Release);
            failure
        })?;
        let mut seen = 0;
        loop {
            member.state.store(ASLEEP, Ordering::Release);
            while self.batch.0.load(Ordering::Acquire) == seen {
                // Whatever ends the sleep, the word says whether to go on.
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
