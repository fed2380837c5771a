//! Passing over memory in order: copying, reading, writing.

use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

use measure::{Failure, Loop, repeat};

use super::region::{Pages, Region};

/// Where the copy's destination lies within its page, the source lying at a page's beginning: so far that no load of
/// a small copy shares the low twelve address bits of a store just made. One that does waits for the store: at the
/// same place within the page 512 bytes took 40 % longer (Golden Cove).
const OFFSET_WORDS: usize = 256;

/// Words from one that is checked to the next: one in each page stands for all.
const CHECKED: usize = 512;

/// The loop that copies `size` bytes, a multiple of 8.
pub(super) fn copy(size: usize) -> Result<Loop, Failure> {
    let source = filled(size as u64, 1)?;
    let destination = Rc::new(Region::new((size + OFFSET_WORDS * size_of::<u64>()) as u64, Pages::Huge)?);
    let from = source.words().as_ptr().cast::<u8>();
    let to = destination.words()[OFFSET_WORDS..].as_ptr().cast_mut().cast::<u8>();
    let cleared = Rc::clone(&destination);
    let before = move |_| {
        cleared.words()[OFFSET_WORDS..].iter().step_by(CHECKED).for_each(|word| word.set(0));
        Ok(())
    };
    let verify = move |_| {
        let mut pairs = destination.words()[OFFSET_WORDS..].iter().zip(source.words()).step_by(CHECKED);
        if pairs.all(|(copied, word)| copied == word) {
            return Ok(());
        }
        Err(Failure::wrong("the copy differs from what was copied"))
    };
    let copies = repeat(move || {
        // SAFETY: both lie whole in two regions, which the loop's own check keeps alive.
        unsafe { ptr::copy_nonoverlapping(from, to, size) };
        Ok(())
    });
    Ok(copies.before(before).verify(verify))
}

/// Bytes that one iteration of a pass moves, so that iterations over sets of any size compare. A smaller set is passed
/// over several times, a larger one piece by piece.
pub(super) const PIECE: u64 = 64 << 10;

/// The loop that adds up a piece of `set` bytes.
pub(super) fn read(set: u64, seed: u64) -> Result<Loop, Failure> {
    let region = filled(set, seed)?;
    let mut pieces = Pieces::of(set);
    let sums: Vec<u64> = (0..pieces.count).map(|piece| sum(pieces.words(&region, piece))).collect();
    let widest = widest().sum;
    let total = Rc::new(Cell::new(0u64));
    let reached = Rc::clone(&total);
    let mut checked = Pieces::of(set);
    let passes = repeat(move || {
        for _ in 0..pieces.each {
            // SAFETY: this processor has what the function is compiled for.
            let sum = unsafe { widest(pieces.next(&region)) };
            total.set(total.get().wrapping_add(sum));
        }
        Ok(())
    });
    Ok(passes.verify(move |times| {
        let pieces = (0..times * checked.each).map(|_| sums[checked.step()]);
        if reached.replace(0) == pieces.fold(0, u64::wrapping_add) {
            return Ok(());
        }
        Err(Failure::wrong("the words read do not add up to those written"))
    }))
}

/// The loop that stores to a piece of `set` bytes, another value in each iteration.
pub(super) fn write(set: u64) -> Result<Loop, Failure> {
    let region = Rc::new(filled(set, 0)?);
    let written = Rc::clone(&region);
    let widest = widest().fill;
    let mut pieces = Pieces::of(set);
    let mut checked = Pieces::of(set);
    let mut value = 0u64;
    let passes = repeat(move || {
        value = value.wrapping_add(1);
        for _ in 0..pieces.each {
            // SAFETY: this processor has what the function is compiled for.
            unsafe { widest(pieces.next(&region), value) };
        }
        Ok(())
    });
    let mut done = 0u64;
    Ok(passes.verify(move |times| {
        done = done.wrapping_add(times);
        let last = (0..times * checked.each).map(|_| checked.step()).last().unwrap_or(0);
        if checked.words(&written, last).iter().step_by(CHECKED).all(|word| word.get() == done) {
            return Ok(());
        }
        Err(Failure::wrong("the words do not hold what the last pass wrote"))
    }))
}

/// A working set in pieces, passed over in order, again and again.
struct Pieces {
    words: usize,
    count: usize,
    /// Pieces per iteration: more than one only where the set is smaller than [`PIECE`].
    each: u64,
    next: usize,
}

impl Pieces {
    fn of(set: u64) -> Pieces {
        let bytes = set.min(PIECE);
        let words = bytes as usize / size_of::<u64>();
        Pieces { words, count: (set / bytes) as usize, each: PIECE / bytes, next: 0 }
    }

    /// The number of the piece that comes next.
    #[inline(always)]
    fn step(&mut self) -> usize {
        let piece = self.next;
        self.next = if piece + 1 < self.count { piece + 1 } else { 0 };
        piece
    }

    #[inline(always)]
    fn next<'a>(&mut self, region: &'a Region) -> &'a [Cell<u64>] {
        let piece = self.step();
        self.words(region, piece)
    }

    #[inline(always)]
    fn words<'a>(&self, region: &'a Region, piece: usize) -> &'a [Cell<u64>] {
        &region.words()[piece * self.words..(piece + 1) * self.words]
    }
}

/// `bytes` of memory whose words count up from `first`; in huge pages where the kernel gives them, as what is asked
/// for here is the memory's speed, not the translation's.
fn filled(bytes: u64, first: u64) -> Result<Region, Failure> {
    let region = Region::new(bytes, Pages::Huge)?;
    for (index, word) in (0u64..).zip(region.words()) {
        word.set(first.wrapping_add(index));
    }
    Ok(region)
}

/// The two passes, compiled for one kind of register.
#[derive(Clone, Copy)]
struct Passes {
    sum: unsafe fn(&[Cell<u64>]) -> u64,
    fill: unsafe fn(&[Cell<u64>], u64),
}

/// The passes by the widest registers this processor has.
fn widest() -> Passes {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return Passes { sum: sum_by_avx512, fill: fill_by_avx512 };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            return Passes { sum: sum_by_avx2, fill: fill_by_avx2 };
        }
    }
    Passes { sum, fill }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn sum_by_avx512(words: &[Cell<u64>]) -> u64 {
    sum(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_by_avx2(words: &[Cell<u64>]) -> u64 {
    sum(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fill_by_avx512(words: &[Cell<u64>], value: u64) {
    fill(words, value);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_by_avx2(words: &[Cell<u64>], value: u64) {
    fill(words, value);
}

/// The sum of all words; the compiler makes it one of vectors.
#[inline(always)]
fn sum(words: &[Cell<u64>]) -> u64 {
    words.iter().fold(0, |total, word| total.wrapping_add(word.get()))
}

/// Sets all words; the compiler makes it one of vectors.
#[inline(always)]
fn fill(words: &[Cell<u64>], value: u64) {
    words.iter().for_each(|word| word.set(value));
}
