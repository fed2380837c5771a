//! Calls on scheduling.

use operation::Operation;

use super::CALL;
use crate::kit::{Null, back_and_forth, call, exactly, invoke, steadily, steady, steady_with, turning};

/// Words of a set of 8192 CPUs, the most that Linux is built for on these architectures.
const WORDS: usize = 128;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.sched_yield", "yield the CPU, while no other task waits for it")
        .prepare(|_| steady(call::sched_yield)),
    CALL.named("call.sched_getparam", "ask for the real-time priority of this process")
        .prepare(|_| steady_with([0_i32], |priority| call::sched_getparam(0, priority))),
    CALL.id("call.sched_setparam")
        .summary("set the real-time priority of a sleeping process to 2, and to 1 again: one of the two calls")
        .version(2)
        .prepare(|setting| {
            let sleeper = setting.repeating_partner(setting.cpu(), || call::ppoll(Null, Null, Null, 8).map(drop))?;
            exactly(0, call::sched_setscheduler(sleeper.pid(), libc::SCHED_FIFO, &[1_i32])?)?;
            turning([2, 1], move |priority| call::sched_setparam(sleeper.pid(), &[priority]))
        }),
    CALL.named("call.sched_getscheduler", "ask how this process is scheduled")
        .prepare(|_| steadily(call::sched_getscheduler(0)?, || call::sched_getscheduler(0))),
    CALL.named("call.sched_setscheduler", "change to the batch scheduling policy and back: one of the two calls")
        .prepare(|_| {
            back_and_forth(|| {
                exactly(0, call::sched_setscheduler(0, libc::SCHED_BATCH, &[0_i32])?)?;
                exactly(0, call::sched_setscheduler(0, libc::SCHED_OTHER, &[0_i32])?)
            })
        }),
    CALL.named("call.sched_get_priority_max", "ask for the highest priority of a policy")
        .prepare(|_| steadily(99, || call::sched_get_priority_max(libc::SCHED_FIFO))),
    CALL.named("call.sched_get_priority_min", "ask for the lowest priority of a policy")
        .prepare(|_| steadily(1, || call::sched_get_priority_min(libc::SCHED_FIFO))),
    CALL.named("call.sched_rr_get_interval", "ask for the time slice of this process")
        .prepare(|_| steady_with([0_u64; 2], |slice| call::sched_rr_get_interval(0, slice))),
    CALL.named("call.sched_getaffinity", "ask which CPUs this process may use").prepare(|_| {
        let mut cpus = [0_u64; WORDS];
        let length = call::sched_getaffinity(0, &mut cpus)?;
        steadily(length, move || call::sched_getaffinity(0, &mut cpus))
    }),
    CALL.named("call.sched_setaffinity", "allow this process a second CPU, and forbid it: one of the two calls")
        .version(2)
        .prepare(|setting| {
            let (own, both) = (cpus(&[setting.cpu()]), cpus(&[setting.cpu(), setting.other_cpu()?]));
            // The last call of a batch restores its CPU.
            back_and_forth(move || {
                exactly(0, call::sched_setaffinity(0, &both)?)?;
                exactly(0, call::sched_setaffinity(0, &own)?)
            })
        }),
    CALL.named("call.sched_getattr", "get all scheduling attributes of this process")
        .prepare(|_| steady_with([0_u64; 7], |attributes| call::sched_getattr(0, attributes, 0))),
    CALL.named("call.sched_setattr", "change to the batch scheduling policy and back: one of the two calls").prepare(
        |_| {
            // The structure sched_attr: its size and the policy in the first word.
            let policy = |policy: i32| [48 | (policy as u64) << 32, 0, 0, 0, 0, 0];
            let (batch, usual) = (policy(libc::SCHED_BATCH), policy(libc::SCHED_OTHER));
            back_and_forth(move || {
                // SAFETY: the attributes are as large as they say.
                exactly(0, unsafe { invoke!(sched_setattr, 0, &batch, 0) }?)?;
                // SAFETY: the attributes are as large as they say.
                exactly(0, unsafe { invoke!(sched_setattr, 0, &usual, 0) }?)
            })
        },
    ),
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
