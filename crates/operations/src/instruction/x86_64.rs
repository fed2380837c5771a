//! The instructions of x86-64. Their operands are registers: an add of a constant may be done away with before it
//! reaches an adder (Golden Cove and later), and then measures nothing.

use std::arch::asm;

use super::{BRANCHES, CALLS, CHAIN};

/// `value` with `operand` added `CHAIN` times.
#[inline(always)]
pub(super) fn add(mut value: u64, operand: u64) -> u64 {
    // SAFETY: the text reads and writes only the two registers named and the flags.
    unsafe {
        asm!(".rept {n}", "add {value}, {operand}", ".endr",
            n = const CHAIN, value = inout(reg) value, operand = in(reg) operand, options(pure, nomem, nostack));
    }
    value
}

/// `value` multiplied by `operand` `CHAIN` times.
#[inline(always)]
pub(super) fn multiply(mut value: u64, operand: u64) -> u64 {
    // SAFETY: the text reads and writes only the two registers named and the flags.
    unsafe {
        asm!(".rept {n}", "imul {value}, {operand}", ".endr",
            n = const CHAIN, value = inout(reg) value, operand = in(reg) operand, options(pure, nomem, nostack));
    }
    value
}

/// `value` divided by `divisor` and given the bits of `refill`, `CHAIN` times. `divisor` is not 0.
#[inline(always)]
pub(super) fn divide(mut value: u64, divisor: u64, refill: u64) -> u64 {
    // SAFETY: the text writes only rax, rdx and the flags; the divisor is not 0 and the dividend's upper half is, so
    // it cannot trap.
    unsafe {
        asm!(".rept {n}", "xor edx, edx", "div {divisor}", "or rax, {refill}", ".endr",
            n = const CHAIN, divisor = in(reg) divisor, refill = in(reg) refill, inout("rax") value, out("rdx") _,
            options(nomem, nostack));
    }
    value
}

/// Calls an empty procedure `CALLS` times.
#[inline(always)]
pub(super) fn call() {
    // SAFETY: the procedure takes and returns nothing, and whatever a procedure may change is declared changed.
    unsafe {
        asm!(".rept {n}", "call {procedure}", ".endr", n = const CALLS, procedure = sym procedure, clobber_abi("C"));
    }
}

/// Returns.
extern "C" fn procedure() {}

/// Branches by each bit of `word`, the lowest first; returns `count` raised by the branches not taken (the zeros).
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
