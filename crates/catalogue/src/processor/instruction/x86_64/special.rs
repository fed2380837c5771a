//! The other instructions of x86-64: fences, clocks, calls and jumps, strings, instructions of every length.

use std::arch::asm;

use operation::{Axis, count, numbers, word, words};

use super::super::lanes::{Counted, LANES, Turns};
use super::super::{CALLS, CHAIN};
use super::turns::turns;

/// This number of copies of a text, and then one count of the turn in the first lane.
macro_rules! counted {
    ($copies:expr, $line:literal) => {
        counted!($copies, ["inc r8"], $line)
    };
    ($copies:expr, [$tail:literal], $line:literal) => {
        turns!($copies, "r8", "rax" & "rdx", "r8", "rcx", "rdi", [""], [$tail], $line)
    };
}

pub(in super::super) const FENCE_SUMMARY: &str =
    "wait for earlier loads (lfence), order stores (sfence), or wait for both (mfence)";
pub(in super::super) const FENCE_KINDS: Axis = word("kind", words!["load", "store", "full"]);
pub(in super::super) const FENCES: &[Counted] = &[
    ("load", "", 64, counted!(64, "lfence")),
    ("store", "", 64, counted!(64, "sfence")),
    ("full", "", 64, counted!(64, "mfence")),
];

pub(in super::super) const CLOCK_SUMMARY: &str =
    "read the time-stamp counter, plainly (rdtsc) or after all earlier instructions (rdtscp)";
/// The value read is left in the third lane.
pub(in super::super) const CLOCKS: &[Counted] = &[
    ("plain", "", 64, counted!(64, ["mov r10, rax; inc r8"], "rdtsc")),
    // It puts the CPU's number into rcx.
    ("ordered", "rdtscp", 64, counted!(64, ["mov r10, rax; inc r8"], "mov r11, rcx; rdtscp; mov rcx, r11")),
];

pub(in super::super) const IDENTIFY_SUMMARY: &str =
    "read the processor's identity (cpuid); in a guest the hypervisor answers, which is then its cost";
/// It also changes rbx and rcx. It is so expensive in a guest that a turn has few.
pub(in super::super) const IDENTIFY: Counted = (
    "",
    "",
    4,
    counted!(
        4,
        ["mov r10, rax; inc r8"],
        "mov r11, rbx; mov r12, rcx; xor eax, eax; cpuid; mov rbx, r11; mov rcx, r12"
    ),
);

pub(in super::super) const PAUSE: Counted = ("", "", 16, counted!(16, "pause"));

pub(in super::super) const LENGTH: Axis = count("length", numbers![1, 2, 4, 8, 11, 15]);

/// Instructions that do nothing, by their number of bytes.
pub(in super::super) const LENGTHS: &[Counted] = &[
    ("1", "", CHAIN, counted!(CHAIN, "nop")),
    ("2", "", CHAIN, counted!(CHAIN, ".byte 0x66, 0x90")),
    ("4", "", CHAIN, counted!(CHAIN, ".byte 0x0F, 0x1F, 0x40, 0")),
    ("8", "", CHAIN, counted!(CHAIN, ".byte 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0")),
    ("11", "", CHAIN, counted!(CHAIN, ".byte 0x66, 0x66, 0x66, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0")),
    (
        "15",
        "",
        CHAIN,
        counted!(CHAIN, ".byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0"),
    ),
];

/// A taken branch skips a count in the second lane. The targets are apart.
pub(in super::super) const TAKEN: Counted =
    ("", "", CHAIN, counted!(CHAIN, "cmp edx, edx; je 33f; inc r9; .p2align 4; 33:"));

/// If this branch were taken, it would skip all the others and the count of the turn.
pub(in super::super) const NOT_TAKEN: Counted = ("", "", CHAIN, counted!(CHAIN, "cmp edx, edx; jne 22b"));

/// Calls of the procedure that a register points to. The procedure counts itself in the first lane.
pub(in super::super) const CALL_INDIRECT: Turns = turns!(
    CALLS,
    "r8",
    "rax" & "rdx",
    "r8",
    "rcx",
    "rdi",
    ["lea rdx, [rip + 44f]"],
    ["jmp 55f; 44: inc r8; ret; 55:"],
    ".p2align 3; call rdx"
);

/// One jump to the place that the next byte of a sequence names. The first operand is the address of the sequence, the
/// second its length less one, the second lane the position in it. Each place adds its number, counted from one, to the
/// first lane.
pub(in super::super) const JUMP_INDIRECT: Turns = turns!(
    1,
    "r8",
    "rax" & "rdx",
    "r8",
    "rcx",
    "rdi",
    ["lea rax, [rip + 44f]"],
    [".p2align 4; 44: .irp place, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        .p2align 4; add r8, \\place + 1; jmp 55f; .endr; 55:"],
    "movzx edx, byte ptr [\\operand + r9]; inc r9; and r9, \\other; shl edx, 4; add rdx, rax; jmp rdx"
);

/// Copies bytes. Both addresses are of memory of that length that the caller owns.
#[inline(always)]
pub(in super::super) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller owns the memory at both addresses.
    unsafe { asm!("rep movsb", inout("rcx") bytes => _, inout("rsi") from => _, inout("rdi") to => _) };
}

#[inline(always)]
pub(in super::super) unsafe fn fill(to: *mut u8, bytes: usize, value: u8) {
    // SAFETY: the caller owns the memory at the address.
    unsafe { asm!("rep stosb", inout("rcx") bytes => _, inout("rdi") to => _, in("al") value) };
}
