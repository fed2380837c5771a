//! The family `sort`: numbers and records sorted in memory, and a text file larger than the memory available for sorting.

mod external;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ffi::{c_int, c_void};

use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers, word, words};
use record::Estimate;

use crate::kit::{BASE, NEAR, by_c_library, ensure, handles};

/// The C library's `qsort`; the standard library's stable sort (a merge sort) and its unstable one (a quicksort).
const BY: Axis = word("by", words!["libc", "stable", "unstable"]);

/// The most elements that are sorted in one batch, for short arrays.
const AT_ONCE: usize = 64_000;

/// One iteration sorts at least a thousand elements.
const SORT: Operation = BASE.terms(&[]);

pub(crate) const OPERATIONS: &[Operation] = &[
    SORT.named("sort.memory", "sort an array of this many new random 64-bit numbers; cost per number")
        .version(by_c_library(2))
        .per("number")
        .axes(&[BY, count("numbers", numbers![1_000]).within(1_000, 1_000_000)])
        .follows_clock(|point| 8 * point.number("numbers").unwrap_or(0) <= NEAR)
        .moves(|_| 8)
        .prepare(|setting| prepared::<u64>(setting, setting.number("numbers")?)),
    SORT.named("sort.memory.large", "sort an array of a million random 64-bit numbers; cost per number")
        .version(by_c_library(1))
        .per("number")
        .axes(&[BY])
        // It lasts so long that checks before and after it say little about interruptions in between.
        .quoted(Estimate::Typical)
        .moves(|_| 8)
        .prepare(|setting| prepared::<u64>(setting, 1_000_000)),
    SORT.id("sort.records")
        .summary("sort an array of this many new records of 80 bytes by their first 8 bytes; cost per record")
        .version(2)
        .aliases(&["SORT", "HPSORT"])
        .per("record")
        .axes(&[BY, count("records", numbers![1_000, 10_000]).within(1_000, 100_000)])
        // Ten thousand of them, with the memory that some sorts need in addition, fill the private caches of a core.
        .follows_clock(|point| point.number("records") == Some(1_000))
        .moves(|_| 80)
        .prepare(|setting| prepared::<SortRecord>(setting, setting.number("records")?)),
    SORT.id("sort.external")
        .summary("sort a file of 50 000 lines of 80 bytes in 512 KiB of memory, by runs and a merge; cost per line")
        .per("line")
        .axes(&[word("by", words!["howslow", "gnu"])])
        .quoted(Estimate::Typical)
        .moves(|_| external::LINE as u64)
        .prepare(|setting| match setting.word("by")? {
            "gnu" => external::by_gnu(setting),
            _ => external::by_merge(setting),
        }),
];

/// What is sorted, by its key.
trait Element: Copy + 'static {
    fn random(random: &mut fastrand::Rng) -> Self;
    fn key(&self) -> u64;
}

impl Element for u64 {
    fn random(random: &mut fastrand::Rng) -> u64 {
        random.u64(..)
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        *self
    }
}

/// A key and its payload.
#[derive(Clone, Copy)]
struct SortRecord([u64; 10]);

impl Element for SortRecord {
    fn random(random: &mut fastrand::Rng) -> SortRecord {
        let key = random.u64(..);
        // The payload identifies the key.
        SortRecord(std::array::from_fn(|word| key.wrapping_mul(2 * word as u64 + 1)))
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        self.0[0]
    }
}

fn prepared<T: Element>(setting: &Setting, length: u64) -> Result<Loop, Failure> {
    let sort: fn(&mut [T]) = match setting.word("by")? {
        "libc" => by_libc,
        "stable" => |array| array.sort_by_key(T::key),
        _ => |array| array.sort_unstable_by_key(T::key),
    };
    Ok(sorting(setting.seed(), length as usize, sort))
}

/// The loop that sorts arrays of `length` elements. Every array is new, because a branch predictor learns repeated data:
/// eight arrays of a thousand numbers, repeated in every batch, were sorted in three quarters of the time.
fn sorting<T: Element>(seed: u64, length: usize, sort: impl Fn(&mut [T]) + 'static) -> Loop {
    let arrays = (AT_ONCE / length).max(1);
    let mut random = fastrand::Rng::with_seed(seed);
    let first: Vec<T> = (0..arrays * length).map(|_| T::random(&mut random)).collect();
    let [work, renewed, checked] = handles(RefCell::new(first));
    let [sums, reported] = handles(RefCell::new(vec![0; arrays]));
    let sorts = Loop::new(move |times| {
        work.borrow_mut().chunks_mut(length).take(times as usize).for_each(&sort);
        Ok(())
    })
    .unrolled(length as u64)
    .at_most(arrays as u64)
    .before(move |times| {
        let (mut work, mut sums) = (renewed.borrow_mut(), reported.borrow_mut());
        for (array, sum) in work.chunks_mut(length).zip(sums.iter_mut()).take(times as usize) {
            array.fill_with(|| T::random(&mut random));
            *sum = checksum(array);
        }
        Ok(())
    })
    .verify(move |times| {
        let (work, sums) = (checked.borrow(), sums.borrow());
        let mut sorted = work.chunks(length).zip(sums.iter()).take(times as usize);
        let right = |(array, sum): (&[T], &u64)| array.is_sorted_by_key(T::key) && checksum(array) == *sum;
        ensure(sorted.all(right), || "the array is not sorted, or not the same elements")
    });
    // Sorting one array of that size warms up everything.
    if arrays == 1 { sorts.skip_warmup() } else { sorts }
}

/// A checksum that other elements are most unlikely to have. It does not depend on the order of the elements.
fn checksum<T: Element>(array: &[T]) -> u64 {
    array.iter().fold(0, |sum, element| {
        let key = element.key();
        sum.wrapping_add((key ^ key >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31))
    })
}

fn by_libc<T: Element>(array: &mut [T]) {
    let start = array.as_mut_ptr().cast();
    // SAFETY: the array has this number of elements of this size, and `compare` reads two of them.
    unsafe { libc::qsort(start, array.len(), size_of::<T>(), Some(compare::<T>)) }
}

/// The result that `qsort` expects: less than, equal to or greater than zero.
unsafe extern "C" fn compare<T: Element>(left: *const c_void, right: *const c_void) -> c_int {
    // SAFETY: `qsort` passes elements of the array, or its own copies with the same alignment.
    let left = unsafe { &*left.cast::<T>() };
    // SAFETY: likewise.
    let right = unsafe { &*right.cast::<T>() };
    match left.key().cmp(&right.key()) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_left_as_it_was_and_one_of_other_elements_are_found_out() {
        assert!(matches!(sorting::<u64>(1, 1_000, |_| ()).perform(1), Err(Failure::Wrong(_))));
        assert!(matches!(sorting::<u64>(1, 1_000, |array| array.fill(7)).perform(1), Err(Failure::Wrong(_))));
        assert_eq!(sorting::<u64>(1, 1_000, by_libc).perform(64), Ok(()));
    }

    #[test]
    fn no_array_is_sorted_twice() {
        let [seen, noted] = handles(RefCell::new(std::collections::HashSet::new()));
        let mut sorts = sorting::<SortRecord>(1, 1_000, move |array| {
            let again = !noted.borrow_mut().insert(array[0].key());
            assert!(!again && !array.is_sorted_by_key(SortRecord::key));
            array.sort_by_key(SortRecord::key);
        });
        (0..10).for_each(|_| sorts.perform(8).expect("sorted"));
        assert_eq!(seen.borrow().len(), 80);
    }
}
