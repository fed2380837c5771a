//! Switches between two tasks on one CPU, by how much memory each of them uses between two switches.

use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

use measure::{Axis, Choice, Failure, Loop, Operation, Setting, TermOf, count, opaque, pin, repeat, term};
use rustix::thread::{futex, sched_yield};

use crate::channel::End;
use crate::shared::Shared;

pub(crate) const OPERATIONS: &[Operation] = &[WORK, PROCESS, THREAD, YIELD];

/// Bytes of its own that a task reads each time before it passes the token on.
const SET: Axis = count("set", &[Choice::Number(0), Choice::Number(16 << 10), Choice::Number(256 << 10)])
    .headline(&[Choice::Number(0), Choice::Number(256 << 10)]);

/// A turn of the ring is two switches and twice the work of one task alone; costs are of half a turn.
const HALF_A_TURN: &[TermOf] = &[term(0.5, "loop.empty"), term(1.0, "switch.work").same(&["set"])];

/// What a task does between two switches, done without switching: the baseline of the switches below.
const WORK: Operation = Operation {
    id: "switch.work",
    summary: "pass a token to oneself through a pipe and read a working set: a switch's work without the switch",
    per: "turn",
    headline: true,
    axes: &[SET],
    prepare: |setting| {
        let pipe = End::to_itself()?;
        let set = WorkingSet::new(setting);
        Ok(repeat(move || turn(&pipe, &set)))
    },
    ..crate::DEFAULT
};

const PROCESS: Operation = Operation {
    id: "switch.process",
    summary: "switch from a process to another on the same CPU, and refill the caches with its working set",
    per: "switch",
    headline: true,
    axes: &[SET],
    terms: HALF_A_TURN,
    prepare: |setting| {
        let (ours, theirs) = End::pipes()?;
        let partner = setting.partner(setting.cpu(), || {
            ours.close_inherited();
            echo(&theirs, &WorkingSet::new(setting))
        })?;
        let set = WorkingSet::new(setting);
        // With this copy closed, the partner alone holds its end, so that its death ends our reading.
        drop(theirs);
        Ok(turns(move || {
            let _alive = &partner;
            turn(&ours, &set)
        }))
    },
    ..Operation::DEFAULT
};

/// Two threads share their table of descriptors, so that each call also counts its references to the pipe, which
/// the work of one task alone does not.
const THREAD: Operation = Operation {
    id: "switch.thread",
    summary: "switch from a thread to another of the same process and CPU, and refill the caches with its working set",
    per: "switch",
    headline: true,
    axes: &[SET],
    terms: HALF_A_TURN,
    prepare: |setting| {
        let (ours, theirs) = End::pipes()?;
        let cpu = setting.cpu();
        let set = WorkingSet::new(setting);
        let partner_set = WorkingSet::new(setting);
        let partner = std::thread::Builder::new().spawn(move || {
            // A partner that is refused its CPU closes its end, which we notice.
            let _ = pin(cpu).and_then(|()| echo(&theirs, &partner_set));
        })?;
        let pair = Pair { ours: Some(ours), partner: Some(partner) };
        Ok(turns(move || pair.ours.as_ref().map_or(Ok(()), |ours| turn(ours, &set))))
    },
    ..Operation::DEFAULT
};

/// Some schedulers let the caller go on although another task could run. The word of whose turn it is makes sure
/// that the other has run; where that took noticeably more calls than turns, this is no measure of a switch.
const YIELD: Operation = Operation {
    id: "switch.yield",
    summary: "give the CPU to another process that wants it (sched_yield), the call included",
    per: "switch",
    headline: true,
    terms: &[term(0.5, "loop.empty")],
    explained_by: &[term(1.0, "switch.process").at(&[("set", Choice::Number(0))])],
    prepare: |setting| {
        let board = Rc::new(Shared::new(Board::default())?);
        let partner = setting.partner(setting.cpu(), || board.play())?;
        let (before, after) = (Rc::clone(&board), Rc::clone(&board));
        let turns = turns(move || {
            let _alive = &partner;
            board.turn.store(THEIRS, Ordering::Release);
            while board.turn.load(Ordering::Acquire) == THEIRS {
                sched_yield();
                board.calls.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        Ok(turns.before(move |_| before.begin()).verify(move |times| after.end(times)))
    },
    ..Operation::DEFAULT
};

/// A loop of whole turns; a turn is two switches.
fn turns(turn: impl FnMut() -> Result<(), Failure> + 'static) -> Loop {
    repeat(turn).each(2)
}

/// Memory that a task calls its own.
struct WorkingSet {
    words: Vec<u64>,
}

impl WorkingSet {
    /// Words in a cache line of 64 bytes.
    const LINE: usize = 8;

    /// As large as the setting's set. A partner makes its own: what is inherited is shared.
    fn new(setting: &Setting) -> WorkingSet {
        // Words other than zero, for pages that hold zeros only may not be there yet.
        WorkingSet { words: vec![1; setting.number("set") as usize / size_of::<u64>()] }
    }

    /// Reads a word of every cache line; the same code for all tasks, whose costs are subtracted from each other.
    #[inline(never)]
    fn read(&self) {
        let sum = self.words.iter().step_by(Self::LINE).fold(0_u64, |sum, word| sum.wrapping_add(*word));
        opaque(sum);
    }
}

/// Passes the token on, waits for it, uses the working set.
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

/// Our end of the ring and the thread at the other; dropping it closes the end, at which the thread ends.
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

const OURS: u32 = 0;
const THEIRS: u32 = 1;

/// What two yielding processes share. The partner sleeps between batches, or it would run beside the clock's checks.
#[derive(Default)]
struct Board {
    turn: AtomicU32,
    playing: AtomicU32,
    calls: AtomicU32,
}

impl Board {
    /// Wakes the partner for a batch.
    fn begin(&self) -> Result<(), Failure> {
        self.calls.store(0, Ordering::Relaxed);
        self.playing.store(1, Ordering::Release);
        futex::wake(&self.playing, futex::Flags::empty(), 1)?;
        Ok(())
    }

    /// Sends the partner to sleep and checks that nearly every call switched.
    fn end(&self, times: u64) -> Result<(), Failure> {
        self.playing.store(0, Ordering::Release);
        let calls = u64::from(self.calls.load(Ordering::Relaxed));
        // The partner may take a while to wake up at first.
        if calls <= times + times / 50 + 100 {
            return Ok(());
        }
        Err(Failure::skip("this scheduler does not switch at every sched_yield", "another scheduler or kernel"))
    }

    /// The partner's part: to hand the turn back as often as it gets it.
    fn play(&self) -> Result<(), Failure> {
        loop {
            while self.playing.load(Ordering::Acquire) == 0 {
                // Whatever ends the sleep, the word says whether to go on.
                let _ = futex::wait(&self.playing, futex::Flags::empty(), 0, None);
            }
            if self.turn.load(Ordering::Acquire) == THEIRS {
                self.turn.store(OURS, Ordering::Release);
            }
            sched_yield();
        }
    }
}
