//! What the scheduler gives a task beside a compute-bound one on the same CPU: how soon it runs when it wakes, how much of
//! the CPU it gets, and what the time slice does to both tasks' work. Tasks are treated by class, nice value and the time
//! slice that they request.
//!
//! A batch of shares is a window of fixed length in which units of work are counted: a batch of fixed work would be over
//! within one time slice, or take seconds.

mod treatment;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use operation::{Axis, Clock, Failure, Loop, Operation, Setting, Tally, Took, Usage, word, words};
use record::Estimate;

use crate::kit::library::futex;
use crate::kit::{BASE, Computing, Memory, Part, Passing, Seat, Seats, Shared, Work, beside};
use treatment::{Treatment, autogroups, treated};

/// How the measured task is treated. The task beside it is always a usual one: SCHED_OTHER, nice 0, the usual time slice.
const AS: Axis = word(
    "as",
    words![
        "usual", "slice-100us", "slice-1ms", "slice-10ms", "nice-minus-10", "nice-plus-10", "batch", "idle", "fifo",
        "round-robin"
    ],
);

/// Whether the other task belongs to another session, which the kernel's autogroups treat as a group of its own: then nice
/// values count within each group alone.
const SESSION: Axis = word("session", words!["same", "other"]);

/// The time slice that both tasks request.
const SLICE: Axis = word("slice", words!["usual", "100us", "1ms", "10ms", "100ms"]);

/// The length of a window: tens of time slices.
const WINDOW: Duration = Duration::from_millis(200);

/// Dependent steps of a unit of computing: about 0.2 ms.
const STEPS: u64 = 1 << 17;

pub(crate) const OPERATIONS: &[Operation] = &[
    SCHEDULER
        .id("scheduler.response")
        .summary("run after being woken on a CPU that another task computes on: from the wake-up until the task runs")
        .per("wake-up")
        .axes(&[AS])
        .waits(|_| true)
        .prepare(response),
    SCHEDULER
        .id("scheduler.share")
        .summary("do a unit of computing (131,072 dependent steps) while another task computes on the same CPU")
        .per("unit")
        .axes(&[AS, SESSION])
        .has_point(|point| {
            let word = |axis| point.word(axis).unwrap_or("");
            word("session") == "same" || ["usual", "nice-plus-10"].contains(&word("as"))
        })
        .prepare(share),
    SCHEDULER
        .named(
            "scheduler.throughput",
            "pass over a working set of three quarters of the second cache, while another task does the same on \
            this CPU",
        )
        .per("pass by either task")
        .axes(&[SLICE])
        .prepare(throughput),
];

/// They take a tenth of a second or more for one batch.
const SCHEDULER: Operation = BASE.opt_in().quoted(Estimate::Typical).terms(&[]);

fn on_our_cpu(setting: &Setting) -> Seats {
    Seats { cpus: vec![setting.cpu()], memory: Memory::Own }
}

/// What a batch took, reported as a time alone.
fn reported(elapsed: f64) -> Took {
    Took { elapsed, usage: Usage::default() }
}

/// Where the computing task requests, and the measured one answers.
#[derive(Default)]
struct RequestDesk {
    requested: AtomicU32,
    answered: AtomicU32,
    /// When it was requested, in ns since a fixed moment.
    at: AtomicU64,
}

fn response(setting: &Setting) -> Result<Loop, Failure> {
    let treatment = Treatment::of(setting, setting.word("as")?)?;
    let desk = Arc::new(Shared::new(RequestDesk::default())?);
    let clock = Clock::plain();
    let requested = Arc::clone(&desk);
    let requesting = move |seat: Seat| Ok(Requesting::new(Arc::clone(&requested), clock, seat.seed));
    let own = |_| Ok(Answering { desk, clock, treatment, late: 0.0, done: Ok(()) });
    beside(setting, (&on_our_cpu(setting), Part::Throughout), own, requesting)
}

/// The task that computes. Now and then it wakes the other one, and computes on.
struct Requesting {
    desk: Arc<Shared<RequestDesk>>,
    clock: Clock,
    computing: Computing,
    random: u64,
}

impl Requesting {
    fn new(desk: Arc<Shared<RequestDesk>>, clock: Clock, seed: u64) -> Requesting {
        Requesting { desk, clock, computing: Computing::new(1 << 11, seed), random: seed | 1 }
    }
}

impl Work for Requesting {
    /// Computes for 0.2 to 3.4 ms, so that requests fall into all parts of a time slice, and requests again, if the last request was
    /// answered.
    fn work(&mut self, _: u64) {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let gap = 2e5 + (self.random >> 32) as f64 / f64::from(u32::MAX) * 3.2e6;
        let start = self.clock.now();
        while self.clock.now() - start < gap {
            self.computing.unit();
        }
        let requested = self.desk.requested.load(Ordering::Relaxed);
        if self.desk.answered.load(Ordering::Acquire) == requested {
            self.desk.at.store(self.clock.now() as u64, Ordering::Relaxed);
            self.desk.requested.store(requested.wrapping_add(1), Ordering::Release);
            let _ = futex::wake(&self.desk.requested, futex::Flags::empty(), 1);
        }
    }
}

/// The task that sleeps until a request comes.
struct Answering {
    desk: Arc<Shared<RequestDesk>>,
    clock: Clock,
    treatment: Treatment,
    /// From requests to answers in this batch, in ns.
    late: f64,
    done: Result<(), Failure>,
}

