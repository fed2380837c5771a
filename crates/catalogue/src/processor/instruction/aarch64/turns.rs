//! The loops that repeat the text of an instruction: on one lane, where each waits for the one before, or on all lanes.

/// The turns of an instruction: its text, one line for each instruction of the class, `$copies` times on every register of
/// `$values` in turn. In the text `\value` is the lane's register, `\operand` and `\other` are the operands'; x16, x17,
/// x30, v0 to v7 and v10 to v17 are free to use. `$head` comes before all turns, `$tail` ends each one. The loop's own
/// instructions do not change the flags.
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

/// An instruction at both widths, by one text. Several lines are that number of instructions of its class.
macro_rules! both {
    ($($line:expr),+) => {
        Widths {
            narrow: Some(InstructionText {
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
        Widths { narrow: None, wide: InstructionText { latency: chain!($($line),+), throughput: beside!($($line),+) }, needs: "" }
    };
}

pub(in super::super) use {beside, both, chain, narrow_beside, turns, wide};
