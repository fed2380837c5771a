//! Work of several tasks at once: the timed task has partners that do the same work, or that load the machine meanwhile. They
//! run on other CPUs or also on the CPU of the timed task, as processes or as threads of this process.
//!
//! Partners sleep between batches, because otherwise they would disturb the checks of the clock. Before a batch they are woken
//! and wait actively for its beginning. They count and check their own work. The timed task reads the counts after the batch.

mod board;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use operation::{Failure, Loop, Partner, Setting, pin};

use super::check::ensure;
use super::loops::handles;
use super::shared::Shared;
use super::work::Work;
use crate::kit::library::futex;
use board::{ASLEEP, AWAKE, Board, FAILED, LOST, MOST, Member, SETTING_UP};
pub(crate) use board::{Apart, Part};

/// The time limit for everything that a partner does except its part of a batch.
const PATIENCE: Duration = Duration::from_secs(8);

/// After this number of iterations of the timed task, a partner has certainly done some work: together they take as long as
/// thousands of loads from memory.
const SURELY: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// A private one: the partner is a process.
    Own,
    /// That of the timed task: the partner is a thread of this process.
    Ours,
}

pub(crate) struct Seats {
    /// The CPU of each partner. A CPU may occur more than once, and may be that of the timed task.
    pub(crate) cpus: Vec<u32>,
    pub(crate) memory: Memory,
}

impl Seats {
    /// Processes on other CPUs: one less than this number, because the timed task has a CPU too. Skips if there are
    /// fewer CPUs.
    pub(crate) fn apart(setting: &Setting, cpus: u64) -> Result<Seats, Failure> {
        Ok(Seats { cpus: setting.other_cpus(cpus.saturating_sub(1) as usize)?, memory: Memory::Own })
    }

    /// The same partners as threads of this process.
    pub(crate) fn in_our_memory(self) -> Seats {
        Seats { memory: Memory::Ours, ..self }
    }

    /// Threads of this process, by the value of an axis of tasks. A number counts the tasks, the timed one included, each on
    /// another CPU; `all` is one task on every CPU; `twice` is two tasks on every CPU. Skips if there are fewer CPUs,
    /// or if `all` is a number that the axis has too.
    pub(crate) fn threads(setting: &Setting, axis: &str) -> Result<Seats, Failure> {
        let others = setting.all_other_cpus();
        let cpus = match setting.point().word(axis) {
            Some("all") if others.len() < 2 => {
                let reason =
                    format!("all of the CPUs that may be used are {}, which is a point of its own", others.len() + 1);
                return Err(Failure::skip(reason, "allow more CPUs (taskset, cpuset), or take a larger machine"));
            }
            Some("all") => others,
            Some("twice") => [vec![setting.cpu()], others.clone(), others].concat(),
            _ => return Ok(Seats::apart(setting, setting.number(axis)?)?.in_our_memory()),
        };
        Ok(Seats { cpus, memory: Memory::Ours })
    }

    /// The number of tasks, the timed one included.
    pub(crate) fn tasks(&self) -> u64 {
        1 + self.cpus.len() as u64
    }

    /// True if a CPU has two tasks. The timed task, on the CPU `ours`, counts.
    pub(crate) fn crowded(&self, ours: u32) -> bool {
        let mut seen = BTreeSet::from([ours]);
        !self.cpus.iter().all(|&cpu| seen.insert(cpu))
    }
}

/// The place of a task in its team. Number 0 is the timed task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub(crate) number: usize,
    /// Different for each task and each round.
    pub(crate) seed: u64,
}

impl Seat {
    fn of(setting: &Setting, number: usize) -> Seat {
        Seat { number, seed: setting.seed().wrapping_add(number as u64) }
    }
}

/// The partners, and the memory that they share with the timed task.
pub(crate) struct Team {
    board: Arc<Shared<Board>>,
    partners: Partners,
    batch: u32,
}

/// The partners. They end when this is dropped.
enum Partners {
    Processes(Vec<Partner>),
    Threads(Vec<JoinHandle<()>>),
}

