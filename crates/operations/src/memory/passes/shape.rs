//! What the loops of every kind of register share.

use std::arch::asm;
use std::cell::Cell;

/// Words of a cache line of 64 bytes.
pub(super) const LINE_WORDS: usize = 8;

/// How far ahead of a pass over far memory the next lines are asked for: eight lines.
pub(super) const AHEAD_WORDS: usize = 8 * LINE_WORDS;

/// A piece passed over is a multiple of so many words: of what the loops take per turn.
pub(in super::super) const TURN_WORDS: usize = 128;

/// Adds up the words.
pub(in super::super) type Sum = unsafe fn(&[Cell<u64>]) -> u64;
/// Sets every word to the value.
pub(in super::super) type Fill = unsafe fn(&[Cell<u64>], u64);
/// Copies the first to the second, which is as long.
pub(in super::super) type Copying = unsafe fn(&[Cell<u64>], &[Cell<u64>]);

/// The loops for one kind of register. Each may be called only on a processor that has it.
#[derive(Clone, Copy)]
pub(in super::super) struct Passes {
    /// For sets within the core's own caches.
    pub sum_near: Sum,
    /// For larger ones.
    pub sum_far: Sum,
    /// For sets within the core's own caches.
    pub fill_near: Fill,
    /// For larger ones.
    pub fill_far: Fill,
    /// Past the caches.
    pub fill_streaming: Fill,
    /// Past the caches where it stores.
    pub copy_streaming: Copying,
    /// To zero, by the processor's own means; the value is not looked at.
    pub clear: Fill,
}

/// Sets all words; the compiler makes it one of vectors.
#[inline(always)]
pub(super) fn fill(words: &[Cell<u64>], value: u64) {
    words.iter().for_each(|word| word.set(value));
}

/// Sets all words, asking for lines ahead in order to write them.
#[inline(always)]
pub(super) fn fill_ahead(words: &[Cell<u64>], value: u64) {
    for line in words.chunks_exact(LINE_WORDS) {
        prefetch_to_write(line.as_ptr().wrapping_add(AHEAD_WORDS).cast());
        line.iter().for_each(|word| word.set(value));
    }
}

/// Asks for a line in order to write it; a processor that cannot does nothing.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
fn prefetch_to_write(line: *const u8) {
    // SAFETY: a prefetch neither faults nor changes memory, wherever it points.
    unsafe { asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags)) };
}

/// Asks for a line in order to write it.
#[inline(always)]
#[cfg(target_arch = "aarch64")]
fn prefetch_to_write(line: *const u8) {
    // SAFETY: a prefetch neither faults nor changes memory, wherever it points.
    unsafe { asm!("prfm pstl1keep, [{}]", in(reg) line, options(nostack, preserves_flags)) };
}
