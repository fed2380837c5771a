//! Single instructions: what a dependent one waits for, what a call costs, what a wrongly predicted branch costs.
//! Each architecture's text is in a file of its own; what both do, and how it is checked, is here.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::cell::Cell;
use std::rc::Rc;

#[cfg(target_arch = "aarch64")]
use aarch64 as text;
use measure::{Failure, Loop, Operation, TermOf, opaque, repeat, term};
#[cfg(target_arch = "x86_64")]
use x86_64 as text;

use crate::DEFAULT;

/// Dependent instructions per turn of the loop. Enough that a processor that runs the loop's own two instructions
/// after the chain, not beside it, adds less than half a percent.
const CHAIN: u64 = 256;

/// Calls per turn of the loop: as many as the return predictors of small processors hold many times over.
const CALLS: u64 = 64;

/// Branches per turn of the loop: one for each bit of a word.
const BRANCHES: u64 = 64;

/// A chain leaves the loop's own instructions nothing to add: they are done while the chain waits for its results.
const BESIDE_THE_CHAIN: &[TermOf] = &[];

/// What is added, and multiplied by: odd, with bits everywhere.
const OPERAND: u64 = 0x9E37_79B9_7F4A_7C15;

/// A six-digit prime; a quotient by it keeps 44 bits of a full dividend.
const DIVISOR: u64 = 1_000_003;

/// Words of branch directions, a mebibyte of them: no predictor remembers eight million directions.
const DIRECTION_WORDS: usize = 1 << 17;

/// Every second branch taken, each always the same way.
const PREDICTABLE: u64 = 0x5555_5555_5555_5555;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "instruction.add.latency",
        summary: "add a register to a register, each waiting for the one before",
        per: "instruction",
        like: &["ada"],
        headline: true,
        terms: BESIDE_THE_CHAIN,
        prepare: |_| {
            let operand = opaque(OPERAND);
            let sum = move |start: u64, count: u64| start.wrapping_add(operand.wrapping_mul(count));
            chain(move |value| text::add(value, operand), sum)
        },
        ..DEFAULT
    },
    Operation {
        id: "instruction.multiply.latency",
        summary: "multiply two 64-bit integers, each waiting for the one before",
        per: "instruction",
        headline: true,
        terms: BESIDE_THE_CHAIN,
        prepare: |_| {
            let operand = opaque(OPERAND);
            let product = move |start: u64, count: u64| start.wrapping_mul(power(operand, count));
            chain(move |value| text::multiply(value, operand), product)
        },
        ..DEFAULT
    },
    Operation {
        id: "instruction.divide.latency",
        summary: "divide a 64-bit integer by a 20-bit one, each waiting for the one before",
        per: "instruction",
        headline: true,
        // The dividend is made large again after each divide, by an `or` that the chain waits for as for an add.
        terms: &[term(1.0, "instruction.add.latency")],
        prepare: |_| {
            let (divisor, refill) = (opaque(DIVISOR), opaque(OPERAND));
            chain(
                move |value| text::divide(value, divisor, refill),
                move |start, count| {
                    // It settles within three steps, because each step divides what it was wrong by.
                    (0..count.min(8)).fold(start, |value, _| (value / divisor) | refill)
                },
            )
        },
        ..DEFAULT
    },
    Operation {
        id: "instruction.call",
        summary: "call an empty procedure and return from it",
        per: "call and return",
        headline: true,
        terms: &[term(1.0 / CALLS as f64, "loop.empty")],
        prepare: |_| {
            let calls = repeat(|| {
                text::call();
                Ok(())
            });
            Ok(calls.each(CALLS))
        },
        ..DEFAULT
    },
    Operation {
        id: "instruction.branch.predicted",
        summary: "a conditional branch that goes the way it always went, with the shift that decides it",
        per: "branch",
        headline: true,
        terms: &[term(1.0 / BRANCHES as f64, "loop.empty")],
        prepare: |_| branches(vec![PREDICTABLE; DIRECTION_WORDS]).map(|branches| branches.each(BRANCHES)),
        ..DEFAULT
    },
    Operation {
        id: "instruction.branch.missed",
        summary: "a conditional branch predicted wrongly, beyond what it costs predicted rightly",
        per: "misprediction",
        headline: true,
        // Of random directions any predictor gets half right, so two branches contain one misprediction.
        terms: &[term(2.0, "instruction.branch.predicted"), term(2.0 / BRANCHES as f64, "loop.empty")],
        prepare: |setting| {
            let mut random = fastrand::Rng::with_seed(setting.seed());
            let directions = (0..DIRECTION_WORDS).map(|_| random.u64(..)).collect();
            branches(directions).map(|branches| branches.each(BRANCHES / 2))
        },
        ..DEFAULT
    },
];

