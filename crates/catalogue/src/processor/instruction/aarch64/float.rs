//! The floating-point and vector instructions of aarch64 (NEON).

use std::arch::asm;

use operation::{Axis, word, words};

use super::super::vectors::{CHAIN, LANES, NumberTurns, Precisions, Vector, VectorRegisters};

pub(in super::super) const FLOAT_CHAINS: Axis = word("vector", words!["scalar", "128"]);
pub(in super::super) const FLOATS_BESIDE: Axis = FLOAT_CHAINS;
pub(in super::super) const PACKED_CHAINS: Axis = word("vector", words!["128"]);
pub(in super::super) const PACKED_BESIDE: Axis = PACKED_CHAINS;

/// The turns of an instruction: its text, `$pairs` times with each of the operands 24 and 25, on every register of
/// `$values`. In the text `\value` and `\operand` are register numbers; 26 is the third operand's, 27 is free.
macro_rules! turns {
    ($pairs:expr, $values:literal, $($line:expr),+) => {{
        /// # Safety
        /// As [`NumberTurns`] says.
        unsafe fn turns(times: u64, registers: &mut VectorRegisters) {
            // SAFETY: the text writes only registers named here and the lanes pointed to, and jumps only within itself.
            unsafe {
                asm!(
                    ".irp number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26",
                    "ldr q\\number, [x1, #64 * \\number]",
                    ".endr",
                    // In a macro's own text (not in a repetition within one), `\\()` ends a name before a dot.
                    ".macro step value, operand",
                    $($line,)+
                    ".endm",
                    "22:",
                    ".rept {pairs}", ".irp operand, 24,25", concat!(".irp value, ", $values),
                    "step \\value, \\operand",
                    ".endr", ".endr", ".endr",
                    ".purgem step",
                    "sub x0, x0, #1",
                    "cbnz x0, 22b",
                    ".irp number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23",
                    "str q\\number, [x1, #64 * \\number]",
                    ".endr",
                    pairs = const $pairs / [$($line),+].len() as u64,
                    in("x1") registers, inout("x0") times => _,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _,
                    out("v7") _, out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _,
                    out("v14") _, out("v15") _, out("v16") _, out("v17") _, out("v18") _, out("v19") _,
                    out("v20") _, out("v21") _, out("v22") _, out("v23") _, out("v24") _, out("v25") _,
                    out("v26") _, out("v27") _, options(nostack),
                );
            }
        }
        turns as NumberTurns
    }};
}

/// Turns on one lane.
macro_rules! chain {
    ($($line:expr),+) => { turns!(CHAIN / 2, "0", $($line),+) };
}

/// Turns on all lanes.
macro_rules! beside {
    ($line:expr) => {
        turns!(CHAIN / 2 / LANES as u64, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23", $line)
    };
}

/// An instruction on one register kind: the name of the kind, the bytes worked on, the text.
macro_rules! vector {
    ($name:literal, $bytes:literal, $line:expr) => {
        Vector { name: $name, needs: "", bytes: $bytes, latency: chain!($line), throughput: beside!($line) }
    };
}

/// The numbers of a vector, in single or double precision.
macro_rules! parts {
    ($register:literal, $suffix:literal) => {
        concat!("v", $register, "\\()", $suffix)
    };
}

/// An instruction that takes the lane and the operand, in one precision.
macro_rules! precision {
    ($name:literal, $bytes:literal, $letter:literal, $suffix:literal) => {
        &[
            vector!(
                "scalar",
                $bytes,
                concat!($name, " ", $letter, "\\value, ", $letter, "\\value, ", $letter, "\\operand")
            ),
            vector!(
                "128",
                16,
                concat!(
                    $name,
                    " ",
                    parts!("\\value", $suffix),
                    ", ",
                    parts!("\\value", $suffix),
                    ", ",
                    parts!("\\operand", $suffix)
                )
            ),
        ]
    };
}

/// The same in both precisions.
macro_rules! arithmetic {
    ($name:literal) => {
        (precision!($name, 4, "s", ".4s"), precision!($name, 8, "d", ".2d"))
    };
}

pub(in super::super) const FLOAT_ADD: Precisions = arithmetic!("fadd");
pub(in super::super) const FLOAT_MULTIPLY: Precisions = arithmetic!("fmul");
pub(in super::super) const FLOAT_DIVIDE: Precisions = arithmetic!("fdiv");

pub(in super::super) const FLOAT_ROOT: Precisions = (
    &[
        vector!("scalar", 4, "fsqrt s\\value, s\\value; fmul s\\value, s\\value, s\\operand"),
        vector!(
            "128",
            16,
            "fsqrt v\\value\\().4s, v\\value\\().4s; fmul v\\value\\().4s, v\\value\\().4s, v\\operand\\().4s"
        ),
    ],
    &[
        vector!("scalar", 8, "fsqrt d\\value, d\\value; fmul d\\value, d\\value, d\\operand"),
        vector!(
            "128",
            16,
            "fsqrt v\\value\\().2d, v\\value\\().2d; fmul v\\value\\().2d, v\\value\\().2d, v\\operand\\().2d"
        ),
    ],
);

/// A vector's sum replaces its addend, so a chain through its factor goes from the lane to v27 and back. Each instruction
/// finds the operand there, put there by a copy that does not wait.
macro_rules! fused {
    ($suffix:literal) => {
        Vector {
            name: "128",
            needs: "",
            bytes: 16,
            latency: chain!(
                concat!(
                    "mov v27.16b, v\\operand\\().16b; fmla v27",
                    $suffix,
                    ", v\\value\\()",
                    $suffix,
                    ", v26",
                    $suffix
                ),
                concat!(
                    "mov v\\value\\().16b, v\\operand\\().16b; fmla v\\value\\()",
                    $suffix,
                    ", v27",
                    $suffix,
                    ", v26",
                    $suffix
                )
            ),
            throughput: beside!(concat!("fmla v\\value\\()", $suffix, ", v\\operand\\()", $suffix, ", v26", $suffix)),
        }
    };
}

/// The lane times the third operand, plus the operand.
pub(in super::super) const FLOAT_FMA: Precisions = (
    &[vector!("scalar", 4, "fmadd s\\value, s\\value, s26, s\\operand"), fused!(".4s")],
    &[vector!("scalar", 8, "fmadd d\\value, d\\value, d26, d\\operand"), fused!(".2d")],
);

/// The operand times the third operand, added to the lane: the sum that dot products wait for.
pub(in super::super) const FLOAT_ACCUMULATE: Precisions = (
    &[
        vector!("scalar", 4, "fmadd s\\value, s\\operand, s26, s\\value"),
        vector!("128", 16, "fmla v\\value\\().4s, v\\operand\\().4s, v26.4s"),
    ],
    &[
        vector!("scalar", 8, "fmadd d\\value, d\\operand, d26, d\\value"),
        vector!("128", 16, "fmla v\\value\\().2d, v\\operand\\().2d, v26.2d"),
    ],
);

pub(in super::super) const PACKED_ADD: &[Vector] =
    &[vector!("128", 16, "add v\\value\\().2d, v\\value\\().2d, v\\operand\\().2d")];
/// It takes the lower eight bytes of the lane. The next one takes the same bytes of its product.
pub(in super::super) const PACKED_MULTIPLY: &[Vector] =
    &[vector!("128", 8, "umull v\\value\\().2d, v\\value\\().2s, v\\operand\\().2s")];
pub(in super::super) const PACKED_SHUFFLE: &[Vector] =
    &[vector!("128", 16, "tbl v\\value\\().16b, {{v\\value\\().16b}}, v\\operand\\().16b")];
