//! The loops that pass over a piece of memory, compiled for the vector registers of this processor. Which one is fastest
//! depends on how far away the memory is; docs/METHOD.md says how much it matters.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod shape;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as own;
#[cfg(target_arch = "x86_64")]
use x86_64 as own;

pub(super) use own::{clears_by_block, fastest, settle};
pub(super) use shape::{Copying, Fill, Sum, TURN_WORDS};

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn counting(words: u64) -> Vec<Cell<u64>> {
        (0..words).map(|word| Cell::new(word * word + 1)).collect()
    }

    /// Words with the alignment of a region.
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
            for sum in [passes.sum_near].into_iter().chain(passes.sums_far) {
                // SAFETY: `every` returns only what this processor has.
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
