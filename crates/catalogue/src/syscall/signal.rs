//! Calls on signals that send none: they query and change settings. Calls that send and receive are in the family `signal`.

use operation::Operation;

use super::CALL;
use crate::kit::{Null, STACK_WORDS, call, invoke, steady_with, turning};

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.rt_sigpending", "ask which signals are pending")
        .prepare(|_| steady_with([0_u64], |set| call::rt_sigpending(set, 8))),
    CALL.named("call.rt_sigaction", "ask for the handler of a signal")
        .prepare(|_| steady_with([0_u64; 4], |action| call::rt_sigaction(libc::SIGUSR1, Null, action, 8))),
    CALL.named("call.rt_sigprocmask", "ask for the mask of signals")
        .prepare(|_| steady_with([0_u64], |mask| call::rt_sigprocmask(libc::SIG_BLOCK, Null, mask, 8))),
    CALL.named("call.sigaltstack", "replace the alternate stack of signal handlers by another").version(2).prepare(
        |_| {
            let stacks = [vec![0_u64; STACK_WORDS], vec![0_u64; STACK_WORDS]];
            // Setting the same stack again returns at once (since Linux 5.14).
            let places = [0, 1].map(|number| [stacks[number].as_ptr() as usize, 0, STACK_WORDS * 8]);
            turning(places, move |place| {
                let _kept = &stacks;
                // SAFETY: both stacks are kept as long as the loop, and have this size.
                unsafe { invoke!(sigaltstack, &place, 0) }
            })
        },
    ),
];
