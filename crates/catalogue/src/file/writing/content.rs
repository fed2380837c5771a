//! The written data: all words of a file differ, and differ from what the pass before left in the same place, so that a
//! missed, repeated or unchanged record is detected.

use crate::file::reading::sum::word;
use crate::kit::Block;

/// An odd number without pattern, different from the one between the words of a record: 2^64 over the square root of two.
const STEP: u64 = 0xB504_F333_F9DE_6485;

/// A record, computed in place from the one before it with one addition per word.
pub(crate) struct Content {
    block: Block,
    number: u64,
}

impl Content {
    /// The record with number 0, with this number of bytes.
    pub fn new(length: usize) -> Content {
        let mut block = Block::new(length.next_multiple_of(8));
        let words = block.bytes().as_chunks_mut::<8>().0;
        words.iter_mut().zip(0..).for_each(|(bytes, place)| *bytes = word(place).to_ne_bytes());
        Content { block, number: 0 }
    }

    #[inline]
    pub fn record(&mut self, number: u64) -> &mut [u8] {
        let more = number.wrapping_sub(self.number).wrapping_mul(STEP);
        self.number = number;
        let bytes = self.block.bytes();
        add(bytes, more);
        bytes
    }

    /// The latest record.
    pub fn made(&self) -> &[u8] {
        &self.block
    }
}

/// Adds to every word, as fast as the processor's vector instructions allow.
#[inline]
fn add(bytes: &mut [u8], more: u64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature that the routine was compiled for.
        return unsafe { add_by_wide_vectors(bytes, more) };
    }
    add_to_words(bytes, more);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_by_wide_vectors(bytes: &mut [u8], more: u64) {
    add_to_words(bytes, more);
}

#[inline(always)]
fn add_to_words(bytes: &mut [u8], more: u64) {
    for word in bytes.as_chunks_mut::<8>().0 {
        *word = u64::from_ne_bytes(*word).wrapping_add(more).to_ne_bytes();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_record_depends_on_its_number_alone() {
        let (mut one, mut other) = (Content::new(80), Content::new(80));
        one.record(7);
        one.record(2);
        assert_eq!(one.record(5), other.record(5));
        assert_ne!(one.record(6), other.record(5));
    }

    #[test]
    fn no_two_words_of_many_records_are_alike() {
        let mut content = Content::new(4096);
        let mut words = BTreeSet::new();
        for number in 0..64 {
            words.extend(content.record(number).as_chunks::<8>().0.iter().copied());
        }
        assert_eq!(words.len(), 64 * 512);
    }
}
