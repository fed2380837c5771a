//! Switches between two tasks on one CPU, by the amount of memory that each uses between two switches.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;

use operation::{
    Axis, Failure, Loop, Operation, Setting, TermOf, Usage, Value, bytes, numbers, opaque, pin, repeat, term,
};
use record::Point;

use crate::kit::library::futex;
use crate::kit::{BASE, Channel, End, NEAR, OURS, Shared, THEIRS, call, handles};

/// The bytes that a task reads each time before it passes the token on: a number, or a share of a cache of this machine.
/// With `half` of a cache both sets fit. With `most` (three quarters) one set fits and two do not, so that every switch
/// refills the cache: this is the cost of a switch between programs that use their cache. With `twice` not even one set
/// fits, so that the work costs the same without a switch.
const SET: Axis = bytes(
    "set",
    &[
        Value::Number(0),
        Value::Number(16 << 10),
        Value::Number(256 << 10),
        Value::Word("half-l1"),
        Value::Word("most-l1"),
        Value::Word("half-l2"),
        MOST_OF_L2,
        Value::Word("all-l2"),
        Value::Word("twice-l2"),
        Value::Word("quarter-l3"),
    ],
)
.headline(&[Value::Number(0), Value::Number(256 << 10), MOST_OF_L2])
.in_steps(64, 0, 64 << 20);

/// The set for which the difference is largest on most machines.
const MOST_OF_L2: Value<&str> = Value::Word("most-l2");

/// True if the private caches hold the sets of this many tasks.
fn is_near(point: &Point, tasks: u64) -> bool {
    match point.word("set") {
        Some("half-l1" | "most-l1" | "half-l2") => true,
        Some(word) => word == "most-l2" && tasks == 1,
        None => point.number("set").unwrap_or(0) * tasks <= NEAR,
    }
}

/// A turn of the ring is two switches and twice the work of one task. Costs are per half turn.
const HALF_A_TURN: &[TermOf] = &[term(0.5, "loop.empty"), term(1.0, "switch.work").same(&["set"])];

pub(crate) const OPERATIONS: &[Operation] = &[
    // The work of a task between two switches, done without switching: the baseline of the switches below.
    BASE.named(
        "switch.work",
        "pass a token through a pipe to the same task and read a working set: a switch's work without the switch",
    )
    .per("turn")
    .headline()
    .axes(&[SET])
    .follows_clock(|point| is_near(point, 1))
    .prepare(|setting| {
        let pipe = End::to_itself()?;
        let set = WorkingSet::new(setting)?;
        Ok(repeat(move || turn(&pipe, &set)))
    }),
    Operation::DEFAULT
        .id("switch.process")
        .summary("switch from a process to another on the same CPU, and refill the caches with its working set")
        .per("switch")
        .headline()
        .axes(&[SET])
        .follows_clock(|point| is_near(point, 2))
        .terms(HALF_A_TURN)
        .prepare(|setting| {
            let (ours, theirs) = End::pipes()?;
            let partner = setting.partner(setting.cpu(), || {
                ours.close_inherited();
                echo(&theirs, &WorkingSet::new(setting)?)
            })?;
            let set = WorkingSet::new(setting)?;
            // After this copy is closed only the partner holds its end, so that its death ends the read here.
            drop(theirs);
            Ok(turns(move || {
                let _alive = &partner;
                turn(&ours, &set)
            }))
        }),
    // Two threads share their table of descriptors, so each call also counts its references to the pipe, which the work of
    // a single task does not.
    Operation::DEFAULT
        .named(
            "switch.thread",
            "switch from a thread to another of the same process and CPU, and refill the caches with its working set",
        )
        .per("switch")
        .headline()
        .axes(&[SET.headline(numbers![0, 256 << 10])])
        .follows_clock(|point| is_near(point, 2))
        .terms(HALF_A_TURN)
        .prepare(|setting| {
            let (ours, theirs) = End::pipes()?;
            let cpu = setting.cpu();
            let set = WorkingSet::new(setting)?;
            let partner_set = WorkingSet::new(setting)?;
            let partner = std::thread::Builder::new().spawn(move || {
                // A partner that is refused its CPU closes its end, which this task detects.
                let _ = pin(cpu).and_then(|()| echo(&theirs, &partner_set));
            })?;
            let pair = Pair { ours: Some(ours), partner: Some(partner) };
            Ok(turns(move || pair.ours.as_ref().map_or(Ok(()), |ours| turn(ours, &set))))
        }),
    // Some schedulers let the caller continue although another task could run. The word with the turn ensures that the
    // other task has run. The kernel's counts show that every call switched, and nothing else did.
    Operation::DEFAULT
        .id("switch.yield")
        .summary("yield the CPU to another process that is ready to run (sched_yield), including the call")
        .version(2)
        .per("switch")
        .headline()
        .terms(&[term(0.5, "loop.empty")])
        .explained_by(&[term(1.0, "switch.process").at(&[("set", Value::Number(0))])])
        .prepare(|setting| {
            let [board, before, after] = handles(Shared::new(YieldBoard::default())?);
            let partner = setting.partner(setting.cpu(), || board.play())?;
            let [own, counted, began] = handles(Cell::new(Counts::default()));
            let turns = Loop::new(move |times| {
                let _alive = &partner;
                let mut calls = 0;
                for _ in 0..times {
                    board.turn.store(THEIRS, Ordering::Release);
                    while board.turn.load(Ordering::Acquire) == THEIRS {
                        call::sched_yield()?;
                        calls += 1;
                    }
                }
                counted.set(Counts { calls, ..counted.get() });
                Ok(())
            });
            let begin = move |_| {
                before.begin()?;
                began.set(Counts { calls: 0, switches: switched_out() });
                Ok(())
            };
            let end = move |times| {
                let Counts { calls, switches } = own.get();
                let ours = Counts { calls, switches: switched_out() - switches };
                every_call_switched(times, [ours, after.end()?])
            };
            Ok(turns.unrolled(2).before(begin).verify(end))
        }),
];

