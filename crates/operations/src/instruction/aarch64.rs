//! The instructions of aarch64.

use std::arch::asm;

use super::{BRANCHES, CALLS, CHAIN};

/// `value` with `operand` added `CHAIN` times.
#[inline(always)]
pub(super) fn add(mut value: u64, operand: u64) -> u64 {
    // SAFETY: the text reads and writes only the two registers named.
    unsafe {
        asm!(".rept {n}", "add {value}, {value}, {operand}", ".endr",
            n = const CHAIN, value = inout(reg) value, operand = in(reg) operand, options(pure, nomem, nostack));
    }
    value
}

/// `value` multiplied by `operand` `CHAIN` times.
#[inline(always)]
pub(super) fn multiply(mut value: u64, operand: u64) -> u64 {
    // SAFETY: the text reads and writes only the two registers named.
    unsafe {
        asm!(".rept {n}", "mul {value}, {value}, {operand}", ".endr",
            n = const CHAIN, value = inout(reg) value, operand = in(reg) operand, options(pure, nomem, nostack));
    }
    value
}

/// `value` divided by `divisor` and given the bits of `refill`, `CHAIN` times.
#[inline(always)]
pub(super) fn divide(mut value: u64, divisor: u64, refill: u64) -> u64 {
    // SAFETY: the text reads and writes only the three registers named.
    unsafe {
        asm!(".rept {n}", "udiv {value}, {value}, {divisor}", "orr {value}, {value}, {refill}", ".endr",
            n = const CHAIN, value = inout(reg) value, divisor = in(reg) divisor, refill = in(reg) refill,
            options(pure, nomem, nostack));
    }
    value
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
