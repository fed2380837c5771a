//! Procedures, conversions, sorting: work of the processor alone.

use std::ffi::CString;
use std::hint::black_box;
use std::time::{Duration, Instant};

use super::entry::{Entry, Group, unrolled};
use super::harness::{Made, Work};

pub(super) const GROUP: Group = Group { title: "conversions, sorting", entries: ENTRIES };

/// So many that no predictor knows their lengths by heart: of 1,024 it does, of 4,096 it does for some of the readers.
const NUMBERS: usize = 16384;

const ENTRIES: &[Entry] = &[
    unrolled("convert.text.integer", "by=libc", || {
        let texts = texts()?;
        let mut at = 0;
        Ok(Work::calls(move || {
            let (number, text) = &texts[at];
            at = (at + 1) % NUMBERS;
            let mut end = std::ptr::null_mut();
            // SAFETY: the text ends with a zero.
            let read = unsafe { libc::strtoll(text.as_ptr(), &raw mut end, 10) };
            read == *number && end as usize == text.as_ptr() as usize + text.as_bytes().len()
        }))
    }),
    unrolled("convert.text.integer", "by=std", || {
        let texts = texts()?;
        let mut at = 0;
        Ok(Work::calls(move || {
            let (number, text) = &texts[at];
            at = (at + 1) % NUMBERS;
            // Whether it is UTF-8 was seen when the text was made.
            // SAFETY: digits alone.
            let text = unsafe { std::str::from_utf8_unchecked(black_box(text.as_bytes())) };
            text.parse() == Ok(*number)
        }))
    }),
    unrolled("convert.integer.text", "by=libc", || {
        let texts = texts()?;
        let (mut at, mut place) = (0, [0_u8; 32]);
        Ok(Work::calls(move || {
            let (number, text) = &texts[at];
            at = (at + 1) % NUMBERS;
            // SAFETY: twenty digits, a sign and a zero fit.
            let length = unsafe { libc::snprintf(place.as_mut_ptr().cast(), 32, c"%lld".as_ptr(), black_box(*number)) };
            black_box(&place);
            length as usize == text.as_bytes().len()
        }))
    }),
    unrolled("sort.memory", "by=unstable,numbers=1000", || sort(|numbers| numbers.sort_unstable())),
    unrolled("sort.memory", "by=stable,numbers=1000", || sort(|numbers| numbers.sort())),
    unrolled("sort.memory", "by=libc,numbers=1000", || sort(by_library)),
];

/// Numbers of 1 to 17 digits, each length as often.
fn texts() -> Result<Vec<(i64, CString)>, String> {
    let mut random = fastrand::Rng::new();
    let number = |_| {
        let digits = random.u32(1..=17);
        let least = if digits == 1 { 0 } else { 10_i64.pow(digits - 1) };
        let number = random.i64(least..10_i64.pow(digits));
        CString::new(number.to_string()).map(|text| (number, text)).map_err(|error| error.to_string())
    };
    (0..NUMBERS).map(number).collect()
}

/// Other numbers each time, a thousand a sort; making them does not count.
fn sort(by: fn(&mut [u64])) -> Made {
    let mut random = fastrand::Rng::new();
    Ok(Work::timed(move |times| {
        let mut time = Duration::ZERO;
        for _ in 0..times {
            let mut numbers: [u64; 1000] = std::array::from_fn(|_| random.u64(..));
            let start = Instant::now();
            by(black_box(&mut numbers));
            time += start.elapsed();
            assert!(numbers.is_sorted(), "not sorted");
        }
        time
    })
    .unrolled(1000))
}

fn by_library(numbers: &mut [u64]) {
    extern "C" fn order(one: *const libc::c_void, other: *const libc::c_void) -> i32 {
        // SAFETY: the library gives elements of the array.
        let one = unsafe { one.cast::<u64>().read() };
        // SAFETY: as above.
        let other = unsafe { other.cast::<u64>().read() };
        one.cmp(&other) as i32
    }
    // SAFETY: this many elements of that size, compared as what they are.
    unsafe { libc::qsort(numbers.as_mut_ptr().cast(), numbers.len(), size_of::<u64>(), Some(order)) };
}
