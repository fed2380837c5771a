//! The loops that repeat the text of an instruction: on one lane, where each waits for the one before, or on all lanes.

/// The turns of an instruction: its text, one line for each instruction of the class, `$copies` times on every register of
/// `$values` in turn. In the text `\value` is the lane's register, `\operand` and `\other` are the operands'; xmm0 and
/// `$free` are free to use. The first lane is in `$first`. `$head` comes before all turns, `$tail` ends each one.
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
            narrow: Some(InstructionText { latency: narrow_chain!($($line)+), throughput: narrow_beside!($($line)+) }),
            wide: InstructionText { latency: chain!($($line)+), throughput: beside!($($line)+) },
            needs: "",
        }
    };
}

/// An instruction on 64 bits.
macro_rules! wide {
    ($needs:literal, $($line:literal)+) => {
        Widths {
            narrow: None,
            wide: InstructionText { latency: chain!($($line)+), throughput: beside!($($line)+) },
            needs: $needs,
        }
    };
}

pub(in super::super) use {beside, both, chain, narrow_beside, narrow_chain, turns, wide};