/// The loop of a chain: `turn` does `CHAIN` instructions on a value; `expected(start, count)` says what so many make
/// of it.
fn chain(turn: impl Fn(u64) -> u64 + 'static, expected: impl Fn(u64, u64) -> u64 + 'static) -> Result<Loop, Failure> {
    let last = Rc::new(Cell::new(OPERAND));
    let result = Rc::clone(&last);
    let mut start = last.get();
    let run = move |times| {
        let mut value = last.get();
        for _ in 0..times {
            value = turn(value);
        }
        last.set(value);
        Ok(())
    };
    let verify = move |times: u64| {
        let wanted = expected(start, times.wrapping_mul(CHAIN));
        start = result.get();
        if start == wanted {
            return Ok(());
        }
        Err(Failure::wrong(format!("the chain ended in {start:#x} instead of {wanted:#x}")))
    };
    Ok(Loop::new(run).verify(verify).each(CHAIN))
}

/// The loop of branches that go by the bits of `directions`, whose length is a power of two; it counts those that
/// were not taken. Each batch goes on where the one before ended: from the beginning again, a predictor of today learns
/// the first hundred thousand directions by heart, and a misprediction seemed to cost 38 % less in shorter batches.
fn branches(directions: Vec<u64>) -> Result<Loop, Failure> {
    let directions: Rc<[u64]> = directions.into();
    let table = Rc::clone(&directions);
    let passed = Rc::new(Cell::new(0));
    let counted = Rc::clone(&passed);
    let mask = table.len() - 1;
    let mut start = 0;
    let run = move |times| {
        let mut count = 0;
        let mut word = table[start & mask];
        for index in start..start + times as usize {
            // Fetched a turn ahead, so that no branch waits for memory; opaque, or the compiler fetches it later.
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
        if counted.get() == wanted {
            return Ok(());
        }
        Err(Failure::wrong(format!("{} branches were not taken instead of {wanted}", counted.get())))
    };
    Ok(Loop::new(run).verify(verify))
}

/// `base` to the power `exponent`, modulo 2^64, by squaring.
fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1u64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use measure::Setting;
    use record::Point;

    use super::*;

    #[test]
    fn every_instruction_does_what_it_says_as_often_as_it_says() {
        for operation in OPERATIONS {
            let setting = Setting::new(Point::default(), std::env::temp_dir(), 0, None, 7);
            let mut prepared = (operation.prepare)(&setting).expect(operation.id);
            for times in [1, 2, 1000, 3] {
                prepared.perform(times).expect(operation.id);
            }
        }
    }

    #[test]
    fn a_chain_that_computes_something_else_is_found_out() {
        let mut wrong = chain(|value| text::add(value, 1), |start, count| start + count + 1).expect("a loop");
        assert!(matches!(wrong.perform(1), Err(Failure::Wrong(_))));
    }

    #[test]
    fn the_dividend_stays_large() {
        let settled = (0..8).fold(OPERAND, |value, _| (value / DIVISOR) | OPERAND);
        assert_eq!((settled / DIVISOR) | OPERAND, settled);
        assert!(settled / DIVISOR > 1 << 40);
    }
}
