//! The family `touch`: touching newly allocated memory by page size, touching it again, and allocating memory that is never
//! touched. The cost of one page fault is in the family `page`; here whole arrays are passed over.

use std::cell::RefCell;

use operation::Value::Number;
use operation::{Axis, Failure, Loop, Operation, TermOf, repeat, term, word, words};
use rustix::io::Errno;
use rustix::param::page_size;

use crate::kit::{BASE, Gap, HUGE, Mapping, base_pages_only, handles, huge_pages, this_time};
use crate::memory::page::faults::{FaultCounter, STRAY};
use crate::memory::page::frames::{FRAMES, FramePages, GivenPages, Supply};

/// Base pages; transparent huge pages, which the kernel creates on request; huge pages reserved by an administrator
/// (hugetlb).
const PAGES: Axis = word("pages", words!["base", "huge", "hugetlb"]);

/// The distance in bytes between two touches, whatever the page size: costs of all sizes are for the same memory.
const STEP: usize = 4 << 10;

/// Touches in one iteration, which covers one [`HUGE`].
const TOUCHES: u64 = (HUGE / STEP) as u64;

/// Iterations that cover the whole array: 32 MiB.
const STRETCHES: u64 = 16;

/// The same if nothing is freed: one pass lasts longer than a batch.
const FRESH_STRETCHES: u64 = 4;

/// The array that is never touched.
const UNTOUCHED: usize = 1 << 30;

/// The loop is part of the operation, and its own instructions overlap with the touches.
const OWN_LOOP: &[TermOf] = &[];

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.named(
        "touch.first",
        "write one byte in the next 4 KiB of a new array, for the first time, in frames of new memory or in \
            those that the last array gave back",
    )
    .version(2)
    .per("4 KiB")
    .axes(&[PAGES, FRAMES])
    // Reserved pages are reused: what one array frees is what the next one gets.
    .has_point(|point| point.word("pages") != Some("hugetlb") || point.word("frames") == Some("recycled"))
    // Clearing a whole huge page goes beyond the core's private caches.
    .follows_clock(|_| false)
    .moves(|_| STEP as u64)
    .terms(OWN_LOOP)
    .prepare(|setting| match setting.word("frames")? {
        "fresh" => fresh(Pages::of(setting.word("pages")?)),
        _ => first(Pages::of(setting.word("pages")?)),
    }),
    BASE.named("touch.second", "write one byte in the next 4 KiB of an array of 32 MiB that has all its pages")
        .per("4 KiB")
        .axes(&[PAGES])
        .moves(|_| STEP as u64)
        .terms(OWN_LOOP)
        .prepare(|setting| second(Pages::of(setting.word("pages")?))),
    BASE.named("touch.never", "allocate an array of 1 GiB and free it again, untouched")
        .per("pair")
        .version(2)
        .explained_by(&[term(1.0, "page.map.unmap").at(&[("size", Number(4 << 10))])])
        .prepare(|_| {
            let gap = match Gap::of(UNTOUCHED) {
                Err(Failure::Errno { errno: libc::ENOMEM }) => Err(Failure::skip(
                    "this system refuses to allocate 1 GiB of memory",
                    "as root: echo 0 > /proc/sys/vm/overcommit_memory, or raise the limit on address space",
                )),
                gap => gap,
            }?;
            Ok(repeat(move || gap.map()?.unmap()))
        }),
];

/// What an array consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pages {
    Base,
    Huge,
    SetAside,
}

impl Pages {
    fn of(word: &str) -> Pages {
        match word {
            "huge" => Pages::Huge,
            "hugetlb" => Pages::SetAside,
            _ => Pages::Base,
        }
    }

    /// Faults that the first touches of one iteration take.
    fn faults(self) -> u64 {
        if self == Pages::Base { (HUGE / page_size()) as u64 } else { 1 }
    }
}

/// An array of [`STRETCHES`], not yet touched.
struct Array {
    mapping: Mapping,
    first: usize,
}

impl Array {
    fn new(pages: Pages) -> Result<Array, Failure> {
        let length = STRETCHES as usize * HUGE;
        let mapping = match pages {
            Pages::SetAside => Mapping::set_aside(length).map_err(not_set_aside)?,
            _ => Mapping::anonymous(length + HUGE)?,
        };
        match pages {
            Pages::Base => base_pages_only(&mapping)?,
            Pages::Huge => huge_pages(&mapping)?,
            Pages::SetAside => {}
        }
        let first = mapping.first_huge();
        Ok(Array { mapping, first })
    }

    #[inline(always)]
    fn touch(&self, stretch: u64) {
        touch(self.first + stretch as usize * HUGE, |place| self.mapping.write(place));
    }

    #[inline(always)]
    fn touch_again(&self, stretch: u64) {
        touch(self.first + stretch as usize * HUGE, |place| self.mapping.write_inline(place));
    }
}

/// Touches every 4 KiB of the stretch that begins here. Each touch is at another place within its page; the same place in
/// every page would use only a few cache sets.
#[inline(always)]
fn touch(start: usize, write: impl Fn(usize)) {
    (0..HUGE / STEP).for_each(|page| write(start + page * STEP + page % 64 * 64));
}

