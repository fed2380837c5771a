//! Passes by SSE2, AVX2 and AVX-512.

use std::arch::asm;
use std::arch::x86_64::*;
use std::cell::Cell;

use super::shape::{AHEAD_WORDS, LINE_WORDS, Passes, TURN_WORDS, fill, fill_ahead};

pub(in super::super) fn fastest() -> Passes {
    every().pop().unwrap_or(sse2::PASSES)
}

/// The register kinds that this processor has, the widest last.
pub(super) fn every() -> Vec<Passes> {
    let mut every = vec![sse2::PASSES];
    if std::arch::is_x86_feature_detected!("avx2") {
        every.push(avx2::PASSES);
        if std::arch::is_x86_feature_detected!("avx512f") {
            // Registers of half a line access each line twice, which prefetchers follow better (docs/METHOD.md).
            every.push(Passes { sums_far: avx2::PASSES.sums_far, ..avx512::PASSES });
        }
    }
    every
}

/// Waits until stores that bypass the caches are visible to other CPUs.
#[inline]
pub(in super::super) fn settle() {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { _mm_sfence() };
}

#[inline(always)]
fn prefetch(line: *const Cell<u64>) {
    // SAFETY: a prefetch neither faults nor changes memory, wherever it points.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
}

/// True: the string store clears pieces of any length.
pub(in crate::memory) fn clears_by_block(_: usize) -> bool {
    true
}

/// Clears by the string store, which modern processors execute a line at a time.
fn clear(words: &[Cell<u64>], _: u64) {
    // SAFETY: writes exactly the bytes of the words, which are cells; the direction flag is clear by the ABI.
    unsafe {
        asm!("rep stosb", inout("rcx") size_of_val(words) => _, inout("rdi") words.as_ptr() => _, in("al") 0_u8,
            options(nostack, preserves_flags));
    }
}

/// The loops for one register kind: the number of words it holds, and its instructions.
macro_rules! by {
    ($name:ident, $feature:literal, $words:literal, $zero:ident, $all:ident, $add:ident, $load:ident, $stream:ident) => {
        mod $name {
            use super::*;

            pub(super) const PASSES: Passes = Passes {
                sum_near: sum::<2>,
                sums_far: [sum::<2>, sum::<1>],
                fill_near,
                fill_far,
                fill_streaming,
                copy_streaming,
                clear,
            };

            /// The number of registers that four lines fill.
            const FOUR_LINES: usize = 4 * LINE_WORDS / $words;

            /// One or two streams side by side, each with enough partial sums that no add waits for another.
            #[target_feature(enable = $feature)]
            fn sum<const STREAMS: usize>(words: &[Cell<u64>]) -> u64 {
                let mut sums = [[$zero(); FOUR_LINES]; STREAMS];
                let each = words.len() / STREAMS;
                for turn in (0..each).step_by(4 * LINE_WORDS) {
                    for (stream, sums) in sums.iter_mut().enumerate() {
                        let part = &words[stream * each + turn..][..4 * LINE_WORDS];
                        for (words, sum) in part.chunks_exact($words).zip(sums) {
                            // SAFETY: the chunk has the length of the register, and is aligned because regions and pieces
                            // are.
                            let register = unsafe { $load(words.as_ptr().cast()) };
                            *sum = $add(*sum, register);
                        }
                    }
                }
                let total = sums.iter().flatten().fold($zero(), |total, sum| $add(total, *sum));
                // SAFETY: a register has the size of this number of words, and every bit pattern is a valid number.
                let words: [u64; $words] = unsafe { std::mem::transmute(total) };
                words.iter().fold(0, |total, word| total.wrapping_add(*word))
            }

            #[target_feature(enable = $feature)]
            fn fill_near(words: &[Cell<u64>], value: u64) {
                fill(words, value);
            }

            #[target_feature(enable = $feature)]
            fn fill_far(words: &[Cell<u64>], value: u64) {
                fill_ahead(words, value);
            }

            #[target_feature(enable = $feature)]
            fn fill_streaming(words: &[Cell<u64>], value: u64) {
                let value = $all(value as i64);
                for register in words.chunks_exact($words) {
                    // SAFETY: the chunk has the length of the register, and is aligned because regions and pieces are.
                    unsafe { $stream(register.as_ptr().cast_mut().cast(), value) };
                }
            }

            /// Four streams side by side: a prefetcher does not follow one from page to page.
            #[target_feature(enable = $feature)]
            fn copy_streaming(from: &[Cell<u64>], to: &[Cell<u64>]) {
                let quarter = from.len().min(to.len()) / 4;
                for turn in (0..quarter).step_by(TURN_WORDS / 4) {
                    for stream in 0..4 {
                        let part = stream * quarter + turn..stream * quarter + turn + TURN_WORDS / 4;
                        let (from, to) = (&from[part.clone()], &to[part]);
                        for line in from.chunks_exact(LINE_WORDS) {
                            prefetch(line.as_ptr().wrapping_add(AHEAD_WORDS));
                        }
                        let mut held = [$zero(); FOUR_LINES];
                        for (register, words) in held.iter_mut().zip(from.chunks_exact($words)) {
                            // SAFETY: the chunk has the length of the register, and is aligned because regions and pieces
                            // are.
                            *register = unsafe { $load(words.as_ptr().cast()) };
                        }
                        for (register, words) in held.iter().zip(to.chunks_exact($words)) {
                            // SAFETY: the chunk has the length of the register, and is aligned because regions and pieces
                            // are.
                            unsafe { $stream(words.as_ptr().cast_mut().cast(), *register) };
                        }
                    }
                }
            }
        }
    };
}

by!(sse2, "sse2", 2, _mm_setzero_si128, _mm_set1_epi64x, _mm_add_epi64, _mm_load_si128, _mm_stream_si128);
by!(
    avx2, "avx2", 4, _mm256_setzero_si256, _mm256_set1_epi64x, _mm256_add_epi64, _mm256_load_si256, _mm256_stream_si256
);
by!(
    avx512, "avx512f", 8, _mm512_setzero_si512, _mm512_set1_epi64, _mm512_add_epi64, _mm512_load_si512,
    _mm512_stream_si512
);
