//! Passing over memory in order: copying, reading, writing, through the caches and past them.

use std::cell::Cell;
use std::ptr;
use std::time::{Duration, Instant};

use operation::{Failure, Loop, repeat};

use super::OWN_CACHE;
use super::page::frames::FramePages;
use super::passes::{Copying, Fill, Sum, TURN_WORDS, clears_by_block, fastest, settle};
use super::region::Region;
use crate::kit::{Work, alone, ensure, handles};

/// The place of the copy's destination within its page (the source begins at a page boundary). It is far enough that no
/// load of a small copy has the low twelve address bits of a recent store. Such a load waits for the store: at the same
/// place within the page, 512 bytes took 40 % longer (Golden Cove).
const OFFSET_WORDS: usize = 256;
const OFFSET_BYTES: u64 = (OFFSET_WORDS * size_of::<u64>()) as u64;

/// The distance in words between checked words: one word in each page is checked for all.
const CHECKED: usize = 512;

/// The loop that copies `size` bytes, a multiple of 8.
pub(super) fn copy(size: usize) -> Result<Loop, Failure> {
    let source = filled(size as u64, 1)?;
    let [destination, cleared] = handles(filled(size as u64 + OFFSET_BYTES, 0)?);
    let from = source.words().as_ptr().cast::<u8>();
    let to = destination.words()[OFFSET_WORDS..].as_ptr().cast_mut().cast::<u8>();
    let before = move |_| {
        cleared.words()[OFFSET_WORDS..].iter().step_by(CHECKED).for_each(|word| word.set(0));
        Ok(())
    };
    let verify = move |_| {
        let mut pairs = destination.words()[OFFSET_WORDS..].iter().zip(source.words()).step_by(CHECKED);
        ensure(pairs.all(|(copied, word)| copied == word), || "the copy differs from what was copied")
    };
    let copies = repeat(move || {
        // SAFETY: both ranges lie within two regions, which the loop's own check keeps alive.
        unsafe { ptr::copy_nonoverlapping(from, to, size) };
        Ok(())
    });
    Ok(copies.before(before).verify(verify))
}

/// The bytes that one iteration of a pass moves, so that iterations over sets of any size can be compared. A smaller set is
/// passed over several times, a larger one piece by piece.
pub(super) const PIECE: u64 = 64 << 10;

/// The loop that stores to the pieces of `set` bytes, bypassing the caches, another value in each iteration.
pub(super) fn write_streaming(set: u64) -> Result<Loop, Failure> {
    Writing::by(set, fastest().fill_streaming).map(alone)
}

/// The loop that zeroes the pieces of `set` bytes.
pub(super) fn clear(set: u64) -> Result<Loop, Failure> {
    if !clears_by_block(PIECE as usize) {
        return Err(Failure::skip("this processor clears no blocks of memory (DCZID_EL0)", "take another processor"));
    }
    let writing = Writing::by(set, fastest().clear)?;
    Ok(alone(Writing { zeroing: true, ..writing }))
}

/// The loop that copies pieces from the first half of `set` bytes to the second, with stores that bypass the caches if that
/// is requested.
pub(super) fn copy_streaming(set: u64) -> Result<Loop, Failure> {
    Moving::by(set, fastest().copy_streaming).map(alone)
}

/// True if a set fits in the private caches of a core.
fn near(set: u64) -> bool {
    set <= OWN_CACHE
}

/// The loop that takes the least time for a part of this memory. Each part is tried by one loop only, so that none finds it
/// in a cache that another has filled.
fn quickest<const COUNT: usize>(loops: [Sum; COUNT], words: &[Cell<u64>]) -> Sum {
    const PART: usize = PIECE as usize / size_of::<u64>();
    const TRIES: usize = 32;
    let mut parts = words.chunks_exact(PART).cycle();
    let mut least = [Duration::MAX; COUNT];
    for _ in 0..TRIES {
        for (sum, least) in loops.iter().zip(&mut least) {
            let Some(part) = parts.next() else { return loops[0] };
            let start = Instant::now();
            // SAFETY: this processor has what the function is compiled for.
            std::hint::black_box(unsafe { sum(part) });
            *least = start.elapsed().min(*least);
        }
    }
    let (fastest, _) = least.iter().enumerate().min_by_key(|(_, time)| **time).unwrap_or((0, &Duration::MAX));
    loops[fastest]
}

