//! Calls on clocks, timers and scheduling. The machine's clock is only read: setting it is timed where it is refused.

use std::cell::Cell;
use std::rc::Rc;

use libc::{itimerspec, itimerval, sched_param, timespec, timeval};
use measure::{Failure, Loop, Operation, repeat};
use record::Estimate;

use super::raw::{CALL, PAIR, call, refused};
use crate::syscall::exactly;

/// A moment that has passed long ago, and one that does not come while a round lasts.
const PAST: timespec = timespec { tv_sec: 0, tv_nsec: 1 };
const FAR: timespec = timespec { tv_sec: 3600, tv_nsec: 0 };
const NONE: timespec = timespec { tv_sec: 0, tv_nsec: 0 };
const TWICE_NONE: timeval = timeval { tv_sec: 0, tv_usec: 0 };

/// The scheduling policy of every ordinary task.
const ORDINARY: i32 = libc::SCHED_OTHER;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "call.clock_gettime",
        summary: "read the monotonic clock through the kernel, not through its shared page",
        calls: &["clock_gettime"],
        prepare: |_| reading(|time: &mut [timespec; 1]| call!(clock_gettime, libc::CLOCK_MONOTONIC, time)),
        ..CALL
    },
    Operation {
        id: "call.clock_getres",
        summary: "ask for the resolution of the monotonic clock",
        calls: &["clock_getres"],
        prepare: |_| reading(|time: &mut [timespec; 1]| call!(clock_getres, libc::CLOCK_MONOTONIC, time)),
        ..CALL
    },
    Operation {
        id: "call.gettimeofday",
        summary: "read the time of day through the kernel",
        calls: &["gettimeofday"],
        prepare: |_| {
            let mut time = [TWICE_NONE];
            Ok(repeat(move || exactly(0, call!(gettimeofday, &mut time, 0)?)))
        },
        ..CALL
    },
    #[cfg(target_arch = "x86_64")]
    Operation {
        id: "call.time",
        summary: "read the time in seconds through the kernel",
        calls: &["time"],
        prepare: |_| Ok(repeat(|| positive(call!(time, 0)?))),
        ..CALL
    },
    Operation {
        id: "call.clock_settime",
        summary: "set a clock that cannot be set, which is refused",
        calls: &["clock_settime"],
        refused: true,
        prepare: |_| {
            let time = [FAR];
            Ok(repeat(move || refused!(EINVAL, clock_settime, libc::CLOCK_MONOTONIC, &time)))
        },
        ..CALL
    },
    Operation {
        id: "call.settimeofday",
        summary: "set the time of day to one that is none, which is refused",
        calls: &["settimeofday"],
        refused: true,
        prepare: |_| {
            let never = [timeval { tv_sec: 0, tv_usec: 2_000_000 }];
            Ok(repeat(move || refused!(EINVAL, settimeofday, &never, 0)))
        },
        ..CALL
    },
    Operation {
        id: "call.adjtimex",
        summary: "read how the clock is being adjusted, changing nothing",
        calls: &["adjtimex"],
        prepare: |_| {
            let mut state = [unadjusted()];
            Ok(repeat(move || call!(adjtimex, &mut state).map(drop)))
        },
        ..CALL
    },
    Operation {
        id: "call.clock_adjtime",
        summary: "read how the real-time clock is being adjusted, changing nothing",
        calls: &["clock_adjtime"],
        prepare: |_| {
            let mut state = [unadjusted()];
            Ok(repeat(move || call!(clock_adjtime, libc::CLOCK_REALTIME, &mut state).map(drop)))
        },
        ..CALL
    },
    Operation {
        id: "call.nanosleep",
        summary: "sleep for the shortest time there is: one nanosecond, and what the timer adds",
        calls: &["nanosleep"],
        quoted: Estimate::Typical,
        prepare: |_| {
            let time = [PAST];
            Ok(repeat(move || exactly(0, call!(nanosleep, &time, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.clock_nanosleep",
        summary: "sleep until a moment that has passed",
        calls: &["clock_nanosleep"],
        prepare: |_| {
            let time = [PAST];
            let absolute = libc::TIMER_ABSTIME;
            Ok(repeat(move || exactly(0, call!(clock_nanosleep, libc::CLOCK_MONOTONIC, absolute, &time, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.getitimer",
        summary: "read this process's interval timer",
        calls: &["getitimer"],
        prepare: |_| {
            let mut timer = [itimerval { it_interval: TWICE_NONE, it_value: TWICE_NONE }];
            Ok(repeat(move || exactly(0, call!(getitimer, libc::ITIMER_REAL, &mut timer)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.setitimer",
        summary: "arm this process's interval timer for an hour from now, again and again",
        calls: &["setitimer"],
        prepare: |_| {
            let hour = timeval { tv_sec: FAR.tv_sec, tv_usec: 0 };
            let timer = [itimerval { it_interval: TWICE_NONE, it_value: hour }];
            Ok(repeat(move || exactly(0, call!(setitimer, libc::ITIMER_REAL, &timer, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.timer_create",
        summary: "make a timer that tells nobody, and delete it",
        per: "pair",
        calls: &["timer_create", "timer_delete"],
        prepare: |_| {
            Ok(repeat(|| {
                let timer = silent_timer()?;
                exactly(0, call!(timer_delete, timer)?)
            }))
        },
        ..PAIR
    },
    Operation {
        id: "call.timer_settime",
        summary: "arm a timer for an hour from now, again and again",
        calls: &["timer_settime"],
        prepare: |_| {
            let timer = silent_timer()?;
            let armed = [itimerspec { it_interval: NONE, it_value: FAR }];
            Ok(repeat(move || exactly(0, call!(timer_settime, timer, 0, &armed, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.timer_gettime",
        summary: "read an armed timer",
        calls: &["timer_gettime"],
        prepare: |_| {
            let timer = silent_timer()?;
            let mut armed = [itimerspec { it_interval: NONE, it_value: FAR }];
            exactly(0, call!(timer_settime, timer, 0, &armed, 0)?)?;
            Ok(repeat(move || exactly(0, call!(timer_gettime, timer, &mut armed)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.timer_getoverrun",
        summary: "ask how often a timer ran out unnoticed",
        calls: &["timer_getoverrun"],
        prepare: |_| {
            let timer = silent_timer()?;
            Ok(repeat(move || exactly(0, call!(timer_getoverrun, timer)?)))
        },
        ..CALL
    },
    Operation {
        id: "pair.timer",
        summary: "arm a timer and disarm it, as around an operation that may take too long",
        calls: &["timer_settime"],
        prepare: |_| {
            let timer = silent_timer()?;
            let armed = [itimerspec { it_interval: NONE, it_value: FAR }];
            let disarmed = [itimerspec { it_interval: NONE, it_value: NONE }];
            Ok(repeat(move || {
                exactly(0, call!(timer_settime, timer, 0, &armed, 0)?)?;
                exactly(0, call!(timer_settime, timer, 0, &disarmed, 0)?)
            }))
        },
        ..PAIR
    },
    Operation {
        id: "call.sched_yield",
        summary: "offer the CPU to others, of whom there are none",
        calls: &["sched_yield"],
        prepare: |_| Ok(repeat(|| exactly(0, call!(sched_yield)?))),
        ..CALL
    },
    Operation {
        id: "call.sched_getparam",
        summary: "ask for this task's real-time priority",
        calls: &["sched_getparam"],
        prepare: |_| {
            let mut parameter = [sched_param { sched_priority: 0 }];
            Ok(repeat(move || exactly(0, call!(sched_getparam, 0, &mut parameter)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_setparam",
        summary: "set this task's real-time priority to what it is",
        calls: &["sched_setparam"],
        prepare: |_| {
            let parameter = [sched_param { sched_priority: 0 }];
            Ok(repeat(move || exactly(0, call!(sched_setparam, 0, &parameter)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_getscheduler",
        summary: "ask for this task's scheduling policy",
        calls: &["sched_getscheduler"],
        prepare: |_| Ok(repeat(|| exactly(ORDINARY as usize, call!(sched_getscheduler, 0)?))),
        ..CALL
    },
    Operation {
        id: "call.sched_setscheduler",
        summary: "set this task's scheduling policy to what it is",
        calls: &["sched_setscheduler"],
        prepare: |_| {
            let parameter = [sched_param { sched_priority: 0 }];
            Ok(repeat(move || exactly(0, call!(sched_setscheduler, 0, ORDINARY, &parameter)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_get_priority_max",
        summary: "ask for the highest real-time priority",
        calls: &["sched_get_priority_max"],
        prepare: |_| Ok(repeat(|| exactly(99, call!(sched_get_priority_max, libc::SCHED_FIFO)?))),
        ..CALL
    },
    Operation {
        id: "call.sched_get_priority_min",
        summary: "ask for the lowest real-time priority",
        calls: &["sched_get_priority_min"],
        prepare: |_| Ok(repeat(|| exactly(1, call!(sched_get_priority_min, libc::SCHED_FIFO)?))),
        ..CALL
    },
    Operation {
        id: "call.sched_rr_get_interval",
        summary: "ask for this task's time slice",
        calls: &["sched_rr_get_interval"],
        prepare: |_| reading(|time: &mut [timespec; 1]| call!(sched_rr_get_interval, 0, time)),
        ..CALL
    },
    Operation {
        id: "call.sched_getaffinity",
        summary: "ask which CPUs this task may use",
        calls: &["sched_getaffinity"],
        prepare: |_| {
            let mut cpus = [0_u64; 128];
            Ok(repeat(move || positive(call!(sched_getaffinity, 0, 1024, &mut cpus)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_setaffinity",
        summary: "allow this task the CPUs it has",
        calls: &["sched_setaffinity"],
        prepare: |_| {
            let mut cpus = [0_u64; 128];
            positive(call!(sched_getaffinity, 0, 1024, &mut cpus)?)?;
            Ok(repeat(move || exactly(0, call!(sched_setaffinity, 0, 1024, &cpus)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_getattr",
        summary: "ask for all of this task's scheduling attributes",
        calls: &["sched_getattr"],
        prepare: |_| {
            let mut attributes = [0_u64; 7];
            Ok(repeat(move || exactly(0, call!(sched_getattr, 0, &mut attributes, 56, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_setattr",
        summary: "set this task's scheduling attributes to what they are",
        calls: &["sched_setattr"],
        prepare: |_| {
            let mut attributes = [0_u64; 7];
            exactly(0, call!(sched_getattr, 0, &mut attributes, 56, 0)?)?;
            Ok(repeat(move || exactly(0, call!(sched_setattr, 0, &attributes, 0)?)))
        },
        ..CALL
    },
];

/// A loop of calls that fill in a time; the last one of a batch must have.
fn reading(mut read: impl FnMut(&mut [timespec; 1]) -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    const UNTOUCHED: timespec = timespec { tv_sec: -1, tv_nsec: -1 };
    let filled = Rc::new(Cell::new(UNTOUCHED));
    let last = Rc::clone(&filled);
    let reading = repeat(move || {
        let mut time = [UNTOUCHED];
        exactly(0, read(&mut time)?)?;
        filled.set(time[0]);
        Ok(())
    });
    Ok(reading.verify(move |_| match last.get() {
        time if time.tv_sec >= 0 && time.tv_nsec >= 0 => Ok(()),
        _ => Err(Failure::wrong("the call filled in no time")),
    }))
}

/// A timer of the monotonic clock that sends nothing when it runs out; it goes with the process.
fn silent_timer() -> Result<i32, Failure> {
    // SAFETY: all bits zero is a valid sigevent.
    let mut event = [unsafe { std::mem::zeroed::<libc::sigevent>() }];
    event[0].sigev_notify = libc::SIGEV_NONE;
    let mut timer = [0_i32];
    exactly(0, call!(timer_create, libc::CLOCK_MONOTONIC, &event, &mut timer)?)?;
    Ok(timer[0])
}

/// A request to the clock's discipline that changes nothing.
fn unadjusted() -> libc::timex {
    // SAFETY: all bits zero is a valid timex, and asks for no change.
    unsafe { std::mem::zeroed() }
}

/// Fails unless a call returned something.
#[inline(always)]
fn positive(returned: usize) -> Result<(), Failure> {
    if returned > 0 { Ok(()) } else { Err(Failure::wrong("a call returned nothing")) }
}
