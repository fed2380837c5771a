//! Calls that wait for descriptors, and descriptors made for waiting.

use std::os::fd::{AsRawFd, OwnedFd};

use operation::{Failure, Operation, repeat};
use rustix::event::{EventfdFlags, eventfd};

use super::time::{EXPIRY, SHORT, SLEEP, expiry, set_slack};
use super::{CALL, PAIR};
use crate::kit::{
    Null, bit, call, exactly, invoke, opening, owned, producing, steadily_with, steady, steady_with, tried,
};

/// The size of the kernel's signal set in bytes.
const SIGNALS: usize = 8;

/// The size of `struct epoll_event`: three words of 32 bits on x86-64 and four elsewhere.
const EVENT: usize = size_of::<libc::epoll_event>();

/// A wait for descriptors that ends because its time limit has passed.
const TIMEOUT: Operation = SLEEP.version(1);

pub(crate) const OPERATIONS: &[Operation] = &[
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.poll", "wait with poll for one descriptor that is ready")
        .prepare(|_| steadily_with(1, polled(ready()?), |(_, wait)| call::poll(wait, -1))),
    CALL.named("call.ppoll", "wait with ppoll for one descriptor that is ready")
        .prepare(|_| steadily_with(1, polled(ready()?), |(_, wait)| call::ppoll(wait, Null, &[0_u64], SIGNALS))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.select", "wait with select for one descriptor that is ready").prepare(|_| {
        steadily_with(1, ready_set()?, |(_, bound, set)| {
            // SAFETY: the set has more bits than the bound.
            unsafe { invoke!(select, *bound, set, 0, 0, 0) }
        })
    }),
    CALL.named("call.pselect6", "wait with pselect for one descriptor that is ready").prepare(|_| {
        steadily_with(1, ready_set()?, |(_, bound, set)| {
            // SAFETY: the set has more bits than the bound.
            unsafe { invoke!(pselect6, *bound, set, 0, 0, 0, 0) }
        })
    }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.epoll_create", "create an epoll set").prepare(|_| opening(|| call::epoll_create(1))),
    CALL.named("call.epoll_create1", "create an epoll set that is closed on exec")
        .prepare(|_| opening(|| call::epoll_create1(libc::EPOLL_CLOEXEC))),
    CALL.named("call.epoll_ctl", "change the events for which an epoll set waits on a descriptor").prepare(|_| {
        let (set, counter) = epoll_of_one()?;
        let event = [libc::epoll_event { events: libc::EPOLLIN as u32, u64: 1 }];
        tried(repeat(move || exactly(0, call::epoll_ctl(&set, libc::EPOLL_CTL_MOD, &counter, &event)?)))
    }),
    PAIR.named("pair.epoll", "add a ready descriptor to an epoll set, and remove it")
        .calls(&["epoll_ctl", "epoll_ctl"])
        .prepare(|_| {
            let (set, counter) = (owned(call::epoll_create1(libc::EPOLL_CLOEXEC)?), ready()?);
            let event = [libc::epoll_event { events: libc::EPOLLIN as u32, u64: 1 }];
            tried(repeat(move || {
                exactly(0, call::epoll_ctl(&set, libc::EPOLL_CTL_ADD, &counter, &event)?)?;
                exactly(0, call::epoll_ctl(&set, libc::EPOLL_CTL_DEL, &counter, Null)?)
            }))
        }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.epoll_wait", "wait with epoll_wait for one descriptor that is ready").prepare(|_| {
        let wait = (epoll_of_one()?, [0_u8; 8 * EVENT]);
        steadily_with(1, wait, |((set, _), events)| call::epoll_wait(&*set, events, -1))
    }),
    CALL.named("call.epoll_pwait", "wait with epoll_pwait for one descriptor that is ready").prepare(|_| {
        let wait = (epoll_of_one()?, [0_u8; 8 * EVENT]);
        steadily_with(1, wait, |((set, _), events)| call::epoll_pwait(&*set, events, -1, &[0_u64], SIGNALS))
    }),
    CALL.named("call.epoll_pwait2", "wait with epoll_pwait2 for one descriptor that is ready, for a second at most")
        .prepare(|_| {
            steadily_with(1, (epoll_of_one()?, [0_u8; 8 * EVENT]), |((set, _), events)| {
                call::epoll_pwait2(&*set, events, &[1_u64, 0], &[0_u64], SIGNALS)
            })
        }),
    TIMEOUT
        .id("call.ppoll.timeout")
        .summary("wait with ppoll for 10 us plus the slack that the kernel may add, 50 us (the default) or 1 ns")
        .calls(&["ppoll"])
        .prepare(|setting| {
            set_slack(setting)?;
            // The remaining time is written back, to a copy.
            let counter = eventfd(0, EventfdFlags::CLOEXEC)?;
            steady_with(polled(counter), |(_, wait)| call::ppoll(wait, &mut { SHORT }, Null, SIGNALS))
        }),
    TIMEOUT
        .id("call.pselect6.timeout")
        .summary("wait with pselect for 10 us plus the slack that the kernel may add, 50 us (the default) or 1 ns")
        .calls(&["pselect6"])
        .prepare(|setting| {
            set_slack(setting)?;
            // SAFETY: no set is passed, so that only the time is read and written.
            steady(|| unsafe { invoke!(pselect6, 0, 0, 0, 0, &mut { SHORT }, 0) })
        }),
    TIMEOUT
        .id("call.epoll_pwait2.timeout")
        .summary("wait with epoll_pwait2 for 10 us plus the slack that the kernel may add, 50 us or 1 ns")
        .calls(&["epoll_pwait2"])
        .prepare(|setting| {
            set_slack(setting)?;
            let set = owned(call::epoll_create1(libc::EPOLL_CLOEXEC)?);
            let mut events = [0_u8; 8 * EVENT];
            tried(repeat(move || exactly(0, call::epoll_pwait2(&set, &mut events, &SHORT, Null, SIGNALS)?)))
        }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.eventfd", "create an event counter").prepare(|_| opening(|| call::eventfd(0))),
    CALL.named("call.eventfd2", "create an event counter that is closed on exec")
        .prepare(|_| opening(|| call::eventfd2(0, libc::EFD_CLOEXEC))),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.signalfd", "create a descriptor from which signals are read").prepare(|_| {
        let set = [bit(libc::SIGUSR1)];
        opening(move || call::signalfd(-1, &set, SIGNALS))
    }),
    CALL.named("call.signalfd4", "create a descriptor from which signals are read, closed on exec").prepare(|_| {
        let set = [bit(libc::SIGUSR1)];
        opening(move || call::signalfd4(-1, &set, SIGNALS, libc::SFD_CLOEXEC))
    }),
    CALL.named("call.timerfd_create", "create a timer that is read from a descriptor")
        .prepare(|_| tried(producing(timer))),
    CALL.named("call.timerfd_settime", "replace a timer by one that expires in 1,000 s (far) or 200 us (near)")
        .version(2)
        .axes(EXPIRY)
        .prepare(|setting| {
            let (timer, (seconds, rest)) = (timer()?, expiry(setting)?);
            tried(repeat(move || exactly(0, call::timerfd_settime(&timer, 0, &[0, 0, seconds, rest], Null)?)))
        }),
    PAIR.named("pair.timerfd", "set a timer to expire in 1,000 s (far) or 200 us (near), and stop it")
        .version(2)
        .calls(&["timerfd_settime", "timerfd_settime"])
        .axes(EXPIRY)
        .prepare(|setting| {
            let (timer, never) = (timer()?, [0_i64; 4]);
            let (seconds, rest) = expiry(setting)?;
            tried(repeat(move || {
                exactly(0, call::timerfd_settime(&timer, 0, &[0, 0, seconds, rest], Null)?)?;
                exactly(0, call::timerfd_settime(&timer, 0, &never, Null)?)
            }))
        }),
    CALL.named("call.timerfd_gettime", "ask when a timer will expire").prepare(|_| {
        let (timer, mut left) = (timer()?, [0_i64; 4]);
        exactly(0, call::timerfd_settime(&timer, 0, &[3600_i64, 0, 3600, 0], Null)?)?;
        tried(repeat(move || {
            exactly(0, call::timerfd_gettime(&timer, &mut left)?)?;
            exactly(3600, left[0] as usize)
        }))
    }),
];