/// Adds up one piece after another.
pub(crate) struct Reading {
    region: Region,
    pieces: Pieces,
    /// Where the check has got to. It follows the pieces after each batch.
    checked: Pieces,
    sums: Vec<u64>,
    total: u64,
    sum: Sum,
}

impl Reading {
    pub(crate) fn new(set: u64, seed: u64) -> Result<Reading, Failure> {
        let region = filled(set, seed)?;
        let pieces = Pieces::of(set)?;
        let simple = |words: &[Cell<u64>]| words.iter().fold(0, |sum: u64, word| sum.wrapping_add(word.get()));
        let sums = (0..pieces.count).map(|piece| simple(pieces.words(region.words(), piece))).collect();
        let sum = if near(set) { fastest().sum_near } else { quickest(fastest().sums_far, region.words()) };
        Ok(Reading { region, pieces, checked: pieces, sums, total: 0, sum })
    }
}

impl Work for Reading {
    fn work(&mut self, times: u64) {
        for _ in 0..times * self.pieces.each {
            let piece = self.pieces.step();
            // SAFETY: this processor has the feature that the function is compiled for.
            let sum = unsafe { (self.sum)(self.pieces.words(self.region.words(), piece)) };
            self.total = self.total.wrapping_add(sum);
        }
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        let pieces = (0..times * self.checked.each).map(|_| self.sums[self.checked.step()]);
        let wanted = pieces.fold(0, u64::wrapping_add);
        ensure(std::mem::take(&mut self.total) == wanted, || "the words read do not add up to those written")
    }
}

/// Stores to one piece after another, another value in each iteration.
pub(super) struct Writing {
    region: Region,
    pieces: Pieces,
    checked: Pieces,
    value: u64,
    fill: Fill,
    /// True if it can write only zeros. The check then stores other words, so that the next pass changes them.
    zeroing: bool,
}

impl Writing {
    pub(super) fn new(set: u64) -> Result<Writing, Failure> {
        Writing::by(set, if near(set) { fastest().fill_near } else { fastest().fill_far })
    }

    fn by(set: u64, fill: Fill) -> Result<Writing, Failure> {
        let pieces = Pieces::of(set)?;
        Ok(Writing { region: filled(set, 1)?, pieces, checked: pieces, value: 0, fill, zeroing: false })
    }
}

impl Work for Writing {
    fn work(&mut self, times: u64) {
        for _ in 0..times {
            self.value = self.value.wrapping_add(1);
            for _ in 0..self.pieces.each {
                let piece = self.pieces.step();
                // SAFETY: this processor has the feature that the function is compiled for.
                unsafe { (self.fill)(self.pieces.words(self.region.words(), piece), self.value) };
            }
        }
        settle();
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        let first = self.value.wrapping_sub(times).wrapping_add(1);
        for (piece, iteration) in self.checked.last_visits(times) {
            let wanted = if self.zeroing { 0 } else { first.wrapping_add(iteration) };
            let words = || self.checked.words(self.region.words(), piece).iter().step_by(CHECKED);
            if words().any(|word| word.get() != wanted) {
                return Err(Failure::wrong("the words do not hold what the last pass wrote"));
            }
            if self.zeroing {
                words().for_each(|word| word.set(u64::MAX));
            }
        }
        Ok(())
    }
}

/// Copies pieces of a set's first half to its second half.
pub(super) struct Moving {
    from: Region,
    to: Region,
    pieces: Pieces,
    checked: Pieces,
    copy: Copying,
}

impl Moving {
    /// Uses the C library's copy.
    pub(super) fn new(set: u64) -> Result<Moving, Failure> {
        Moving::by(set, library_copy)
    }

