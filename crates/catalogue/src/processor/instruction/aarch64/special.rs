//! The other instructions of aarch64: fences, clocks, calls and jumps, and its only instruction length.

use std::arch::asm;

use operation::{Axis, count, numbers, word, words};

use super::super::lanes::{Counted, LANES, Turns};
use super::super::{CALLS, CHAIN};
use super::turns::turns;

/// This number of copies of a text, and then one count of the turn in the first lane.
macro_rules! counted {
    ($copies:expr, $line:literal) => {
        turns!($copies, "x8", "x1", "x2", [""], ["add x8, x8, #1"], $line)
    };
}

pub(in super::super) const FENCE_SUMMARY: &str = "order earlier loads (dmb ishld), stores (dmb ishst) or both (dmb ish) \
    before what follows, wait until all are done (dsb ish), or fetch what follows anew (isb)";
pub(in super::super) const FENCE_KINDS: Axis = word("kind", words!["load", "store", "full", "done", "instructions"]);
pub(in super::super) const FENCES: &[Counted] = &[
    ("load", "", 64, counted!(64, "dmb ishld")),
    ("store", "", 64, counted!(64, "dmb ishst")),
    ("full", "", 64, counted!(64, "dmb ish")),
    ("done", "", 64, counted!(64, "dsb ish")),
    ("instructions", "", 64, counted!(64, "isb")),
];

pub(in super::super) const CLOCK_SUMMARY: &str =
    "read the generic timer's count, plainly (cntvct_el0) or after all earlier instructions (isb)";
/// The value read is left in the third lane.
pub(in super::super) const CLOCKS: &[Counted] = &[
    ("plain", "", 64, counted!(64, "mrs x10, cntvct_el0")),
    ("ordered", "", 64, counted!(64, "isb; mrs x10, cntvct_el0")),
];

/// The kernel emulates it, so it is expensive and a turn has few.
pub(in super::super) const IDENTIFY: Counted = ("", "cpuid", 4, counted!(4, "mrs x10, midr_el1"));
pub(in super::super) const IDENTIFY_SUMMARY: &str =
    "read the processor's identity (midr_el1); the kernel answers, which is its cost";

pub(in super::super) const PAUSE: Counted = ("", "", 16, counted!(16, "yield"));

/// Every instruction has four bytes.
pub(in super::super) const LENGTH: Axis = count("length", numbers![4]);
pub(in super::super) const LENGTHS: &[Counted] = &[("4", "", CHAIN, counted!(CHAIN, "nop"))];

/// A taken branch skips a count in the second lane. The targets are apart.
pub(in super::super) const TAKEN: Counted =
    ("", "", CHAIN, counted!(CHAIN, "cmp x16, x16; b.eq 33f; add x9, x9, #1; .p2align 4; 33:"));

/// If this branch were taken, it would skip all the others and the count of the turn.
pub(in super::super) const NOT_TAKEN: Counted = ("", "", CHAIN, counted!(CHAIN, "cmp x16, x16; b.ne 22b"));

/// Calls of the procedure that a register points to. The procedure counts itself in the first lane.
pub(in super::super) const CALL_INDIRECT: Turns =
    turns!(CALLS, "x8", "x1", "x2", ["adr x16, 44f"], ["b 55f; 44: add x8, x8, #1; ret; 55:"], "blr x16");

/// One jump to the place that the next byte of a sequence names. The first operand is the address of the sequence, the
/// second its length less one, the second lane the position in it. Each place adds its number, counted from one, to the
/// first lane.
pub(in super::super) const JUMP_INDIRECT: Turns = turns!(
    1,
    "x8",
    "x1",
    "x2",
    ["adr x17, 44f"],
    [".p2align 4; 44: .irp place, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        .p2align 4; add x8, x8, #\\place + 1; b 55f; .endr; 55:"],
    "ldrb w16, [\\operand, x9]; add x9, x9, #1; and x9, x9, \\other; add x16, x17, x16, lsl #4; br x16"
);
