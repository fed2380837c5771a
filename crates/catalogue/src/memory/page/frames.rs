//! Where the frame of a fault comes from. A program's new memory consists of frames that were not touched for long, and the
//! kernel clears them in memory beyond the core's private caches. Frames that were just freed are the next that the kernel
//! hands out. They are still in these caches, which saves a third to a half of the cost.

use std::cell::Cell;
use std::rc::Rc;

use operation::Value::Word;
use operation::{Axis, Failure, Loop, word, words};
use rustix::param::page_size;

use crate::kit::{HUGE, Mapping, base_pages_only, ensure, huge_pages};

/// Frames of new memory, or frames that the batch before freed.
pub(crate) const FRAMES: Axis = word("frames", words!["fresh", "recycled"]).headline(words!["fresh"]);

/// The point whose frames were in use a moment ago.
pub(crate) const RECYCLED: &[(&str, operation::Value<&str>)] = &[("frames", Word("recycled"))];

/// The bytes of a supply, if memory allows: the batches of a round seldom use more.
const SUPPLY: usize = 128 << 20;

/// The smallest usable supply.
const LEAST: usize = ASIDE + (16 << 20);

/// The bytes that are touched first and that no batch uses: they absorb the frames that ended rounds have just freed, which
/// are handed out before all others. Eight times the size of a core's private caches. With 64 and with 256 MiB the faults
/// cost the same.
const ASIDE: usize = 16 << 20;

/// The pages that memory is to consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramePages {
    Base,
    Huge,
}

/// New memory. Every batch takes a stretch of it, and nothing is freed meanwhile. When it is used up, all of it is freed at
/// once, between two batches, and the next supply begins by setting frames aside again.
pub(crate) struct Supply {
    pages: FramePages,
    mapping: Mapping,
    /// The beginning of the batch's stretch, and of the next one.
    start: usize,
    next: usize,
    end: usize,
}

impl Supply {
    /// A skip if there is too little memory, or if the kernel has no huge pages.
    pub(crate) fn new(pages: FramePages) -> Result<Supply, Failure> {
        Supply::of(pages, room()?)
    }

    fn of(pages: FramePages, bytes: usize) -> Result<Supply, Failure> {
        let mapping = Mapping::anonymous(bytes + HUGE)?;
        match pages {
            FramePages::Base => base_pages_only(&mapping)?,
            FramePages::Huge => huge_pages(&mapping)?,
        }
        let first = mapping.first_huge();
        let step = if pages == FramePages::Base { page_size() } else { HUGE };
        (first..first + ASIDE).step_by(step).for_each(|offset| mapping.write(offset));
        let next = first + ASIDE;
        Ok(Supply { pages, mapping, start: next, next, end: first + bytes })
    }

    /// Moves on to a stretch of this number of bytes that were never touched. Fails if a batch requests more than the
    /// supply holds.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Failure> {
        if self.next + bytes > self.end {
            // The old supply is freed first, because there may be memory for only one.
            self.mapping = Mapping::anonymous(HUGE)?;
            *self = Supply::new(self.pages)?;
        }
        ensure(self.next + bytes <= self.end, || format!("a batch wants {bytes} bytes of new memory at once"))?;
        (self.start, self.next) = (self.next, self.next + bytes);
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn write(&self, offset: usize) {
        self.mapping.write(self.start + offset);
    }

    #[inline(always)]
    pub(crate) fn read(&self, offset: usize) {
        self.mapping.read(self.start + offset);
    }
}

/// True once the kernel has given pages of the requested size. Before that, base pages instead of huge ones are a skip.
/// After it they cost a round, because memory that is fragmented now may be defragmented later.
#[derive(Clone, Default)]
pub(crate) struct GivenPages(Rc<Cell<bool>>);

impl GivenPages {
    /// The first touches. Some of them may find only fragmented memory. Skips if all do.
    pub(crate) fn first(&self, touching: &mut Loop) -> Result<(), Failure> {
        const TRIES: u32 = 4;
        let mut tried = touching.perform(1);
        for _ in 1..TRIES {
            if matches!(tried, Err(Failure::Skip { .. })) {
                tried = touching.perform(1);
            }
        }
        self.0.set(tried.is_ok());
        tried
    }

