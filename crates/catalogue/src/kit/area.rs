//! Memory between guard pages: mappings that never merge with a neighbour, and slots for such mappings. The kernel merges
//! two adjacent mappings with equal attributes, and splits a mapping of which a part is changed. Either costs more than the
//! call itself, so it must not happen by chance. Does not know what is timed.

use libc::{MAP_ANONYMOUS, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_PRIVATE, MAP_SHARED, PROT_NONE, PROT_READ, PROT_WRITE};
use operation::Failure;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use crate::kit::check::exactly;
use crate::kit::invoke::{Argument, OnePage, Registers, invoke};

/// The page size of most machines. What is made here is a skip on others.
pub(crate) const PAGE: usize = 4096;

const BOTH: i32 = PROT_READ | PROT_WRITE;

/// A range of addresses that nothing may access. Dropping it unmaps it with everything mapped in it.
struct ReservedRange {
    start: usize,
    length: usize,
}

impl ReservedRange {
    fn new(pages: usize) -> Result<ReservedRange, Failure> {
        let size = rustix::param::page_size();
        if size != PAGE {
            let reason = format!("it is measured with pages of 4 KiB, and this kernel's have {} KiB", size / 1024);
            return Err(Failure::skip(reason, "run a kernel with pages of 4 KiB"));
        }
        let (length, kind) = (pages * PAGE, MAP_PRIVATE | MAP_ANONYMOUS);
        // SAFETY: the kernel chooses a free address, so no memory in use is replaced.
        Ok(ReservedRange { start: unsafe { invoke!(mmap, 0, length, PROT_NONE, kind, -1, 0) }?, length })
    }

    #[inline(always)]
    fn page(&self, number: usize) -> usize {
        self.start + number * PAGE
    }

    /// Makes this number of pages, from this one on, readable and writable.
    fn open(&self, first: usize, pages: usize) -> Result<(), Failure> {
        // SAFETY: the pages are in this range, and nothing refers to them.
        exactly(0, unsafe { invoke!(mprotect, self.page(first), pages * PAGE, BOTH) }?)
    }
}

impl Drop for ReservedRange {
    fn drop(&mut self) {
        // SAFETY: the range is this one's own, and nothing refers to it any more.
        let _ = unsafe { invoke!(munmap, self.start, self.length) };
    }
}

/// Writes a byte of a page, in a function that returns, as `Mapping::write` does.
///
/// # Safety
/// The page must be mapped for writing, and no reference may point to it.
#[inline(never)]
unsafe fn write_byte(page: usize) {
    let place = std::ptr::with_exposed_provenance_mut::<u8>(page);
    // SAFETY: the caller guarantees it.
    unsafe { place.write_volatile(1) };
}

/// A page that its area owns: for a call, its address and then its size. No reference points to its content, so that its
/// content and its protection may change. Only an area makes one.
#[derive(Clone, Copy)]
pub(crate) struct Page<'a> {
    address: usize,
    _area: PhantomData<&'a Area>,
}

impl Page<'_> {
    #[inline(always)]
    pub(crate) fn address(self) -> usize {
        self.address
    }
}

// SAFETY: the page is the area's, which is borrowed.
unsafe impl Argument<OnePage> for Page<'_> {
    #[inline(always)]
    fn load(self, registers: &mut Registers) {
        registers.add(self.address);
        registers.add(PAGE);
    }
}

/// Memory of this process. Its pages are numbered.
pub(crate) struct Area {
    guarded: ReservedRange,
    pages: usize,
    /// The distance from one page to the next, in pages.
    stride: usize,
}

impl Area {
    /// This number of pages, untouched, in one mapping.
    pub(crate) fn new(pages: usize) -> Result<Area, Failure> {
        let guarded = ReservedRange::new(pages + 2)?;
        guarded.open(1, pages)?;
        Ok(Area { guarded, pages, stride: 1 })
    }

