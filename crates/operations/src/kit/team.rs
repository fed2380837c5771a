//! Work of several tasks at once: partners that do the same, or that keep the machine busy meanwhile, on other CPUs or on
//! ours too, with memory of their own or in ours.
//!
//! Partners sleep between batches, or they would run beside the clock's checks. Before a batch they are woken and
//! watch for its beginning; what they did in it is counted and checked by themselves, and asked for after it.

mod board;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use operation::{Failure, Loop, Partner, Setting, pin};
use rustix::thread::futex;

use super::shared::Shared;
use super::work::Work;
pub(crate) use board::Part;
use board::{ASLEEP, AWAKE, Board, FAILED, LOST, MOST, Member, SETTING_UP};

/// How long a partner may take for anything but its part of a batch.
const PATIENCE: Duration = Duration::from_secs(8);

/// Iterations of our own within which a partner does some of its work for certain: thousands of loads from far memory.
const SURELY: u64 = 256;

/// Whose memory a partner works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Its own: it is a process.
    Own,
    /// Ours: it is a thread of this process.
    Ours,
}

/// Where partners run.
pub(crate) struct Seats {
    /// A partner on each of these CPUs; a CPU may be named more than once, and may be ours.
    pub(crate) cpus: Vec<u32>,
    /// Whose memory they work in.
    pub(crate) memory: Memory,
}

impl Seats {
    /// Processes on other CPUs, so many with ours.
    ///
    /// # Errors
    /// A skip if there are fewer CPUs.
    pub(crate) fn apart(setting: &Setting, cpus: u64) -> Result<Seats, Failure> {
        let others = cpus.saturating_sub(1) as usize;
        Ok(Seats { cpus: if others > 0 { setting.other_cpus(others)? } else { Vec::new() }, memory: Memory::Own })
    }

    /// The same partners as threads of this process.
    pub(crate) fn in_our_memory(self) -> Seats {
        Seats { memory: Memory::Ours, ..self }
    }

    /// Threads of this process, by an axis of tasks: with us so many, each on a CPU of its own; `all`, one on every CPU;
    /// `twice`, two on every CPU.
    ///
    /// # Errors
    /// A skip if there are fewer CPUs, or if all of them are a point of their own.
    pub(crate) fn threads(setting: &Setting, axis: &str) -> Result<Seats, Failure> {
        let others = setting.all_other_cpus();
        let cpus = match setting.word(axis) {
            "all" if others.len() < 2 => {
                let reason =
                    format!("all of the CPUs that may be used are {}, which is a point of its own", others.len() + 1);
                return Err(Failure::skip(reason, "allow more CPUs (taskset, cpuset), or take a larger machine"));
            }
            "all" => others,
            "twice" => [vec![setting.cpu()], others.clone(), others].concat(),
            _ => return Ok(Seats::apart(setting, setting.number(axis))?.in_our_memory()),
        };
        Ok(Seats { cpus, memory: Memory::Ours })
    }

    /// The tasks, ours included.
    pub(crate) fn tasks(&self) -> u64 {
        1 + self.cpus.len() as u64
    }

    /// Whether some CPU has two tasks, one of which may be ours.
    pub(crate) fn crowded(&self, ours: u32) -> bool {
        let mut seen = BTreeSet::from([ours]);
        !self.cpus.iter().all(|&cpu| seen.insert(cpu))
    }
}

/// Which task of a team it is: 0 is the one that is timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub(crate) number: usize,
    /// Differs from task to task and from round to round.
    pub(crate) seed: u64,
}

impl Seat {
    fn of(setting: &Setting, number: usize) -> Seat {
        Seat { number, seed: setting.seed().wrapping_add(number as u64) }
    }
}

/// Partners, and where they and we meet.
pub(crate) struct Team {
    board: Arc<Shared<Board>>,
    partners: Partners,
    batch: u32,
}

/// They end when this is dropped.
enum Partners {
    Processes(Vec<Partner>),
    Threads(Vec<JoinHandle<()>>),
}

