//! The called procedures of this program, in assembly. A compiler that sees a procedure's content could call it less often,
//! pass less to it, or inline it.

use std::arch::{global_asm, naked_asm};
use std::cell::Cell;

use operation::{Failure, Loop, TermOf, opaque, term};

use super::{MOST, added_up, answer, no_such_count};
use crate::kit::handles;

/// Calls per turn of the loop.
pub(super) const CALLS: u64 = 16;

/// A statement repeated `CALLS` times.
macro_rules! sixteen_times {
    (@four $does:expr) => {
        $does;
        $does;
        $does;
        $does;
    };
    ($does:expr) => {
        sixteen_times!(@four $does);
        sixteen_times!(@four $does);
        sixteen_times!(@four $does);
        sixteen_times!(@four $does);
    };
}
pub(super) use sixteen_times;

/// What the loop adds to each call.
pub(super) const OF_A_TURN: &[TermOf] = &[term(1.0 / CALLS as f64, "loop.empty")];

/// The beginning of a procedure: aligned as compilers do it, and never across a cache line, whatever else is linked.
macro_rules! begins {
    ($name:ident) => {
        concat!(
            ".text\n.balign 64\n.globl ",
            stringify!($name),
            "\n.hidden ",
            stringify!($name),
            "\n.type ",
            stringify!($name),
            ", %function\n",
            stringify!($name),
            ":"
        )
    };
}

macro_rules! ends {
    ($name:ident) => {
        concat!(".size ", stringify!($name), ", . - ", stringify!($name))
    };
}

/// A procedure that returns one more than the sum of its arguments.
#[cfg(target_arch = "x86_64")]
macro_rules! add_up {
    ($name:ident $count:literal) => {
        global_asm!(
            begins!($name),
            "mov eax, 1",
            ".if {n} > 0\nadd rax, rdi\n.endif",
            ".if {n} > 1\nadd rax, rsi\n.endif",
            ".if {n} > 2\nadd rax, rdx\n.endif",
            ".if {n} > 3\nadd rax, rcx\n.endif",
            ".if {n} > 4\nadd rax, r8\n.endif",
            ".if {n} > 5\nadd rax, r9\n.endif",
            "ret",
            ends!($name),
            n = const $count,
        );
    };
}

/// A procedure that returns one more than the sum of its arguments.
#[cfg(target_arch = "aarch64")]
macro_rules! add_up {
    ($name:ident $count:literal) => {
        global_asm!(
            begins!($name),
            ".if {n} == 0\nmov x0, xzr\n.endif",
            "add x0, x0, #1",
            ".if {n} > 1\nadd x0, x0, x1\n.endif",
            ".if {n} > 2\nadd x0, x0, x2\n.endif",
            ".if {n} > 3\nadd x0, x0, x3\n.endif",
            ".if {n} > 4\nadd x0, x0, x4\n.endif",
            ".if {n} > 5\nadd x0, x0, x5\n.endif",
            "ret",
            ends!($name),
            n = const $count,
        );
    };
}

/// An entry of a procedure linkage table whose address is already resolved (System V ABI of x86-64, figure 5.2).
#[cfg(target_arch = "x86_64")]
macro_rules! jump_by {
    ($name:ident $table:ident) => {
        global_asm!(begins!($name), "jmp qword ptr [rip + {table}]", ends!($name), table = sym $table);
    };
}

/// An entry of a procedure linkage table whose address is already resolved (ELF for the Arm 64-bit architecture, PLT).
#[cfg(target_arch = "aarch64")]
macro_rules! jump_by {
    ($name:ident $table:ident) => {
        global_asm!(
            begins!($name),
            "adrp x16, {table}",
            "ldr x17, [x16, #:lo12:{table}]",
            "add x16, x16, #:lo12:{table}",
            "br x17",
            ends!($name),
            table = sym $table,
        );
    };
}

/// Procedures by their number of arguments, the same behind a stub, and the loops that call them.
macro_rules! procedures {
    ($($count:literal $procedure:ident $stub:ident $table:ident ($($argument:ident),*);)*) => {
        $(
            add_up!($procedure $count);
            jump_by!($stub $table);

            // SAFETY: both are the assembly above: they take these arguments and touch nothing but registers.
            unsafe extern "C" {
                pub(super) safe fn $procedure($($argument: u64),*) -> u64;
                safe fn $stub($($argument: u64),*) -> u64;
            }

            /// Written when the program is loaded, as the dynamic linker writes its tables, and read-only from then on.
            static $table: unsafe extern "C" fn($($argument: u64),*) -> u64 = $procedure;
        )*

        /// Calls the procedure with this number of arguments.
        pub(super) fn procedure(words: [u64; MOST], count: u64) -> Result<Loop, Failure> {
            match count {
                $($count => Ok(turns(words, $count, |[$($argument,)* ..]| $procedure($(opaque(*$argument)),*))),)*
                other => no_such_count(other),
            }
        }

        /// Calls the stub of the procedure with this number of arguments.
        pub(super) fn shared(words: [u64; MOST], count: u64) -> Result<Loop, Failure> {
            match count {
                $($count => Ok(turns(words, $count, |[$($argument,)* ..]| $stub($(opaque(*$argument)),*))),)*
                other => no_such_count(other),
            }
        }
    };
}