/// An event counter that is readable.
fn ready() -> Result<OwnedFd, Failure> {
    Ok(eventfd(1, EventfdFlags::CLOEXEC)?)
}

/// A descriptor, and the wait for it to be readable, for poll.
fn polled(counter: OwnedFd) -> (OwnedFd, [libc::pollfd; 1]) {
    let wait = [libc::pollfd { fd: counter.as_raw_fd(), events: libc::POLLIN, revents: 0 }];
    (counter, wait)
}

/// An event counter that is readable, the number behind its own, and the descriptor set that contains it, for select.
fn ready_set() -> Result<(OwnedFd, usize, [u64; 16]), Failure> {
    let counter = ready()?;
    let number = counter.as_raw_fd() as usize;
    let mut set = [0_u64; 16];
    let word = set.get_mut(number / 64).ok_or_else(|| Failure::skip("too many open files for select", ""))?;
    *word |= 1 << (number % 64);
    Ok((counter, number + 1, set))
}

/// An epoll set of one descriptor that is ready.
fn epoll_of_one() -> Result<(OwnedFd, OwnedFd), Failure> {
    let (set, counter) = (owned(call::epoll_create1(libc::EPOLL_CLOEXEC)?), ready()?);
    let event = [libc::epoll_event { events: libc::EPOLLIN as u32, u64: 1 }];
    exactly(0, call::epoll_ctl(&set, libc::EPOLL_CTL_ADD, &counter, &event)?)?;
    Ok((set, counter))
}

fn timer() -> Result<OwnedFd, Failure> {
    Ok(owned(call::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC)?))
}
