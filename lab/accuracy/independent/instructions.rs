//! Instructions, unrolled: a hundred in a row and then a turn of the loop, which runs beside them.

use std::arch::asm;

use super::entry::{Entry, Group, entry, unrolled};
use super::harness::{Made, Work};

pub(super) const GROUP: Group = Group { title: "loop, instructions, clock", entries: ENTRIES };

/// `row!("instructions", operands...)`: this many of them a turn.
macro_rules! row {
    ($each:literal of $body:literal $(, $($operand:tt)*)?) => {{
        fn turns(times: u64) {
            let room = Room([7; 64]);
            // SAFETY: the instructions work on declared registers, and on memory within the room alone.
            unsafe {
                asm!(
                    "2:", concat!(".rept ", $each), $body, ".endr", "dec {turns}", "jnz 2b",
                    turns = inout(reg) times => _, in("rsi") room.0.as_ptr(), $($($operand)*)?
                );
            }
        }
        Ok(Work::whole(turns).unrolled($each))
    }};
}

/// Memory for loads and stores: eight lines.
#[repr(align(4096))]
struct Room([u64; 64]);

const ENTRIES: &[Entry] = &[
    entry("loop.empty", "", empty),
    unrolled(
        "instruction.add.latency",
        "width=64",
        || row!(100 of "add rax, rcx", in("rcx") 3_u64, inout("rax") 1_u64 => _),
    ),
    unrolled(
        "instruction.add.latency",
        "width=32",
        || row!(100 of "add eax, ecx", in("rcx") 3_u64, inout("rax") 1_u64 => _),
    ),
    unrolled(
        "instruction.multiply.latency",
        "width=64",
        || row!(100 of "imul rax, rcx", in("rcx") 3_u64, inout("rax") 1_u64 => _),
    ),
    unrolled("instruction.divide.latency", "width=64", divide),
    unrolled("instruction.count.latency", "", || row!(100 of "popcnt rax, rax", inout("rax") 9_u64 => _)),
    unrolled("instruction.rotate.latency", "", || row!(100 of "rol rax, 7", inout("rax") 9_u64 => _)),
    unrolled("instruction.call", "", procedure),
    unrolled(
        "instruction.float.add.latency",
        "precision=double,vector=scalar",
        || row!(100 of "addsd xmm0, xmm1", inout("xmm0") 1.0_f64 => _, in("xmm1") 1.0_f64),
    ),
    unrolled(
        "instruction.float.multiply.latency",
        "precision=double,vector=scalar",
        || row!(100 of "mulsd xmm0, xmm1", inout("xmm0") 1.0_f64 => _, in("xmm1") 1.0_f64),
    ),
    unrolled(
        "instruction.float.divide.latency",
        "precision=double,vector=scalar",
        || row!(100 of "divsd xmm0, xmm1", inout("xmm0") 1.234567_f64 => _, in("xmm1") 1.000000001_f64),
    ),
    unrolled("instruction.float.fma.latency", "precision=double,vector=256", || {
        vectors(|times| {
            // SAFETY: registers alone, and the processor was asked for the instruction.
            unsafe {
                asm!(
                    "vpxor ymm0, ymm0, ymm0", "vpxor ymm1, ymm1, ymm1", "vpxor ymm2, ymm2, ymm2",
                    "2:", ".rept 100", "vfmadd231pd ymm0, ymm0, ymm1", ".endr", "dec {turns}", "jnz 2b", "vzeroupper",
                    turns = inout(reg) times => _, out("xmm0") _, out("xmm1") _, out("xmm2") _, options(nostack)
                );
            }
        })
    }),
    unrolled("instruction.vector.add.latency", "vector=256", || {
        vectors(|times| {
            // SAFETY: registers alone, and the processor was asked for the instruction.
            unsafe {
                asm!(
                    "vpxor ymm0, ymm0, ymm0", "vpcmpeqd ymm1, ymm1, ymm1",
                    "2:", ".rept 100", "vpaddq ymm0, ymm0, ymm1", ".endr", "dec {turns}", "jnz 2b", "vzeroupper",
                    turns = inout(reg) times => _, out("xmm0") _, out("xmm1") _, options(nostack)
                );
            }
        })
    }),
    unrolled("instruction.load.latency", "mode=base", || row!(100 of "mov rax, [rax]", inout("rax") ring() => _)),
    unrolled("instruction.load.throughput", "width=8", loads),
    unrolled("instruction.store.throughput", "width=8", || row!(100 of "mov [rsi], rax", in("rax") 5_u64)),
    unrolled("instruction.push.pop", "", || row!(100 of "push rax; pop rax", inout("rax") 5_u64 => _)),
    unrolled("instruction.atomic.add", "", || row!(50 of "lock add [rsi], rax", in("rax") 5_u64)),
    unrolled("instruction.atomic.exchange", "", || row!(50 of "xchg [rsi], rax", inout("rax") 5_u64 => _)),
    unrolled("instruction.fence", "kind=full", || row!(20 of "mfence")),
    unrolled("instruction.pause", "", || row!(20 of "pause")),
    unrolled("instruction.clock.read", "order=plain", || row!(20 of "rdtsc", out("rax") _, out("rdx") _)),
    unrolled(
        "instruction.branch.not.taken",
        "",
        || row!(100 of "cmp rax, rcx; je 3f; 3:", in("rax") 1_u64, in("rcx") 2_u64),
    ),
    entry("clock.read", "", || Ok(Work::calls(clock))),
    entry("clock.read.syscall", "", || {
        let mut time = [0_i64; 2];
        Ok(Work::calls(move || {
            call!(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, time.as_mut_ptr()) == 0 && time[0] > 0
        }))
    }),
];