impl Answering {
    fn answer(&mut self, times: u64) -> Result<(), Failure> {
        self.treatment.begin()?;
        // A request that was made while nobody slept for it does not count.
        let mut seen = self.desk.requested.load(Ordering::Acquire);
        self.desk.answered.store(seen, Ordering::Release);
        let mut answers = 0;
        while answers < times {
            let mut slept = false;
            while self.desk.requested.load(Ordering::Acquire) == seen {
                slept |= futex::wait(&self.desk.requested, futex::Flags::empty(), seen, None).is_ok();
            }
            let now = self.clock.now();
            // It may have been asked before it slept.
            if slept {
                self.late += now - self.desk.at.load(Ordering::Relaxed) as f64;
                answers += 1;
            }
            seen = self.desk.requested.load(Ordering::Acquire);
            self.desk.answered.store(seen, Ordering::Release);
        }
        self.treatment.end()
    }
}

impl Work for Answering {
    fn work(&mut self, times: u64) {
        self.late = 0.0;
        self.done = self.answer(times);
    }

    fn took(&mut self) -> Option<Took> {
        Some(reported(self.late))
    }

    fn check(&mut self, _: u64) -> Result<(), Failure> {
        std::mem::replace(&mut self.done, Ok(()))
    }
}

fn share(setting: &Setting) -> Result<Loop, Failure> {
    let treatment = Treatment::of(setting, setting.word("as")?)?;
    let apart = setting.word("session")? == "other";
    if apart && !autogroups() {
        let remedy = "as root: sysctl kernel.sched_autogroup_enabled=1";
        return Err(Failure::skip("sessions are not groups of their own: autogroups are off", remedy));
    }
    let load = move |seat: Seat| {
        if apart {
            rustix::process::setsid()?;
        }
        Ok(Computing::new(STEPS, seat.seed))
    };
    let own = |seat: Seat| Ok(Window::new(Computing::new(STEPS, seat.seed), treatment, setting));
    Ok(beside(setting, (&on_our_cpu(setting), Part::Throughout), own, load)?.skip_warmup().at_most(1))
}

fn throughput(setting: &Setting) -> Result<Loop, Failure> {
    let slice = setting.word("slice")?.to_owned();
    let treatment = Treatment::of(setting, &slice)?;
    // What one task fills and two do not share.
    let bytes = setting.part_of_cache("most-l2")?;
    let passes = Arc::new(Shared::new(AtomicU64::new(0))?);
    let theirs = Arc::clone(&passes);
    let load = move |_| {
        treated(&slice)?.set()?;
        Ok(CountedPasses { passing: Passing::new(bytes, 1), passes: Arc::clone(&theirs) })
    };
    let own = |_| Ok(Window::new(CountedPasses { passing: Passing::new(bytes, 1), passes }, treatment, setting));
    Ok(beside(setting, (&on_our_cpu(setting), Part::Throughout), own, load)?.skip_warmup().at_most(1))
}

/// Passes that are counted together with those of another task.
struct CountedPasses {
    passing: Passing,
    passes: Arc<Shared<AtomicU64>>,
}

impl Work for CountedPasses {
    fn work(&mut self, times: u64) {
        self.passing.work(times);
        self.passes.fetch_add(times, Ordering::Relaxed);
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        self.passing.check(times)
    }
}

/// Work of which as much is done as a window allows.
trait Unit: Work {
    /// Units done so far by all tasks whose work counts; `own` of them are by this task.
    fn units(&self, own: u64) -> u64;
}

impl Unit for Computing {
    fn units(&self, own: u64) -> u64 {
        own
    }
}

impl Unit for CountedPasses {
    fn units(&self, _: u64) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }
}

/// A task that works for the length of a window, treated as requested.
struct Window<U> {
    unit: U,
    treatment: Treatment,
    share: Tally,
    taken: Tally,
    /// Units of our own, in all and in this window.
    own: u64,
    done: Result<u64, Failure>,
    /// What a unit took.
    each: Took,
}

impl<U: Unit> Window<U> {
    fn new(unit: U, treatment: Treatment, setting: &Setting) -> Window<U> {
        let (share, taken) = (setting.tally("share of the CPU"), setting.tally("times taken from the CPU in a window"));
        Window { unit, treatment, share, taken, own: 0, done: Ok(0), each: reported(0.0) }
    }

    /// The units of our own in a window, at least one: a task of the idle class may not run for long.
    fn pass(&mut self) -> Result<u64, Failure> {
        let (used, before) = (Usage::of_this_process(), self.unit.units(self.own));
        self.treatment.begin()?;
        let (start, mut units) = (Instant::now(), 0);
        let elapsed = loop {
            self.unit.work(1);
            units += 1;
            let elapsed = start.elapsed();
            if elapsed >= WINDOW {
                break elapsed;
            }
        };
        self.treatment.end()?;
        self.own += units;
        let usage = Usage::of_this_process().since(used);
        let nanoseconds = elapsed.as_nanos() as f64;
        self.share.passes((nanoseconds / 1e3) as u64, ((usage.user + usage.system) / 1e3) as u64);
        self.taken.pass(usage.involuntary as u64);
        let counted = (self.unit.units(self.own) - before).max(1) as f64;
        let own = Usage { user: usage.user / units as f64, system: usage.system / units as f64, ..Usage::default() };
        self.each = Took { elapsed: nanoseconds / counted, usage: own };
        Ok(units)
    }
}

impl<U: Unit> Work for Window<U> {
    fn work(&mut self, _: u64) {
        self.done = self.pass();
    }

    fn took(&mut self) -> Option<Took> {
        Some(self.each)
    }

    fn check(&mut self, _: u64) -> Result<(), Failure> {
        let units = std::mem::replace(&mut self.done, Ok(0))?;
        self.unit.check(units)
    }
}
