//! Calls and conditional branches.

use std::cell::Cell;
use std::rc::Rc;

use operation::{Axis, Loop, Operation, count, numbers, opaque, repeat, term};

use super::{BRANCHES, CALLS, text};
use crate::kit::{BASE, ensure, handles};

/// Words of branch directions, one mebibyte: no predictor remembers eight million directions.
const DIRECTION_WORDS: usize = 1 << 17;

/// Every second branch is taken; each branch always goes the same way.
const PREDICTABLE: u64 = 0x5555_5555_5555_5555;

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.named("instruction.call", "call an empty procedure and return from it")
        .per("call and return")
        .headline()
        .terms(&[term(1.0 / CALLS as f64, "loop.empty")])
        .prepare(|_| {
            let calls = repeat(|| {
                text::call();
                Ok(())
            });
            Ok(calls.unrolled(CALLS))
        }),
    BASE.id("instruction.branch.predicted")
        .summary("a conditional branch that always goes the same way, with the shift that decides it")
        .per("branch")
        .headline()
        .terms(&[term(1.0 / BRANCHES as f64, "loop.empty")])
        .prepare(|_| Ok(branches(vec![PREDICTABLE; DIRECTION_WORDS]).unrolled(BRANCHES))),
    BASE.id("instruction.branch.missed")
        .summary("what a mispredicted conditional branch costs more than a correctly predicted one")
        .per("misprediction")
        .headline()
        // Any predictor gets half of the random directions right, so two branches contain one misprediction.
        .terms(&[term(2.0, "instruction.branch.predicted"), term(2.0 / BRANCHES as f64, "loop.empty")])
        .prepare(|setting| {
            let mut random = fastrand::Rng::with_seed(setting.seed());
            let directions = (0..DIRECTION_WORDS).map(|_| random.u64(..)).collect();
            Ok(branches(directions).unrolled(BRANCHES / 2))
        }),
];

/// Branches whose directions repeat.
pub(crate) const HISTORY: &[Operation] = &[BASE
    .named(
        "instruction.branch.history",
        "a conditional branch, with the shift that decides it, whose random directions repeat after this many \
            branches",
    )
    .per("branch")
    .axes(&[PERIOD])
    .terms(&[term(1.0 / BRANCHES as f64, "loop.empty")])
    .prepare(|setting| {
        let mut random = fastrand::Rng::with_seed(setting.seed());
        let words = setting.number("period")? / BRANCHES;
        Ok(branches((0..words).map(|_| random.u64(..)).collect()).unrolled(BRANCHES))
    })];

/// Powers of two.
const PERIOD: Axis = count("period", numbers![64, 512, 4096, 32768, 1 << 18]);

/// The loop of branches that follow the bits of `directions`, whose length is a power of two. It counts the branches not
/// taken. Each batch continues where the one before ended: if every batch began at the same place, a current predictor
/// would learn the first hundred thousand directions, and a misprediction seemed to cost 38 % less in shorter batches.
fn branches(directions: Vec<u64>) -> Loop {
    let directions: Rc<[u64]> = directions.into();
    let table = Rc::clone(&directions);
    let [passed, counted] = handles(Cell::new(0));
    let mask = table.len() - 1;
    let mut start = 0;
    let run = move |times| {
        let mut count = 0;
        let mut word = table[start & mask];
        for index in start..start + times as usize {
            // Fetched one turn ahead, so that no branch waits for memory. Hidden from the compiler, which would fetch it
            // later.
            let next = opaque(table[(index + 1) & mask]);
            count = text::branch(word, count);
            word = next;
        }
        start += times as usize;
        passed.set(count);
        Ok(())
    };
    let mut checked = 0;
    let verify = move |times: u64| {
        let passed = checked..checked + times as usize;
        checked = passed.end;
        let taken: u64 = passed.map(|index| u64::from(directions[index & mask].count_ones())).sum();
        let wanted = times * BRANCHES - taken;
        ensure(counted.get() == wanted, || format!("{} branches were not taken instead of {wanted}", counted.get()))
    };
    Loop::new(run).verify(verify)
}
