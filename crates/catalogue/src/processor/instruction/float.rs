//! Instructions on floating-point numbers and on vectors: the effect of each on its lane. No number becomes denormal,
//! infinite or zero: products return to their start, and sums grow in small steps.

use std::ops::{Add, Div, Mul};

use operation::{Axis, Operation, TermOf, term, word, words};

use super::lanes::repeated;
use super::vectors::{self, Float, Lanes, NumberModel, Packed, Precisions};
use super::{PURE, text};

/// One row gives a floating-point instruction's latency and throughput: the id, the summary, the part of the latency that
/// is not the instruction's own, its text in single and double precision, its operands and its model.
macro_rules! floats {
    ($($id:literal, $summary:literal, $terms:expr, $text:expr, $operands:expr, $model:ident;)+) => {
        &[$(
            PURE.named(concat!($id, ".latency"), concat!($summary, ", each waiting for the one before"))
                .axes(&[PRECISION, text::FLOAT_CHAINS])
                .terms($terms)
                .prepare(|setting| {
                    vectors::float(setting, &const { of($text, $operands, $model, $model) }, Lanes::One)
                }),
            PURE.named(concat!($id, ".throughput"), concat!($summary, ", none waiting for another"))
                .axes(&[PRECISION, text::FLOATS_BESIDE])
                .prepare(|setting| {
                    vectors::float(setting, &const { of($text, $operands, $model, $model) }, Lanes::All)
                }),
        )+]
    };
}

/// The same for an instruction on vectors of integers.
macro_rules! packed {
    ($($id:literal, $summary:literal, $text:expr, $operands:expr, $model:expr;)+) => {
        &[$(
            PURE.named(concat!($id, ".latency"), concat!($summary, ", each waiting for the one before"))
                .axes(&[text::PACKED_CHAINS])
                .prepare(|setting| {
                    let packed = const { &Packed { vectors: $text, operands: $operands, model: $model } };
                    vectors::packed(setting, packed, Lanes::One)
                }),
            PURE.named(concat!($id, ".throughput"), concat!($summary, ", none waiting for another"))
                .axes(&[text::PACKED_BESIDE])
                .prepare(|setting| {
                    let packed = const { &Packed { vectors: $text, operands: $operands, model: $model } };
                    vectors::packed(setting, packed, Lanes::All)
                }),
        )+]
    };
}

pub(crate) const FLOATS: &[Operation] = floats! {
    "instruction.float.add", "add floating-point numbers", &[], text::FLOAT_ADD, STEPS, stepped;
    "instruction.float.multiply", "multiply floating-point numbers", &[], text::FLOAT_MULTIPLY, FACTORS, multiplied;
    "instruction.float.divide", "divide floating-point numbers", &[], text::FLOAT_DIVIDE, FACTORS, divided;
    "instruction.float.root", "take the square root of a floating-point number",
        AND_A_PRODUCT, text::FLOAT_ROOT, REFILL, rooted;
    "instruction.float.fma", "multiply floating-point numbers and add a third in one",
        &[], text::FLOAT_FMA, STEPS, stepped;
};

pub(crate) const VECTORS: &[Operation] = packed! {
    "instruction.vector.add", "add vectors of 64-bit integers", text::PACKED_ADD,
        [super::lanes::OPERAND, 3, 0],
        |start, [one, other, _], count| start.wrapping_add(one.wrapping_add(other).wrapping_mul(count / 2));
    "instruction.vector.multiply", "multiply vectors of 32-bit integers to 64-bit ones", text::PACKED_MULTIPLY,
        [0x9E37_79B9, 0x7F4A_7C15, 0],
        |start, [one, other, _], count| repeated(start, count / 2, |value| product(product(value, one), other));
    "instruction.vector.shuffle", "put the bytes of a vector in another order, chosen by a vector", text::PACKED_SHUFFLE,
        ORDERS,
        |start, [one, other, _], count| repeated(start, count / 2, |value| shuffled(shuffled(value, one), other));
};

/// Two orders of eight bytes. Applying both moves seven of the bytes on by one place, so that the start returns only after
/// a multiple of seven, which the count of turns of a batch alone does not make.
const ORDERS: [u64; 3] = [0x0001_0203_0405_0607, 0x0007_0102_0304_0506, 0];

/// Up by three, down by two, and times one.
pub(super) const STEPS: [f64; 3] = [3.0, -2.0, 1.0];

/// A factor with bits everywhere, and its inverse.
const FACTORS: [f64; 3] = [1.234_567_890_123, 1.0 / 1.234_567_890_123, 1.0];

/// Roots converge to its square.
const REFILL: [f64; 3] = [FACTORS[0], FACTORS[0], 1.0];

/// A root converges to 1, so a product makes each value less round. The chain waits for the product.
const AND_A_PRODUCT: &[TermOf] = &[term(1.0, "instruction.float.multiply.latency").same(&["precision", "vector"])];

pub(super) const PRECISION: Axis = word("precision", words!["single", "double"]);

/// A floating-point number of either precision.
pub(super) trait FloatNumber:
    Copy + PartialEq + Add<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn of(number: u64) -> Self;
    fn root(self) -> Self;
}

impl FloatNumber for f32 {
    fn of(number: u64) -> f32 {
        number as f32
    }

    fn root(self) -> f32 {
        self.sqrt()
    }
}

impl FloatNumber for f64 {
    fn of(number: u64) -> f64 {
        number as f64
    }

    fn root(self) -> f64 {
        self.sqrt()
    }
}

/// An instruction by its texts in both precisions, its operands and its models.
pub(super) const fn of(
    (single, double): Precisions,
    operands: [f64; 3],
    in_single: NumberModel<f32>,
    in_double: NumberModel<f64>,
) -> Float {
    Float { single, double, operands, in_single, in_double }
}

/// Exact while the sums are below 2^24.
pub(super) fn stepped<T: FloatNumber>(start: T, [up, down, _]: [T; 3], count: u64) -> T {
    start + (up + down) * T::of(count / 2)
}

fn multiplied<T: FloatNumber>(start: T, [there, back, _]: [T; 3], count: u64) -> T {
    repeated(start, count / 2, |value| value * there * back)
}

fn divided<T: FloatNumber>(start: T, [there, back, _]: [T; 3], count: u64) -> T {
    repeated(start, count / 2, |value| value / there / back)
}

fn rooted<T: FloatNumber>(start: T, [refill, ..]: [T; 3], count: u64) -> T {
    repeated(start, count, |value| value.root() * refill)
}

/// The product of the lower halves.
fn product(one: u64, other: u64) -> u64 {
    (one & 0xFFFF_FFFF) * (other & 0xFFFF_FFFF)
}

/// The bytes of `value` that the bytes of `order` name.
fn shuffled(value: u64, order: u64) -> u64 {
    let bytes = value.to_le_bytes();
    u64::from_le_bytes(order.to_le_bytes().map(|place| bytes[usize::from(place)]))
}
