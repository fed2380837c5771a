//! The procedures called within this program, as assembly: what a compiler could see through, it would call seldom,
//! pass less to, or not call at all.

use std::arch::naked_asm;
use std::cell::Cell;
use std::rc::Rc;

use measure::{Failure, Loop, TermOf, opaque, term};

use super::{MOST, added_up, answer, no_such_count};

/// Calls per turn of the loop.
const CALLS: u64 = 16;

/// What the loop adds to each call.
pub(super) const OF_A_TURN: &[TermOf] = &[term(1.0 / CALLS as f64, "loop.empty")];

/// One more than the sum of the first so many argument registers.
#[cfg(target_arch = "x86_64")]
macro_rules! add_up {
    ($count:literal) => {
        naked_asm!(
            "mov eax, 1",
            ".if {n} > 0", "add rax, rdi", ".endif",
            ".if {n} > 1", "add rax, rsi", ".endif",
            ".if {n} > 2", "add rax, rdx", ".endif",
            ".if {n} > 3", "add rax, rcx", ".endif",
            ".if {n} > 4", "add rax, r8", ".endif",
            ".if {n} > 5", "add rax, r9", ".endif",
            "ret",
            n = const $count,
        )
    };
}

/// One more than the sum of the first so many argument registers.
#[cfg(target_arch = "aarch64")]
macro_rules! add_up {
    ($count:literal) => {
        naked_asm!(
            ".if {n} == 0", "mov x0, xzr", ".endif",
            "add x0, x0, #1",
            ".if {n} > 1", "add x0, x0, x1", ".endif",
            ".if {n} > 2", "add x0, x0, x2", ".endif",
            ".if {n} > 3", "add x0, x0, x3", ".endif",
            ".if {n} > 4", "add x0, x0, x4", ".endif",
            ".if {n} > 5", "add x0, x0, x5", ".endif",
            "ret",
            n = const $count,
        )
    };
}

/// An entry of a procedure linkage table whose address is known already (System V ABI of x86-64, figure 5.2).
#[cfg(target_arch = "x86_64")]
macro_rules! jump_by {
    ($table:ident) => {
        naked_asm!("jmp qword ptr [rip + {table}]", table = sym $table)
    };
}

/// An entry of a procedure linkage table whose address is known already (ELF for the Arm 64-bit architecture, PLT).
#[cfg(target_arch = "aarch64")]
macro_rules! jump_by {
    ($table:ident) => {
        naked_asm!(
            "adrp x16, {table}",
            "ldr x17, [x16, #:lo12:{table}]",
            "add x16, x16, #:lo12:{table}",
            "br x17",
            table = sym $table,
        )
    };
}

/// Procedures by their number of arguments, the same behind a stub, and the loops that call either.
macro_rules! procedures {
    ($($count:literal $procedure:ident $stub:ident $table:ident ($($argument:ident),*);)*) => {
        $(
            #[unsafe(naked)]
            pub(super) extern "C" fn $procedure($($argument: u64),*) -> u64 {
                add_up!($count)
            }

            /// Written when the program is loaded, as the dynamic linker writes its tables, and read-only from then on.
            static $table: extern "C" fn($($argument: u64),*) -> u64 = $procedure;

            #[unsafe(naked)]
            extern "C" fn $stub($($argument: u64),*) -> u64 {
                jump_by!($table)
            }
        )*

        /// Calls the procedure that takes so many arguments.
        pub(super) fn procedure(words: [u64; MOST], count: u64) -> Result<Loop, Failure> {
            match count {
                $($count => Ok(turns(words, $count, |[$($argument,)* ..]| $procedure($(opaque(*$argument)),*))),)*
                other => no_such_count(other),
            }
        }

        /// Calls the stub of the procedure that takes so many arguments.
        pub(super) fn shared(words: [u64; MOST], count: u64) -> Result<Loop, Failure> {
            match count {
                $($count => Ok(turns(words, $count, |[$($argument,)* ..]| $stub($(opaque(*$argument)),*))),)*
                other => no_such_count(other),
            }
        }
    };
}

procedures! {
    0 procedure_of_none stub_of_none TABLE_OF_NONE ();
    1 procedure_of_one stub_of_one TABLE_OF_ONE (a);
    2 procedure_of_two stub_of_two TABLE_OF_TWO (a, b);
    3 procedure_of_three stub_of_three TABLE_OF_THREE (a, b, c);
    4 procedure_of_four stub_of_four TABLE_OF_FOUR (a, b, c, d);
    5 procedure_of_five stub_of_five TABLE_OF_FIVE (a, b, c, d, e);
    6 procedure_of_six stub_of_six TABLE_OF_SIX (a, b, c, d, e, f);
}

/// Calls the procedure that saves and restores everything.
pub(super) fn sequence(words: [u64; MOST]) -> Loop {
    turns(words, 1, |[first, ..]| saving(opaque(*first)))
}

/// A loop of `CALLS` calls a turn, each given the same words, that adds their answers up.
#[inline(always)]
pub(super) fn turns(words: [u64; MOST], count: usize, call: impl Fn(&[u64; MOST]) -> u64 + 'static) -> Loop {
    let sum = Rc::new(Cell::new(0));
    let result = Rc::clone(&sum);
    let run = move |times| {
        let mut total = 0_u64;
        for _ in 0..times {
            macro_rules! four_times {
                ($statement:stmt) => {
                    $statement
                    $statement
                    $statement
                    $statement
                };
            }
            four_times!({
                four_times!({
                    total = total.wrapping_add(call(&words));
                });
            });
        }
        sum.set(total);
        Ok(())
    };
    let verify = move |times: u64| added_up((times * CALLS).wrapping_mul(answer(&words, count)), result.get());
    Loop::new(run).verify(verify).each(CALLS)
}

/// One more than its argument, by way of a frame and of every register that a procedure must leave as it was.
#[cfg(target_arch = "x86_64")]
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
        // A register of its own for each step, and a line of the frame for each second one.
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

/// One more than its argument, by way of a frame and of every register that a procedure must leave as it was.
#[cfg(target_arch = "aarch64")]
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
        // A register of its own for each step, and a line of the frame for each second one.
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
