//! The pointer chase: every cache line of a working set holds the address of another one. All are in one cycle, in an order
//! that no prefetcher follows.
//!
//! The order is a counter passed through a random-looking permutation: line `scatter(i)` leads to line `scatter(i + 1)`.
//! This is one cycle by construction. Because `scatter` can be inverted, the lines are written in memory order: 256 MiB
//! takes milliseconds, where shuffling an array of all lines takes a second. The latencies equal those of a shuffled
//! (Sattolo) cycle.

use operation::{Failure, Loop, TermOf};

use super::page::frames::FramePages;
use super::region::Region;
use crate::kit::{Work, alone, ensure};

/// The bytes of a line: what one load brings into the cache. On machines with longer lines, two neighbours share one.
const LINE: u64 = 64;

/// Loads per turn of the loop.
pub(super) const LOADS: u64 = 16;

/// The loop's own instructions add no time: they are done while a load waits.
pub(super) const BESIDE_THE_LOADS: &[TermOf] = &[];

/// One place in the chase: a word that holds the address of the next place.
type Place = *const u64;

/// The loop that chases through `set` bytes, a power of two of at least two lines.
pub(super) fn loads(set: u64, pages: FramePages, seed: u64) -> Result<Loop, Failure> {
    Ok(alone(Chase::through(set, pages, seed)?).unrolled(LOADS))
}

/// The loop that chases through one line in each of a number of base pages. The number is a power of two and at least two.
pub(super) fn one_line_a_page(count: u64, pages: FramePages, seed: u64) -> Result<Loop, Failure> {
    Ok(alone(Chase::new(Layout::page_by_page(count), pages, seed)?).unrolled(LOADS))
}

/// How the lines of a chase are laid out in its region.
#[derive(Clone, Copy, Debug)]
struct Layout {
    lines: u64,
    /// The distance in bytes between the slots of two lines.
    stride: u64,
}

impl Layout {
    /// One line directly after another.
    fn dense(set: u64) -> Layout {
        Layout { lines: set / LINE, stride: LINE }
    }

    fn page_by_page(count: u64) -> Layout {
        Layout { lines: count, stride: rustix::param::page_size() as u64 }
    }

    /// The offset from the beginning of the region. Within a page the line's place comes from a multiplicative hash, so
    /// that all cache sets are used equally.
    #[inline(always)]
    fn place(&self, line: u64) -> u64 {
        let within = u128::from(line.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * u128::from(self.stride / LINE);
        line * self.stride + (within >> 64) as u64 * LINE
    }
}

/// A cycle of loads, and the current position in it.
pub(super) struct Chase {
    region: Region,
    layout: Layout,
    scatter: Scatter,
    here: Place,
    step: u64,
    /// Loads done before the first timed batch.
    walked: u64,
}

impl Chase {
    /// A chase through every line of `set` bytes.
    pub(super) fn through(set: u64, pages: FramePages, seed: u64) -> Result<Chase, Failure> {
        if !set.is_power_of_two() || set < 2 * LINE {
            return Err(Failure::wrong(format!("a set to chase through is a power of two, not {set}")));
        }
        Chase::new(Layout::dense(set), pages, seed)
    }

    fn new(layout: Layout, pages: FramePages, seed: u64) -> Result<Chase, Failure> {
        if !layout.lines.is_power_of_two() || layout.lines < 2 {
            return Err(Failure::wrong(format!("a chase has a power of two of lines, not {}", layout.lines)));
        }
        let scatter = Scatter::new(layout.lines, seed);
        let bytes = layout.lines * layout.stride;
        let region = Region::new(bytes, pages)?;
        link(&region, layout, &scatter);
        if pages == FramePages::Huge {
            region.in_huge_pages()?;
        }
        let step = scatter.step(0);
        let here = (region.words().as_ptr() as u64 + layout.place(0)) as Place;
        let mut chase = Chase { region, layout, scatter, here, step, walked: 0 };
        chase.walk()?;
        Ok(chase)
    }

