//! The integer instructions of x86-64, and its calls and branches. Operands are registers: a processor may eliminate an add
//! of a constant before it reaches an adder (Golden Cove and later), and then the operation would measure nothing.

use std::arch::asm;

use super::lanes::{InstructionText, LANES, Turns, Widths};
use super::{BRANCHES, CALLS, CHAIN};

#[path = "access.rs"]
mod access;
#[path = "float.rs"]
mod float;
#[path = "special.rs"]
mod special;
#[path = "turns.rs"]
mod turns;
pub(super) use access::*;
pub(super) use float::*;
pub(super) use special::*;
use turns::{beside, both, chain, narrow_beside, narrow_chain, turns, wide};

pub(super) const ADD: Widths = both!("add \\value, \\operand");
pub(super) const AND: Widths = wide!("", "and \\value, \\operand");
pub(super) const SHIFT: Widths = wide!("", "shl \\value, 3" "shr \\value, 3");
pub(super) const ROTATE: Widths = wide!("", "ror \\value, 13");
pub(super) const MULTIPLY: Widths = both!("imul \\value, \\operand");
pub(super) const ADDRESS_TWO: Widths = wide!("", "lea \\value, [\\value + \\operand]");
/// An add and a subtraction of a constant, so that the sum consists of two parts.
pub(super) const ADDRESS_THREE: Widths =
    wide!("", "lea \\value, [\\value + \\operand + 16]" "lea \\value, [\\value + \\operand - 16]");
/// A move and its reverse: a processor may rename the register instead of copying it.
pub(super) const MOVE: Widths = wide!("", "mov rdx, \\value" "mov \\value, rdx");
pub(super) const COUNT: Widths = wide!("popcnt", "popcnt \\value, \\value");
pub(super) const TRAILING: Widths = wide!("bmi1", "tzcnt \\value, \\value");
pub(super) const LEADING: Widths = wide!("lzcnt", "lzcnt \\value, \\value");
/// The register is cleared first, at no cost, because the conversion would wait for its previous content.
pub(super) const CONVERT: Widths = wide!("", "pxor xmm0, xmm0; cvtsi2sd xmm0, \\value; cvttsd2si \\value, xmm0");

/// Each of several independent divides takes its dividend to rax, which the processor renames.
pub(super) const DIVIDE: Widths = Widths {
    narrow: Some(InstructionText {
        latency: narrow_chain!("xor edx, edx; div \\other; or eax, \\operand"),
        throughput: narrow_beside!("mov eax, \\value; xor edx, edx; div \\other; or eax, \\operand; mov \\value, eax"),
    }),
    wide: InstructionText {
        latency: chain!("xor edx, edx; div \\other; or rax, \\operand"),
        throughput: beside!("mov rax, \\value; xor edx, edx; div \\other; or rax, \\operand; mov \\value, rax"),
    },
    needs: "",
};

/// The remainder is the upper half of the next dividend, so that no quotient is too large for its register.
pub(super) const DIVIDE_WIDE: Widths = Widths {
    narrow: None,
    wide: InstructionText {
        latency: turns!(CHAIN, "rdx", "r8" & "rax", "rdx", "rcx", "rdi", [""], [""], "mov rax, \\other; div \\operand"),
        throughput: beside!("mov rdx, \\value; mov rax, \\other; div \\operand; mov \\value, rdx"),
    },
    needs: "",
};

/// Calls an empty procedure `CALLS` times.
#[inline(always)]
pub(super) fn call() {
    // SAFETY: the procedure takes and returns nothing, and all registers that a procedure may change are declared as
    // changed.
    unsafe {
        asm!(".rept {n}", "call {procedure}", ".endr", n = const CALLS, procedure = sym procedure, clobber_abi("C"));
    }
}

/// Returns.
extern "C" fn procedure() {}

/// Branches on each bit of `word`, the lowest first. Returns `count` plus the number of branches not taken (the zeros).
#[inline(always)]
pub(super) fn branch(mut word: u64, mut count: u64) -> u64 {
    // SAFETY: the text reads and writes only the two registers named and the flags, and jumps only within itself.
    unsafe {
        asm!(".rept {n}", "shr {word}", "jc 22f", "inc {count}", "22:", ".endr",
            n = const BRANCHES, word = inout(reg) word, count = inout(reg) count, options(nomem, nostack));
    }
    let _ = word;
    count
}