    /// This number of pages, untouched, each in a separate mapping between guard pages.
    pub(crate) fn separate(pages: usize) -> Result<Area, Failure> {
        let guarded = ReservedRange::new(2 * pages + 1)?;
        (0..pages).try_for_each(|page| guarded.open(2 * page + 1, 1))?;
        Ok(Area { guarded, pages, stride: 2 })
    }

    /// The same, with all pages present.
    pub(crate) fn separate_touched(pages: usize) -> Result<Area, Failure> {
        let area = Area::separate(pages)?;
        (0..pages).for_each(|page| area.touch(page));
        Ok(area)
    }

    /// This number of pages, all present, in one mapping.
    pub(crate) fn touched(pages: usize) -> Result<Area, Failure> {
        let area = Area::new(pages)?;
        (0..pages).for_each(|page| area.touch(page));
        Ok(area)
    }

    /// The first pages of a file, in a shared mapping.
    pub(crate) fn of_file(file: &OwnedFd, pages: usize) -> Result<Area, Failure> {
        let guarded = ReservedRange::new(pages + 2)?;
        let at = guarded.page(1);
        // SAFETY: the pages are the range's own, and nothing refers to them.
        exactly(at, unsafe { invoke!(mmap, at, pages * PAGE, BOTH, MAP_SHARED | MAP_FIXED, file, 0) }?)?;
        Ok(Area { guarded, pages, stride: 1 })
    }

    /// One of its pages. Panics if there are fewer.
    #[inline(always)]
    pub(crate) fn page(&self, number: usize) -> Page<'_> {
        if number >= self.pages {
            outside();
        }
        Page { address: self.guarded.page(1 + number * self.stride), _area: PhantomData }
    }

    /// Writes a byte of a page.
    #[inline(always)]
    pub(crate) fn touch(&self, page: usize) {
        // SAFETY: the page belongs to this area, and no reference points to it. If it was protected against writing, the
        // process ends here.
        unsafe { write_byte(self.page(page).address) };
    }
}

/// Slots of one page each between guard pages, in which nothing is mapped at first.
pub(crate) struct Slots(ReservedRange);

impl Slots {
    pub(crate) fn new(places: usize) -> Result<Slots, Failure> {
        let guarded = ReservedRange::new(2 * places + 1)?;
        let places = Slots(guarded);
        let count = places.count();
        (0..count).try_for_each(|place| places.unmap(place))?;
        Ok(places)
    }

    fn count(&self) -> usize {
        self.0.length / PAGE / 2
    }

    /// The address of a slot. Panics if there are fewer.
    #[inline(always)]
    fn slot(&self, place: usize) -> usize {
        if place >= self.count() {
            outside();
        }
        self.0.page(2 * place + 1)
    }

    #[inline(always)]
    pub(crate) fn map(&self, place: usize) -> Result<(), Failure> {
        let (at, kind) = (self.slot(place), MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE);
        // SAFETY: it replaces no other mapping.
        exactly(at, unsafe { invoke!(mmap, at, PAGE, BOTH, kind, -1, 0) }?)
    }

    #[inline(always)]
    pub(crate) fn unmap(&self, place: usize) -> Result<(), Failure> {
        // SAFETY: the slot is this one's own, and nothing refers to its page.
        exactly(0, unsafe { invoke!(munmap, self.slot(place), PAGE) }?)
    }