    fn by(set: u64, copy: Copying) -> Result<Moving, Failure> {
        let pieces = Pieces::of(set / 2)?;
        let (from, to) = (filled(set / 2, 1)?, filled(set / 2 + OFFSET_BYTES, 0)?);
        Ok(Moving { from, to, pieces, checked: pieces, copy })
    }
}

impl Work for Moving {
    fn work(&mut self, times: u64) {
        for _ in 0..times * self.pieces.each {
            let piece = self.pieces.step();
            let from = self.pieces.words(self.from.words(), piece);
            let to = self.pieces.words(&self.to.words()[OFFSET_WORDS..], piece);
            // SAFETY: this processor has the feature that the function is compiled for; the pieces have equal length and do
            // not overlap.
            unsafe { (self.copy)(from, to) };
        }
        settle();
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        for (piece, _) in self.checked.last_visits(times) {
            let from = self.checked.words(self.from.words(), piece);
            let to = self.checked.words(&self.to.words()[OFFSET_WORDS..], piece);
            let pairs = || from.iter().zip(to).step_by(CHECKED);
            if pairs().any(|(word, copied)| word != copied) {
                return Err(Failure::wrong("the copy differs from what was copied"));
            }
            // The correct words are changed here, so that the next batch must do the work again.
            pairs().for_each(|(word, copied)| copied.set(!word.get()));
        }
        Ok(())
    }
}

/// Copies with the C library. Both have the same length and do not overlap.
fn library_copy(from: &[Cell<u64>], to: &[Cell<u64>]) {
    // SAFETY: both are cells of whole slices, and the caller guarantees their length and distance.
    unsafe { ptr::copy_nonoverlapping(from.as_ptr().cast::<u8>(), to.as_ptr().cast_mut().cast(), size_of_val(from)) };
}

/// A working set in pieces that are passed over in order, repeatedly.
#[derive(Clone, Copy)]
struct Pieces {
    words: usize,
    count: usize,
    /// Pieces per iteration. It is more than one only if the set is smaller than [`PIECE`].
    each: u64,
    next: usize,
}

impl Pieces {
    fn of(set: u64) -> Result<Pieces, Failure> {
        let bytes = set.min(PIECE);
        let words = bytes as usize / size_of::<u64>();
        if words == 0 || !words.is_multiple_of(TURN_WORDS) || !set.is_multiple_of(bytes) {
            return Err(Failure::wrong(format!("a set of {set} bytes cannot be passed over piece by piece")));
        }
        Ok(Pieces { words, count: (set / bytes) as usize, each: PIECE / bytes, next: 0 })
    }

    /// The number of the next piece.
    #[inline(always)]
    fn step(&mut self) -> usize {
        let piece = self.next;
        self.next = if piece + 1 < self.count { piece + 1 } else { 0 };
        piece
    }

    /// Advances over the pieces of this number of iterations. Returns each piece once, with the last iteration that used
    /// it.
    fn last_visits(&mut self, times: u64) -> Vec<(usize, u64)> {
        let steps = times * self.each;
        let visits: Vec<(usize, u64)> = (0..steps).map(|step| (self.step(), step / self.each)).collect();
        visits[visits.len().saturating_sub(self.count)..].to_vec()
    }

    #[inline(always)]
    fn words<'a>(&self, words: &'a [Cell<u64>], piece: usize) -> &'a [Cell<u64>] {
        &words[piece * self.words..(piece + 1) * self.words]
    }
}

/// `bytes` of memory whose words count up from `first`. They lie in huge pages if the kernel gives them, because the
/// operation measures the memory and not the address translation. The round is lost if the kernel gives huge pages at
/// other times but did not this time.
fn filled(bytes: u64, first: u64) -> Result<Region, Failure> {
    let region = Region::new(bytes, FramePages::Huge)?;
    for (index, word) in (0u64..).zip(region.words()) {
        word.set(first.wrapping_add(index));
    }
    region.in_huge_pages_if_offered()?;
    Ok(region)
}
