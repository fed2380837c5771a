//! Memory of the operation's own, in pages of the size asked for.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use operation::Failure;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::kit::huge::{Kind, huge_bytes, offered_at, withheld};

/// What a huge page holds on x86-64 and on aarch64 with base pages of 4 KiB.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes that lie in 16 pages of 4 KiB at most: the least that the first table of translations of any core holds is 32.
const FEW_PAGES: usize = 64 << 10;

/// The pages a region is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// Huge ones, if the kernel gives them.
    Huge,
    /// Base pages only.
    Base,
}

/// Memory that begins at a multiple of 2 MiB; it is zero and not yet in memory at first.
#[derive(Debug)]
pub(super) struct Region {
    mapping: NonNull<c_void>,
    mapped: usize,
    words: NonNull<Cell<u64>>,
    bytes: usize,
}

impl Region {
    /// `bytes` of memory, not 0.
    pub(super) fn new(bytes: u64, pages: Pages) -> Result<Region, Failure> {
        let bytes = bytes as usize;
        let advised = bytes.next_multiple_of(HUGE_PAGE);
        let mapped = advised + HUGE_PAGE;
        // SAFETY: the kernel chooses the place, so that the mapping replaces nothing.
        let mapping =
            unsafe { mmap_anonymous(ptr::null_mut(), mapped, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) }?;
        let start = mapping.wrapping_byte_add(mapping.align_offset(HUGE_PAGE));
        let advice = if pages == Pages::Huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // A kernel without huge pages refuses either advice; who insists on huge pages asks `in_huge_pages`.
        // SAFETY: the advice lies within the mapping just made and does not change what it holds.
        let _ = unsafe { madvise(start, advised, advice) };
        let nowhere = || Failure::wrong("memory was mapped at address 0");
        let words = NonNull::new(start.cast::<Cell<u64>>()).ok_or_else(nowhere)?;
        Ok(Region { mapping: NonNull::new(mapping).ok_or_else(nowhere)?, mapped, words, bytes })
    }

    /// Its words; cells, because a loop and its check share them.
    pub(super) fn words(&self) -> &[Cell<u64>] {
        // SAFETY: the mapping is ours, aligned, zeroed by the kernel, larger than `bytes`, and of this thread only.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.bytes / size_of::<u64>()) }
    }

    /// Checks that all of it lies in huge pages, once it has been written. A small one may lie in base pages: every
    /// processor has the translations of so few at hand.
    ///
    /// # Errors
    /// The loss of the round where it does not this time; a skip where it never does, or where that cannot be known.
    pub(super) fn in_huge_pages(&self) -> Result<(), Failure> {
        if self.bytes <= FEW_PAGES {
            return Ok(());
        }
        let huge = huge_bytes(self.place(), Kind::Anonymous)?;
        if huge >= self.bytes { Ok(()) } else { Err(self.without(huge)) }
    }

    /// The same where huge pages are better but not what is asked for: on a machine that never gives them, base pages
    /// will do. One that does must not measure now the one and now the other.
    ///
    /// # Errors
    /// The loss of the round.
    pub(super) fn in_huge_pages_if_offered(&self) -> Result<(), Failure> {
        match self.in_huge_pages() {
            Err(Failure::Skip { .. }) => Ok(()),
            checked => checked,
        }
    }

    /// Why only so much of it is in huge pages.
    fn without(&self, huge: usize) -> Failure {
        let reason = format!("the kernel put {} KiB of {} KiB in huge pages", huge >> 10, self.bytes >> 10);
        withheld(reason, offered_at(self.place()))
    }

    fn place(&self) -> *const c_void {
        self.words.as_ptr().cast_const().cast()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference into it outlives the region.
        let _ = unsafe { munmap(self.mapping.as_ptr(), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::huge::CONTROL;

    #[test]
    fn a_region_is_zero_writable_and_where_it_should_be() {
        let region = Region::new(12_288, Pages::Base).expect("memory");
        assert_eq!(region.words().len(), 1536);
        assert!(region.words().iter().all(|word| word.get() == 0));
        region.words()[1535].set(7);
        assert_eq!(region.words()[1535].get(), 7);
        assert_eq!(region.words().as_ptr() as usize % HUGE_PAGE, 0);
        assert_eq!(region.in_huge_pages(), Ok(()), "so few pages need not be huge");
    }

    #[test]
    fn base_pages_are_never_taken_for_huge_ones() {
        for bytes in [256 << 10, 1 << 20, 8 << 20] {
            let region = Region::new(bytes, Pages::Base).expect("memory");
            region.words().iter().for_each(|word| word.set(1));
            // It was advised to have base pages: as where the advice on huge ones reaches no kernel.
            assert!(matches!(region.in_huge_pages(), Err(Failure::Skip { .. })), "{bytes}");
            assert_eq!(region.in_huge_pages_if_offered(), Ok(()), "{bytes}");
        }
    }

    /// Untouched memory has no huge pages yet, though it is to have some: what a kernel short of them leaves.
    #[test]
    fn base_pages_for_once_lose_the_round() {
        let region = Region::new(1 << 20, Pages::Huge).expect("memory");
        if !offered_at(region.place()) {
            return testing::not_tested!("the kernel gives no huge pages; {CONTROL}");
        }
        for checked in [region.in_huge_pages(), region.in_huge_pages_if_offered()] {
            assert!(matches!(checked, Err(Failure::Wrong(_))), "{checked:?}");
        }
    }
}
