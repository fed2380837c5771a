//! Locks: taking one that other threads want, and handing one over. Every lock guards a record of who had it, by which
//! hand-overs between different threads are distinguished from one thread that takes the lock again and again.

use std::cell::{Cell, UnsafeCell};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use operation::Value::{Number, Word};
use operation::{Axis, Failure, Loop, Operation, Setting, cpus, word, words};

use super::{CROWDED, THREADS, TOGETHER};
use crate::kit::library::{futex, sched_yield};
use crate::kit::{Apart, Seat, Seats, Work, together_checked};

/// How a thread waits for a lock: it watches it (`spin`), it sleeps in the kernel (`futex`), or it watches for a moment and
/// then sleeps (`adaptive`, as PTHREAD_MUTEX_ADAPTIVE_NP does).
const LOCK: Axis = word("lock", words!["spin", "adaptive", "futex"]);

/// The threads between which a lock is handed over.
const SEVERAL: Axis = cpus("threads", &[Number(2), Word("all"), Word("twice")]);

/// How often an adaptive lock is looked at before its thread sleeps: what the GNU C library does at most.
const LOOKS: u32 = 100;

pub(crate) const OPERATIONS: &[Operation] = &[
    TOGETHER
        .named(
            "contention.lock",
            "take a lock that all threads request all the time and that the first one gets, add to a counter, \
            release it",
        )
        .per("acquisition")
        .axes(&[LOCK, THREADS])
        .prepare(|setting| match setting.word("lock")? {
            "spin" => contended::<Spin>(setting),
            "adaptive" => contended::<Mutex<LOOKS>>(setting),
            _ => contended::<Mutex<1>>(setting),
        }),
    TOGETHER
        .named("contention.handover", "hand a lock over to another thread: the one that has waited longest")
        .per("hand-over")
        .axes(&[LOCK, SEVERAL])
        // A spin lock stops at a thread without a CPU for a time slice, and has no steady cost.
        .has_point(|point| point.word("lock") != Some("spin") || point.word("threads") != Some("twice"))
        .prepare(|setting| match setting.word("lock")? {
            "spin" => handed_over::<Queue<{ u32::MAX }>>(setting),
            "adaptive" => handed_over::<Queue<LOOKS>>(setting),
            _ => handed_over::<Queue<1>>(setting),
        }),
];

/// A lock for threads of one process.
trait Lock: Default + Send + Sync + 'static {
    /// Takes it. Returns how often the thread went to sleep for it.
    fn take(&self) -> u64;

    /// Gives it back. Only the thread that has it calls this.
    fn release(&self);
}

/// A word that is swapped until it was free; in between it is only read.
#[derive(Default)]
struct Spin(AtomicU32);

impl Lock for Spin {
    #[inline(always)]
    fn take(&self) -> u64 {
        while self.0.swap(TAKEN, Ordering::Acquire) != FREE {
            while self.0.load(Ordering::Relaxed) != FREE {
                std::hint::spin_loop();
            }
        }
        0
    }

    #[inline(always)]
    fn release(&self) {
        self.0.store(FREE, Ordering::Release);
    }
}

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and somebody may sleep for it.
const WANTED: u32 = 2;

/// The mutex of C libraries: a word that is changed without the kernel while nobody waits, and slept at otherwise (U.
/// Drepper, "Futexes Are Tricky"). It is looked at so often before a thread sleeps.
#[derive(Default)]
struct Mutex<const LOOKS: u32>(AtomicU32);

impl<const LOOKS: u32> Lock for Mutex<LOOKS> {
    #[inline(always)]
    fn take(&self) -> u64 {
        let mut looks = 0..LOOKS;
        while looks.next().is_some() {
            if self.0.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return 0;
            }
            while self.0.load(Ordering::Relaxed) != FREE && looks.next().is_some() {
                std::hint::spin_loop();
            }
        }
        let mut slept = 0;
        while self.0.swap(WANTED, Ordering::Acquire) != FREE {
            slept += u64::from(futex::wait(&self.0, PRIVATE, WANTED, None).is_ok());
        }
        slept
    }

    #[inline(always)]
    fn release(&self) {
        if self.0.swap(FREE, Ordering::Release) == WANTED {
            let _ = futex::wake(&self.0, PRIVATE, 1);
        }
    }
}