/// A loop of whole turns. A turn is two switches.
fn turns(turn: impl FnMut() -> Result<(), Failure> + 'static) -> Loop {
    repeat(turn).unrolled(2)
}

/// Memory that belongs to one task.
struct WorkingSet {
    words: Vec<u64>,
}

impl WorkingSet {
    /// Words in a cache line of 64 bytes.
    const LINE: usize = 8;

    /// Has the size of the setting's set. A partner creates its own, because inherited memory is shared.
    fn new(setting: &Setting) -> Result<WorkingSet, Failure> {
        // Words other than zero, because pages that hold only zeros may not be allocated yet.
        Ok(WorkingSet { words: vec![1; setting.cached("set")? / size_of::<u64>()] })
    }

    /// Reads a word of every cache line. All tasks run the same code, because their costs are subtracted from each other.
    #[inline(never)]
    fn read(&self) {
        let sum = self.words.iter().step_by(Self::LINE).fold(0_u64, |sum, word| sum.wrapping_add(*word));
        opaque(sum);
    }
}

/// Passes the token on, waits for it, and uses the working set.
#[inline(always)]
fn turn(end: &End, set: &WorkingSet) -> Result<(), Failure> {
    end.send(&[1])?;
    end.receive(&mut [0])?;
    set.read();
    Ok(())
}

/// A partner's part of the turns, until the other end is closed.
fn echo(end: &End, set: &WorkingSet) -> Result<(), Failure> {
    loop {
        end.receive(&mut [0])?;
        set.read();
        end.send(&[1])?;
    }
}

/// This task's end of the ring, and the thread at the other end. Dropping it closes the end, which ends the thread.
struct Pair {
    ours: Option<End>,
    partner: Option<JoinHandle<()>>,
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.ours = None;
        if let Some(partner) = self.partner.take() {
            let _ = partner.join();
        }
    }
}

/// What two yielding processes share. The partner sleeps between batches, or it would run during the checks of the clock.
#[derive(Default)]
struct YieldBoard {
    turn: AtomicU32,
    playing: AtomicU32,
    /// True while the partner takes part.
    awake: AtomicU32,
    /// The partner's calls and switches in the latest batch it took part in.
    calls: AtomicU64,
    switches: AtomicU64,
}

