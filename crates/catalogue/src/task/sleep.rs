//! How late a sleeping task runs again: after its own timer, and after a message from another CPU. What is quoted is the time
//! from the moment it should run to the moment it runs; the sleep itself is no part of it. The longer a CPU is idle, the
//! deeper it, and a hypervisor below it, lets it sleep.

use std::num::NonZeroU64;

use operation::{Axis, Failure, Loop, Operation, Setting, Took, Usage, count, numbers, word, words};
use record::Estimate;
use rustix::io::Errno;
use rustix::thread::{ClockId, NanosleepRelativeResult, set_current_timer_slack};
use rustix::time::{Timespec, clock_gettime};

use crate::kit::library::{clock_nanosleep_absolute, nanosleep};
use crate::kit::{BASE, Channel, End, OTHER, call, ensure, exactly};
use crate::syscall::time::set_slack;

/// How long the CPU is idle before.
const IDLE: Axis =
    count("microseconds", numbers![10, 100, 1_000, 10_000, 100_000, 1_000_000]).headline(numbers![1_000]);

/// The class that the task is scheduled in: the usual one, or one that comes before all tasks of that.
const CLASS: Axis = word("class", words!["other", "fifo"]).headline(words!["other"]);

const SLEEP_AXES: &[Axis] = &[
    word("clock", words!["monotonic", "realtime", "boottime", "relative"]).headline(words!["monotonic"]),
    word("slack", words!["50us", "1ns"]),
    CLASS,
    IDLE,
];

const LATE: Operation = BASE
    .per("wake-up")
    .quoted(Estimate::Typical)
    .waits(|_| true)
    // A sleep of a second, twice, and its set-up.
    .patience(30.0)
    .terms(&[])
    .opt_in();

pub(crate) const OPERATIONS: &[Operation] = &[
    LATE.named(
        "sleep.late",
        "how late a task runs after a sleep until a moment this far away, by clock, timer slack and scheduling class",
    )
    .axes(SLEEP_AXES)
    // The kernel gives tasks of a real-time class no slack.
    .has_point(|point| point.word("class") != Some("fifo") || point.word("slack") == Some("1ns"))
    .prepare(|setting| {
        let idle = setting.number("microseconds")? * 1_000;
        let sleeper = Sleeper::of(setting.word("clock")?, idle)?;
        set_slack(setting)?;
        enter_class(setting)?;
        Ok(lateness(idle, move || sleeper.late()))
    }),
    LATE.named(
        "wakeup.pipe",
        "how late a task that waits for a pipe runs after another CPU writes to it, both idle this long before",
    )
    .axes(&[OTHER, CLASS, IDLE])
    .prepare(|setting| {
        let (ours, theirs) = End::pipes()?;
        let idle = setting.number("microseconds")? * 1_000;
        let partner = setting.partner(setting.partner_cpu()?, || {
            ours.close_inherited();
            set_current_timer_slack(NonZeroU64::new(1))?;
            let sleeper = Sleeper::of("relative", idle)?;
            let mut requested = [0_u8; 8];
            loop {
                theirs.receive(&mut requested)?;
                sleeper.late()?;
                // When it was written travels with it: both CPUs read one clock.
                theirs.send(&now(ClockId::Monotonic).to_ne_bytes())?;
            }
        })?;
        drop(theirs);
        enter_class(setting)?;
        let mut written = [0_u8; 8];
        Ok(lateness(idle, move || {
            let _alive = &partner;
            let requested = now(ClockId::Monotonic);
            ours.send(&requested.to_ne_bytes())?;
            ours.receive(&mut written)?;
            let (runs, written) = (now(ClockId::Monotonic), u64::from_ne_bytes(written));
            ensure(written >= requested + idle, || "the message was written before its moment")?;
            Ok(runs.saturating_sub(written))
        }))
    }),
];

/// A loop that reports how late each wake-up was, in ns. `late` sleeps for `idle` ns and returns it.
fn lateness(idle: u64, mut late: impl FnMut() -> Result<u64, Failure> + 'static) -> Loop {
    /// Sleeps of this length and more fill a batch alone.
    const LONG: u64 = 1_000_000;
    let looped = Loop::self_timed(move |times| {
        let used = Usage::of_this_process();
        let mut sum = 0;
        for _ in 0..times {
            sum += late()?;
        }
        Ok(Took { elapsed: sum as f64, usage: Usage::of_this_process().since(used) })
    });
    // Batches are sized by the lateness, which is a small part of the time.
    let looped = looped.at_most((LONG / idle.max(1)).max(1));
    if idle >= LONG { looped.skip_warmup() } else { looped }
}