    /// The failure found after a batch: a skip, or the loss of a round.
    pub(crate) fn judged(&self, found: Result<(), Failure>) -> Result<(), Failure> {
        match found {
            Err(Failure::Skip { reason, .. }) if self.0.get() => Err(Failure::wrong(reason)),
            found => found,
        }
    }
}

/// The bytes that a supply may use: an eighth of what is free and of what the cgroup allows.
pub(super) fn room() -> Result<usize, Failure> {
    let allowed = system::machine::available_memory();
    match (allowed / 8) as usize {
        bytes if bytes >= LEAST => Ok(bytes.min(SUPPLY) / HUGE * HUGE),
        _ => Err(Failure::skip(
            format!("only {} MiB of memory are free, of which a fault's new memory may take an eighth", allowed >> 20),
            "free memory of 256 MiB, or raise the container's limit",
        )),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::memory::page::faults::FaultCounter;

    /// The frame behind an address, from `/proc/self/pagemap` (bits 0 to 54). `None` if the kernel hides it, which it does
    /// from all users but root.
    pub(crate) fn frame_of(address: usize) -> Option<u64> {
        let map = std::fs::File::open("/proc/self/pagemap").ok()?;
        let mut entry = [0; 8];
        map.read_exact_at(&mut entry, (address / page_size() * 8) as u64).ok()?;
        let entry = u64::from_ne_bytes(entry);
        let frame = entry & ((1 << 55) - 1);
        (entry >> 63 == 1 && frame != 0).then_some(frame)
    }

    impl Supply {
        pub(crate) fn address(&self, offset: usize) -> usize {
            self.mapping.bytes().as_ptr() as usize + self.start + offset
        }
    }

    /// Each batch takes one fault per page and frames that no batch before had, until the supply is used up.
    #[test]
    fn no_page_of_a_supply_is_given_back_and_taken_again() {
        let page = page_size();
        let mut supply = Supply::of(FramePages::Base, LEAST).expect("memory");
        let faults = FaultCounter::default();
        let (mut frames, mut pages) = (BTreeSet::new(), 0);
        for _ in 0..16 {
            supply.take(256 * page).expect("a stretch");
            faults.start().expect("a count");
            (0..256).for_each(|turn| supply.write(turn * page));
            faults.check(256).expect("a fault for each page");
            // A second touch does not fault, because all pages are there.
            faults.start().expect("a count");
            (0..256).for_each(|turn| supply.read(turn * page));
            assert!(faults.taken() < 16);
            frames.extend((0..256).filter_map(|turn| frame_of(supply.address(turn * page))));
            pages += 256;
        }
        match frames.len() {
            0 => testing::not_tested!("which frames these were; run as root"),
            different => assert_eq!(different, pages, "a frame came twice"),
        }
    }

    #[test]
    fn base_pages_for_huge_ones_are_a_skip_at_first_and_a_lost_round_later() {
        let answers = |mut answers: Vec<bool>| {
            let given = GivenPages::default();
            let judge = given.clone();
            let touching = Loop::new(|_| Ok(())).verify(move |_| {
                judge.judged(match answers.pop() {
                    Some(true) => Ok(()),
                    _ => Err(Failure::skip("base pages", "")),
                })
            });
            (given, touching)
        };
        let (given, mut touching) = answers(vec![false, true, false, false]);
        assert_eq!(given.first(&mut touching), Ok(()), "the third try has them");
        assert!(matches!(touching.perform(1), Err(Failure::Wrong(_))));
        let (given, mut touching) = answers(vec![]);
        assert!(matches!(given.first(&mut touching), Err(Failure::Skip { .. })));
    }

    #[test]
    fn a_supply_that_is_used_up_is_followed_by_another() {
        let mut supply = Supply::of(FramePages::Base, LEAST).expect("memory");
        let faults = FaultCounter::default();
        for _ in 0..20 {
            supply.take(1 << 20).expect("a stretch");
            faults.start().expect("a count");
            (0..1 << 20).step_by(page_size()).for_each(|offset| supply.write(offset));
            faults.check((1 << 20) / page_size() as u64).expect("a fault for each page");
        }
        assert!(matches!(supply.take(2 * SUPPLY), Err(Failure::Wrong(_))));
    }
}