/// What one of the two tasks did in a batch.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    calls: u64,
    /// How often the kernel preempted it. A call that switches counts as that.
    switches: u64,
}

impl YieldBoard {
    /// Wakes the partner for a batch, and waits until it takes part.
    fn begin(&self) -> Result<(), Failure> {
        self.playing.store(1, Ordering::Release);
        futex::wake(&self.playing, futex::Flags::empty(), 1)?;
        while self.awake.load(Ordering::Acquire) == 0 {
            call::sched_yield()?;
        }
        Ok(())
    }

    /// Lets the partner sleep. Returns what it did.
    fn end(&self) -> Result<Counts, Failure> {
        self.playing.store(0, Ordering::Release);
        while self.awake.load(Ordering::Acquire) == 1 {
            call::sched_yield()?;
        }
        Ok(Counts { calls: self.calls.load(Ordering::Relaxed), switches: self.switches.load(Ordering::Relaxed) })
    }

    /// The partner's part: it passes the turn back each time it gets it.
    fn play(&self) -> Result<(), Failure> {
        loop {
            while self.playing.load(Ordering::Acquire) == 0 {
                // The sleep may end for any reason; the word says whether to continue.
                let _ = futex::wait(&self.playing, futex::Flags::empty(), 0, None);
            }
            let (began, mut calls) = (switched_out(), 0);
            self.awake.store(1, Ordering::Release);
            while self.playing.load(Ordering::Acquire) == 1 {
                if self.turn.load(Ordering::Acquire) == THEIRS {
                    self.turn.store(OURS, Ordering::Release);
                }
                call::sched_yield()?;
                calls += 1;
            }
            self.calls.store(calls, Ordering::Relaxed);
            self.switches.store(switched_out() - began, Ordering::Relaxed);
            self.awake.store(0, Ordering::Release);
        }
    }
}

/// A turn is one call and one switch of each of the two. One in fifty may have another cause, such as a timer tick that
/// preempted the task before its call did; a few belong to the beginning and end of the batch.
fn every_call_switched(turns: u64, both: [Counts; 2]) -> Result<(), Failure> {
    const ENDS: u64 = 4;
    let close = |count: u64| count.abs_diff(turns) <= turns / 50 + ENDS;
    if both.iter().all(|counts| close(counts.calls) && close(counts.switches)) {
        return Ok(());
    }
    let [ours, theirs] = both;
    if ours.switches + theirs.switches == 0 {
        return Err(Failure::skip("this kernel does not count switches (getrusage)", "Linux itself"));
    }
    let (calls, switches) = (ours.calls + theirs.calls, ours.switches + theirs.switches);
    let each = 2 * turns;
    Err(Failure::wrong(format!(
        "{calls} calls of sched_yield and {switches} switches instead of {each} of each: the scheduler does not switch at every call, or another program took part"
    )))
}

/// How often the kernel preempted this task although it could continue, including calls of sched_yield.
fn switched_out() -> u64 {
    Usage::of_this_thread().involuntary as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_is_one_call_and_one_switch_of_each() {
        let counts = |calls, switches| Counts { calls, switches };
        assert!(every_call_switched(128, [counts(128, 129), counts(130, 128)]).is_ok());
        assert!(every_call_switched(1, [counts(1, 2), counts(3, 2)]).is_ok());
        // What the check of version 1 accepted: 1.8 calls per turn in a batch of usual length.
        assert!(every_call_switched(128, [counts(230, 128), counts(128, 128)]).is_err());
        assert!(every_call_switched(128, [counts(128, 128), counts(230, 128)]).is_err());
        // Calls that returned at once.
        assert!(every_call_switched(128, [counts(128, 20), counts(128, 20)]).is_err());
        assert!(every_call_switched(128, [counts(128, 0), counts(128, 0)]).is_err());
    }

    #[test]
    fn a_batch_of_yields_switches_at_every_call() {
        // Pinned as a round is, and in a separate thread, so that the harness's other threads keep their CPUs.
        let thread = std::thread::spawn(|| {
            pin(0).expect("CPU 0 may be used");
            crate::kit::trial::perform_again_if_wrong(&OPERATIONS[3]);
        });
        thread.join().expect("the batches switch");
    }
}