procedures! {
    0 howslow_procedure_none howslow_stub_none TABLE_OF_NONE ();
    1 howslow_procedure_one howslow_stub_one TABLE_OF_ONE (a);
    2 howslow_procedure_two howslow_stub_two TABLE_OF_TWO (a, b);
    3 howslow_procedure_three howslow_stub_three TABLE_OF_THREE (a, b, c);
    4 howslow_procedure_four howslow_stub_four TABLE_OF_FOUR (a, b, c, d);
    5 howslow_procedure_five howslow_stub_five TABLE_OF_FIVE (a, b, c, d, e);
    6 howslow_procedure_six howslow_stub_six TABLE_OF_SIX (a, b, c, d, e, f);
}

/// Calls the procedure that saves and restores all registers.
pub(super) fn sequence(words: [u64; MOST]) -> Loop {
    turns(words, 1, |[first, ..]| saving(opaque(*first)))
}

/// A loop of `CALLS` calls per turn, each with the same words. It adds up the answers.
#[inline(always)]
pub(super) fn turns(words: [u64; MOST], count: usize, call: impl Fn(&[u64; MOST]) -> u64 + 'static) -> Loop {
    let [sum, result] = handles(Cell::new(0));
    let run = move |times| {
        let mut total = 0_u64;
        for _ in 0..times {
            sixteen_times!(total = total.wrapping_add(call(&words)));
        }
        sum.set(total);
        Ok(())
    };
    let verify = move |times: u64| added_up((times * CALLS).wrapping_mul(answer(&words, count)), result.get());
    Loop::new(run).verify(verify).unrolled(CALLS)
}

/// One more than its argument, through a frame and through every register that a procedure must preserve.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
#[unsafe(naked)]
extern "C" fn saving(value: u64) -> u64 {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 256",
        // Each step uses another register, and each second step another line of the frame.
        "lea rbx, [rdi + 1]",
        "mov [rsp], rbx",
        "mov r12, [rsp]",
        "mov [rsp + 64], r12",
        "mov r13, [rsp + 64]",
        "mov [rsp + 128], r13",
        "mov r14, [rsp + 128]",
        "mov [rsp + 192], r14",
        "mov r15, [rsp + 192]",
        "mov [rsp + 248], r15",
        "mov rax, [rsp + 248]",
        "add rsp, 256",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// One more than its argument, through a frame and through every register that a procedure must preserve.
#[cfg(target_arch = "aarch64")]
#[rustfmt::skip]
#[unsafe(naked)]
extern "C" fn saving(value: u64) -> u64 {
    naked_asm!(
        "stp x29, x30, [sp, #-160]!",
        "mov x29, sp",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "sub sp, sp, #256",
        // Each step uses another register, and each second step another line of the frame.
        "add x19, x0, #1",
        "str x19, [sp]",
        "ldr x20, [sp]",
        "str x20, [sp, #64]",
        "ldr x21, [sp, #64]",
        "str x21, [sp, #128]",
        "ldr x22, [sp, #128]",
        "str x22, [sp, #192]",
        "ldr x23, [sp, #192]",
        "str x23, [sp, #248]",
        "ldr x0, [sp, #248]",
        "mov x24, x0",
        "mov x25, x0",
        "mov x26, x0",
        "mov x27, x0",
        "mov x28, x0",
        "fmov d8, x0",
        "fmov d15, x0",
        "add sp, sp, #256",
        "ldp d14, d15, [sp, #144]",
        "ldp d12, d13, [sp, #128]",
        "ldp d10, d11, [sp, #112]",
        "ldp d8, d9, [sp, #96]",
        "ldp x27, x28, [sp, #80]",
        "ldp x25, x26, [sp, #64]",
        "ldp x23, x24, [sp, #48]",
        "ldp x21, x22, [sp, #32]",
        "ldp x19, x20, [sp, #16]",
        "ldp x29, x30, [sp], #160",
        "ret",
    )
}
