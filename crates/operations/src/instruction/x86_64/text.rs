//! The integer instructions of x86-64, and its calls and branches. Operands are registers: an add of a constant may be
//! done away with before it reaches an adder (Golden Cove and later), and then measures nothing.

use std::arch::asm;

use measure::Failure;

use super::CHAIN;
use super::branch::{BRANCHES, CALLS};
use super::lanes::{LANES, Text, Turns, Widths};

/// The turns of an instruction: its `text`, one line each, on every register of `$values` in turn. In the text `\value`
/// is the lane's register, `\operand` and `\other` are the operands'; rax and rdx are free to use.
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
                    "dec rsi",
                    "jnz 22b",
                    copies = const CHAIN / ($used * [$($line),+].len() as u64),
                    inout("r8") lanes[0], inout("r9") lanes[1], inout("r10") lanes[2], inout("r11") lanes[3],
                    inout("r12") lanes[4], inout("r13") lanes[5], inout("r14") lanes[6], inout("r15") lanes[7],
                    in("rcx") operands[0], in("rdi") operands[1], inout("rsi") times => _,
                    out("rax") _, out("rdx") _, options(nomem, nostack),
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
            narrow: Text {
                latency: turns!(1, "r8d", "ecx", "edi", $($line)+),
                throughput: turns!(LANES as u64, "r8d,r9d,r10d,r11d,r12d,r13d,r14d,r15d", "ecx", "edi", $($line)+),
            },
            wide: Text {
                latency: turns!(1, "r8", "rcx", "rdi", $($line)+),
                throughput: turns!(LANES as u64, "r8,r9,r10,r11,r12,r13,r14,r15", "rcx", "rdi", $($line)+),
            },
            needs: $needs,
        }
    };
}

pub(super) const ADD: Widths = widths!("", "add \\value, \\operand");
pub(super) const AND: Widths = widths!("", "and \\value, \\operand");
pub(super) const SHIFT: Widths = widths!("", "shl \\value, 3" "shr \\value, 3");
pub(super) const ROTATE: Widths = widths!("", "ror \\value, 13");
pub(super) const MULTIPLY: Widths = widths!("", "imul \\value, \\operand");

/// The dividend goes through rax, which the processor renames.
pub(super) const DIVIDE: Widths = Widths {
    narrow: Text {
        latency: turns!(
            1,
            "r8d",
            "ecx",
            "edi",
            "mov eax, \\value; xor edx, edx; div \\other; or eax, \\operand; mov \\value, eax"
        ),
        throughput: turns!(
            LANES as u64,
            "r8d,r9d,r10d,r11d,r12d,r13d,r14d,r15d",
            "ecx",
            "edi",
            "mov eax, \\value; xor edx, edx; div \\other; or eax, \\operand; mov \\value, eax"
        ),
    },
    wide: Text {
        latency: turns!(
            1,
            "r8",
            "rcx",
            "rdi",
            "mov rax, \\value; xor edx, edx; div \\other; or rax, \\operand; mov \\value, rax"
        ),
        throughput: turns!(
            LANES as u64,
            "r8,r9,r10,r11,r12,r13,r14,r15",
            "rcx",
            "rdi",
            "mov rax, \\value; xor edx, edx; div \\other; or rax, \\operand; mov \\value, rax"
        ),
    },
    needs: "",
};

/// Nothing where this processor has `feature`, a skip where it does not. The empty feature is every processor's.
pub(super) fn require(feature: &str) -> Result<(), Failure> {
    let there = match feature {
        "" => true,
        "popcnt" => std::arch::is_x86_feature_detected!("popcnt"),
        "lzcnt" => std::arch::is_x86_feature_detected!("lzcnt"),
        "bmi1" => std::arch::is_x86_feature_detected!("bmi1"),
        "avx" => std::arch::is_x86_feature_detected!("avx"),
        "avx2" => std::arch::is_x86_feature_detected!("avx2"),
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
