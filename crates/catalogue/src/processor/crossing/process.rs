//! A call into another process and back: words and an answer in shared memory, and a futex on which each process sleeps
//! until its turn.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use operation::{Operation, Setting, Value, partner, term, words};

use super::{CROSSING, FEW_ARGUMENTS, MOST, words};
use crate::kit::{OURS, Shared, THEIRS, await_turn, ensure, let_fall_asleep, pass_turn, pausing};

pub(crate) const OPERATIONS: &[Operation] = &[
    // Each of the two enters the kernel to wake the other and to sleep.
    CROSSING
        .named(
            "crossing.process",
            "write words to memory shared with a partner process, wake it, and sleep until it has added them up and \
            answered",
        )
        .version(2)
        .axes(&[partner("distance", words!["same", "other"]), FEW_ARGUMENTS])
        .explained_by(&[term(4.0, "crossing.call").at(&[("arguments", Value::Number(0))])])
        .at_least(&["crossing.call"])
        .prepare(|setting: &Setting| {
            let count = setting.number("arguments")? as usize;
            let desk = Shared::new(Desk::default())?;
            let partner = setting.repeating_partner(setting.partner_cpu()?, || {
                await_turn(&desk.turn, THEIRS)?;
                let sum: u64 = desk.words[..count].iter().map(|word| word.load(Ordering::Relaxed)).sum();
                desk.answer.store(sum + 1, Ordering::Relaxed);
                pass_turn(&desk.turn, OURS).map(drop)
            })?;
            let apart = setting.partner_cpu()? != setting.cpu();
            let mut given = words(setting);
            Ok(pausing(move |waits| {
                let _alive = &partner;
                // The sum differs each time, so that no earlier answer is taken for this one. Without words this check is
                // not possible.
                given[0] = given[0].wrapping_add(1) & 0xffff;
                let mut wanted = 1;
                for (place, word) in desk.words.iter().zip(&given[..count]) {
                    place.store(*word, Ordering::Relaxed);
                    wanted += word;
                }
                desk.answer.store(0, Ordering::Relaxed);
                let woken = pass_turn(&desk.turn, THEIRS)?;
                await_turn(&desk.turn, OURS)?;
                if woken == 0 && apart {
                    let_fall_asleep(waits);
                }
                let answer = desk.answer.load(Ordering::Relaxed);
                ensure(answer == wanted, || "the partner answered something else")
            }))
        }),
];

/// What both processes share. All but the turn belongs to the process whose turn it is.
#[derive(Default)]
struct Desk {
    turn: AtomicU32,
    answer: AtomicU64,
    words: [AtomicU64; MOST],
}
