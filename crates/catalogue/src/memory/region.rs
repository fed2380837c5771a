//! Memory for an operation, in pages of the requested size.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;

use operation::Failure;
use rustix::mm::Advice;

use super::page::frames::FramePages;
use crate::kit::library::madvise;
use crate::kit::{HUGE, Mapping, MemoryKind, huge_bytes, offered_at, withheld};

/// Bytes that fit in 16 pages of 4 KiB: the first-level TLB of any core holds at least 32 pages.
const FEW_PAGES: usize = 64 << 10;

/// Memory that begins at a multiple of 2 MiB. At first it is zero and has no pages.
pub(super) struct Region {
    _mapping: Mapping,
    words: NonNull<Cell<u64>>,
    bytes: usize,
}

impl Region {
    /// `bytes` of memory, not 0. In huge pages, if the kernel gives them.
    pub(super) fn new(bytes: u64, pages: FramePages) -> Result<Region, Failure> {
        let bytes = bytes as usize;
        let advised = bytes.next_multiple_of(HUGE);
        let mapping = Mapping::anonymous(advised + HUGE)?;
        let start = mapping.address().wrapping_byte_add(mapping.first_huge());
        let advice = if pages == FramePages::Huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // A kernel without huge pages rejects either advice. Callers that require huge pages call `in_huge_pages`.
        // SAFETY: the advice lies within the mapping just created and does not change its content.
        let _ = unsafe { madvise(start, advised, advice) };
        let words = NonNull::new(start.cast()).ok_or_else(|| Failure::wrong("memory was mapped at address 0"))?;
        Ok(Region { _mapping: mapping, words, bytes })
    }

    /// Its words, as cells, because a loop and its check share them.
    pub(super) fn words(&self) -> &[Cell<u64>] {
        // SAFETY: the mapping is aligned, zeroed by the kernel, larger than `bytes`, and used by this thread only.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.bytes / size_of::<u64>()) }
    }

    /// Checks that all of it lies in huge pages, after it has been written. A small region may lie in base pages: the TLB
    /// of every processor holds that many. The round is lost if it does not this time; a skip if it never does, or if
    /// that cannot be known.
    pub(super) fn in_huge_pages(&self) -> Result<(), Failure> {
        if self.bytes <= FEW_PAGES {
            return Ok(());
        }
        let huge = huge_bytes(self.place(), MemoryKind::Anonymous)?;
        if huge >= self.bytes {
            return Ok(());
        }
        let reason = format!("the kernel put {} KiB of {} KiB in huge pages", huge >> 10, self.bytes >> 10);
        Err(withheld(reason, offered_at(self.place())))
    }

    /// The same where huge pages are preferred but not required: on a machine that never gives them, base pages will do. On
    /// a machine that does, the rounds must not mix the two. Otherwise the round is lost.
    pub(super) fn in_huge_pages_if_offered(&self) -> Result<(), Failure> {
        match self.in_huge_pages() {
            Err(Failure::Skip { .. }) => Ok(()),
            checked => checked,
        }
    }

    fn place(&self) -> *const c_void {
        self.words.as_ptr().cast_const().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::huge::CONTROL;

    #[test]
    fn a_region_is_zero_writable_and_where_it_should_be() {
        let region = Region::new(12_288, FramePages::Base).expect("memory");
        assert_eq!(region.words().len(), 1536);
        assert!(region.words().iter().all(|word| word.get() == 0));
        region.words()[1535].set(7);
        assert_eq!(region.words()[1535].get(), 7);
        assert_eq!(region.words().as_ptr() as usize % HUGE, 0);
        assert_eq!(region.in_huge_pages(), Ok(()), "so few pages need not be huge");
    }

    #[test]
    fn base_pages_are_never_taken_for_huge_ones() {
        for bytes in [256 << 10, 1 << 20, 8 << 20] {
            let region = Region::new(bytes, FramePages::Base).expect("memory");
            region.words().iter().for_each(|word| word.set(1));
            // It requested base pages. The result is that of a kernel that never receives the request for huge pages.
            assert!(matches!(region.in_huge_pages(), Err(Failure::Skip { .. })), "{bytes}");
            assert_eq!(region.in_huge_pages_if_offered(), Ok(()), "{bytes}");
        }
    }

    /// Untouched memory has no huge pages yet, although it requested them. A kernel short of huge pages gives the same
    /// result.
    #[test]
    fn base_pages_for_once_lose_the_round() {
        let region = Region::new(1 << 20, FramePages::Huge).expect("memory");
        if !offered_at(region.place()) {
            return testing::not_tested!("the kernel gives no huge pages; {CONTROL}");
        }
        for checked in [region.in_huge_pages(), region.in_huge_pages_if_offered()] {
            assert!(matches!(checked, Err(Failure::Wrong(_))), "{checked:?}");
        }
    }
}