impl Team {
    /// Starts the partners, and makes the work of each. Call this before the timed task allocates its memory, because a forked
    /// process shares that memory, and each page is then copied at the next write.
    fn start<W: Work>(
        setting: &Setting,
        seats: &Seats,
        part: Part,
        make: impl Fn(Seat) -> Result<W, Failure> + Clone + Send + 'static,
    ) -> Result<Team, Failure> {
        if seats.cpus.len() > MOST {
            let reason = format!("at most {MOST} partners work together, not {}", seats.cpus.len());
            return Err(Failure::skip(reason, "allow fewer CPUs (taskset, cpuset)"));
        }
        let board = Arc::new(Board::new(seats.crowded(setting.cpu()))?);
        let partners = match seats.memory {
            Memory::Own => Partners::Processes(Vec::new()),
            Memory::Ours => Partners::Threads(Vec::new()),
        };
        let mut team = Team { board, partners, batch: 0 };
        for (index, &cpu) in seats.cpus.iter().enumerate() {
            let seat = Seat::of(setting, index + 1);
            match &mut team.partners {
                Partners::Processes(all) => {
                    let board = &team.board;
                    all.push(setting.partner(cpu, || board.serve(index, part, make(seat)))?);
                }
                Partners::Threads(all) => {
                    let (board, make) = (Arc::clone(&team.board), make.clone());
                    let life = move || board.serve(index, part, pin(cpu).and_then(|()| make(seat)));
                    // A thread that ends early has already said so by its state.
                    all.push(std::thread::Builder::new().spawn(move || drop(life()))?);
                }
            }
        }
        Ok(team)
    }

