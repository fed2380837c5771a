//! The pointer chase: every cache line of a working set holds the address of another, all in one cycle, in an order
//! that no prefetcher follows.
//!
//! The order is a counter put through a random-looking permutation: line `scatter(i)` leads to line `scatter(i + 1)`.
//! It is one cycle by construction, and because `scatter` can be undone, the lines are written in the order they lie
//! in memory: 256 MiB takes milliseconds where shuffling an array of all lines takes a second. Its latencies are
//! those of a shuffled (Sattolo) cycle.

use std::cell::Cell;
use std::rc::Rc;

use measure::{Failure, Loop, TermOf};

use super::region::{Pages, Region};

/// Bytes of a line: what one load brings into the cache. Where lines are longer, neighbours share one.
const LINE: u64 = 64;

/// Words of a line.
const LINE_WORDS: usize = (LINE / 8) as usize;

/// Loads per turn of the loop.
const LOADS: u64 = 16;

/// Sets from here on must lie in the pages asked for; smaller ones do not fill a huge page.
const VERIFIED: u64 = 2 << 20;

/// A load leaves the loop's own instructions nothing to add: they are done while it waits.
pub(super) const BESIDE_THE_LOADS: &[TermOf] = &[];

/// A place in the chase: the address of a word that holds the address of the next.
type Place = *const u64;

/// The loop that chases through `set` bytes, a power of two of at least two lines.
pub(super) fn loads(set: u64, pages: Pages, seed: u64) -> Result<Loop, Failure> {
    if !set.is_power_of_two() || set < 2 * LINE {
        return Err(Failure::wrong(format!("a set to chase through is a power of two, not {set}")));
    }
    let scatter = Scatter::new(set / LINE, seed);
    let region = Region::new(set, pages)?;
    link(&region, &scatter);
    if pages == Pages::Huge && set >= VERIFIED {
        region.in_huge_pages()?;
    }
    let first: Place = region.words().as_ptr().cast();
    let here = Rc::new(Cell::new(first));
    let reached = Rc::clone(&here);
    let run = move |times| {
        let mut place = here.get();
        for _ in 0..times {
            for _ in 0..LOADS {
                place = follow(place);
            }
        }
        here.set(place);
        Ok(())
    };
    let mut step = scatter.step(0);
    let verify = move |times: u64| {
        let line = (reached.get() as u64).wrapping_sub(region.words().as_ptr() as u64) / LINE;
        let wanted = step.wrapping_add(times.wrapping_mul(LOADS)) % scatter.lines();
        step = scatter.step(line);
        if line < scatter.lines() && step == wanted {
            return Ok(());
        }
        Err(Failure::wrong(format!("the chase is at step {step} of its cycle instead of {wanted}")))
    };
    Ok(Loop::new(run).verify(verify).each(LOADS))
}

/// The place that `place` holds.
#[inline(always)]
fn follow(place: Place) -> Place {
    // SAFETY: every line's first word holds the address of a line of the same region, which the loop keeps alive.
    let next = unsafe { place.read_volatile() };
    next as Place
}

/// Writes the cycle, in the order of memory.
fn link(region: &Region, scatter: &Scatter) {
    let first = region.words().as_ptr() as u64;
    for (line, words) in region.words().chunks_exact(LINE_WORDS).enumerate() {
        words[0].set(first + scatter.next(line as u64) * LINE);
    }
}

/// A permutation of 0..lines that looks random and can be undone: three times, a multiplication by an odd number
/// (which carries low bits upwards) and an exclusive or of the upper half into the lower.
#[derive(Clone, Copy, Debug)]
struct Scatter {
    mask: u64,
    shift: u32,
    factors: [u64; ROUNDS],
    inverses: [u64; ROUNDS],
}

/// Of 20,000 strides among four million lines a random order repeats about 48; after two rounds 270 to 860 are
/// repeated, after three 46 to 59.
const ROUNDS: usize = 3;

impl Scatter {
    /// A permutation of `lines`, a power of two; another one for another seed.
    fn new(lines: u64, seed: u64) -> Scatter {
        let bits = lines.trailing_zeros();
        let mut random = fastrand::Rng::with_seed(seed);
        let factors = std::array::from_fn(|_| random.u64(..) | 1);
        Scatter { mask: lines - 1, shift: bits.div_ceil(2), factors, inverses: factors.map(inverse) }
    }

    /// How many it permutes.
    fn lines(&self) -> u64 {
        self.mask + 1
    }

    /// The line visited at `step`.
    #[inline(always)]
    fn line(&self, step: u64) -> u64 {
        self.factors.iter().fold(step & self.mask, |value, factor| {
            let product = value.wrapping_mul(*factor) & self.mask;
            product ^ (product >> self.shift)
        })
    }

    /// The step at which `line` is visited.
    #[inline(always)]
    fn step(&self, line: u64) -> u64 {
        // The exclusive or undoes itself, because it shifts by at least half the bits.
        self.inverses
            .iter()
            .rev()
            .fold(line & self.mask, |value, inverse| (value ^ (value >> self.shift)).wrapping_mul(*inverse) & self.mask)
    }

    /// The line visited after `line`.
    #[inline(always)]
    fn next(&self, line: u64) -> u64 {
        self.line(self.step(line).wrapping_add(1))
    }
}

/// What an odd number must be multiplied by to give 1 modulo 2^64, by Newton's iteration: a number is its own inverse
/// modulo 8, and every step doubles the bits that are right (3, 6, 12, 24, 48, 96).
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
        let region = Region::new(1024 * LINE, Pages::Base).expect("memory");
        link(&region, &scatter);
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
    fn steps_look_random() {
        let scatter = Scatter::new(1 << 22, 11);
        let strides: std::collections::HashSet<u64> =
            (0..10_000).map(|step| scatter.line(step + 1).wrapping_sub(scatter.line(step)) & scatter.mask).collect();
        assert!(strides.len() > 9_900, "only {} different strides", strides.len());
        // Of 10,000 random steps among 65,536 pages about one in 65,536 stays in its page.
        let page = |step| scatter.line(step) >> 6;
        let near = (0..10_000).filter(|&step| page(step).abs_diff(page(step + 1)) <= 1).count();
        assert!(near < 10, "{near} steps stay near");
    }

    #[test]
    fn a_set_that_is_no_power_of_two_is_refused() {
        assert!(matches!(loads(3 * LINE, Pages::Base, 1), Err(Failure::Wrong(_))));
        assert!(matches!(loads(LINE, Pages::Base, 1), Err(Failure::Wrong(_))));
    }
}