impl Team {
    /// Starts partners, each with work of its own. Call it before our own memory is there: a process that is forked
    /// shares it, and every page is copied when next written.
    fn start<W: Work>(
        setting: &Setting,
        seats: &Seats,
        part: Part,
        make: impl Fn(Seat) -> Result<W, Failure> + Clone + Send + 'static,
    ) -> Result<Team, Failure> {
        if seats.cpus.len() > MOST {
            return Err(Failure::wrong(format!("at most {MOST} partners work together, not {}", seats.cpus.len())));
        }
        let board = Arc::new(Shared::new(Board::new(seats.crowded(setting.cpu())))?);
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
                    all.push(setting.partner(cpu, || board.serve(index, part, || make(seat)))?);
                }
                Partners::Threads(all) => {
                    let (board, make) = (Arc::clone(&team.board), make.clone());
                    let life = move || board.serve(index, part, || pin(cpu).and_then(|()| make(seat)));
                    // What ends a thread early it has told by its state.
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
                    if member.state.load(Ordering::Acquire) == FAILED {
                        return Err(Failure::wrong("a partner could not do its work"));
                    }
                    if start.elapsed() > PATIENCE {
                        return Err(Failure::wrong("a partner does not come"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits until all have their memory.
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
        if any(LOST) {
            return Err(Failure::wrong("a partner got no huge pages for its memory"));
        }
        self.all(ASLEEP).map_err(refused)
    }

    /// Wakes all for a batch of so many iterations, and waits until they watch for its beginning.
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

    /// Waits until all have done their part of the batch.
    fn done(&self) -> Result<(), Failure> {
        self.board.sleep_until_done(PATIENCE)?;
        self.until(|member| member.done.load(Ordering::Acquire) == self.batch)
    }

    /// Units of work that each has done in all.
    fn units(&self) -> Vec<u64> {
        self.members().map(|member| member.units.load(Ordering::Acquire)).collect()
    }
}

impl Drop for Team {
    /// Processes are killed as their handles drop; threads are told and waited for.
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

/// The loop in which this task and its partners do the same; an iteration is one of each. A batch ends when the last has
/// done its part.
pub(crate) fn together<W: Work>(
    setting: &Setting,
    seats: &Seats,
    make: impl Fn(Seat) -> Result<W, Failure> + Clone + Send + 'static,
) -> Result<Loop, Failure> {
    together_checked(setting, seats, make, |_| Ok(()))
}

/// The same; when all have done their part of a batch, `checked` is told of how many iterations.
pub(crate) fn together_checked<W: Work>(
    setting: &Setting,
    seats: &Seats,
    make: impl Fn(Seat) -> Result<W, Failure> + Clone + Send + 'static,
    mut checked: impl FnMut(u64) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    let team = Team::start(setting, seats, Part::AsMuch, make.clone())?;
    let own = make(Seat::of(setting, 0))?;
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
        Err(Failure::wrong("the tasks did not all do their part"))
    };
    Ok(Loop::new(run).before(prepare).verify(verify))
}

/// The loop of `own` work while partners, if any, do theirs in this `part` of the time.
pub(crate) fn beside<W: Work, L: Work>(
    setting: &Setting,
    (seats, part): (&Seats, Part),
    own: impl FnOnce(Seat) -> Result<W, Failure>,
    load: impl Fn(Seat) -> Result<L, Failure> + Clone + Send + 'static,
) -> Result<Loop, Failure> {
    let team = Team::start(setting, seats, part, load)?;
    let own = own(Seat::of(setting, 0))?;
    team.ready()?;
    let shared = Rc::new(RefCell::new((team, own, Vec::new())));
    let (before, after) = (Rc::clone(&shared), Rc::clone(&shared));
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
        // Its first piece has warmed it up and shown that it is at work.
        let start = Instant::now();
        while team.units().iter().zip(&asleep).any(|(now, before)| now == before) {
            if start.elapsed() > PATIENCE {
                return Err(Failure::wrong("a partner does not begin its work"));
            }
            team.board.pause();
        }
        *units = team.units();
        Ok(())
    };
    let verify = move |times| {
        let (team, own, units) = &mut *after.borrow_mut();
        team.done()?;
        team.all(ASLEEP)?;
        own.check(times)?;
        // In a short batch it may have been between two pieces.
        let idle = times >= SURELY && team.units().iter().zip(units).any(|(now, before)| now == before);
        if idle { Err(Failure::wrong("a partner did no work during the batch")) } else { Ok(()) }
    };
    Ok(Loop::reporting(run).before(prepare).verify(verify))
}

#[cfg(test)]
mod tests;
