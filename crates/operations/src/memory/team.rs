//! Work of several CPUs at once: partners that do the same work, or that load the memory meanwhile.
//!
//! Partners sleep between batches; otherwise they would run during the checks of the clock. Before a batch they are woken
//! and spin until it begins. They count and check their own work, and report it after the batch.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use operation::{Failure, Loop, Partner, Setting};
use rustix::thread::futex;

use super::work::Work;
use crate::kit::shared::Shared;

/// The most CPUs that work together.
const MOST: usize = 8;

/// The state of a member.
const SETTING_UP: u32 = 0;
const ASLEEP: u32 = 1;
const AWAKE: u32 = 2;
const FAILED: u32 = 3;
/// It has no memory this time, and may have some in another round.
const LOST: u32 = 4;

/// How long a partner may take for anything but its part of a batch.
const PATIENCE: Duration = Duration::from_secs(8);

/// After this number of our own iterations a partner has certainly done some of its work: thousands of loads from far
/// memory.
const SURELY: u64 = 256;

/// A value in a cache line of its own, and in the neighbouring line too.
#[repr(align(128))]
#[derive(Default)]
struct Apart<T>(T);

/// What all tasks share. Batches are numbered; 0 is none.
#[derive(Default)]
struct Board {
    /// The batch to wake up for.
    batch: Apart<AtomicU32>,
    /// The batch that has begun.
    begun: Apart<AtomicU32>,
    /// The batch that has ended, for partners that work until then.
    over: Apart<AtomicU32>,
    times: AtomicU64,
    members: [Apart<Member>; MOST],
}

#[derive(Default)]
struct Member {
    state: AtomicU32,
    /// The latest batch in which it has done its part.
    done: AtomicU32,
    /// Units of work it has done in all.
    units: AtomicU64,
}

/// What a partner does during a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartnerWork {
    /// The same number of iterations as this task.
    AsMuch,
    /// One unit of work after another until this task has finished.
    Throughout,
    /// The same, with a pause after each unit that lasts as long as the unit.
    HalfTheTime,
}

/// Partners on other CPUs, and the state shared with them.
pub(super) struct Team {
    board: Rc<Shared<Board>>,
    partners: Vec<Partner>,
    batch: u32,
}

impl Team {
    /// Starts partners on this number of other CPUs, each with work of its own. Call it before this task allocates its
    /// memory: a forked process shares that memory, and every page would be copied at the next write.
    pub(super) fn start<W: Work>(
        setting: &Setting,
        others: usize,
        part: PartnerWork,
        make: impl Fn(u64) -> Result<W, Failure>,
    ) -> Result<Team, Failure> {
        if others > MOST {
            return Err(Failure::wrong(format!("at most {MOST} partners work together, not {others}")));
        }
        let board = Rc::new(Shared::new(Board::default())?);
        let mut partners = Vec::new();
        for (index, cpu) in setting.other_cpus(others)?.into_iter().enumerate() {
            let seed = setting.seed().wrapping_add(1 + index as u64);
            partners.push(setting.partner(cpu, || board.serve(index, part, || make(seed)))?);
        }
        Ok(Team { board, partners, batch: 0 })
    }

    fn members(&self) -> impl Iterator<Item = &Member> {
        self.board.members.iter().map(|member| &member.0).take(self.partners.len())
    }

    /// Waits until all partners are in this state.
    fn all(&self, state: u32) -> Result<(), Failure> {
        self.until(|member| member.state.load(Ordering::Acquire) == state)
    }

