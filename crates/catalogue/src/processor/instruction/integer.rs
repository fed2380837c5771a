//! Instructions on integers in registers: the effect of each on its lane, and the rows of those that are not in the
//! headline.

use operation::{Operation, count, numbers};

use super::lanes::{self, Case};
use super::{PURE, instructions, text};

/// Those that every architecture has.
pub(crate) const OPERATIONS: &[Operation] = instructions! {
    "instruction.and", "and a register with a register",
        &[FULL],
        |_| &text::AND, |case| case.repeated(|value| value & case.operands[0]);
    "instruction.shift", "shift a register by a constant, left and right in turn",
        &[FULL],
        |_| &text::SHIFT, |case| case.narrowed(case.start << 3) >> 3;
    "instruction.rotate", "rotate a register by a constant",
        &[FULL],
        |_| &text::ROTATE, rotated;
    "instruction.move", "copy a register to a register, there and back in turn",
        &[],
        |_| &text::MOVE, |case| case.start;
    "instruction.convert", "convert a 64-bit integer to double precision and back",
        &[],
        |_| &text::CONVERT, |case| case.repeated(|value| (value as i64 as f64) as i64 as u64);
    "instruction.count", "count the ones of a register (popcnt; cnt in a vector)",
        &[],
        |_| &text::COUNT, |case| case.repeated(|value| u64::from(value.count_ones()));
    "instruction.bits.trailing", "count the zeros below a register's lowest one (tzcnt; rbit and clz)",
        &[],
        |_| &text::TRAILING, |case| case.repeated(|value| u64::from(value.trailing_zeros()));
    "instruction.bits.leading", "count the zeros above a register's highest one (lzcnt, clz)",
        &[],
        |_| &text::LEADING, |case| case.repeated(|value| u64::from(value.leading_zeros()));
};

#[cfg(target_arch = "x86_64")]
pub(crate) const OWN: &[Operation] = instructions! {
    "instruction.address", "form an address of two registers, or of two registers and a constant (lea)",
        &[PARTS],
        |setting| if setting.point().number("parts") == Some(2) { &text::ADDRESS_TWO } else { &text::ADDRESS_THREE },
        sum;
    "instruction.divide.wide", "divide a 128-bit integer by a 64-bit one",
        &[],
        |_| &text::DIVIDE_WIDE, remainder;
};

/// Only the register's full width.
const FULL: operation::Axis = count("width", numbers![64]);

/// The terms of an address.
#[cfg(target_arch = "x86_64")]
const PARTS: operation::Axis = count("parts", numbers![2, 3]);

/// The operand added this number of times.
pub(super) fn sum(case: &Case) -> u64 {
    case.narrowed(case.start.wrapping_add(case.operands[0].wrapping_mul(case.count)))
}

/// Multiplied by the operand this number of times.
pub(super) fn product(case: &Case) -> u64 {
    case.narrowed(case.start.wrapping_mul(power(case.operands[0], case.count)))
}

/// Divided by the divisor this number of times, with the operand's bits set each time. The value settles within three
/// steps, because each step divides its error by the divisor.
pub(super) fn quotient(case: &Case) -> u64 {
    let [refill, divisor] = case.operands;
    case.repeated(|value| (value / divisor) | refill)
}

/// Rotated to the right by 13, this number of times.
fn rotated(case: &Case) -> u64 {
    case.start.rotate_right((case.count % 64 * 13 % 64) as u32)
}

/// The remainder modulo the first operand of 2^64 times the value plus the second operand, this number of times. Twice the
/// number of times is the same map with multiplier and addend applied to themselves.
#[cfg(target_arch = "x86_64")]
fn remainder(case: &Case) -> u64 {
    let modulus = u128::from(case.operands[0]);
    let (mut factor, mut addend) = ((1u128 << 64) % modulus, u128::from(case.operands[1]) % modulus);
    let (mut value, mut left) = (u128::from(case.start), case.count);
    while left > 0 {
        if left & 1 == 1 {
            value = plus(value * factor % modulus, addend, modulus);
        }
        addend = plus(addend * factor % modulus, addend, modulus);
        factor = factor * factor % modulus;
        left >>= 1;
    }
    value as u64
}

/// The sum of two remainders.
#[cfg(target_arch = "x86_64")]
fn plus(one: u128, other: u128, modulus: u128) -> u128 {
    (one + other) % modulus
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
