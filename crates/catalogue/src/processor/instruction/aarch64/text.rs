//! The integer instructions of aarch64, and its calls and branches. The first operand is in x1, the second in x2, the
//! lanes are in x8 to x15.

use std::arch::asm;

use super::lanes::{InstructionText, LANES, Turns, Widths};
use super::{BRANCHES, CALLS, CHAIN};

#[path = "access.rs"]
mod access;
#[path = "atomic.rs"]
mod atomic;
#[path = "float.rs"]
mod float;
#[path = "special.rs"]
mod special;
#[path = "turns.rs"]
pub(super) mod turns;
pub(super) use access::*;
pub(super) use atomic::*;
pub(super) use float::*;
pub(super) use special::*;
use turns::{beside, both, chain, narrow_beside, turns, wide};

pub(super) const ADD: Widths = both!("add \\value, \\value, \\operand");
pub(super) const AND: Widths = wide!("and \\value, \\value, \\operand");
pub(super) const SHIFT: Widths = wide!("lsl \\value, \\value, #3", "lsr \\value, \\value, #3");
pub(super) const ROTATE: Widths = wide!("ror \\value, \\value, #13");
pub(super) const MULTIPLY: Widths = both!("mul \\value, \\value, \\operand");
pub(super) const DIVIDE: Widths = both!("udiv \\value, \\value, \\other; orr \\value, \\value, \\operand");
/// A move and its reverse: a processor may rename the register instead of copying it.
pub(super) const MOVE: Widths = wide!("mov x16, \\value", "mov \\value, x16");
/// Only vector registers count ones: a move there, a count per byte, their sum, and a move back.
pub(super) const COUNT: Widths = wide!("fmov d0, \\value; cnt v0.8b, v0.8b; addv b0, v0.8b; fmov \\value, d0");
/// Only leading zeros are counted, so the bits are reversed first.
pub(super) const TRAILING: Widths = wide!("rbit \\value, \\value; clz \\value, \\value");
pub(super) const LEADING: Widths = wide!("clz \\value, \\value");
pub(super) const CONVERT: Widths = wide!("scvtf d0, \\value; fcvtzs \\value, d0");

/// Calls an empty procedure `CALLS` times.
#[inline(always)]
pub(super) fn call() {
    // SAFETY: the procedure takes and returns nothing, and all registers that a procedure may change are declared as
    // changed.
    unsafe {
        asm!(".rept {n}", "bl {procedure}", ".endr", n = const CALLS, procedure = sym procedure, clobber_abi("C"));
    }
}

/// Returns.
extern "C" fn procedure() {}

/// Branches on each bit of `word`, the lowest first. Returns `count` plus the number of branches not taken (the zeros).
#[inline(always)]
pub(super) fn branch(mut word: u64, mut count: u64) -> u64 {
    // SAFETY: the text reads and writes only the two registers named, and jumps only within itself.
    unsafe {
        asm!(".rept {n}", "tbnz {word}, #0, 22f", "add {count}, {count}, #1", "22:", "lsr {word}, {word}, #1", ".endr",
            n = const BRANCHES, word = inout(reg) word, count = inout(reg) count, options(nomem, nostack));
    }
    let _ = word;
    count
}
