//! Calls on scheduling.

use operation::{Operation, repeat};

use super::CALL;
use crate::kit::call;
use crate::kit::check::exactly;
use crate::kit::invoke::{Null, invoke};
use crate::kit::loops::{steadily, steady, tried, turning};

/// Words of a set of 1024 CPUs.
const WORDS: usize = 16;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "call.sched_yield",
        summary: "yield the CPU, while no other task waits for it",
        calls: &["sched_yield"],
        prepare: |_| steady(call::sched_yield),
        ..CALL
    },
    Operation {
        id: "call.sched_getparam",
        summary: "ask for the real-time priority of this process",
        calls: &["sched_getparam"],
        prepare: |_| {
            let mut priority = [0_i32];
            steady(move || call::sched_getparam(0, &mut priority))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_setparam",
        summary: "set the real-time priority of a sleeping process to 2, and to 1 again: one of the two calls",
        version: 2,
        calls: &["sched_setparam"],
        prepare: |setting| {
            let sleeper = setting.partner(setting.cpu(), || {
                loop {
                    call::ppoll(Null, Null, Null, 8)?;
                }
            })?;
            exactly(0, call::sched_setscheduler(sleeper.pid(), libc::SCHED_FIFO, &[1_i32])?)?;
            turning([2, 1], move |priority| call::sched_setparam(sleeper.pid(), &[priority]))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_getscheduler",
        summary: "ask how this process is scheduled",
        calls: &["sched_getscheduler"],
        prepare: |_| steadily(call::sched_getscheduler(0)?, || call::sched_getscheduler(0)),
        ..CALL
    },
    Operation {
        id: "call.sched_setscheduler",
        summary: "change to the batch scheduling policy and back: one of the two calls",
        calls: &["sched_setscheduler"],
        prepare: |_| {
            let turns = repeat(|| {
                exactly(0, call::sched_setscheduler(0, libc::SCHED_BATCH, &[0_i32])?)?;
                exactly(0, call::sched_setscheduler(0, libc::SCHED_OTHER, &[0_i32])?)
            });
            Ok(tried(turns)?.unrolled(2))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_get_priority_max",
        summary: "ask for the highest priority of a policy",
        calls: &["sched_get_priority_max"],
        prepare: |_| steadily(99, || call::sched_get_priority_max(libc::SCHED_FIFO)),
        ..CALL
    },
    Operation {
        id: "call.sched_get_priority_min",
        summary: "ask for the lowest priority of a policy",
        calls: &["sched_get_priority_min"],
        prepare: |_| steadily(1, || call::sched_get_priority_min(libc::SCHED_FIFO)),
        ..CALL
    },
    Operation {
        id: "call.sched_rr_get_interval",
        summary: "ask for the time slice of this process",
        calls: &["sched_rr_get_interval"],
        prepare: |_| {
            let mut slice = [0_u64; 2];
            steady(move || call::sched_rr_get_interval(0, &mut slice))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_getaffinity",
        summary: "ask which CPUs this process may use",
        calls: &["sched_getaffinity"],
        prepare: |_| {
            let mut cpus = [0_u64; WORDS];
            let length = call::sched_getaffinity(0, &mut cpus)?;
            steadily(length, move || call::sched_getaffinity(0, &mut cpus))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_setaffinity",
        summary: "allow this process a second CPU, and forbid it: one of the two calls",
        version: 2,
        calls: &["sched_setaffinity"],
        prepare: |setting| {
            let (own, both) = (cpus(&[setting.cpu()]), cpus(&[setting.cpu(), setting.other_cpu()?]));
            // The last call of a batch restores its CPU.
            let turns = repeat(move || {
                exactly(0, call::sched_setaffinity(0, &both)?)?;
                exactly(0, call::sched_setaffinity(0, &own)?)
            });
            Ok(tried(turns)?.unrolled(2))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_getattr",
        summary: "get all scheduling attributes of this process",
        calls: &["sched_getattr"],
        prepare: |_| {
            let mut attributes = [0_u64; 7];
            steady(move || call::sched_getattr(0, &mut attributes, 0))
        },
        ..CALL
    },
    Operation {
        id: "call.sched_setattr",
        summary: "change to the batch scheduling policy and back: one of the two calls",
        calls: &["sched_setattr"],
        prepare: |_| {
            // The structure sched_attr: its size and the policy in the first word.
            let policy = |policy: i32| [48 | (policy as u64) << 32, 0, 0, 0, 0, 0];
            let (batch, usual) = (policy(libc::SCHED_BATCH), policy(libc::SCHED_OTHER));
            let turns = repeat(move || {
                // SAFETY: the attributes are as large as they say.
                exactly(0, unsafe { invoke!(sched_setattr, 0, &batch, 0) }?)?;
                // SAFETY: the attributes are as large as they say.
                exactly(0, unsafe { invoke!(sched_setattr, 0, &usual, 0) }?)
            });
            Ok(tried(turns)?.unrolled(2))
        },
        ..CALL
    },
];

/// The set of these CPUs. CPUs beyond its end are omitted.
fn cpus(numbers: &[u32]) -> [u64; WORDS] {
    let mut set = [0_u64; WORDS];
    for &number in numbers {
        if let Some(word) = set.get_mut(number as usize / 64) {
            *word |= 1 << (number % 64);
        }
    }
    set
}
