//! The integer instructions of aarch64, and its calls and branches. The first operand is in x1, the second in x2, the
//! lanes are in x8 to x15.

use std::arch::asm;

use operation::Failure;

use super::CHAIN;
use super::branch::{BRANCHES, CALLS};
use super::lanes::{LANES, Text, Turns, Widths};

#[path = "access.rs"]
mod access;
#[path = "atomic.rs"]
mod atomic;
#[path = "float.rs"]
mod float;
#[path = "own.rs"]
mod own;
#[path = "special.rs"]
mod special;
pub(super) use access::*;
pub(super) use atomic::*;
pub(super) use float::*;
pub(crate) use own::{OWN, OWN_INTEGERS};
pub(super) use special::*;

/// The turns of an instruction: its text, one line for each instruction of the class, `$copies` times on every register
/// of `$values` in turn. In the text `\value` is the lane's register, `\operand` and `\other` are the operands'; x16,
/// x17, x30, v0 to v7 and v10 to v17 are free to use. `$head` comes before all turns, `$tail` ends each. The loop's own
/// instructions leave the flags alone.
macro_rules! turns {
    ($copies:expr, $values:literal, $operand:literal, $other:literal,
        [$head:literal], [$tail:literal], $($line:expr),+) => {{
        /// # Safety
        /// As [`Turns`] says.
        unsafe fn turns(times: u64, lanes: &mut [u64; LANES], operands: [u64; 2]) {
            // SAFETY: the text writes only registers named here, the stack below and what the operands point to, and
            // jumps only within itself.
            unsafe {
                asm!(
                    $head,
                    "22:",
                    ".rept {copies}",
                    concat!(".irp operand, ", $operand),
                    concat!(".irp other, ", $other),
                    concat!(".irp value, ", $values),
                    $($line,)+
                    ".endr", ".endr", ".endr", ".endr",
                    $tail,
                    "sub x0, x0, #1",
                    "cbnz x0, 22b",
                    copies = const $copies / [$($line),+].len() as u64,
                    inout("x8") lanes[0], inout("x9") lanes[1], inout("x10") lanes[2], inout("x11") lanes[3],
                    inout("x12") lanes[4], inout("x13") lanes[5], inout("x14") lanes[6], inout("x15") lanes[7],
                    in("x1") operands[0], in("x2") operands[1], inout("x0") times => _,
                    out("x16") _, out("x17") _, out("x30") _,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                    out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                    out("v10") _, out("v11") _, out("v12") _, out("v13") _,
                    out("v14") _, out("v15") _, out("v16") _, out("v17") _,
                );
            }
        }
        turns as Turns
    }};
}

/// A chain on one 64-bit register.
macro_rules! chain {
    ($($line:expr),+) => { turns!(CHAIN, "x8", "x1", "x2", [""], [""], $($line),+) };
}

/// Chains on eight 64-bit registers.
macro_rules! beside {
    ($($line:expr),+) => {
        turns!(CHAIN / LANES as u64, "x8,x9,x10,x11,x12,x13,x14,x15", "x1", "x2", [""], [""], $($line),+)
    };
}

/// Chains on eight 32-bit registers.
macro_rules! narrow_beside {
    ($($line:expr),+) => {
        turns!(CHAIN / LANES as u64, "w8,w9,w10,w11,w12,w13,w14,w15", "w1", "w2", [""], [""], $($line),+)
    };
}

/// An instruction at both widths, by one text; several lines are as many instructions of its class.
macro_rules! both {
    ($($line:expr),+) => {
        Widths {
            narrow: Some(Text {
                latency: turns!(CHAIN, "w8", "w1", "w2", [""], [""], $($line),+),
                throughput: narrow_beside!($($line),+),
            }),
            ..wide!($($line),+)
        }
    };
}

/// An instruction on 64 bits, which every processor has.
macro_rules! wide {
    ($($line:expr),+) => {
        Widths { narrow: None, wide: Text { latency: chain!($($line),+), throughput: beside!($($line),+) }, needs: "" }
    };
}
use {beside, chain, narrow_beside, turns, wide};

pub(super) const ADD: Widths = both!("add \\value, \\value, \\operand");
pub(super) const AND: Widths = wide!("and \\value, \\value, \\operand");
pub(super) const SHIFT: Widths = wide!("lsl \\value, \\value, #3", "lsr \\value, \\value, #3");
pub(super) const ROTATE: Widths = wide!("ror \\value, \\value, #13");
pub(super) const MULTIPLY: Widths = both!("mul \\value, \\value, \\operand");
pub(super) const DIVIDE: Widths = both!("udiv \\value, \\value, \\other; orr \\value, \\value, \\operand");
/// There and back: a processor may rename the register instead of copying it.
pub(super) const MOVE: Widths = wide!("mov x16, \\value", "mov \\value, x16");
/// Only vectors' ones are counted: there, each byte's, their sum, and back.
pub(super) const COUNT: Widths = wide!("fmov d0, \\value; cnt v0.8b, v0.8b; addv b0, v0.8b; fmov \\value, d0");
/// Only zeros above are counted, so the register is turned round first.
pub(super) const TRAILING: Widths = wide!("rbit \\value, \\value; clz \\value, \\value");
pub(super) const LEADING: Widths = wide!("clz \\value, \\value");
pub(super) const CONVERT: Widths = wide!("scvtf d0, \\value; fcvtzs \\value, d0");

/// Nothing where this processor has `feature`, a skip where it does not. The empty feature is every processor's.
pub(super) fn require(feature: &str) -> Result<(), Failure> {
    /// The bit by which the kernel says that it answers reads of what the processor is (HWCAP_CPUID).
    const IDENTIFIED: usize = 1 << 11;
    let there = match feature {
        "" => true,
        "lse" => std::arch::is_aarch64_feature_detected!("lse"),
        "cpuid" if rustix::param::linux_hwcap().0 & IDENTIFIED == 0 => {
            return Err(Failure::skip("the kernel lets no program read what the processor is", ""));
        }
        "cpuid" => true,
        _ => return Err(Failure::wrong(format!("the feature {feature} is not looked for"))),
    };
    if there { Ok(()) } else { Err(Failure::skip(format!("the processor lacks {feature}"), "")) }
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