    fn members(&self) -> impl Iterator<Item = &Member> {
        let count = match &self.partners {
            Partners::Processes(all) => all.len(),
            Partners::Threads(all) => all.len(),
        };
        self.board.members.iter().map(|member| &member.0).take(count)
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
                self.board.pause();
                turns += 1;
                if turns.is_multiple_of(1024) {
                    ensure(member.state.load(Ordering::Acquire) != FAILED, || "a partner could not do its work")?;
                    ensure(start.elapsed() <= PATIENCE, || "a partner does not answer in time")?;
                }
            }
        }
        Ok(())
    }

    /// Waits until all partners have their memory.
    fn ready(&self) -> Result<(), Failure> {
        let refused = |_| Failure::skip("a partner could not set up its memory", "free memory");
        let start = Instant::now();
        let any = |state| self.members().any(|member| member.state.load(Ordering::Acquire) == state);
        while any(SETTING_UP) {
            if start.elapsed() > PATIENCE {
                return Err(Failure::skip("a partner does not get its memory ready", "free memory"));
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        ensure(!any(LOST), || "a partner got no huge pages for its memory")?;
        self.all(ASLEEP).map_err(refused)
    }

    /// Wakes all partners for a batch of this number of iterations, and waits until they wait actively for its beginning.
    fn wake(&mut self, times: u64) -> Result<(), Failure> {
        self.batch = self.batch.wrapping_add(1);
        self.board.times.store(times, Ordering::Relaxed);
        self.board.working.0.store(self.members().count() as u32, Ordering::Relaxed);
        self.board.batch.0.store(self.batch, Ordering::Release);
        futex::wake(&self.board.batch.0, futex::Flags::empty(), MOST as u32)?;
        self.all(AWAKE)
    }

    fn begin(&self) {
        self.board.begun.0.store(self.batch, Ordering::Release);
    }

    /// Waits until all partners have done their part of the batch.
    fn done(&self) -> Result<(), Failure> {
        self.board.sleep_until_done(PATIENCE)?;
        self.until(|member| member.done.load(Ordering::Acquire) == self.batch)
    }

    /// The total units of work that each partner has done.
    fn units(&self) -> Vec<u64> {
        self.members().map(|member| member.units.load(Ordering::Acquire)).collect()
    }
}

impl Drop for Team {
    /// Processes are killed when their handles are dropped. Threads are asked to end, and joined.
    fn drop(&mut self) {
        let Partners::Threads(all) = &mut self.partners else { return };
        self.board.ended.store(1, Ordering::Release);
        self.board.over.0.store(self.batch, Ordering::Release);
        self.board.batch.0.fetch_add(1, Ordering::Release);
        let _ = futex::wake(&self.board.batch.0, futex::Flags::empty(), MOST as u32);
        for thread in all.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The loop in which the timed task and its partners do the same work. In an iteration each task does it once. A batch ends
/// when the last task has done its part.
pub(crate) fn together<W: Work>(
    setting: &Setting,
    seats: &Seats,
    make: impl Fn(Seat) -> Result<W, Failure> + Clone + Send + 'static,
) -> Result<Loop, Failure> {
    together_checked(setting, seats, make, |_| Ok(()))
}

/// The same. After each batch, `checked` is called with its number of iterations.
pub(crate) fn together_checked<W: Work>(
    setting: &Setting,
    seats: &Seats,
    make: impl Fn(Seat) -> Result<W, Failure> + Clone + Send + 'static,
    mut checked: impl FnMut(u64) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    let team = Team::start(setting, seats, Part::AsMuch, make.clone())?;
    let own = make(Seat::of(setting, 0))?;
    team.ready()?;
    let [shared, before, after] = handles(RefCell::new((team, own, Vec::new())));
    let run = move |times| {
        let (team, own, _) = &mut *shared.borrow_mut();
        team.begin();
        own.work(times);
        team.done()
    };
    let prepare = move |times| {
        let (team, own, units) = &mut *before.borrow_mut();
        *units = team.units();
        own.ready(times)?;
        team.wake(times)
    };
    let verify = move |times| {
        let (team, own, units) = &mut *after.borrow_mut();
        team.all(ASLEEP)?;
        own.check(times)?;
        if team.units().iter().zip(units).all(|(now, before)| *now == *before + times) {
            return checked(times);
        }
        Err(Failure::wrong("not all tasks did their part"))
    };
    Ok(Loop::new(run).before(prepare).verify(verify))
}

/// The loop of the work `own`, while partners, if there are any, do the work `load` in this `part` of the time.
pub(crate) fn beside<W: Work, L: Work>(
    setting: &Setting,
    (seats, part): (&Seats, Part),
    own: impl FnOnce(Seat) -> Result<W, Failure>,
    load: impl Fn(Seat) -> Result<L, Failure> + Clone + Send + 'static,
) -> Result<Loop, Failure> {
    let team = Team::start(setting, seats, part, load)?;
    let own = own(Seat::of(setting, 0))?;
    team.ready()?;
    let mut random = fastrand::Rng::with_seed(setting.seed());
    let is_crowded = seats.crowded(setting.cpu());
    let [shared, before, after] = handles(RefCell::new((team, own, Vec::new())));
    let run = move |times| {
        let (team, own, _) = &mut *shared.borrow_mut();
        own.work(times);
        team.board.over.0.store(team.batch, Ordering::Release);
        Ok(own.took())
    };
    let prepare = move |times| {
        let (team, own, units) = &mut *before.borrow_mut();
        own.ready(times)?;
        team.wake(times)?;
        let asleep = team.units();
        team.begin();
        // After its first piece of work, a partner is warm and known to be working.
        let start = Instant::now();
        while team.units().iter().zip(&asleep).any(|(now, before)| now == before) {
            ensure(start.elapsed() <= PATIENCE, || "a partner does not begin its work")?;
            team.board.pause();
        }
        // The next piece, or a pause as long, began just now. A batch shorter than those must not always meet its beginning.
        if !is_crowded {
            let pieces = if part == Part::HalfTheTime { 2.0 } else { 1.0 };
            let end = Instant::now() + start.elapsed().mul_f64(pieces * random.f64());
            while Instant::now() < end {
                team.board.pause();
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
        // In a short batch, a partner may have been between two pieces of work.
        let idle = times >= SURELY && team.units().iter().zip(units).any(|(now, before)| now == before);
        if idle { Err(Failure::wrong("a partner did no work during the batch")) } else { Ok(()) }
    };
    Ok(Loop::reporting(run).before(prepare).verify(verify))
}

#[cfg(test)]
mod tests;