fn empty() -> Made {
    Ok(Work::whole(|times| {
        // SAFETY: a counted loop.
        unsafe { asm!("2:", "dec {turns}", "jnz 2b", turns = inout(reg) times => _, options(nomem, nostack)) };
    }))
}

/// The quotient is made a full integer again by an `or`, which takes a cycle of its own in the chain: a chain of `or` and
/// the same add as often tells how long that is.
fn divide() -> Made {
    let chain = |times: u64| {
        // SAFETY: registers alone; the divisor is not zero and the upper half of the dividend is.
        unsafe {
            asm!(
                "2:", ".rept 50", "xor edx, edx", "or rax, rsi", "div rcx", ".endr", "dec {turns}", "jnz 2b",
                turns = inout(reg) times => _, inout("rax") u64::MAX => _, out("rdx") _,
                in("rcx") 0x9_abcd_u64, in("rsi") 1_u64 << 63, options(nomem, nostack)
            );
        }
    };
    let ors = |times: u64| {
        // SAFETY: registers alone.
        unsafe {
            asm!(
                "2:", ".rept 50", "or rax, rsi", ".endr", "dec {turns}", "jnz 2b",
                turns = inout(reg) times => _, inout("rax") 1_u64 => _, in("rsi") 1_u64 << 63, options(nomem, nostack)
            );
        }
    };
    Ok(Work::timed(move |times| {
        let start = std::time::Instant::now();
        chain(times);
        let middle = std::time::Instant::now();
        ors(times);
        (middle - start).saturating_sub(middle.elapsed())
    })
    .unrolled(50))
}

/// From eight words to eight registers: loads into one register might wait for each other.
fn loads() -> Made {
    Ok(Work::whole(|times| {
        let room = Room([7; 64]);
        // SAFETY: reads within the room.
        unsafe {
            asm!(
                "2:", ".rept 12", "mov rax, [rsi]", "mov rcx, [rsi + 8]", "mov rdx, [rsi + 16]", "mov rdi, [rsi + 24]",
                "mov r8, [rsi + 32]", "mov r9, [rsi + 40]", "mov r10, [rsi + 48]", "mov r11, [rsi + 56]", ".endr",
                "dec {turns}", "jnz 2b", turns = inout(reg) times => _, in("rsi") room.0.as_ptr(), out("rax") _,
                out("rcx") _, out("rdx") _, out("rdi") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                options(nostack, readonly)
            );
        }
    })
    .unrolled(96))
}

fn procedure() -> Made {
    Ok(Work::whole(|times| {
        // SAFETY: calls a procedure that only returns.
        unsafe {
            asm!(
                "2:", ".rept 50", "call 4f", ".endr", "dec {turns}", "jnz 2b", "jmp 5f",
                ".p2align 4", "4:", "ret", "5:", turns = inout(reg) times => _
            );
        }
    })
    .unrolled(50))
}

fn vectors(turns: fn(u64)) -> Made {
    let able = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
    if able { Ok(Work::whole(turns).unrolled(100)) } else { Err("no AVX2 here".into()) }
}

/// Words that each hold the address of the next, the last that of the first: one that held its own would be answered
/// without a load. A few bytes that are never given back.
fn ring() -> *const u64 {
    let words: &'static mut [u64] = Box::leak(vec![0; 512].into_boxed_slice());
    let first = words.as_ptr();
    for (place, word) in words.iter_mut().enumerate() {
        *word = first.wrapping_add((place + 8) % 512) as u64;
    }
    first
}

fn clock() -> bool {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one time.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    // Not a copy of it: reading both words at once right after they were written one by one stalls the processor.
    answer == 0 && std::hint::black_box(&time).tv_sec > 0
}
