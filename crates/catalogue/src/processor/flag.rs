//! Event flags: the cost of setting, clearing and reading one while no task waits for it.

use std::sync::atomic::{AtomicU32, Ordering};

use operation::{Axis, Operation, repeat, term, word, words};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};

use crate::kit::library::futex::{Flags, wake};
use crate::kit::library::{self, poll};
use crate::kit::{BASE, Shared, exactly};

/// The owner of the flag: a word of memory for tasks of this process, a word shared with other processes, or a descriptor
/// that a task must have been given.
const SCOPE: Axis = word("scope", words!["private", "shared", "event"]);

/// The initial value of an event that is taken down by one until it would block: more than a round takes.
const MANY: u64 = u64::MAX - 1;

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.id("flag.set")
        .summary("set an event flag on which no task waits: a word of memory and a futex wake, or an event descriptor")
        .aliases(&["SETF", "SETF/Global", "SETF/Group"])
        .axes(&[SCOPE])
        .explained_by(&[term(1.0, "syscall.getppid")])
        .prepare(|setting| {
            if setting.word("scope")? == "event" {
                let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
                return Ok(repeat(move || exactly(8, library::write(&event, &1_u64.to_ne_bytes())?)));
            }
            let scope = if setting.word("scope")? == "private" { Flags::PRIVATE } else { Flags::empty() };
            // The same memory for both, so that only the kernel's lookup differs.
            let flag = Shared::new(AtomicU32::new(0))?;
            Ok(repeat(move || {
                flag.store(1, Ordering::Release);
                exactly(0, wake(&flag, scope, 1)?)
            }))
        }),
    BASE.named("flag.clear", "decrement an event descriptor (semaphore mode) that is set")
        .aliases(&["CLEF"])
        .explained_by(&[term(1.0, "syscall.getppid")])
        .prepare(|_| {
            let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK | EventfdFlags::SEMAPHORE;
            let event = eventfd(0, flags)?;
            library::write(&event, &MANY.to_ne_bytes())?;
            let mut number = [0; 8];
            Ok(repeat(move || exactly(8, library::read(&event, &mut number)?)))
        }),
    BASE.named("flag.read", "check whether an event descriptor is set, without waiting (ppoll)")
        .calls(&["ppoll"])
        .aliases(&["RDEF"])
        .explained_by(&[term(1.0, "syscall.getppid")])
        .prepare(|_| {
            let event = eventfd(1, EventfdFlags::CLOEXEC)?;
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            Ok(repeat(move || {
                let mut looked_at = [PollFd::new(&event, PollFlags::IN)];
                exactly(1, poll(&mut looked_at, Some(&at_once))?)
            }))
        }),
];