    /// Goes around in the timed order, so that caches and TLBs hold before the first batch what they hold before any
    /// other. After `link` they hold the lines written last, in memory order. Of a set far larger than all caches, the last
    /// part of the cycle is enough. The places are computed and not loaded, so the loads do not wait for each other: this
    /// takes a tenth of the time of a chase. Fails if a line does not lead to the next one.
    fn walk(&mut self) -> Result<(), Failure> {
        let first = self.region.words().as_ptr() as u64;
        let begin = self.scatter.lines().saturating_sub(lines_that_fill_all_caches());
        let mut here = self.layout.place(self.scatter.line(begin));
        for step in begin + 1..=self.scatter.lines() {
            let next = self.layout.place(self.scatter.line(step));
            ensure(follow((first + here) as Place) as u64 == first + next, || {
                format!("the line of step {} does not lead to the next", step - 1)
            })?;
            here = next;
            self.walked += 1;
        }
        Ok(())
    }
}

/// Twice the lines of this CPU's third-level cache; more than any set if none is listed.
fn lines_that_fill_all_caches() -> u64 {
    let cpu = rustix::thread::sched_getcpu() as u32;
    system::machine::data_caches(cpu).get(&3).map_or(u64::MAX, |bytes| 2 * bytes / LINE)
}

impl Work for Chase {
    fn work(&mut self, times: u64) {
        let mut place = self.here;
        for _ in 0..times {
            for _ in 0..LOADS {
                place = follow(place);
            }
        }
        self.here = place;
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        let reached = (self.here as u64).wrapping_sub(self.region.words().as_ptr() as u64);
        let line = reached / self.layout.stride;
        let wanted = self.step.wrapping_add(times.wrapping_mul(LOADS)) % self.scatter.lines();
        self.step = self.scatter.step(line);
        ensure(line < self.scatter.lines() && reached == self.layout.place(line) && self.step == wanted, || {
            format!("the chase is at step {} of its cycle instead of {wanted}", self.step)
        })
    }
}

/// The place whose address `place` holds.
#[inline(always)]
fn follow(place: Place) -> Place {
    // SAFETY: the first word of every line holds the address of a line of the same region, which the chase keeps alive.
    let next = unsafe { place.read_volatile() };
    next as Place
}

/// Writes the cycle, in memory order.
fn link(region: &Region, layout: Layout, scatter: &Scatter) {
    let first = region.words().as_ptr() as u64;
    for line in 0..layout.lines {
        let word = layout.place(line) as usize / size_of::<u64>();
        region.words()[word].set(first + layout.place(scatter.next(line)));
    }
}

/// A permutation of 0..lines that looks random and can be inverted. It repeats two steps three times: a multiplication by
/// an odd number (which carries low bits upwards) and an exclusive or of the upper half into the lower half.
#[derive(Clone, Copy, Debug)]
struct Scatter {
    mask: u64,
    shift: u32,
    factors: [u64; ROUNDS],
    inverses: [u64; ROUNDS],
}

/// Of 20,000 strides among four million lines, a random order repeats about 48. Two repetitions give 270 to 860 repeated
/// strides, three give 46 to 59.
const ROUNDS: usize = 3;

impl Scatter {
    /// A permutation of `lines`, which is a power of two. Different seeds give different ones.
    fn new(lines: u64, seed: u64) -> Scatter {
        let bits = lines.trailing_zeros();
        let mut random = fastrand::Rng::with_seed(seed);
        let factors = std::array::from_fn(|_| random.u64(..) | 1);
        Scatter { mask: lines - 1, shift: bits.div_ceil(2), factors, inverses: factors.map(inverse) }
    }

    /// The number of lines it permutes.
    fn lines(&self) -> u64 {
        self.mask + 1
    }

    #[inline(always)]
    fn line(&self, step: u64) -> u64 {
        self.factors.iter().fold(step & self.mask, |value, factor| {
            let product = value.wrapping_mul(*factor) & self.mask;
            product ^ (product >> self.shift)
        })
    }

    #[inline(always)]
    fn step(&self, line: u64) -> u64 {
        // The exclusive or is its own inverse, because it shifts by at least half the bits.
        self.inverses
            .iter()
            .rev()
            .fold(line & self.mask, |value, inverse| (value ^ (value >> self.shift)).wrapping_mul(*inverse) & self.mask)
    }

    #[inline(always)]
    fn next(&self, line: u64) -> u64 {
        self.line(self.step(line).wrapping_add(1))
    }
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: an odd number is its own inverse modulo 8, and every
/// step doubles the number of correct bits (3, 6, 12, 24, 48, 96).
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd, |guess, _| guess.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(guess))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chase_visits_every_line_once() {
        for (bits, seed) in (1..=16).zip(3..) {
            let scatter = Scatter::new(1 << bits, seed);
            let mut seen = vec![false; 1 << bits];
            let mut line = 0;
            for _ in 0..scatter.lines() {
                assert!(!seen[line as usize], "{bits} bits");
                seen[line as usize] = true;
                line = scatter.next(line);
            }
            assert_eq!(line, 0);
        }
    }

    #[test]
    fn the_written_cycle_is_the_one_computed() {
        let scatter = Scatter::new(1024, 5);
        let region = Region::new(1024 * LINE, FramePages::Base).expect("memory");
        link(&region, Layout::dense(1024 * LINE), &scatter);
        let first: Place = region.words().as_ptr().cast();
        let mut place = first;
        let mut steps = 0;
        loop {
            place = follow(place);
            steps += 1;
            if place == first {
                break;
            }
        }
        assert_eq!(steps, 1024);
    }

    #[test]
    fn every_chase_has_gone_around_once_before_it_is_timed() {
        for set in [2 * LINE, 4096, 256 << 10] {
            let chase = Chase::through(set, FramePages::Base, 7).expect("memory");
            assert_eq!(chase.walked, set / LINE);
        }
        let mut spread = Chase::new(Layout::page_by_page(256), FramePages::Base, 7).expect("memory");
        assert_eq!(spread.walked, 256);
        // A line with a wrong successor is detected.
        spread.region.words()[spread.layout.place(3) as usize / 8].set(spread.here as u64);
        assert!(matches!(spread.walk(), Err(Failure::Wrong(_))));
    }

    #[test]
    fn steps_look_random() {
        let scatter = Scatter::new(1 << 22, 11);
        let strides: std::collections::HashSet<u64> =
            (0..10_000).map(|step| scatter.line(step + 1).wrapping_sub(scatter.line(step)) & scatter.mask).collect();
        assert!(strides.len() > 9_900, "only {} different strides", strides.len());
        // Of 10,000 random steps among 65,536 pages, about one in 65,536 stays in its page.
        let page = |step| scatter.line(step) >> 6;
        let near = (0..10_000).filter(|&step| page(step).abs_diff(page(step + 1)) <= 1).count();
        assert!(near < 10, "{near} steps stay near");
    }

    #[test]
    fn a_set_that_is_no_power_of_two_is_refused() {
        assert!(matches!(loads(3 * LINE, FramePages::Base, 1), Err(Failure::Wrong(_))));
        assert!(matches!(loads(LINE, FramePages::Base, 1), Err(Failure::Wrong(_))));
    }
}
