//! The integer instructions of aarch64, and its calls and branches.

use std::arch::asm;

use measure::Failure;

use super::CHAIN;
use super::branch::{BRANCHES, CALLS};
use super::lanes::{LANES, Text, Turns, Widths};

/// The turns of an instruction: its `text`, one line each, on every register of `$values` in turn. In the text `\value`
/// is the lane's register, `\operand` and `\other` are the operands'.
macro_rules! turns {
    ($used:expr, $values:literal, $operand:literal, $other:literal, $($line:literal)+) => {{
        /// # Safety
        /// As [`Turns`] says.
        unsafe fn turns(times: u64, lanes: &mut [u64; LANES], operands: [u64; 2]) {
            // SAFETY: the text reads and writes only registers named here, and jumps only within itself.
            unsafe {
                asm!(
                    "22:",
                    ".rept {copies}",
                    concat!(".irp operand, ", $operand),
                    concat!(".irp other, ", $other),
                    concat!(".irp value, ", $values),
                    $($line,)+
                    ".endr", ".endr", ".endr", ".endr",
                    "subs x0, x0, #1",
                    "b.ne 22b",
                    copies = const CHAIN / ($used * [$($line),+].len() as u64),
                    inout("x8") lanes[0], inout("x9") lanes[1], inout("x10") lanes[2], inout("x11") lanes[3],
                    inout("x12") lanes[4], inout("x13") lanes[5], inout("x14") lanes[6], inout("x15") lanes[7],
                    in("x1") operands[0], in("x2") operands[1], inout("x0") times => _, options(nomem, nostack),
                );
            }
        }
        turns as Turns
    }};
}

/// An instruction at both widths, by one text; several lines are as many instructions of its class.
macro_rules! widths {
    ($needs:literal, $($line:literal)+) => {
        Widths {
            narrow: Some(Text {
                latency: turns!(1, "w8", "w1", "w2", $($line)+),
                throughput: turns!(LANES as u64, "w8,w9,w10,w11,w12,w13,w14,w15", "w1", "w2", $($line)+),
            }),
            wide: Text {
                latency: turns!(1, "x8", "x1", "x2", $($line)+),
                throughput: turns!(LANES as u64, "x8,x9,x10,x11,x12,x13,x14,x15", "x1", "x2", $($line)+),
            },
            needs: $needs,
        }
    };
}

pub(super) const ADD: Widths = widths!("", "add \\value, \\value, \\operand");
pub(super) const AND: Widths = widths!("", "and \\value, \\value, \\operand");
pub(super) const SHIFT: Widths = widths!("", "lsl \\value, \\value, #3" "lsr \\value, \\value, #3");
pub(super) const ROTATE: Widths = widths!("", "ror \\value, \\value, #13");
pub(super) const MULTIPLY: Widths = widths!("", "mul \\value, \\value, \\operand");
pub(super) const DIVIDE: Widths = widths!("", "udiv \\value, \\value, \\other; orr \\value, \\value, \\operand");

/// Nothing where this processor has `feature`, a skip where it does not. The empty feature is every processor's.
pub(super) fn require(feature: &str) -> Result<(), Failure> {
    match feature {
        "" => Ok(()),
        _ => Err(Failure::wrong(format!("the feature {feature} is not looked for"))),
    }
}

/// Calls an empty procedure `CALLS` times.
#[inline(always)]
pub(super) fn call() {
    // SAFETY: the procedure takes and returns nothing, and whatever a procedure may change is declared changed.
    unsafe {
        asm!(".rept {n}", "bl {procedure}", ".endr", n = const CALLS, procedure = sym procedure, clobber_abi("C"));
    }
}

/// Returns.
extern "C" fn procedure() {}

/// Branches by each bit of `word`, the lowest first; returns `count` raised by the branches not taken (the zeros).
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
