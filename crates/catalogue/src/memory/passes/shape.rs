//! What the loops of every register kind share.

use std::arch::asm;
use std::cell::Cell;

/// Words of a cache line of 64 bytes.
pub(super) const LINE_WORDS: usize = 8;

/// The prefetch distance of a pass over far memory: eight lines.
pub(super) const AHEAD_WORDS: usize = 8 * LINE_WORDS;

/// The length of a piece is a multiple of this number of words, which is what the loops take per turn.
pub(in super::super) const TURN_WORDS: usize = 128;

/// Adds up the words.
pub(in super::super) type Sum = unsafe fn(&[Cell<u64>]) -> u64;
/// Sets every word to the value.
pub(in super::super) type Fill = unsafe fn(&[Cell<u64>], u64);
/// Copies the first slice to the second, which has the same length.
pub(in super::super) type Copying = unsafe fn(&[Cell<u64>], &[Cell<u64>]);

/// The loops for one register kind. Each may be called only on a processor that has it.
#[derive(Clone, Copy)]
pub(in super::super) struct Passes {
    /// For sets within the core's private caches.
    pub sum_near: Sum,
    /// For larger ones: which of them is fastest depends on the processor's prefetchers.
    pub sums_far: [Sum; 2],
    /// For sets within the core's private caches.
    pub fill_near: Fill,
    /// For larger ones.
    pub fill_far: Fill,
    /// Stores that bypass the caches.
    pub fill_streaming: Fill,
    /// Stores that bypass the caches.
    pub copy_streaming: Copying,
    /// Zeroes the words with the processor's own means; ignores the value.
    pub clear: Fill,
}

/// Sets all words. The compiler makes vector code of it.
#[inline(always)]
pub(super) fn fill(words: &[Cell<u64>], value: u64) {
    words.iter().for_each(|word| word.set(value));
}

/// Sets all words, and prefetches lines ahead for writing.
#[inline(always)]
pub(super) fn fill_ahead(words: &[Cell<u64>], value: u64) {
    for line in words.chunks_exact(LINE_WORDS) {
        prefetch_to_write(line.as_ptr().wrapping_add(AHEAD_WORDS).cast());
        line.iter().for_each(|word| word.set(value));
    }
}

/// Prefetches a line for writing. Does nothing on a processor that cannot.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
fn prefetch_to_write(line: *const u8) {
    // SAFETY: a prefetch neither faults nor changes memory, wherever it points.
    unsafe { asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags)) };
}

/// Prefetches a line for writing.
#[inline(always)]
#[cfg(target_arch = "aarch64")]
fn prefetch_to_write(line: *const u8) {
    // SAFETY: a prefetch neither faults nor changes memory, wherever it points.
    unsafe { asm!("prfm pstl1keep, [{}]", in(reg) line, options(nostack, preserves_flags)) };
}
