//! Calls on clocks and timers, of the kernel itself: never its shortcuts in the process's own memory.

use measure::{Failure, Loop, Operation, repeat};
use record::Estimate;

use super::own::{refusing, steady};
use super::raw::{CALL, PAIR, call, tried};
use crate::syscall::exactly;

const MONOTONIC: i32 = libc::CLOCK_MONOTONIC;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "call.gettimeofday",
        summary: "ask for the time, of the kernel itself",
        calls: &["gettimeofday"],
        prepare: |_| {
            let mut time = [0_u64; 2];
            steady(move || call!(gettimeofday, &mut time, 0))
        },
        ..CALL
    },
    Operation {
        id: "call.clock_gettime",
        summary: "read the monotonic clock, of the kernel itself",
        calls: &["clock_gettime"],
        prepare: |_| {
            let mut time = [0_u64; 2];
            steady(move || call!(clock_gettime, MONOTONIC, &mut time))
        },
        ..CALL
    },
    Operation {
        id: "call.clock_getres",
        summary: "ask for the step of the monotonic clock, of the kernel itself",
        calls: &["clock_getres"],
        prepare: |_| {
            let mut step = [0_u64; 2];
            steady(move || call!(clock_getres, MONOTONIC, &mut step))
        },
        ..CALL
    },
    Operation {
        id: "call.nanosleep",
        summary: "sleep for one nanosecond or as much longer as it takes",
        calls: &["nanosleep"],
        quoted: Estimate::Typical,
        prepare: |_| steady(|| call!(nanosleep, &[0_u64, 1], 0)),
        ..CALL
    },
    Operation {
        id: "call.clock_nanosleep",
        summary: "sleep for one nanosecond of the monotonic clock or as much longer as it takes",
        calls: &["clock_nanosleep"],
        quoted: Estimate::Typical,
        prepare: |_| steady(|| call!(clock_nanosleep, MONOTONIC, 0, &[0_u64, 1], 0)),
        ..CALL
    },
    Operation {
        id: "call.adjtimex",
        summary: "ask how the clock is steered",
        calls: &["adjtimex"],
        prepare: |_| {
            // No mode: nothing is set.
            let mut state = [0_u64; 26];
            positive(move || call!(adjtimex, &mut state))
        },
        ..CALL
    },
    Operation {
        id: "call.clock_adjtime",
        summary: "ask how the real-time clock is steered",
        calls: &["clock_adjtime"],
        prepare: |_| {
            let mut state = [0_u64; 26];
            positive(move || call!(clock_adjtime, libc::CLOCK_REALTIME, &mut state))
        },
        ..CALL
    },
    Operation {
        id: "call.clock_settime",
        summary: "be refused to set the clock to a time that does not exist",
        calls: &["clock_settime"],
        refused: true,
        prepare: |_| refusing(&[libc::EINVAL], || call!(clock_settime, libc::CLOCK_REALTIME, &[0_u64, 2_000_000_000])),
        ..CALL
    },
    Operation {
        id: "call.settimeofday",
        summary: "be refused to set the clock to a time that does not exist, by the old call",
        calls: &["settimeofday"],
        refused: true,
        prepare: |_| refusing(&[libc::EINVAL], || call!(settimeofday, &[0_u64, 2_000_000_000], 0)),
        ..CALL
    },
    Operation {
        id: "call.getitimer",
        summary: "ask how much of an interval timer is left",
        calls: &["getitimer"],
        prepare: |_| {
            let mut left = [0_u64; 4];
            steady(move || call!(getitimer, libc::ITIMER_REAL, &mut left))
        },
        ..CALL
    },
    Operation {
        id: "call.setitimer",
        summary: "arm an interval timer, and disarm it",
        calls: &["setitimer"],
        prepare: |_| {
            tried(repeat(|| {
                exactly(0, call!(setitimer, libc::ITIMER_REAL, &[0_u64, 0, 1_000, 0], 0)?)?;
                exactly(0, call!(setitimer, libc::ITIMER_REAL, &[0_u64; 4], 0)?)
            }))
        },
        ..PAIR
    },
    Operation {
        id: "call.timer_create",
        summary: "make a timer that signals nothing, and delete it",
        calls: &["timer_create", "timer_delete"],
        prepare: |_| {
            tried(repeat(|| {
                let timer = timer()?;
                exactly(0, call!(timer_delete, timer)?)
            }))
        },
        ..PAIR
    },
    Operation {
        id: "pair.timer",
        summary: "arm a timer, and disarm it",
        calls: &["timer_settime"],
        prepare: |_| {
            let timer = timer()?;
            tried(repeat(move || {
                exactly(0, call!(timer_settime, timer, 0, &[0_u64, 0, 1_000, 0], 0)?)?;
                exactly(0, call!(timer_settime, timer, 0, &[0_u64; 4], 0)?)
            }))
        },
        ..PAIR
    },
    Operation {
        id: "call.timer_gettime",
        summary: "ask how much of an armed timer is left",
        calls: &["timer_gettime"],
        prepare: |_| {
            let timer = timer()?;
            exactly(0, call!(timer_settime, timer, 0, &[0_u64, 0, 1_000, 0], 0)?)?;
            let mut left = [0_u64; 4];
            steady(move || call!(timer_gettime, timer, &mut left))
        },
        ..CALL
    },
    Operation {
        id: "call.timer_getoverrun",
        summary: "ask how many expiries of a timer were missed",
        calls: &["timer_getoverrun"],
        prepare: |_| {
            let timer = timer()?;
            steady(move || call!(timer_getoverrun, timer))
        },
        ..CALL
    },
];

/// A loop of a call that returns some number that is no error.
fn positive(mut ask: impl FnMut() -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    tried(repeat(move || ask().map(drop)))
}

/// A timer of this process that signals nothing.
fn timer() -> Result<i32, Failure> {
    // The structure sigevent: a value, no signal, `SIGEV_NONE` in the upper half of the second word.
    let nothing = [0_u64, 1 << 32, 0, 0, 0, 0, 0, 0];
    let mut timer = [0_i32];
    exactly(0, call!(timer_create, MONOTONIC, &nothing, &mut timer)?)?;
    Ok(timer[0])
}
