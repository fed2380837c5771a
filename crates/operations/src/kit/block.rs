//! Room for what is copied. Where a block lies in its page is worth a third of the time of a copy of 4 KiB, and what an
//! allocation returns differs from build to build and from round to round: every block here lies where it is said to.

use std::ops::{Deref, DerefMut};

use operation::Failure;
use rustix::mm::madvise;
use rustix::param::page_size;

use crate::kit::huge::{HUGE, Kind, huge_bytes, offered_at, withheld};

/// Bytes that begin at a page's beginning, as direct reads demand and as the blocks of the page cache do, or so many bytes
/// behind it. In a forked process they have the same address.
pub struct Block {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
    offset: usize,
}

impl Block {
    /// At a page's beginning, every byte 1: written, so that its own first touches are not the first iteration's.
    pub fn new(length: usize) -> Block {
        Block::behind(0, length)
    }

    /// `offset` bytes, less than a page, behind a page's beginning.
    pub(crate) fn behind(offset: usize, length: usize) -> Block {
        let page = page_size();
        let bytes = vec![1; offset % page + length + page];
        let start = bytes.as_ptr().align_offset(page) + offset % page;
        Block { bytes, start, length, offset }
    }

    /// At a page's beginning, every byte the same.
    pub(crate) fn of(byte: u8, length: usize) -> Block {
        let mut block = Block::new(length);
        block.fill(byte);
        block
    }

    /// The same in huge pages, whose bytes lie in one piece for a device too.
    ///
    /// # Errors
    /// A skip where the kernel gives none.
    pub(crate) fn huge(length: usize) -> Result<Block, Failure> {
        let whole = length.next_multiple_of(HUGE);
        let mut bytes: Vec<u8> = Vec::with_capacity(whole + HUGE);
        let start = bytes.as_ptr().align_offset(HUGE);
        let place = bytes.as_mut_ptr().wrapping_add(start);
        // SAFETY: the range lies in the list's own memory; the advice changes nothing in it.
        unsafe { madvise(place.cast(), whole, rustix::mm::Advice::LinuxHugepage) }?;
        bytes.resize(start + whole, 1);
        match huge_bytes(place.cast(), Kind::Anonymous)? {
            got if got >= whole => Ok(Block { bytes, start, length, offset: 0 }),
            _ => Err(withheld("the kernel gives this process no huge pages", offered_at(place.cast()))),
        }
    }

    /// All of it, to be written.
    #[inline(always)]
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

impl Deref for Block {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl DerefMut for Block {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes()
    }
}

/// Another place that lies alike in its page and holds the same.
impl Clone for Block {
    fn clone(&self) -> Block {
        let mut copy = Block::behind(self.offset, self.length);
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocations of other sizes before it move what the allocator gives next.
    #[test]
    fn a_block_lies_where_it_is_said_to_whatever_was_allocated_before() {
        let mut kept = Vec::new();
        for odd in 0..100 {
            kept.push(vec![0_u8; 17 * odd + 1]);
            for (offset, length) in [(0, 26), (16, 512), (1, 4096), (0, 65536), (page_size() - 8, 34)] {
                let mut block = Block::behind(offset, length);
                let copy = block.clone();
                for block in [&block, &copy] {
                    assert_eq!((block.as_ptr() as usize % page_size(), block.len()), (offset, length));
                }
                assert_eq!(*block, *copy);
                assert_ne!(block.as_ptr(), copy.as_ptr());
                block.fill(7);
                assert!(block.iter().all(|byte| *byte == 7) && copy.iter().all(|byte| *byte == 1));
            }
        }
    }
}
