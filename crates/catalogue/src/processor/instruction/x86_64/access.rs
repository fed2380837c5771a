//! The loads and stores of x86-64, and its atomics. The first operand is the address of memory that the operation owns, so
//! that every access through it is to that memory.

use std::arch::asm;

use operation::{Axis, count, numbers, word, words};

use super::super::CHAIN;
use super::super::lanes::{LANES, Turns, Way};
use super::turns::{beside, chain, turns};

/// Instructions on eight registers named by `$values`, which may be parts of the lanes.
macro_rules! on {
    ($values:literal, $line:literal) => {
        turns!(CHAIN / LANES as u64, "r8", "rax" & "rdx", $values, "rcx", "rdi", [""], [""], $line)
    };
}

/// Instructions on xmm0 or the wider register that contains it. `$head` fills it from the second lane, `$tail` stores it
/// there.
macro_rules! vector {
    ($head:literal, $tail:literal, $($line:literal)+) => {
        turns!(CHAIN, "r8", "rax" & "rdx", "r8", "rcx", "rdi", [$head], [$tail], $($line)+)
    };
}

/// How an address is formed: as it is, with a constant, with a register, with a register times eight.
pub(in super::super) const MODE: Axis = word("mode", words!["base", "offset", "index", "scaled"]);

/// Bytes of an access.
pub(in super::super) const WIDTH: Axis = count("width", numbers![1, 4, 8, 16, 32, 64]);

/// Loads whose address is the value loaded before, by the form of the address.
pub(in super::super) const LOAD_CHAINS: &[Way] = &[
    ("base", "", chain!("mov \\value, [\\value]")),
    ("offset", "", chain!("mov \\value, [\\value + 64]")),
    ("index", "", chain!("mov \\value, [\\operand + \\value]")),
    ("scaled", "", chain!("mov \\value, [\\operand + 8 * \\value]")),
];

/// A pointer that is loaded from where the value points, and its target.
pub(in super::super) const LOAD_INDIRECT: Turns = chain!("mov \\value, [\\value + 64]; mov \\value, [\\value]");

/// The eight loads of one group are of eight words of a line: two loads in one cycle of the same word, or of words at the
/// same place in their lines, wait for one another (Golden Cove).
///
/// Loads by their width: the name, the feature needed, the byte from which the second lane's value comes, the turns.
pub(in super::super) const LOADS: &[(&str, &str, u64, Turns)] = &[
    (
        "1",
        "",
        56,
        turns!(CHAIN, "r8", "rax" & "rdx", "r8", "rcx", "rdi", [""], [""],
        "movzx r8d, byte ptr [\\operand]" "movzx r10d, byte ptr [\\operand + 8]"
        "movzx r11d, byte ptr [\\operand + 16]" "movzx r12d, byte ptr [\\operand + 24]"
        "movzx r13d, byte ptr [\\operand + 32]" "movzx r14d, byte ptr [\\operand + 40]"
        "movzx r15d, byte ptr [\\operand + 48]" "movzx r9d, byte ptr [\\operand + 56]"),
    ),
    (
        "4",
        "",
        56,
        turns!(CHAIN, "r8", "rax" & "rdx", "r8", "rcx", "rdi", [""], [""],
        "mov r8d, [\\operand]" "mov r10d, [\\operand + 8]" "mov r11d, [\\operand + 16]" "mov r12d, [\\operand + 24]"
        "mov r13d, [\\operand + 32]" "mov r14d, [\\operand + 40]" "mov r15d, [\\operand + 48]"
        "mov r9d, [\\operand + 56]"),
    ),
    (
        "8",
        "",
        56,
        turns!(CHAIN, "r8", "rax" & "rdx", "r8", "rcx", "rdi", [""], [""],
        "mov r8, [\\operand]" "mov r10, [\\operand + 8]" "mov r11, [\\operand + 16]" "mov r12, [\\operand + 24]"
        "mov r13, [\\operand + 32]" "mov r14, [\\operand + 40]" "mov r15, [\\operand + 48]"
        "mov r9, [\\operand + 56]"),
    ),
    (
        "16",
        "",
        48,
        vector!("", "movq r9, xmm0", "movups xmm0, [\\operand]" "movups xmm0, [\\operand + 16]"
        "movups xmm0, [\\operand + 32]" "movups xmm0, [\\operand + 48]"),
    ),
    (
        "32",
        "avx",
        32,
        vector!("", "vmovq r9, xmm0; vzeroupper", "vmovups ymm0, [\\operand]" "vmovups ymm0, [\\operand + 32]"),
    ),
    (
        "64",
        "avx512f",
        64,
        vector!("", "vmovq r9, xmm0; vzeroupper", "vmovups zmm0, [\\operand]" "vmovups zmm0, [\\operand + 64]"),
    ),
];