/// Why there are no reserved pages, if there are none.
fn not_set_aside(failure: Failure) -> Failure {
    const NONE: [Errno; 4] = [Errno::NOMEM, Errno::NOSYS, Errno::INVAL, Errno::OPNOTSUPP];
    if NONE.iter().all(|errno| failure != Failure::from(*errno)) {
        return failure;
    }
    Failure::skip(
        format!("fewer than {STRETCHES} huge pages of 2 MiB are reserved here (hugetlb)"),
        format!("as root: echo {STRETCHES} > /proc/sys/vm/nr_hugepages"),
    )
}

/// The loop that touches an array before which nothing was freed.
fn fresh(pages: Pages) -> Result<Loop, Failure> {
    let frame_pages = if pages == Pages::Base { FramePages::Base } else { FramePages::Huge };
    let [supply, taken] = handles(RefCell::new(Supply::new(frame_pages)?));
    let given = GivenPages::default();
    let judge = given.clone();
    let faults = FaultCounter::default();
    let counted = faults.clone();
    let mut touching = Loop::new(move |times| {
        let supply = supply.borrow();
        (0..times as usize).for_each(|stretch| touch(stretch * HUGE, |place| supply.write(place)));
        Ok(())
    })
    .unrolled(TOUCHES)
    .at_most(FRESH_STRETCHES)
    .before(move |times| {
        taken.borrow_mut().take(times as usize * HUGE)?;
        faults.start()
    })
    .verify(move |times| judge.judged(held_to(pages, &counted, times)));
    given.first(&mut touching).map_err(|failure| judged(pages, failure))?;
    Ok(touching)
}

/// The loop that touches an array that is new in every batch, after the previous one was freed.
fn first(pages: Pages) -> Result<Loop, Failure> {
    let [array, renewed] = handles(RefCell::new(Array::new(pages)?));
    let faults = FaultCounter::default();
    let counted = faults.clone();
    let mut touching = Loop::new(move |times| {
        let array = array.borrow();
        (0..times).for_each(|stretch| array.touch(stretch));
        Ok(())
    })
    .unrolled(TOUCHES)
    .at_most(STRETCHES)
    .before(move |_| {
        // The old array is freed first, because reserved pages may be enough for only one.
        let mut place = renewed.borrow_mut();
        place.mapping = Mapping::anonymous(HUGE)?;
        *place = Array::new(pages)?;
        faults.start()
    })
    .verify(move |times| held_to(pages, &counted, times).map_err(|failure| judged(pages, failure)));
    touching.perform(STRETCHES)?;
    Ok(touching)
}

/// A failure while huge pages are set up may not occur in the next round.
fn judged(pages: Pages, failure: Failure) -> Failure {
    if pages == Pages::Huge { this_time(failure) } else { failure }
}

/// Fails unless the first touches took the number of faults that this page size takes.
fn held_to(pages: Pages, faults: &FaultCounter, times: u64) -> Result<(), Failure> {
    let result = faults.check(times * pages.faults());
    match result {
        Err(Failure::Wrong(_)) if pages == Pages::Huge => Err(Failure::skip(
            "the kernel gave base pages instead of huge pages",
            "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, and free memory of at least 1 GiB",
        )),
        result => result,
    }
}

/// The loop that touches an array whose pages are present, stretch by stretch, in a cycle.
fn second(pages: Pages) -> Result<Loop, Failure> {
    let array = Array::new(pages)?;
    let faults = FaultCounter::default();
    faults.start()?;
    (0..STRETCHES).for_each(|stretch| array.touch(stretch));
    held_to(pages, &faults, STRETCHES).map_err(|failure| judged(pages, failure))?;
    let counted = faults.clone();
    let mut next = 0;
    Ok(Loop::new(move |times| {
        for _ in 0..times {
            array.touch_again(next);
            next = (next + 1) % STRETCHES;
        }
        Ok(())
    })
    .unrolled(TOUCHES)
    .before(move |_| faults.start())
    .verify(move |times| match counted.taken() {
        // One fault per thousand touches may be a stray one: new code, or memory of the statistics.
        taken if taken <= STRAY.max(times * TOUCHES / 1000) => Ok(()),
        taken => Err(Failure::wrong(format!("{times} passes over touched memory took {taken} page faults"))),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_touched_for_the_first_time_and_again() {
        OPERATIONS.iter().for_each(crate::kit::trial::perform_again_if_wrong);
    }

    #[test]
    fn base_pages_are_distinguished_from_huge_ones_by_their_faults() {
        let array = Array::new(Pages::Base).expect("memory");
        let faults = FaultCounter::default();
        faults.start().expect("a count");
        array.touch(0);
        assert_eq!(held_to(Pages::Base, &faults, 1), Ok(()));
        assert!(matches!(held_to(Pages::Huge, &faults, 1), Err(Failure::Skip { .. })));
        assert!(matches!(held_to(Pages::SetAside, &faults, 1), Err(Failure::Wrong(_))));
    }

    #[test]
    fn what_is_not_set_aside_is_a_skip_with_its_remedy_and_nothing_else_is() {
        let Failure::Skip { remedy, .. } = not_set_aside(Errno::NOMEM.into()) else { panic!("it is not skipped") };
        assert!(remedy.contains("nr_hugepages"));
        assert_eq!(not_set_aside(Errno::BADF.into()), Errno::BADF.into());
    }
}
