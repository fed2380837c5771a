//! Instructions on integers in registers: what each makes of its lane, and the rows of those that are no headline.

use measure::Operation;

use super::lanes::{self, Case};
use super::{BESIDE_THE_CHAIN, PURE, WIDTH, instructions, text};

pub(crate) const OPERATIONS: &[Operation] = instructions! {
    "instruction.and", "and a register with a register",
        &[WIDTH], BESIDE_THE_CHAIN, BESIDE_THE_CHAIN,
        &text::AND, |case| case.repeated(|value| value & case.operands[0]);
    "instruction.shift", "shift a register by a constant, left and right in turn",
        &[WIDTH], BESIDE_THE_CHAIN, BESIDE_THE_CHAIN,
        &text::SHIFT, |case| case.narrowed(case.start << 3) >> 3;
    "instruction.rotate", "rotate a register by a constant",
        &[WIDTH], BESIDE_THE_CHAIN, BESIDE_THE_CHAIN,
        &text::ROTATE, rotated;
};

/// The operand added so often.
pub(super) fn sum(case: &Case) -> u64 {
    case.narrowed(case.start.wrapping_add(case.operands[0].wrapping_mul(case.count)))
}

/// Multiplied by the operand so often.
pub(super) fn product(case: &Case) -> u64 {
    case.narrowed(case.start.wrapping_mul(power(case.operands[0], case.count)))
}

/// Divided by the divisor so often, and each time given the operand's bits. It settles within three steps, because each
/// step divides what it was wrong by.
pub(super) fn quotient(case: &Case) -> u64 {
    let [refill, divisor] = case.operands;
    case.repeated(|value| (value / divisor) | refill)
}

/// Rotated to the right by 13 so often.
fn rotated(case: &Case) -> u64 {
    let by = (case.count % 64 * 13 % 64) as u32;
    if case.width == 32 { u64::from((case.start as u32).rotate_right(by % 32)) } else { case.start.rotate_right(by) }
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
