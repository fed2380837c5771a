//! A futex: two tasks share memory, and each sleeps in the kernel until the other has changed a word.

use std::sync::atomic::{AtomicU32, Ordering};

use operation::{Operation, Setting, repeat};

use super::{DISTANCE_AND_FURTHER, ROUNDTRIP, SELF, not_answered};
use crate::kit::{OURS, Shared, THEIRS, await_turn, ensure, let_fall_asleep, pass_turn, pausing};

#[derive(Default)]
struct FutexBoard {
    turn: AtomicU32,
    answers: AtomicU32,
}

pub(crate) const OPERATIONS: &[Operation] = &[
    SELF.id("futex.self")
        .summary("change a word of shared memory on which no task sleeps, wake its sleepers, and change it back")
        .per("pair")
        .moves(|_| 0)
        .calls(&["futex"])
        .prepare(|_| {
            let board = Shared::new(FutexBoard::default())?;
            Ok(repeat(move || {
                let woken = pass_turn(&board.turn, THEIRS)?;
                let theirs = board.turn.swap(OURS, Ordering::AcqRel);
                if woken == 0 && theirs == THEIRS { Ok(()) } else { not_answered() }
            }))
        }),
    ROUNDTRIP
        .named(
            "futex.roundtrip",
            "hand a word of shared memory to a partner process that sleeps on it, and sleep until it is handed back",
        )
        .axes(&[DISTANCE_AND_FURTHER])
        .prepare(|setting: &Setting| {
            let board = Shared::new(FutexBoard::default())?;
            let partner = setting.repeating_partner(setting.partner_cpu()?, || {
                await_turn(&board.turn, THEIRS)?;
                board.answers.fetch_add(1, Ordering::Relaxed);
                pass_turn(&board.turn, OURS).map(drop)
            })?;
            let apart = setting.partner_cpu()? != setting.cpu();
            let mut answers = 0_u32;
            Ok(pausing(move |waits| {
                let _alive = &partner;
                answers = answers.wrapping_add(1);
                let woken = pass_turn(&board.turn, THEIRS)?;
                await_turn(&board.turn, OURS)?;
                if woken == 0 && apart {
                    let_fall_asleep(waits);
                }
                let answered = board.answers.load(Ordering::Relaxed) == answers;
                ensure(answered, || "the partner did not take its turn")
            }))
        }),
];