/// Loads of eight bytes from one place.
pub(in super::super) const LOAD: Turns = beside!("mov \\value, [\\operand]");

/// Stores of eight bytes to one place.
pub(in super::super) const STORE: Turns = beside!("mov [\\operand], \\value");

pub(in super::super) const STORES: &[Way] = &[
    ("1", "", on!("r8b,r9b,r10b,r11b,r12b,r13b,r14b,r15b", "mov [\\operand], \\value")),
    ("4", "", on!("r8d,r9d,r10d,r11d,r12d,r13d,r14d,r15d", "mov [\\operand], \\value")),
    ("8", "", beside!("mov [\\operand], \\value")),
    ("16", "", vector!("movq xmm0, r15", "", "movups [\\operand], xmm0")),
    ("32", "avx", vector!("vmovq xmm0, r15", "", "vmovups [\\operand], ymm0")),
    ("64", "avx512f", vector!("vmovq xmm0, r15", "", "vmovups [\\operand], zmm0")),
];

/// An address that is formed and stored.
pub(in super::super) const STORE_POINTER: Turns = beside!("lea \\value, [\\operand + 8]; mov [\\operand], \\value");

/// A store and a load of the same bytes, by their width.
pub(in super::super) const FORWARDS: &[Way] = &[
    ("1", "", chain!("mov [\\operand], al; movzx eax, byte ptr [\\operand]")),
    ("8", "", chain!("mov [\\operand], \\value; mov \\value, [\\operand]")),
    (
        "16",
        "",
        turns!(
            CHAIN,
            "rax",
            "r8" & "rdx",
            "rax",
            "rcx",
            "rdi",
            ["movq xmm0, rax"],
            ["movq rax, xmm0"],
            "movups [\\operand], xmm0; movups xmm0, [\\operand]"
        ),
    ),
];

/// A load of what two stores wrote, which no store buffer forwards.
pub(in super::super) const FORWARD_BLOCKED: Turns =
    chain!("mov [\\operand], eax; mov [\\operand + 4], eax; mov \\value, [\\operand]");

pub(in super::super) const PUSH_POP: Turns = chain!("push \\value; pop \\value");

/// Every processor has atomics.
pub(in super::super) const ATOMICS_NEED: &str = "";

/// Atomics per turn. The number is odd, because two exchanges cancel.
pub(in super::super) const ATOMICS: u64 = 63;

macro_rules! atomic {
    ($line:literal) => {
        turns!(ATOMICS, "rax", "r8" & "rdx", "rax", "rcx", "rdi", [""], [""], $line)
    };
}

/// The second operand added to memory.
pub(in super::super) const ATOMIC_ADD: Turns = atomic!("lock add [\\operand], \\other");
/// The value exchanged with memory.
pub(in super::super) const ATOMIC_EXCHANGE: Turns = atomic!("xchg [\\operand], \\value");
/// Memory incremented from a known value.
pub(in super::super) const ATOMIC_COMPARE: Turns =
    atomic!("lea rdx, [\\value + 1]; lock cmpxchg [\\operand], rdx; mov \\value, rdx");
