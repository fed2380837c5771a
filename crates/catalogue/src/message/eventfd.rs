//! Event descriptors: a kernel counter that one task increments and the other waits for.

use std::os::fd::OwnedFd;

use operation::{Failure, Operation, Setting, repeat, term};
use rustix::event::{EventfdFlags, eventfd};

use super::{DISTANCE, ROUNDTRIP, SELF, not_answered};
use crate::kit::library;

pub(crate) const OPERATIONS: &[Operation] = &[
    SELF.named("eventfd.self", "raise an event and take it, one task")
        .per("pair")
        .moves(|_| 0)
        .calls(&["write", "read"])
        .aliases(&["SETF", "CLEF"])
        .prepare(|_| {
            let event = eventfd(0, EventfdFlags::CLOEXEC)?;
            Ok(repeat(move || {
                raise(&event, 2)?;
                if receive(&event)? == 2 { Ok(()) } else { not_answered() }
            }))
        }),
    ROUNDTRIP
        .named("eventfd.roundtrip", "raise an event for a partner process and wait for one in return")
        .axes(&[DISTANCE])
        .explained_by(&[term(2.0, "eventfd.self")])
        .prepare(|setting: &Setting| {
            let theirs = eventfd(0, EventfdFlags::CLOEXEC)?;
            let ours = eventfd(0, EventfdFlags::CLOEXEC)?;
            let partner = setting.repeating_partner(setting.partner_cpu()?, || {
                let number = receive(&theirs)?;
                raise(&ours, number + 1)
            })?;
            Ok(repeat(move || {
                let _alive = &partner;
                raise(&theirs, 1)?;
                if receive(&ours)? == 2 { Ok(()) } else { not_answered() }
            }))
        }),
];

fn raise(event: &OwnedFd, number: u64) -> Result<(), Failure> {
    library::write(event, &number.to_ne_bytes())?;
    Ok(())
}

/// Waits until the counter is not zero, then takes it and leaves zero.
fn receive(event: &OwnedFd) -> Result<u64, Failure> {
    let mut number = [0; 8];
    library::read(event, &mut number)?;
    Ok(u64::from_ne_bytes(number))
}