enum Sleeper {
    /// Until a moment of this clock.
    Until(ClockId, u64),
    /// For a time.
    For(u64),
}

impl Sleeper {
    fn of(clock: &str, idle: u64) -> Result<Sleeper, Failure> {
        match clock {
            "monotonic" => Ok(Sleeper::Until(ClockId::Monotonic, idle)),
            "realtime" => Ok(Sleeper::Until(ClockId::Realtime, idle)),
            "boottime" => Ok(Sleeper::Until(ClockId::Boottime, idle)),
            "relative" => Ok(Sleeper::For(idle)),
            other => Err(Failure::wrong(format!("{other} names no clock"))),
        }
    }

    /// Sleeps. Returns how many ns after the moment requested the task runs.
    fn late(&self) -> Result<u64, Failure> {
        let (clock, due) = match *self {
            Sleeper::Until(clock, idle) => {
                let due = now(clock) + idle;
                match clock_nanosleep_absolute(clock, &timespec(due)) {
                    Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => {
                        return Err(Failure::skip("the kernel cannot sleep by this clock", "a newer kernel"));
                    }
                    ended => ended?,
                }
                (clock, due)
            }
            Sleeper::For(idle) => {
                let due = now(ClockId::Monotonic) + idle;
                match nanosleep(&timespec(idle)) {
                    NanosleepRelativeResult::Ok => {}
                    NanosleepRelativeResult::Interrupted(_) => return Err(Failure::wrong("a signal ended the sleep")),
                    NanosleepRelativeResult::Err(error) => return Err(error.into()),
                }
                (ClockId::Monotonic, due)
            }
        };
        let runs = now(clock);
        // A clock that is set meanwhile would say anything; the monotonic ones never run early.
        runs.checked_sub(due).ok_or_else(|| Failure::wrong("the task ran before its moment"))
    }
}

/// In ns since the clock's begin.
fn now(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ }
}

/// Has this process scheduled in the class of the point. It ends with its round.
fn enter_class(setting: &Setting) -> Result<(), Failure> {
    /// In the middle, so that the kernel's own threads of that class are above some and below others.
    const PRIORITY: i32 = 50;
    if setting.word("class")? != "fifo" {
        return Ok(());
    }
    match call::sched_setscheduler(0, libc::SCHED_FIFO, &[PRIORITY]) {
        Err(Failure::Errno { errno: libc::EPERM }) => {
            Err(Failure::skip("the real-time class is refused", "run as root, or allow it to this user (ulimit -r 50)"))
        }
        other => exactly(0, other?),
    }
}

#[cfg(test)]
mod tests {
    use record::Value;

    use super::*;

    const CLASS_OF_ALL: (&str, Value<&str>) = ("class", Value::Word("other"));

    fn point(values: &[(&str, Value<&'static str>)]) -> record::Point {
        record::Point(values.iter().map(|(axis, value)| ((*axis).into(), value.value())).collect())
    }

    #[test]
    fn the_sleep_is_taken_and_only_the_lateness_is_reported() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        for clock in ["monotonic", "realtime", "boottime", "relative"] {
            let idle = Value::Number(2_000);
            let at =
                [("clock", Value::Word(clock)), ("slack", Value::Word("1ns")), ("microseconds", idle), CLASS_OF_ALL];
            let setting = Setting::new(point(&at), scratch.path().into(), 0, None, 1);
            let mut looped = OPERATIONS[0].set_up(&setting).expect("it prepares");
            for _ in 0..20 {
                let start = std::time::Instant::now();
                let reported = looped.run_batch(1).expect("a sleep").expect("it reports").elapsed;
                let took = start.elapsed().as_nanos() as f64;
                // Two milliseconds of sleep are no part of it, however late a busy machine is.
                assert!(reported > 0.0 && reported + 2e6 <= took, "{clock}: {reported} of {took}");
            }
        }
    }

    #[test]
    fn a_message_holds_when_it_was_written() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let Some(other) = crate::kit::trial::other_cpu() else {
            return testing::not_tested!("needs two CPUs");
        };
        let at = [("distance", Value::Word("other")), ("microseconds", Value::Number(1_000)), CLASS_OF_ALL];
        let setting = Setting::new(point(&at), scratch.path().into(), 0, Some(other), 1);
        let mut looped = OPERATIONS[1].set_up(&setting).expect("it prepares");
        let start = std::time::Instant::now();
        let reported: f64 = (0..20).map(|_| looped.run_batch(1).expect("a message").expect("it reports").elapsed).sum();
        let took = start.elapsed().as_nanos() as f64;
        // 20 times a millisecond of idling is no part of it.
        assert!(reported > 0.0 && reported < took - 19e6, "{reported} of {took}");
    }
}