    /// Maps all slots and the pages between them as one mapping, which replaces the guard pages.
    pub(crate) fn map_all(&self) -> Result<(), Failure> {
        let (at, kind) = (self.0.start, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
        // SAFETY: the range is this one's own, and nothing refers to it.
        exactly(at, unsafe { invoke!(mmap, at, self.0.length, PROT_NONE, kind, -1, 0) }?)?;
        self.0.open(1, 2 * self.count() - 1)
    }

    /// Writes a byte of the page in this slot.
    ///
    /// # Safety
    /// The page must be mapped.
    #[inline(always)]
    pub(crate) unsafe fn touch(&self, place: usize) {
        // SAFETY: the caller guarantees that the page is mapped; no reference points to it.
        unsafe { write_byte(self.slot(place)) };
    }
}

/// A page where the kernel chose: below the latest mapping, with which it merges. Dropping it unmaps it.
pub(crate) struct Anywhere(pub(crate) usize);

impl Anywhere {
    #[inline(always)]
    pub(crate) fn map() -> Result<Anywhere, Failure> {
        // SAFETY: the kernel chooses a free address, so no memory in use is replaced.
        Ok(Anywhere(unsafe { invoke!(mmap, 0, PAGE, BOTH, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) }?))
    }
}

impl Drop for Anywhere {
    fn drop(&mut self) {
        // SAFETY: the page is this one's, and nothing refers to it.
        let _ = unsafe { invoke!(munmap, self.0, PAGE) };
    }
}

/// Without the number, so that the caller, which is timed, need not keep it.
#[cold]
fn outside() -> ! {
    panic!("there is no such page")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of mappings of this process that lie within these addresses, completely or in part.
    fn mappings(start: usize, length: usize) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the kernel lists mappings");
        let range = |line: &str| {
            let (from, rest) = line.split_once('-')?;
            let to = rest.split(' ').next()?;
            Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
        };
        let within = |&(from, to): &(usize, usize)| from < start + length && to > start;
        maps.lines().filter_map(range).filter(within).count()
    }

    #[test]
    fn pages_between_guards_are_mappings_of_their_own() {
        let places = Slots::new(8).expect("places");
        let (start, length) = (places.0.start, places.0.length);
        assert_eq!(mappings(start, length), 9, "the guard pages");
        (0..8).for_each(|place| places.map(place).expect("a page"));
        assert_eq!(mappings(start, length), 17, "each page is a mapping of its own");
        (0..8).for_each(|place| places.unmap(place).expect("a page less"));
        assert_eq!(mappings(start, length), 9, "each was taken as a whole");
        places.map_all().expect("one mapping");
        assert_eq!(mappings(start, length), 3, "one mapping between two guards");
        places.unmap(3).expect("a hole");
        assert_eq!(mappings(start, length), 4, "a page taken from the middle splits it");
    }

    #[test]
    fn areas_have_the_mappings_they_name() {
        let count = |area: &Area| mappings(area.guarded.start, area.guarded.length);
        assert_eq!(count(&Area::touched(5).expect("an area")), 3);
        assert_eq!(count(&Area::separate_touched(5).expect("an area")), 11);
    }

    #[test]
    fn pages_mapped_anywhere_merge() {
        // Gaps left by others are filled first.
        let pages: Vec<Anywhere> = (0..64).map(|_| Anywhere::map().expect("a page")).collect();
        let below = |pair: &[Anywhere]| pair[0].0 == pair[1].0 + PAGE;
        let touching = pages.windows(2).filter(|pair| below(pair)).count();
        assert!(touching > 32, "{touching} of 63 pages lie below the one before");
        let first = pages.windows(2).position(below).expect("two neighbours");
        assert_eq!(mappings(pages[first + 1].0, 2 * PAGE), 1, "two neighbours are one mapping");
        let (last, before) = (pages[63].0, mappings(pages[63].0, PAGE));
        drop(pages);
        assert_eq!((before, mappings(last, PAGE)), (1, 0));
    }

    #[test]
    fn mappings_are_lengthened_beside_guards_or_beside_their_like() {
        for (pages, apart) in [(2, 0), (3, 1)] {
            let area = Area::new(pages).expect("an area");
            let count = || mappings(area.guarded.start, area.guarded.length);
            assert_eq!(count(), 3);
            let start = area.page(0).address();
            // SAFETY: both pages are the area's, and nothing refers to the second.
            let shorter = unsafe { invoke!(mremap, start, 2 * PAGE, PAGE, 0) };
            exactly(start, shorter.expect("shorter")).expect("in place");
            assert_eq!(count(), 3 + apart, "only beside its like it is split in two");
            // SAFETY: the second page is free.
            let longer = unsafe { invoke!(mremap, start, PAGE, 2 * PAGE, 0) };
            exactly(start, longer.expect("longer")).expect("in place");
            assert_eq!(count(), 3);
        }
    }
}
