//! Logarithms, by which times are counted.

use super::builder::Builder;
use super::instruction::{Compute, Operand, When};
use Operand::{Constant, Register as Other};

/// Four times the logarithm to the base of two of the time in register 9, rounded down: register 0. The two bits after the first one
/// are the quarter, so that quantiles are known within a quarter of their value.
pub(super) fn logarithm(b: &mut Builder) {
    let done = b.code.label();
    b.code.copy(1, 9);
    b.code.constant(0, 0);
    for bits in [32, 16, 8, 4, 2, 1] {
        let small = b.code.label();
        b.code.copy(2, 1);
        b.code.compute(Compute::ShiftRight, 2, Constant(bits));
        b.code.jump_if(2, When::Equal, Constant(0), small);
        b.code.copy(1, 2);
        b.code.add(0, bits);
        b.code.place(small);
    }
    b.code.copy(2, 0);
    b.code.compute(Compute::ShiftLeft, 0, Constant(2));
    b.code.jump_if_none(2, 63, done);
    b.code.add(2, -2);
    b.code.jump_if(2, When::Less, Constant(0), done);
    b.code.copy(1, 9);
    b.code.compute(Compute::And, 2, Constant(63));
    b.code.compute(Compute::ShiftRight, 1, Other(2));
    b.code.compute(Compute::And, 1, Constant(3));
    b.code.compute(Compute::Or, 0, Other(1));
    b.code.place(done);
}
