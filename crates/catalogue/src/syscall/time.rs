//! Calls on clocks and timers, always in the kernel: never through the vDSO.

use std::num::NonZeroU64;

use operation::{Axis, Failure, Loop, Operation, Setting, repeat, word, words};
use record::Estimate;

use super::{CALL, PAIR};
use crate::kit::{Null, call, ensure, exactly, install_counter, refusing, steady, steady_with, tried};

const MONOTONIC: i32 = libc::CLOCK_MONOTONIC;

/// The sleeping time in seconds and nanoseconds. Without slack, a shorter time would be over before the CPU is released.
pub(super) const SHORT: [u64; 2] = [0, 10_000];

/// The timer slack, which the kernel may add to a sleep: the default of every process, and the smallest possible.
const SLACK: &[Axis] = &[word("slack", words!["50us", "1ns"])];

/// When a timer expires: so late that others expire first, or before the next tick of the kernel, so that the CPU's timer
/// must be set for it.
pub(super) const EXPIRY: &[Axis] = &[word("expiry", words!["far", "near"])];

/// A call that sleeps until a timer expires.
pub(super) const SLEEP: Operation = CALL.version(2).quoted(Estimate::Typical).waits(|_| true).axes(SLACK);

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.gettimeofday", "get the time from the kernel itself")
        .prepare(|_| steady_with([0_u64; 2], |time| call::gettimeofday(time, Null))),
    CALL.named("call.clock_gettime", "read the monotonic clock from the kernel itself")
        .prepare(|_| steady_with([0_u64; 2], |time| call::clock_gettime(MONOTONIC, time))),
    CALL.named("call.clock_getres", "get the resolution of the monotonic clock from the kernel itself")
        .prepare(|_| steady_with([0_u64; 2], |step| call::clock_getres(MONOTONIC, step))),
    SLEEP
        .named("call.nanosleep", "sleep for 10 us plus the slack that the kernel may add, 50 us (the default) or 1 ns")
        .prepare(|setting| {
            set_slack(setting)?;
            steady(|| call::nanosleep(&SHORT, Null))
        }),
    SLEEP
        .id("call.clock_nanosleep")
        .summary("sleep for 10 us of the monotonic clock plus the slack that the kernel may add, 50 us or 1 ns")
        .prepare(|setting| {
            set_slack(setting)?;
            steady(|| call::clock_nanosleep(MONOTONIC, 0, &SHORT, Null))
        }),
    CALL.named("call.adjtimex", "get the adjustment of the clock").prepare(|_| {
        // No mode: nothing is changed.
        let mut state = [0_u64; 26];
        positive(move || call::adjtimex(&mut state))
    }),
    CALL.named("call.clock_adjtime", "get the adjustment of the real-time clock").prepare(|_| {
        let mut state = [0_u64; 26];
        positive(move || call::clock_adjtime(libc::CLOCK_REALTIME, &mut state))
    }),
    CALL.named("call.clock_settime", "fail to set the clock to an invalid time")
        .refused()
        .prepare(|_| refusing(&[libc::EINVAL], || call::clock_settime(libc::CLOCK_REALTIME, &[0_u64, 2_000_000_000]))),
    CALL.named("call.settimeofday", "fail to set the clock to an invalid time, by the old call")
        .refused()
        .prepare(|_| refusing(&[libc::EINVAL], || call::settimeofday(&[0_u64, 2_000_000_000], Null))),
    CALL.named("call.getitimer", "ask how much of an interval timer is left").version(2).prepare(|_| {
        exactly(0, call::setitimer(libc::ITIMER_REAL, &[0_u64, 0, 1_000, 0], Null)?)?;
        let mut left = [0_u64; 4];
        exactly(0, call::getitimer(libc::ITIMER_REAL, &mut left)?)?;
        ensure(left[2] > 0, || "the timer is not armed")?;
        steady_with([0_u64; 4], |left| call::getitimer(libc::ITIMER_REAL, left))
    }),
    PAIR.named("call.setitimer", "arm an interval timer that expires in 1,000 s (far) or 200 us (near), and disarm it")
        .calls(&["setitimer", "setitimer"])
        .version(2)
        .axes(EXPIRY)
        .prepare(|setting| {
            // A near timer may expire when the batch is interrupted.
            install_counter(libc::SIGALRM)?;
            let (seconds, rest) = expiry(setting)?;
            tried(repeat(move || {
                exactly(0, call::setitimer(libc::ITIMER_REAL, &[0_u64, 0, seconds, rest / 1_000], Null)?)?;
                exactly(0, call::setitimer(libc::ITIMER_REAL, &[0_u64; 4], Null)?)
            }))
        }),
    PAIR.named("call.timer_create", "create a timer that signals nothing, and delete it")
        .calls(&["timer_create", "timer_delete"])
        .prepare(|_| {
            tried(repeat(|| {
                let timer = timer(&SILENT)?;
                exactly(0, call::timer_delete(timer)?)
            }))
        }),
    PAIR.named("pair.timer", "arm a timer that signals in 1,000 s (far) or 200 us (near), and disarm it")
        .version(2)
        .calls(&["timer_settime", "timer_settime"])
        .axes(EXPIRY)
        .prepare(|setting| {
            install_counter(libc::SIGALRM)?;
            // The kernel never arms a timer that signals nothing.
            let (timer, (seconds, rest)) = (timer(&SIGNALLING)?, expiry(setting)?);
            tried(repeat(move || {
                exactly(0, call::timer_settime(timer, 0, &[0_u64, 0, seconds, rest], Null)?)?;
                exactly(0, call::timer_settime(timer, 0, &[0_u64; 4], Null)?)
            }))
        }),
    CALL.named("call.timer_gettime", "ask how much of an armed timer is left").version(2).prepare(|_| {
        let timer = timer(&SIGNALLING)?;
        exactly(0, call::timer_settime(timer, 0, &[0_u64, 0, 1_000, 0], Null)?)?;
        let mut left = [0_u64; 4];
        steady(move || call::timer_gettime(timer, &mut left))
    }),
    CALL.named("call.timer_getoverrun", "ask how many expiries of a timer were missed")
        .prepare(|_| steady_with(timer(&SILENT)?, |timer| call::timer_getoverrun(*timer))),
];

/// A loop of a call that returns any number that is not an error.
fn positive(mut request: impl FnMut() -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    tried(repeat(move || request().map(drop)))
}

/// Timers of this process, in the layout of the structure sigevent: a value, the signal, and the kind of notification in
/// the upper half of the second word: `SIGEV_NONE`, or `SIGEV_SIGNAL`, which is zero.
const SILENT: [u64; 8] = [0, 1 << 32, 0, 0, 0, 0, 0, 0];
const SIGNALLING: [u64; 8] = [0, libc::SIGALRM as u64, 0, 0, 0, 0, 0, 0];

fn timer(event: &[u64; 8]) -> Result<i32, Failure> {
    let mut timer = [0_i32];
    exactly(0, call::timer_create(MONOTONIC, event, &mut timer)?)?;
    Ok(timer[0])
}

/// Sets this process's timer slack as the point says: sleeps may end that much too late, so that the kernel can end several
/// at once. Fails if the kernel does not allow it.
pub(crate) fn set_slack(setting: &Setting) -> Result<(), Failure> {
    let slack = if setting.word("slack")? == "1ns" { 1 } else { 50_000 };
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(slack))?)
}

/// The expiry time of a timer, in seconds and nanoseconds.
pub(super) fn expiry(setting: &Setting) -> Result<(u64, u64), Failure> {
    Ok(if setting.word("expiry")? == "near" { (0, 200_000) } else { (1_000, 0) })
}