    fn until(&self, reached: impl Fn(&Member) -> bool) -> Result<(), Failure> {
        let start = Instant::now();
        for member in self.members() {
            let mut turns = 0_u64;
            while !reached(member) {
                std::hint::spin_loop();
                turns += 1;
                if turns.is_multiple_of(1024) {
                    if member.state.load(Ordering::Acquire) == FAILED {
                        return Err(Failure::wrong("a partner on another CPU could not do its work"));
                    }
                    if start.elapsed() > PATIENCE {
                        return Err(Failure::wrong("a partner on another CPU does not respond"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits until all have their memory.
    fn ready(&self) -> Result<(), Failure> {
        let refused = |_| Failure::skip("a partner on another CPU could not set up its memory", "free memory");
        let start = Instant::now();
        let any = |state| self.members().any(|member| member.state.load(Ordering::Acquire) == state);
        while any(SETTING_UP) {
            if start.elapsed() > PATIENCE {
                return Err(Failure::skip(
                    "a partner on another CPU does not prepare its memory in time",
                    "free memory",
                ));
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        if any(LOST) {
            return Err(Failure::wrong("a partner on another CPU got no huge pages for its memory"));
        }
        self.all(ASLEEP).map_err(refused)
    }

    /// Wakes all partners for a batch of this number of iterations, and waits until they spin for its beginning.
    fn wake(&mut self, times: u64) -> Result<(), Failure> {
        self.batch = self.batch.wrapping_add(1);
        self.board.times.store(times, Ordering::Relaxed);
        self.board.batch.0.store(self.batch, Ordering::Release);
        futex::wake(&self.board.batch.0, futex::Flags::empty(), MOST as u32)?;
        self.all(AWAKE)
    }

    fn begin(&self) {
        self.board.begun.0.store(self.batch, Ordering::Release);
    }

    /// Waits until all have done their part of the batch.
    fn done(&self) -> Result<(), Failure> {
        self.until(|member| member.done.load(Ordering::Acquire) == self.batch)
    }

    /// Units of work that each has done in all.
    fn units(&self) -> Vec<u64> {
        self.members().map(|member| member.units.load(Ordering::Acquire)).collect()
    }
}

impl Board {
    /// The body of a partner. It ends when its process is killed, or when it cannot do its work.
    fn serve<W: Work>(
        &self,
        index: usize,
        part: PartnerWork,
        make: impl Fn() -> Result<W, Failure>,
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
                // The sleep may end for any reason; the word says whether to continue.
                let _ = futex::wait(&self.batch.0, futex::Flags::empty(), seen, None);
            }
            seen = self.batch.0.load(Ordering::Acquire);
            member.state.store(AWAKE, Ordering::Release);
            while self.begun.0.load(Ordering::Acquire) != seen {
                std::hint::spin_loop();
            }
            match part {
                PartnerWork::AsMuch => {
                    let times = self.times.load(Ordering::Relaxed);
                    work.work(times);
                    member.done.store(seen, Ordering::Release);
                    work.check(times).map_err(fails)?;
                    member.units.fetch_add(times, Ordering::Release);
                }
                PartnerWork::Throughout | PartnerWork::HalfTheTime => {
                    while self.over.0.load(Ordering::Acquire) != seen {
                        let start = Instant::now();
                        work.work(1);
                        let took = start.elapsed();
                        work.check(1).map_err(fails)?;
                        member.units.fetch_add(1, Ordering::Release);
                        while part == PartnerWork::HalfTheTime && start.elapsed() < 2 * took {
                            std::hint::spin_loop();
                        }
                    }
                    member.done.store(seen, Ordering::Release);
                }
            }
        }
    }
}

/// The loop in which this CPU and a number of others do the same work. An iteration is one unit on each. A batch ends when
/// the last one has done its part.
pub(super) fn together<W: Work>(
    setting: &Setting,
    cpus: u64,
    make: impl Fn(u64) -> Result<W, Failure>,
) -> Result<Loop, Failure> {
    let others = cpus.saturating_sub(1) as usize;
    let team = Team::start(setting, others, PartnerWork::AsMuch, &make)?;
    let own = make(setting.seed())?;
    team.ready()?;
    let shared = Rc::new(RefCell::new((team, own, Vec::new())));
    let (before, after) = (Rc::clone(&shared), Rc::clone(&shared));
    let run = move |times| {
        let (team, own, _) = &mut *shared.borrow_mut();
        team.begin();
        own.work(times);
        team.done()
    };
    let prepare = move |times| {
        let (team, _, units) = &mut *before.borrow_mut();
        *units = team.units();
        team.wake(times)
    };
    let verify = move |times| {
        let (team, own, units) = &mut *after.borrow_mut();
        team.all(ASLEEP)?;
        own.check(times)?;
        if team.units().iter().zip(units).all(|(now, before)| *now == *before + times) {
            return Ok(());
        }
        Err(Failure::wrong("the CPUs did not all do their part"))
    };
    Ok(Loop::new(run).before(prepare).verify(verify))
}

/// The loop of `own` work while a partner on another CPU does other work; without a partner if there is no `part`.
pub(super) fn beside<W: Work, L: Work>(
    setting: &Setting,
    part: Option<PartnerWork>,
    own: impl Fn(u64) -> Result<W, Failure>,
    load: impl Fn(u64) -> Result<L, Failure>,
) -> Result<Loop, Failure> {
    let team = Team::start(setting, usize::from(part.is_some()), part.unwrap_or(PartnerWork::AsMuch), load)?;
    let own = own(setting.seed())?;
    team.ready()?;
    let shared = Rc::new(RefCell::new((team, own, Vec::new())));
    let (before, after) = (Rc::clone(&shared), Rc::clone(&shared));
    let run = move |times| {
        let (team, own, _) = &mut *shared.borrow_mut();
        own.work(times);
        team.board.over.0.store(team.batch, Ordering::Release);
        Ok(())
    };
    let prepare = move |times| {
        let (team, _, units) = &mut *before.borrow_mut();
        team.wake(times)?;
        let asleep = team.units();
        team.begin();
        // Its first unit warms it up and proves that it is at work.
        let start = Instant::now();
        while team.units().iter().zip(&asleep).any(|(now, before)| now == before) {
            if start.elapsed() > PATIENCE {
                return Err(Failure::wrong("the partner does not put any load on memory"));
            }
        }
        *units = team.units();
        Ok(())
    };
    let verify = move |times| {
        let (team, own, units) = &mut *after.borrow_mut();
        team.done()?;
        team.all(ASLEEP)?;
        own.check(times)?;
        // A short batch may fall between two of its units.
        let idle = times >= SURELY && team.units().iter().zip(units).any(|(now, before)| now == before);
        if idle { Err(Failure::wrong("the partner did no work during the batch")) } else { Ok(()) }
    };
    Ok(Loop::new(run).before(prepare).verify(verify))
}

#[cfg(test)]
mod tests {
    use record::Point;

    use super::*;

    /// Work whose check succeeds this number of times.
    struct Right(u32);

    impl Work for Right {
        fn work(&mut self, _: u64) {}

        fn check(&mut self, _: u64) -> Result<(), Failure> {
            self.0 = self.0.checked_sub(1).ok_or_else(|| Failure::wrong("the work was not done"))?;
            Ok(())
        }
    }

    /// `None`, with a message, on a machine with one CPU.
    fn setting() -> Option<Setting> {
        let other = crate::kit::trial::other_cpu();
        if other.is_none() {
            testing::not_tested!("only one CPU may be used, allow a second one");
        }
        other.map(|other| Setting::new(Point::default(), std::env::temp_dir(), 0, Some(other), 7))
    }

    #[test]
    fn a_partner_that_does_not_do_its_work_is_told() {
        let Some(setting) = setting() else { return };
        let make = |seed| Ok(Right(if seed == setting.seed() { 9 } else { 2 }));
        let mut loop_of_both = together(&setting, 2, make).expect("a team");
        loop_of_both.perform(1).expect("the first");
        loop_of_both.perform(5).expect("the second");
        assert!(matches!(loop_of_both.perform(1), Err(Failure::Wrong(_))));
        let loaded = beside(&setting, Some(PartnerWork::Throughout), |_| Ok(Right(9)), |_| Ok(Right(0)));
        assert!(matches!(loaded.expect("a team").perform(1), Err(Failure::Wrong(_))));
    }

    #[test]
    fn a_partner_without_memory_or_a_cpu_is_a_skip() {
        let Some(setting) = setting() else { return };
        let make =
            |seed| if seed == setting.seed() { Ok(Right(9)) } else { Err(Failure::Errno { errno: libc::ENOMEM }) };
        assert!(matches!(together(&setting, 2, make), Err(Failure::Skip { .. })));
        let make = |seed| if seed == setting.seed() { Ok(Right(9)) } else { Err(Failure::wrong("base pages")) };
        assert!(matches!(together(&setting, 2, make), Err(Failure::Wrong(_))), "another round may have huge pages");
        assert!(matches!(together(&setting, 3, |_| Ok(Right(9))), Err(Failure::Skip { .. })));
    }
}
