//! Where the frame of a fault comes from. A program's new memory is frames that nobody has touched for long: the kernel
//! clears them beyond the core's own caches. Frames given back a moment ago are the next that the kernel hands out, and lie
//! in these caches still: a third to a half of the cost.

use std::cell::Cell;
use std::rc::Rc;

use operation::Value::Word;
use operation::{Axis, Failure, Loop, word};
use rustix::mm::Advice;
use rustix::param::page_size;

use crate::kit::huge::HUGE;
use crate::kit::mapping::{Mapping, base_pages_only};

/// Frames out of new memory, or those that the batch before gave back.
pub(crate) const FRAMES: Axis = word("frames", &[Word("fresh"), Word("recycled")]).headline(&[Word("fresh")]);

/// The point of frames that were in use a moment ago.
pub(crate) const RECYCLED: &[(&str, operation::Value<&str>)] = &[("frames", Word("recycled"))];

/// Bytes of a supply, where memory allows: a round's batches seldom take more.
const SUPPLY: usize = 128 << 20;

/// The least that a supply works with.
const LEAST: usize = ASIDE + (16 << 20);

/// Bytes of it that are touched first and that no batch gets: the frames that ended rounds have just given back, which are
/// handed out before all others. Eight times what a core's own caches hold; with 64 and 256 MiB the faults cost the same.
const ASIDE: usize = 16 << 20;

/// The pages a supply is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pages {
    Base,
    Huge,
}

/// New memory, of which batch after batch takes a stretch that nothing was given back for. When it is used up, all of it
/// is given back at once, between two batches, and the next one begins with setting frames aside again.
pub(crate) struct Supply {
    pages: Pages,
    mapping: Mapping,
    /// Where the batch's stretch begins, and where the next one will.
    start: usize,
    next: usize,
    end: usize,
}

impl Supply {
    /// # Errors
    /// A skip where there is too little memory, or where huge pages are unknown.
    pub(crate) fn new(pages: Pages) -> Result<Supply, Failure> {
        Supply::of(pages, room()?)
    }

    fn of(pages: Pages, bytes: usize) -> Result<Supply, Failure> {
        let mapping = Mapping::anonymous(bytes + HUGE)?;
        match pages {
            Pages::Base => base_pages_only(&mapping)?,
            Pages::Huge => {
                mapping.advise(Advice::LinuxHugepage).map_err(|_| Failure::skip("this kernel has no huge pages", ""))?
            }
        }
        let first = mapping.first_huge();
        let step = if pages == Pages::Base { page_size() } else { HUGE };
        (first..first + ASIDE).step_by(step).for_each(|offset| mapping.write(offset));
        let next = first + ASIDE;
        Ok(Supply { pages, mapping, start: next, next, end: first + bytes })
    }

    /// Moves on to a stretch of so many bytes that were never touched.
    ///
    /// # Errors
    /// When a batch asks for more than there is.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Failure> {
        if self.next + bytes > self.end {
            // The old one goes first: there may be memory for one only.
            self.mapping = Mapping::anonymous(HUGE)?;
            *self = Supply::new(self.pages)?;
        }
        if self.next + bytes > self.end {
            return Err(Failure::wrong(format!("a batch wants {bytes} bytes of new memory at once")));
        }
        (self.start, self.next) = (self.next, self.next + bytes);
        Ok(())
    }

    /// Writes one byte of the batch's stretch.
    #[inline(always)]
    pub(crate) fn write(&self, offset: usize) {
        self.mapping.write(self.start + offset);
    }

    /// Reads one byte of the batch's stretch.
    #[inline(always)]
    pub(crate) fn read(&self, offset: usize) {
        self.mapping.read(self.start + offset);
    }
}

/// Whether the kernel has given the pages asked for. Before it has, base pages in the place of huge ones are a skip; once it
/// has they cost a round, for memory that lies in small pieces now may be put together later.
#[derive(Clone, Default)]
pub(crate) struct Given(Rc<Cell<bool>>);

impl Given {
    /// The first touches; some of them may find free memory in small pieces.
    ///
    /// # Errors
    /// A skip where all do.
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

    /// What was found after a batch, as a skip or as the loss of a round.
    pub(crate) fn judged(&self, found: Result<(), Failure>) -> Result<(), Failure> {
        match found {
            Err(Failure::Skip { reason, .. }) if self.0.get() => Err(Failure::wrong(reason)),
            found => found,
        }
    }
}

/// Bytes that a supply may have: an eighth of what is free here and of what the cgroup allows.
fn room() -> Result<usize, Failure> {
    let machine = machine::describe();
    let said = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = said.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    let free = free.map_or(machine.memory.total.0, |kib| kib << 10);
    let allowed = machine.limits.memory.map_or(free, |limit| limit.0.min(free));
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
    use crate::memory::page::faults::Faults;

    /// The frame behind an address, by the kernel's own table (`/proc/self/pagemap`, bits 0 to 54); `None` where it does not
    /// tell, which it does to root alone.
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

    /// Batch after batch takes one fault a page and frames that no batch before had, until the supply is used up.
    #[test]
    fn no_page_of_a_supply_is_given_back_and_taken_again() {
        let page = page_size();
        let mut supply = Supply::of(Pages::Base, LEAST).expect("memory");
        let faults = Faults::default();
        let (mut frames, mut pages) = (BTreeSet::new(), 0);
        for _ in 0..16 {
            supply.take(256 * page).expect("a stretch");
            faults.start().expect("a count");
            (0..256).for_each(|turn| supply.write(turn * page));
            faults.check(256).expect("a fault for each page");
            // Touched again they fault no more: they are all there.
            faults.start().expect("a count");
            (0..256).for_each(|turn| supply.read(turn * page));
            assert!(faults.taken().expect("a count") < 16);
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
            let given = Given::default();
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
        let mut supply = Supply::of(Pages::Base, LEAST).expect("memory");
        let faults = Faults::default();
        for _ in 0..20 {
            supply.take(1 << 20).expect("a stretch");
            faults.start().expect("a count");
            (0..1 << 20).step_by(page_size()).for_each(|offset| supply.write(offset));
            faults.check((1 << 20) / page_size() as u64).expect("a fault for each page");
        }
        assert!(matches!(supply.take(2 * SUPPLY), Err(Failure::Wrong(_))));
    }
}
