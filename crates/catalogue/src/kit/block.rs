//! Buffers for copied data, at a defined place within the page. This place changes the time of a 4 KiB copy by up to a
//! third, and the address that an allocator returns differs between builds and between rounds.

use std::ops::{Deref, DerefMut};

use operation::Failure;
use rustix::param::page_size;

use crate::kit::huge::{HUGE, MemoryKind, huge_bytes, offered_at, withheld};
use crate::kit::library::madvise;

/// Bytes that begin at a page boundary, as direct reads require and as page cache blocks do, or at a given offset behind
/// one. Forked processes see them at the same address.
pub struct Block {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Block {
    /// Begins at a page boundary, filled with ones. Writing it here keeps its page faults out of the first iteration.
    pub fn new(length: usize) -> Block {
        Block::behind(0, length)
    }

    /// Begins `offset` bytes behind a page boundary. `offset` is less than a page.
    pub(crate) fn behind(offset: usize, length: usize) -> Block {
        let page = page_size();
        let bytes = vec![1; offset + length + page];
        let start = bytes.as_ptr().align_offset(page) + offset;
        Block { bytes, start, length }
    }

    /// Begins at a page boundary, filled with one value.
    pub(crate) fn of(byte: u8, length: usize) -> Block {
        let mut block = Block::new(length);
        block.fill(byte);
        block
    }

    /// The same in huge pages, which are physically contiguous for a device too. Skips where the kernel
    /// gives none.
    pub(crate) fn huge(length: usize) -> Result<Block, Failure> {
        let whole = length.next_multiple_of(HUGE);
        let mut bytes: Vec<u8> = Vec::with_capacity(whole + HUGE);
        let start = bytes.as_ptr().align_offset(HUGE);
        let place = bytes.as_mut_ptr().wrapping_add(start);
        // SAFETY: the range lies in the list's own memory; the advice changes nothing in it.
        unsafe { madvise(place.cast(), whole, rustix::mm::Advice::LinuxHugepage) }?;
        bytes.resize(start + whole, 1);
        match huge_bytes(place.cast(), MemoryKind::Anonymous)? {
            got if got >= whole => Ok(Block { bytes, start, length }),
            _ => Err(withheld("the kernel gives this process no huge pages", offered_at(place.cast()))),
        }
    }

    /// The whole buffer, to be written.
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

/// A copy of this buffer at the same offset within its page.
impl Clone for Block {
    fn clone(&self) -> Block {
        let mut copy = Block::behind(self.as_ptr().addr() % page_size(), self.length);
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocations of other sizes before it change what the allocator returns next.
    #[test]
    fn a_block_lies_where_it_should_whatever_was_allocated_before() {
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
