//! What the descriptors of all watched processes stand for, by process and descriptor: the threads of a process share them. A word holds
//! a descriptor with its kind, and a generation of its process: a process that executes a program or closes many descriptors at once goes
//! on with the next generation, and nothing that was kept of it holds any more.

use super::builder::{Builder, GOLDEN};
use super::instruction::{Compute, Label, Operand, Register, When, Width};
use super::layout::{self, kinds};
use Operand::{Constant, Register as Other};

/// Register 3 becomes the kind that is kept for the descriptor in register 4, which is below `kinds::DESCRIPTORS`; or more than any kind.
/// Register 5 is the address of its place, less the offset of all, and register 2 what is kept there for the kind 0.
pub(super) fn find(b: &mut Builder) {
    process(b);
    generation(b);
    let a = &mut b.code;
    a.load(Width::Double, 2, 2, 0);
    for (bits, low) in [(kinds::PROCESS_BITS, 0), (kinds::DESCRIPTOR_BITS, 4)] {
        a.compute(Compute::ShiftLeft, 2, Constant(bits));
        a.compute(Compute::Or, 2, Other(low));
    }
    a.compute(Compute::ShiftLeft, 2, Constant(kinds::KIND_BITS));
    // Those of a process lie one after another.
    a.compute(Compute::Add, 5, Other(4));
    a.compute(Compute::And, 5, Constant((1 << kinds::BITS) - 1));
    a.compute(Compute::ShiftLeft, 5, Constant(3));
    a.compute(Compute::Add, 5, Other(1));
    a.load(Width::Double, 3, 5, kinds::FIRST);
    a.compute(Compute::Xor, 3, Other(2));
}

/// The descriptor in register 9 stands for something else from now on.
pub(super) fn forget(b: &mut Builder) {
    b.code.copy(4, 9);
    find(b);
    clear(b);
}

/// Nothing is kept at the place in register 5.
pub(super) fn clear(b: &mut Builder) {
    b.code.constant(2, 0);
    b.code.store(Width::Double, 5, kinds::FIRST, 2);
}

/// Every descriptor of the process of register 7 may stand for something else from now on.
pub(super) fn forget_all(b: &mut Builder) {
    process(b);
    generation(b);
    b.code.constant(1, 1);
    b.code.add_at_once(2, 0, 1);
}

/// Forgets all if the task of register 7 is the first of its process, so that the process is new or executed a program: goes to `done`.
pub(super) fn forget_if_first(b: &mut Builder, done: Label) {
    b.code.load(Width::Double, 1, 7, layout::IDENTITY);
    b.code.copy(2, 1);
    b.code.compute(Compute::ShiftRight, 1, Constant(32));
    b.code.compute32(Compute::Move, 2, Other(2));
    b.code.jump_if(1, When::NotEqual, Other(2), done);
    forget_all(b);
}

/// The process of the record of register 7: register 0; a hash of it: register 5.
fn process(b: &mut Builder) {
    let a = &mut b.code;
    a.load(Width::Double, 0, 7, layout::IDENTITY);
    a.compute(Compute::ShiftRight, 0, Constant(32));
    a.copy(5, 0);
    a.compute32(Compute::Multiply, 5, Constant(GOLDEN));
    a.compute32(Compute::ShiftRight, 5, Constant(32 - kinds::BITS));
}

/// The address of the generation of the processes with the hash in register 5: register 2; of all: register 1.
fn generation(b: &mut Builder) {
    const AT: Register = 2;
    b.code.map_value(1, b.maps.kinds.descriptor());
    b.code.copy(AT, 5);
    b.code.compute(Compute::And, AT, Constant(kinds::GENERATIONS as i32 - 1));
    b.code.compute(Compute::ShiftLeft, AT, Constant(3));
    b.code.compute(Compute::Add, AT, Other(1));
}
