//! The floating-point and vector instructions of x86-64: SSE's on scalars, AVX's and AVX-512's on vectors.

use std::arch::asm;

use operation::{Axis, word, words};

use super::super::vectors::{CHAIN, LANES, NumberTurns, Precisions, Vector, VectorRegisters};

pub(in super::super) const FLOAT_CHAINS: Axis = word("vector", words!["scalar", "256"]);
pub(in super::super) const FLOATS_BESIDE: Axis = word("vector", words!["scalar", "256", "512"]);
pub(in super::super) const PACKED_CHAINS: Axis = word("vector", words!["256"]);
pub(in super::super) const PACKED_BESIDE: Axis = word("vector", words!["128", "256", "512"]);

/// The turns of an instruction: its text, `$pairs` times with each of the operands 13 and 14, on every register of
/// `$values`. In the text `\value` and `\operand` are register numbers; 15 is the third operand's. All are loaded and
/// stored by `$load` as the registers `$kind`. `$after` restores the processor's state.
macro_rules! turns {
    ($pairs:expr, $values:literal, $load:literal, $kind:literal, $after:literal, $line:expr) => {{
        /// # Safety
        /// As [`NumberTurns`] says.
        unsafe fn turns(times: u64, registers: &mut VectorRegisters) {
            // SAFETY: the text writes only registers named here and the lanes pointed to, and jumps only within itself.
            unsafe {
                asm!(
                    ".irp number, 0,1,2,3,4,5,6,7,8,9,10,11",
                    concat!($load, " ", $kind, "\\number, [rcx + 64 * \\number]"),
                    ".endr",
                    concat!($load, " ", $kind, "13, [rcx + 64 * 12]"),
                    concat!($load, " ", $kind, "14, [rcx + 64 * 13]"),
                    concat!($load, " ", $kind, "15, [rcx + 64 * 14]"),
                    "22:",
                    ".rept {pairs}", ".irp operand, 13,14", concat!(".irp value, ", $values),
                    $line,
                    ".endr", ".endr", ".endr",
                    "dec rsi",
                    "jnz 22b",
                    ".irp number, 0,1,2,3,4,5,6,7,8,9,10,11",
                    concat!($load, " [rcx + 64 * \\number], ", $kind, "\\number"),
                    ".endr",
                    $after,
                    pairs = const $pairs,
                    in("rcx") registers, inout("rsi") times => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                    out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _, options(nostack),
                );
            }
        }
        turns as NumberTurns
    }};
}

/// An instruction on one register kind: the name of the kind, the feature, the bytes worked on, the load instruction.
macro_rules! vector {
    ($name:literal, $needs:expr, $bytes:literal, $load:literal, $kind:literal, $after:literal, $line:expr) => {
        Vector {
            name: $name,
            needs: $needs,
            bytes: $bytes,
            latency: turns!(CHAIN / 2, "0", $load, $kind, $after, $line),
            throughput: turns!(CHAIN / 2 / LANES as u64, "0,1,2,3,4,5,6,7,8,9,10,11", $load, $kind, $after, $line),
        }
    };
}

/// An instruction by its SSE name, its AVX name, and the operands of the AVX form, in one precision (`ss`, `ps`).
macro_rules! precision {
    ($bytes:literal, $scalar:expr, $wide:expr, $widest:expr, $needs:literal) => {
        &[
            vector!("scalar", $needs, $bytes, "movaps", "xmm", "", $scalar),
            vector!("256", if $needs.is_empty() { "avx" } else { $needs }, 32, "vmovaps", "ymm", "vzeroupper", $wide),
            vector!("512", "avx512f", 64, "vmovaps", "zmm", "vzeroupper", $widest),
        ]
    };
}

/// An instruction that takes the lane and the operand, in both precisions.
macro_rules! arithmetic {
    ($name:literal) => {
        (
            precision!(
                4,
                concat!($name, "ss xmm\\value, xmm\\operand"),
                concat!("v", $name, "ps ymm\\value, ymm\\value, ymm\\operand"),
                concat!("v", $name, "ps zmm\\value, zmm\\value, zmm\\operand"),
                ""
            ),
            precision!(
                8,
                concat!($name, "sd xmm\\value, xmm\\operand"),
                concat!("v", $name, "pd ymm\\value, ymm\\value, ymm\\operand"),
                concat!("v", $name, "pd zmm\\value, zmm\\value, zmm\\operand"),
                ""
            ),
        )
    };
}

pub(in super::super) const FLOAT_ADD: Precisions = arithmetic!("add");
pub(in super::super) const FLOAT_MULTIPLY: Precisions = arithmetic!("mul");
pub(in super::super) const FLOAT_DIVIDE: Precisions = arithmetic!("div");

pub(in super::super) const FLOAT_ROOT: Precisions = (
    precision!(
        4,
        "sqrtss xmm\\value, xmm\\value; mulss xmm\\value, xmm\\operand",
        "vsqrtps ymm\\value, ymm\\value; vmulps ymm\\value, ymm\\value, ymm\\operand",
        "vsqrtps zmm\\value, zmm\\value; vmulps zmm\\value, zmm\\value, zmm\\operand",
        ""
    ),
    precision!(
        8,
        "sqrtsd xmm\\value, xmm\\value; mulsd xmm\\value, xmm\\operand",
        "vsqrtpd ymm\\value, ymm\\value; vmulpd ymm\\value, ymm\\value, ymm\\operand",
        "vsqrtpd zmm\\value, zmm\\value; vmulpd zmm\\value, zmm\\value, zmm\\operand",
        ""
    ),
);

/// The lane times the third operand, plus the operand.
pub(in super::super) const FLOAT_FMA: Precisions = (
    precision!(
        4,
        "vfmadd213ss xmm\\value, xmm15, xmm\\operand",
        "vfmadd213ps ymm\\value, ymm15, ymm\\operand",
        "vfmadd213ps zmm\\value, zmm15, zmm\\operand",
        "fma"
    ),
    precision!(
        8,
        "vfmadd213sd xmm\\value, xmm15, xmm\\operand",
        "vfmadd213pd ymm\\value, ymm15, ymm\\operand",
        "vfmadd213pd zmm\\value, zmm15, zmm\\operand",
        "fma"
    ),
);

/// An integer instruction by its SSE name; the last is the feature that its widest form needs.
macro_rules! integers {
    ($name:literal, $narrow:literal, $widest:literal) => {
        &[
            vector!("128", $narrow, 16, "movaps", "xmm", "", concat!($name, " xmm\\value, xmm\\operand")),
            vector!(
                "256",
                "avx2",
                32,
                "vmovaps",
                "ymm",
                "vzeroupper",
                concat!("v", $name, " ymm\\value, ymm\\value, ymm\\operand")
            ),
            vector!(
                "512",
                $widest,
                64,
                "vmovaps",
                "zmm",
                "vzeroupper",
                concat!("v", $name, " zmm\\value, zmm\\value, zmm\\operand")
            ),
        ]
    };
}

pub(in super::super) const PACKED_ADD: &[Vector] = integers!("paddq", "", "avx512f");
pub(in super::super) const PACKED_MULTIPLY: &[Vector] = integers!("pmuludq", "", "avx512f");
pub(in super::super) const PACKED_SHUFFLE: &[Vector] = integers!("pshufb", "ssse3", "avx512bw");
