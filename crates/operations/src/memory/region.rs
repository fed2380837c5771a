//! Memory of the operation's own, in pages of the size asked for.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use measure::Failure;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// What a huge page holds on x86-64 and on aarch64 with base pages of 4 KiB.
const HUGE_PAGE: usize = 2 << 20;

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

    /// Checks that all of it lies in huge pages, once it has been written.
    ///
    /// # Errors
    /// A skip where it does not, or where that cannot be known.
    pub(super) fn in_huge_pages(&self) -> Result<(), Failure> {
        let maps = std::fs::read_to_string("/proc/self/smaps").map_err(|error| {
            Failure::skip(
                format!("cannot see whether memory is in huge pages: /proc/self/smaps: {error}"),
                "mount /proc",
            )
        })?;
        let huge = huge_bytes(&maps, self.words.as_ptr() as usize);
        if huge >= self.bytes {
            return Ok(());
        }
        Err(Failure::skip(
            format!("the kernel put {} KiB of {} KiB in huge pages", huge >> 10, self.bytes >> 10),
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, and enough unfragmented memory",
        ))
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference into it outlives the region.
        let _ = unsafe { munmap(self.mapping.as_ptr(), self.mapped) };
    }
}

/// The bytes in huge pages of the mapping that holds `address`, by the text of `/proc/self/smaps`; 0 if it says none.
fn huge_bytes(maps: &str, address: usize) -> usize {
    let mut ours = false;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let Some(first) = fields.next() else { continue };
        if let Some((start, end)) = first.split_once('-') {
            if let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16)) {
                ours = (start..end).contains(&address);
            }
        } else if ours && first == "AnonHugePages:" {
            return fields.next().and_then(|kib| kib.parse::<usize>().ok()).map_or(0, |kib| kib << 10);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_zero_writable_and_where_it_should_be() {
        let region = Region::new(12_288, Pages::Base).expect("memory");
        assert_eq!(region.words().len(), 1536);
        assert!(region.words().iter().all(|word| word.get() == 0));
        region.words()[1535].set(7);
        assert_eq!(region.words()[1535].get(), 7);
        assert_eq!(region.words().as_ptr() as usize % HUGE_PAGE, 0);
        assert!(matches!(region.in_huge_pages(), Err(Failure::Skip { .. })));
    }

    #[test]
    fn huge_pages_are_read_from_the_mapping_that_holds_the_address() {
        let maps = "1000-2000 rw-p 00000000 00:00 0\nSize: 4 kB\nAnonHugePages:         0 kB\n\
                    200000-a00000 rw-p 00000000 00:00 0 \nRss: 8192 kB\nAnonHugePages:      6144 kB\n\
                    a00000-b00000 rw-p 00000000 00:00 0\nAnonHugePages:      2048 kB\n";
        assert_eq!(huge_bytes(maps, 0x20_0000), 6 << 20);
        assert_eq!(huge_bytes(maps, 0x9f_ffff), 6 << 20);
        assert_eq!(huge_bytes(maps, 0x1000), 0);
        assert_eq!(huge_bytes(maps, 0xb0_0000), 0);
        assert_eq!(huge_bytes("", 0x1000), 0);
    }
}
