//! The integer instructions of x86-64, and its calls and branches. Operands are registers: an add of a constant may be
//! done away with before it reaches an adder (Golden Cove and later), and then measures nothing.

use std::arch::asm;

use operation::Failure;

use super::CHAIN;
use super::branch::{BRANCHES, CALLS};
use super::lanes::{LANES, Text, Turns, Widths};

#[path = "access.rs"]
mod access;
#[path = "float.rs"]
mod float;
#[path = "special.rs"]
mod special;
#[path = "string.rs"]
mod string;
pub(super) use access::*;
pub(super) use float::*;
pub(super) use special::*;
pub(crate) use string::STRINGS as OWN;

/// The turns of an instruction: its text, one line for each instruction of the class, `$copies` times on every register
/// of `$values` in turn. In the text `\value` is the lane's register, `\operand` and `\other` are the operands'; xmm0
/// and `$free` are free to use. The first lane is in `$first`. `$head` comes before all turns, `$tail` ends each.
macro_rules! turns {
    ($copies:expr, $first:tt, $($free:tt)&+, $values:literal, $operand:literal, $other:literal,
        [$head:literal], [$tail:literal], $($line:literal)+) => {{
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
                    "dec rsi",
                    "jnz 22b",
                    copies = const $copies / [$($line),+].len() as u64,
                    inout($first) lanes[0], inout("r9") lanes[1], inout("r10") lanes[2], inout("r11") lanes[3],
                    inout("r12") lanes[4], inout("r13") lanes[5], inout("r14") lanes[6], inout("r15") lanes[7],
                    in("rcx") operands[0], in("rdi") operands[1], inout("rsi") times => _,
                    out("xmm0") _, $(out($free) _,)+
                );
            }
        }
        turns as Turns
    }};
}

/// A chain on one 64-bit register.
macro_rules! chain {
    ($($line:literal)+) => { turns!(CHAIN, "rax", "r8" & "rdx", "rax", "rcx", "rdi", [""], [""], $($line)+) };
}

/// Chains on eight 64-bit registers.
macro_rules! beside {
    ($($line:literal)+) => {
        turns!(CHAIN / LANES as u64, "r8", "rax" & "rdx", "r8,r9,r10,r11,r12,r13,r14,r15", "rcx", "rdi", [""], [""], $($line)+)
    };
}

/// A chain on one 32-bit register.
macro_rules! narrow_chain {
    ($($line:literal)+) => { turns!(CHAIN, "rax", "r8" & "rdx", "eax", "ecx", "edi", [""], [""], $($line)+) };
}

/// Chains on eight 32-bit registers.
macro_rules! narrow_beside {
    ($($line:literal)+) => {
        turns!(CHAIN / LANES as u64, "r8", "rax" & "rdx", "r8d,r9d,r10d,r11d,r12d,r13d,r14d,r15d", "ecx", "edi", [""], [""], $($line)+)
    };
}

/// An instruction at both widths, by one text.
macro_rules! both {
    ($($line:literal)+) => {
        Widths {
            narrow: Some(Text { latency: narrow_chain!($($line)+), throughput: narrow_beside!($($line)+) }),
            wide: Text { latency: chain!($($line)+), throughput: beside!($($line)+) },
            needs: "",
        }
    };
}

/// An instruction on 64 bits.
macro_rules! wide {
    ($needs:literal, $($line:literal)+) => {
        Widths {
            narrow: None,
            wide: Text { latency: chain!($($line)+), throughput: beside!($($line)+) },
            needs: $needs,
        }
    };
}
pub(super) use {beside, chain, turns};

pub(super) const ADD: Widths = both!("add \\value, \\operand");
pub(super) const AND: Widths = wide!("", "and \\value, \\operand");
pub(super) const SHIFT: Widths = wide!("", "shl \\value, 3" "shr \\value, 3");
pub(super) const ROTATE: Widths = wide!("", "ror \\value, 13");
pub(super) const MULTIPLY: Widths = both!("imul \\value, \\operand");
pub(super) const ADDRESS_TWO: Widths = wide!("", "lea \\value, [\\value + \\operand]");
/// Forth and back by a constant, so that the sum is that of two parts.
pub(super) const ADDRESS_THREE: Widths =
    wide!("", "lea \\value, [\\value + \\operand + 16]" "lea \\value, [\\value + \\operand - 16]");
/// There and back: a processor may rename the register instead of copying it.
pub(super) const MOVE: Widths = wide!("", "mov rdx, \\value" "mov \\value, rdx");
pub(super) const COUNT: Widths = wide!("popcnt", "popcnt \\value, \\value");
pub(super) const TRAILING: Widths = wide!("bmi1", "tzcnt \\value, \\value");
pub(super) const LEADING: Widths = wide!("lzcnt", "lzcnt \\value, \\value");
/// The register is cleared first, which costs nothing, because the conversion would wait for what it held.
pub(super) const CONVERT: Widths = wide!("", "pxor xmm0, xmm0; cvtsi2sd xmm0, \\value; cvttsd2si \\value, xmm0");

/// Of independent divides each takes its dividend to rax, which the processor renames.
pub(super) const DIVIDE: Widths = Widths {
    narrow: Some(Text {
        latency: narrow_chain!("xor edx, edx; div \\other; or eax, \\operand"),
        throughput: narrow_beside!("mov eax, \\value; xor edx, edx; div \\other; or eax, \\operand; mov \\value, eax"),
    }),
    wide: Text {
        latency: chain!("xor edx, edx; div \\other; or rax, \\operand"),
        throughput: beside!("mov rax, \\value; xor edx, edx; div \\other; or rax, \\operand; mov \\value, rax"),
    },
    needs: "",
};

/// The remainder is the next dividend's upper half, so that no quotient is too large for its register.
pub(super) const DIVIDE_WIDE: Widths = Widths {
    narrow: None,
    wide: Text {
        latency: turns!(CHAIN, "rdx", "r8" & "rax", "rdx", "rcx", "rdi", [""], [""], "mov rax, \\other; div \\operand"),
        throughput: beside!("mov rdx, \\value; mov rax, \\other; div \\operand; mov \\value, rdx"),
    },
    needs: "",
};

/// Nothing where this processor has `feature`, a skip where it does not. The empty feature is every processor's.
pub(super) fn require(feature: &str) -> Result<(), Failure> {
    let there = match feature {
        "" => true,
        "popcnt" => std::arch::is_x86_feature_detected!("popcnt"),
        "lzcnt" => std::arch::is_x86_feature_detected!("lzcnt"),
        "ssse3" => std::arch::is_x86_feature_detected!("ssse3"),
        "bmi1" => std::arch::is_x86_feature_detected!("bmi1"),
        "avx" => std::arch::is_x86_feature_detected!("avx"),
        "avx2" => std::arch::is_x86_feature_detected!("avx2"),
        "rdtscp" => has_ordered_clock(),
        "fma" => std::arch::is_x86_feature_detected!("fma"),
        "avx512f" => std::arch::is_x86_feature_detected!("avx512f"),
        "avx512bw" => std::arch::is_x86_feature_detected!("avx512bw"),
        _ => return Err(Failure::wrong(format!("the feature {feature} is not looked for"))),
    };
    if there { Ok(()) } else { Err(Failure::skip(format!("the processor lacks {feature}"), "")) }
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

/// Whether the time-stamp counter can be read in order, which `is_x86_feature_detected` does not know.
fn has_ordered_clock() -> bool {
    use std::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).edx & (1 << 27) != 0
}
