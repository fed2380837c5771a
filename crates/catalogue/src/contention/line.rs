//! One line of memory that several CPUs write: adding to one counter, handing a line to and fro, and counters that share a
//! line though no task needs the other's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use operation::{Axis, Failure, Loop, Operation, Setting, partner, word, words};

use super::{CROWDED, THREADS, TOGETHER};
use crate::kit::{Apart, Memory, Seat, Seats, Work, ensure, together, together_checked};

/// Where the other CPU is: the one that the machine prefers, or one at each distance by itself.
const DISTANCE: Axis = partner("distance", words!["other", "sibling", "core", "cache", "socket"]);

/// Where the second counter lies: in the line of the first, in the next line, which some processors fetch with it, or four
/// lines on.
const LINES: Axis = word("lines", words!["same", "neighbour", "apart"]);

pub(crate) const OPERATIONS: &[Operation] = &[
    TOGETHER
        .named("contention.add", "add to one counter that all threads add to, by one atomic instruction")
        .per("add")
        .axes(&[THREADS])
        .prepare(adding),
    TOGETHER
        .named(
            "contention.line",
            "hand a line of memory from one CPU to another, which watches for it: a store by the one that the other \
            reads",
        )
        .per("transfer")
        .axes(&[DISTANCE])
        .prepare(|setting| {
            let word = Arc::new(Apart::<AtomicU32>::default());
            let make = move |seat: Seat| Ok(TurnTaker { word: Arc::clone(&word), ours: seat.number == 0 });
            Ok(together(setting, &opposite(setting)?, make)?.unrolled(2))
        }),
    TOGETHER
        .named(
            "contention.counters",
            "add to a counter that no other CPU uses, while another CPU adds to a second one: in one line, or in two",
        )
        .per("add by each of two CPUs")
        .axes(&[LINES, DISTANCE])
        .has_point(|point| point.word("distance") == Some("other") || point.word("lines") == Some("same"))
        .prepare(|setting| {
            let second = match setting.word("lines")? {
                "same" => 1,
                "neighbour" => 8,
                _ => 32,
            };
            let counters = Arc::new(Apart([const { AtomicU64::new(0) }; WORDS]));
            let make =
                move |seat: Seat| Ok(Counting { counters: Arc::clone(&counters), own: seat.number * second, sum: 0 });
            together(setting, &opposite(setting)?, make)
        }),
];

/// One thread on the partner's CPU.
fn opposite(setting: &Setting) -> Result<Seats, Failure> {
    Ok(Seats { cpus: vec![setting.partner_cpu()?], memory: Memory::Ours })
}

struct Adding {
    counter: Arc<Apart<AtomicU64>>,
    each: u64,
}

impl Work for Adding {
    fn work(&mut self, times: u64) {
        for _ in 0..times * self.each {
            self.counter.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn adding(setting: &Setting) -> Result<Loop, Failure> {
    let seats = Seats::threads(setting, "threads")?;
    // A loop around one instruction would cost as much as it does.
    let each = if seats.crowded(setting.cpu()) { 4 * CROWDED } else { 16 };
    let all = seats.tasks() * each;
    let counter = Arc::new(Apart::<AtomicU64>::default());
    let (theirs, mut before) = (Arc::clone(&counter), 0);
    let make = move |_| Ok(Adding { counter: Arc::clone(&theirs), each });
    let checked = move |times| {
        let now = counter.0.load(Ordering::Relaxed);
        let added = now - std::mem::replace(&mut before, now);
        let wanted = times * all;
        ensure(added == wanted, || format!("{added} of {wanted} adds are there"))
    };
    Ok(together_checked(setting, &seats, make, checked)?.unrolled(all))
}

/// One of two threads that take turns at a word. Neither can go on without the other.
struct TurnTaker {
    word: Arc<Apart<AtomicU32>>,
    ours: bool,
}

impl TurnTaker {
    /// No pause instruction, which takes longer than a line takes on some processors.
    #[inline(always)]
    fn watch(&self, value: u32) {
        while self.word.0.load(Ordering::Acquire) != value {}
    }
}

impl Work for TurnTaker {
    fn work(&mut self, times: u64) {
        for _ in 0..times {
            if self.ours {
                self.word.0.store(1, Ordering::Release);
                self.watch(0);
            } else {
                self.watch(1);
                self.word.0.store(0, Ordering::Release);
            }
        }
    }
}

/// Counters of all, of which each thread uses one.
const WORDS: usize = 64;

/// A thread that adds to its own counter, as one that counts events for statistics does.
struct Counting {
    counters: Arc<Apart<[AtomicU64; WORDS]>>,
    own: usize,
    sum: u64,
}

impl Work for Counting {
    fn work(&mut self, times: u64) {
        let own = &self.counters.0[self.own];
        for _ in 0..times {
            own.store(own.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        self.sum += times;
        let found = self.counters.0[self.own].load(Ordering::Relaxed);
        ensure(found == self.sum, || "a counter does not hold what was added")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_lie_in_the_lines_they_name() {
        let counters = Apart([const { AtomicU64::new(0) }; WORDS]);
        let line = |word: usize| (&raw const counters.0[word]) as usize / 64;
        assert_eq!((line(1), line(8), line(32)), (line(0), line(0) + 1, line(0) + 4));
    }
}
