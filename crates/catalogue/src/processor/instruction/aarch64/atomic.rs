//! The atomics of aarch64: as one instruction (Armv8.1, LSE), and as a loop that reserves memory, changes it and tries
//! again if another CPU intervened. Each orders all accesses before and after it, as those of x86-64 do.

use std::arch::asm;

use super::super::lanes::{LANES, Turns};
use super::turns::turns;

/// The feature that atomics of one instruction need.
pub(in super::super) const ATOMICS_NEED: &str = "lse";

/// Atomics per turn. The number is odd, because two exchanges cancel.
pub(in super::super) const ATOMICS: u64 = 63;

macro_rules! atomic {
    ($head:literal, $line:literal) => {
        turns!(ATOMICS, "x8", "x1", "x2", [$head], [""], $line)
    };
}

/// The second operand added to memory.
pub(in super::super) const ATOMIC_ADD: Turns = atomic!(".arch_extension lse", "ldaddal \\other, x16, [\\operand]");
/// The value exchanged with memory.
pub(in super::super) const ATOMIC_EXCHANGE: Turns =
    atomic!(".arch_extension lse", "swpal \\value, \\value, [\\operand]");
/// Memory incremented from a known value.
pub(in super::super) const ATOMIC_COMPARE: Turns =
    atomic!(".arch_extension lse", "add x17, \\value, #1; casal \\value, x17, [\\operand]; mov \\value, x17");

/// The same three as loops.
pub(in super::super) const EXCLUSIVE_ADD: Turns =
    atomic!("", "33: ldaxr x16, [\\operand]; add x16, x16, \\other; stlxr w17, x16, [\\operand]; cbnz w17, 33b");
pub(in super::super) const EXCLUSIVE_EXCHANGE: Turns =
    atomic!("", "33: ldaxr x16, [\\operand]; stlxr w17, \\value, [\\operand]; cbnz w17, 33b; mov \\value, x16");
pub(in super::super) const EXCLUSIVE_COMPARE: Turns = atomic!(
    "",
    "add x17, \\value, #1; 33: ldaxr x16, [\\operand]; cmp x16, \\value; b.ne 44f
        stlxr w16, x17, [\\operand]; cbnz w16, 33b; 44: mov \\value, x17"
);