const PRIVATE: futex::Flags = futex::Flags::PRIVATE;

/// A lock that serves threads in the order they came: each draws a number, and watches or sleeps until it is served.
#[derive(Default)]
struct Queue<const LOOKS: u32> {
    next: Apart<AtomicU32>,
    serving: Apart<AtomicU32>,
    sleeping: AtomicU32,
}

impl<const LOOKS: u32> Queue<LOOKS> {
    /// The kernel wakes those whose bit it is given.
    fn bit(number: u32) -> NonZeroU32 {
        NonZeroU32::new(1 << (number % 32)).unwrap_or(NonZeroU32::MIN)
    }
}

impl<const LOOKS: u32> Lock for Queue<LOOKS> {
    fn take(&self) -> u64 {
        let number = self.next.0.fetch_add(1, Ordering::Relaxed);
        let (mut looks, mut slept) = (0, 0);
        loop {
            let serving = self.serving.0.load(Ordering::SeqCst);
            if serving == number {
                return slept;
            }
            if LOOKS == u32::MAX || looks < LOOKS {
                looks = looks.saturating_add(1);
                std::hint::spin_loop();
                continue;
            }
            self.sleeping.fetch_add(1, Ordering::SeqCst);
            // Where the number served has changed meanwhile, the kernel refuses to let us sleep.
            slept += u64::from(futex::wait_bitset(&self.serving.0, PRIVATE, serving, None, Self::bit(number)).is_ok());
            self.sleeping.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn release(&self) {
        let number = self.serving.0.load(Ordering::Relaxed).wrapping_add(1);
        self.serving.0.store(number, Ordering::SeqCst);
        if LOOKS != u32::MAX && self.sleeping.load(Ordering::SeqCst) > 0 {
            let _ = futex::wake_bitset(&self.serving.0, PRIVATE, u32::MAX, Self::bit(number));
        }
    }
}

/// Who had a lock, and how often.
#[derive(Clone, Copy, Default)]
struct HolderRecord {
    holder: usize,
    acquisitions: u64,
    /// Acquisitions by another thread than the one before.
    handovers: u64,
    sleeps: u64,
    /// The hand-overs at which a batch of them ends.
    end: u64,
}

#[derive(Default)]
struct LockGuarded<L> {
    lock: Apart<L>,
    record: Apart<UnsafeCell<HolderRecord>>,
}

// SAFETY: the record is touched only by the thread that has the lock.
unsafe impl<L: Lock> Sync for LockGuarded<L> {}

impl<L: Lock> LockGuarded<L> {
    /// Takes the lock, does `work` on the record, and releases it.
    #[inline(always)]
    fn with<T>(&self, work: impl FnOnce(&mut HolderRecord, u64) -> T) -> T {
        let slept = self.lock.0.take();
        // SAFETY: this thread has the lock.
        let result = work(unsafe { &mut *self.record.0.get() }, slept);
        self.lock.0.release();
        result
    }
}

impl HolderRecord {
    #[inline(always)]
    fn enter(&mut self, thread: usize, slept: u64) {
        self.acquisitions += 1;
        self.sleeps += slept;
        if self.holder != thread {
            self.holder = thread;
            self.handovers += 1;
        }
    }
}

struct Taking<L> {
    place: Arc<LockGuarded<L>>,
    thread: usize,
    each: u64,
}

impl<L: Lock> Work for Taking<L> {
    fn work(&mut self, times: u64) {
        for _ in 0..times * self.each {
            self.place.with(|record, slept| record.enter(self.thread, slept));
        }
    }
}

fn contended<L: Lock>(setting: &Setting) -> Result<Loop, Failure> {
    let seats = Seats::threads(setting, "threads")?;
    let each = if seats.crowded(setting.cpu()) { CROWDED } else { 1 };
    let all = seats.tasks() * each;
    let place = Arc::new(LockGuarded::<L>::default());
    let (theirs, count) = (Arc::clone(&place), counted(setting, place));
    let make = move |seat: Seat| Ok(Taking { place: Arc::clone(&theirs), thread: seat.number, each });
    let counts = move |times| match count().acquisitions {
        taken if taken == times * all => Ok(()),
        taken => Err(Failure::wrong(format!("a lock was taken {taken} times where it must be {}", times * all))),
    };
    Ok(together_checked(setting, &seats, make, counts)?.unrolled(all))
}

/// A thread that takes the lock until it has been handed over often enough.
struct HandingOver<L> {
    place: Arc<LockGuarded<L>>,
    here: Arc<Gathering>,
    thread: usize,
    all: u64,
}

/// Where threads wait until all of them want the lock. Otherwise the first ones hand it over among themselves.
struct Gathering {
    arrived: AtomicU64,
    all: u64,
    /// Whether some share a CPU, and must give it to those that are not here.
    crowded: bool,
}

impl Gathering {
    fn arrive(&self) {
        let arrived = self.arrived.fetch_add(1, Ordering::AcqRel) + 1;
        let wanted = arrived.next_multiple_of(self.all);
        while self.arrived.load(Ordering::Acquire) < wanted {
            if self.crowded {
                sched_yield();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

impl<L: Lock> Work for HandingOver<L> {
    fn ready(&mut self, times: u64) -> Result<(), Failure> {
        if self.thread == 0 {
            self.place.with(|record, _| record.end = record.handovers + times * self.all);
        }
        Ok(())
    }

    fn work(&mut self, _: u64) {
        self.here.arrive();
        let enter = |record: &mut HolderRecord, slept| {
            let over = record.handovers >= record.end;
            if !over {
                record.enter(self.thread, slept);
            }
            over
        };
        while !self.place.with(enter) {}
    }
}

fn handed_over<L: Lock>(setting: &Setting) -> Result<Loop, Failure> {
    let seats = Seats::threads(setting, "threads")?;
    let all = seats.tasks();
    let place = Arc::new(LockGuarded::<L>::default());
    let (theirs, count) = (Arc::clone(&place), counted(setting, place));
    let here = Arc::new(Gathering { arrived: AtomicU64::new(0), all, crowded: seats.crowded(setting.cpu()) });
    let make = move |seat: Seat| {
        Ok(HandingOver { place: Arc::clone(&theirs), here: Arc::clone(&here), thread: seat.number, all })
    };
    let counts = move |times| match count().handovers {
        handed if handed == times * all => Ok(()),
        handed => {
            Err(Failure::wrong(format!("a lock was handed over {handed} times where it must be {}", times * all)))
        }
    };
    Ok(together_checked(setting, &seats, make, counts)?.unrolled(all))
}

/// What a lock's record has grown by since the last call; the cost reports hand-overs and sleeps.
fn counted<L: Lock>(setting: &Setting, place: Arc<LockGuarded<L>>) -> impl Fn() -> HolderRecord + 'static {
    let (handovers, sleeps) = (setting.tally("hand-overs per acquisition"), setting.tally("sleeps per acquisition"));
    let before = Cell::new(HolderRecord::default());
    move || {
        let now = place.with(|record, _| *record);
        let then = before.replace(now);
        let grown = HolderRecord {
            acquisitions: now.acquisitions - then.acquisitions,
            handovers: now.handovers - then.handovers,
            sleeps: now.sleeps - then.sleeps,
            ..now
        };
        handovers.passes(grown.acquisitions, grown.handovers);
        sleeps.passes(grown.acquisitions, grown.sleeps);
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that add to a plain number under the lock lose none of it.
    fn excludes<L: Lock>() {
        let place = Arc::new(LockGuarded::<L>::default());
        let threads = (0..4).map(|thread| {
            let place = Arc::clone(&place);
            std::thread::spawn(move || {
                (0..20_000).for_each(|_| place.with(|record, slept| record.enter(thread, slept)));
            })
        });
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().expect("a thread"));
        assert_eq!(place.with(|record, _| record.acquisitions), 80_000);
    }

    #[test]
    fn a_lock_lets_one_thread_in() {
        excludes::<Spin>();
        excludes::<Mutex<LOOKS>>();
        excludes::<Mutex<1>>();
        excludes::<Queue<LOOKS>>();
        excludes::<Queue<1>>();
    }

    #[test]
    fn only_another_thread_makes_it_a_hand_over() {
        let mut record = HolderRecord::default();
        [0, 0, 1, 1, 1, 0, 2].into_iter().for_each(|thread| record.enter(thread, 0));
        assert_eq!((record.acquisitions, record.handovers), (7, 3));
    }
}
