//! The loops that pass over a piece of memory, compiled for the registers of this processor. Which of them is the
//! fastest differs by how far away the memory is; docs/MEMORY.md says what was tried.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as own;
#[cfg(target_arch = "x86_64")]
use x86_64 as own;

use std::cell::Cell;

/// Words of a cache line of 64 bytes.
const LINE_WORDS: usize = 8;

/// How far ahead of a pass over far memory the next lines are asked for: eight lines.
const AHEAD_WORDS: usize = 8 * LINE_WORDS;

/// A piece passed over is a multiple of so many words: of what the loops take per turn.
pub(super) const TURN_WORDS: usize = 128;

/// Adds up the words.
pub(super) type Sum = unsafe fn(&[Cell<u64>]) -> u64;
/// Sets every word to the value.
pub(super) type Fill = unsafe fn(&[Cell<u64>], u64);
/// Copies the first to the second, which is as long.
pub(super) type Copying = unsafe fn(&[Cell<u64>], &[Cell<u64>]);

/// The loops for one kind of register. Each may be called only on a processor that has it.
#[derive(Clone, Copy)]
pub(super) struct Passes {
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

/// The fastest loops that this processor has the registers for.
pub(super) fn fastest() -> Passes {
    own::fastest()
}

/// Waits until stores past the caches are where others see them.
#[inline]
pub(super) fn settle() {
    own::settle();
}

/// Sets all words; the compiler makes it one of vectors.
#[inline(always)]
fn fill(words: &[Cell<u64>], value: u64) {
    words.iter().for_each(|word| word.set(value));
}

/// Sets all words, asking for lines ahead in order to write them.
#[inline(always)]
fn fill_ahead(words: &[Cell<u64>], value: u64) {
    for line in words.chunks_exact(LINE_WORDS) {
        own::prefetch_to_write(line.as_ptr().wrapping_add(AHEAD_WORDS).cast());
        line.iter().for_each(|word| word.set(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(words: u64) -> Vec<Cell<u64>> {
        (0..words).map(|word| Cell::new(word * word + 1)).collect()
    }

    /// Words aligned as a region's are.
    fn aligned(room: &[Cell<u64>]) -> &[Cell<u64>] {
        let skipped = room.as_ptr().align_offset(64);
        &room[skipped..skipped + 4 * TURN_WORDS]
    }

    #[test]
    fn every_loop_reaches_every_word() {
        for passes in own::every() {
            let room = counting(5 * TURN_WORDS as u64);
            let words = aligned(&room);
            let wanted = words.iter().fold(0u64, |total, word| total.wrapping_add(word.get()));
            for sum in [passes.sum_near, passes.sum_far] {
                // SAFETY: `every` gives only what this processor has.
                assert_eq!(unsafe { sum(words) }, wanted);
            }
            let other = counting(5 * TURN_WORDS as u64 + 1);
            let copied = aligned(&other);
            copied.iter().for_each(|word| word.set(0));
            // SAFETY: as above.
            unsafe { (passes.copy_streaming)(words, copied) };
            settle();
            assert_eq!(words, copied);
            for (value, fill) in (2..).zip([passes.fill_near, passes.fill_far, passes.fill_streaming]) {
                // SAFETY: as above.
                unsafe { fill(words, value) };
                settle();
                assert!(words.iter().all(|word| word.get() == value));
            }
            // SAFETY: as above.
            unsafe { (passes.clear)(words, 0) };
            assert!(words.iter().all(|word| word.get() == 0));
        }
    }
}
