//! The family `convert`: numbers to text and back, by the C library, by the standard library and by the crates that replace
//! it. All convert the same numbers and give the same result: a text in its slot, or a number added to a sum.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_double, c_longlong};
use std::fmt::{Debug, Display, Write};
use std::ptr::null_mut;
use std::str::FromStr;

use operation::{Axis, Failure, Loop, Operation, Setting, word, words};

use crate::kit::{BASE, by_c_library, ensure, handles};

/// The most numbers in a batch: 700 KiB with their texts, which fits in the private caches of a core. No number is
/// converted twice, because a branch predictor learns thousands of them: a repeated table of 4,096 numbers took 47 cycles
/// per number to read, one of 16,384 took 77.
const NUMBERS: usize = 16_384;

/// Bytes for a text, including its terminating zero. The longest text, a double by `%.17g`, has 24.
const ROOM: usize = 31;

/// The most digits: all integers of this length fit 64 bits, and all doubles can be distinguished by it.
const DIGITS: usize = 17;

const INTEGER_WRITERS: &[Axis] = &[word("by", words!["libc", "std", "to_string", "itoa"])];
const DOUBLE_WRITERS: &[Axis] = &[word("by", words!["libc", "std", "to_string", "zmij"])];
const READERS: &[Axis] = &[word("by", words!["libc", "std", "lexical-core"])];

const CONVERT: Operation = BASE.version(by_c_library(2)).per("number");

pub(crate) const OPERATIONS: &[Operation] = &[
    CONVERT
        .named("convert.integer.text", "write a 64-bit integer of 1 to 17 digits in decimal, into its own buffer")
        .aliases(&["ASCII"])
        .axes(INTEGER_WRITERS)
        .prepare(|setting| match setting.word("by")? {
            "libc" => written(integers(setting), |number, place| {
                // SAFETY: the slot has this size; the format takes one long long, which follows.
                let length =
                    unsafe { libc::snprintf(place.as_mut_ptr().cast(), ROOM, c"%lld".as_ptr(), number as c_longlong) };
                length as usize
            }),
            "std" => written(integers(setting), formatted),
            "to_string" => written(integers(setting), |number, place| kept(&number.to_string(), place)),
            _ => written(integers(setting), |number, place| kept(itoa::Buffer::new().format(number), place)),
        }),
    CONVERT
        .id("convert.text.integer")
        .summary("read a decimal text of 1 to 17 digits as a 64-bit integer, and check that it is one to its end")
        .aliases(&["BINARY"])
        .axes(READERS)
        .prepare(|setting| match setting.word("by")? {
            "libc" => read(integers(setting), |text| {
                let mut end = null_mut();
                // SAFETY: the text ends in a zero, and the end is written to a pointer that this function owns.
                let number = unsafe { libc::strtoll(start(text), &mut end, 10) };
                ended(text, end).then_some(number)
            }),
            "std" => read(integers(setting), |text| plain(text).parse().ok()),
            _ => read(integers(setting), |text| lexical_core::parse(plain(text).as_bytes()).ok()),
        }),
    CONVERT
        .id("convert.double.text")
        .summary("write a double of 1 to 17 decimal digits so that reading gives it back, into its own buffer")
        .axes(DOUBLE_WRITERS)
        .prepare(|setting| match setting.word("by")? {
            // The C library cannot produce the shortest text; 17 digits distinguish any two doubles.
            "libc" => written(doubles(setting), |number, place| {
                // SAFETY: the slot has this size; the format takes one double, which follows.
                let length =
                    unsafe { libc::snprintf(place.as_mut_ptr().cast(), ROOM, c"%.17g".as_ptr(), number as c_double) };
                length as usize
            }),
            "std" => written(doubles(setting), formatted),
            "to_string" => written(doubles(setting), |number, place| kept(&number.to_string(), place)),
            _ => written(doubles(setting), |number, place| kept(zmij::Buffer::new().format_finite(number), place)),
        }),
    CONVERT
        .id("convert.text.double")
        .summary("read a decimal text of 1 to 17 digits and a point as the nearest double, and check that it is one")
        .axes(READERS)
        .prepare(|setting| match setting.word("by")? {
            "libc" => read(doubles(setting), |text| {
                let mut end = null_mut();
                // SAFETY: the text ends in a zero, and the end is written to a pointer that this function owns.
                let number = unsafe { libc::strtod(start(text), &mut end) };
                ended(text, end).then_some(number)
            }),
            "std" => read(doubles(setting), |text| plain(text).parse().ok()),
            _ => read(doubles(setting), |text| lexical_core::parse(plain(text).as_bytes()).ok()),
        }),
];

trait Convertible: Copy + Debug + Display + FromStr + PartialEq + 'static {
    fn bits(self) -> u64;
}

impl Convertible for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

impl Convertible for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// A text and its length; a length of zero means no text.
#[derive(Clone, Copy)]
struct TextPlace {
    length: u8,
    bytes: [u8; ROOM],
}

const EMPTY: TextPlace = TextPlace { length: 0, bytes: [0; ROOM] };

trait Draw<T>: FnMut() -> T + 'static {}

impl<T, D: FnMut() -> T + 'static> Draw<T> for D {}

/// Numbers of 1 to 17 digits, each length equally often. Every second one is negative, which costs no misprediction.
fn integers(setting: &Setting) -> impl Draw<i64> + use<> {
    let mut random = fastrand::Rng::with_seed(setting.seed());
    let mut sign = -1;
    move || {
        sign = -sign;
        sign * drawn(&mut random).1
    }
}

/// The same with a decimal point somewhere in them, before them, or behind them.
fn doubles(setting: &Setting) -> impl Draw<f64> + use<> {
    let mut random = fastrand::Rng::with_seed(setting.seed());
    let mut sign = -1.0;
    move || {
        sign = -sign;
        let (digits, number) = drawn(&mut random);
        sign * number as f64 / POWERS[random.usize(0..=digits)] as f64
    }
}

/// A number of digits, and a number with that many digits.
fn drawn(random: &mut fastrand::Rng) -> (usize, i64) {
    let digits = random.usize(1..=DIGITS);
    (digits, random.i64(POWERS[digits - 1]..POWERS[digits]))
}

const POWERS: [i64; DIGITS + 1] = {
    let mut powers = [1; DIGITS + 1];
    let mut digits = 1;
    while digits <= DIGITS {
        powers[digits] = 10 * powers[digits - 1];
        digits += 1;
    }
    powers
};

/// The loop that writes the next number as text. Every text of a batch is read back after the batch.
fn written<T: Convertible>(
    mut draw: impl Draw<T>,
    write: impl Fn(T, &mut [u8; ROOM]) -> usize + 'static,
) -> Result<Loop, Failure> {
    let numbers: Vec<(T, TextPlace)> = (0..NUMBERS).map(|_| (draw(), EMPTY)).collect();
    let [numbers, drawn, filled] = handles(RefCell::new(numbers));
    let run = move |times: u64| {
        for (number, place) in &mut filled.borrow_mut()[..times as usize] {
            place.length = write(*number, &mut place.bytes) as u8;
        }
        Ok(())
    };
    let verify = move |times: u64| {
        for (number, place) in &numbers.borrow()[..times as usize] {
            let text = std::str::from_utf8(&place.bytes[..usize::from(place.length).min(ROOM)]).unwrap_or_default();
            ensure(text.parse().ok() == Some(*number), || format!("{number:?} was written as '{text}'"))?;
        }
        Ok(())
    };
    let before = move |times: u64| {
        drawn.borrow_mut()[..times as usize].fill_with(|| (draw(), EMPTY));
        Ok(())
    };
    Ok(Loop::new(run).at_most(NUMBERS as u64).before(before).verify(verify))
}

/// Texts one after another, each with a terminating zero.
#[derive(Default)]
struct Texts {
    texts: String,
    /// Where each text begins and where its zero is.
    ends: Vec<(u32, u32)>,
    /// The sum of the numbers' bits.
    sum: u64,
}

impl Texts {
    /// Replaces the texts by those of this number of new numbers, as the standard library writes them.
    fn renew<T: Convertible>(&mut self, times: u64, draw: &mut impl Draw<T>) -> Result<(), Failure> {
        self.texts.clear();
        self.ends.clear();
        self.sum = 0;
        for _ in 0..times {
            let number = draw();
            let first = self.texts.len() as u32;
            write!(self.texts, "{number}").map_err(|_| Failure::wrong("a number could not be converted to text"))?;
            self.ends.push((first, self.texts.len() as u32));
            self.texts.push('\0');
            self.sum = self.sum.wrapping_add(number.bits());
        }
        Ok(())
    }
}

/// The loop that reads the next text and adds up the bits of the numbers.
fn read<T: Convertible>(mut draw: impl Draw<T>, parse: impl Fn(&str) -> Option<T> + 'static) -> Result<Loop, Failure> {
    let [texts, renewed, checked] = handles(RefCell::new(Texts::default()));
    texts.borrow_mut().renew(NUMBERS as u64, &mut draw)?;
    let [sum, result] = handles(Cell::new(0));
    let run = move |times: u64| {
        let Texts { texts, ends, .. } = &*texts.borrow();
        let mut total = 0_u64;
        for (first, end) in &ends[..times as usize] {
            // SAFETY: the text begins and ends there and was not changed since. Another check would be timed.
            let text = unsafe { texts.get_unchecked(*first as usize..=*end as usize) };
            total = total.wrapping_add(parse(text).ok_or_else(|| not_read(text))?.bits());
        }
        sum.set(total);
        Ok(())
    };
    let before = move |times| renewed.borrow_mut().renew(times, &mut draw);
    let verify = move |_| {
        let (sum, wanted) = (result.get(), checked.borrow().sum);
        ensure(sum == wanted, || format!("the numbers read add up to {sum:#x} instead of {wanted:#x}"))
    };
    Ok(Loop::new(run).at_most(NUMBERS as u64).before(before).verify(verify))
}

#[cold]
fn not_read(text: &str) -> Failure {
    Failure::wrong(format!("'{}' was not read as a number", plain(text)))
}

/// Writes a number by `write!`. Returns the length of the text.
fn formatted(number: impl Display, place: &mut [u8; ROOM]) -> usize {
    let mut rest = place.as_mut_slice();
    match std::io::Write::write_fmt(&mut rest, format_args!("{number}")) {
        Ok(()) => ROOM - rest.len(),
        Err(_) => 0,
    }
}

/// Copies a text into its slot. Returns its length.
fn kept(text: &str, place: &mut [u8; ROOM]) -> usize {
    place[..text.len()].copy_from_slice(text.as_bytes());
    text.len()
}

/// A text without its terminating zero, which only the C library needs.
#[inline(always)]
fn plain(text: &str) -> &str {
    text.strip_suffix('\0').unwrap_or(text)
}

fn start(text: &str) -> *const c_char {
    text.as_ptr().cast()
}

/// True if the C library read the text to its end.
fn ended(text: &str, end: *mut c_char) -> bool {
    end.cast_const().cast() == plain(text).as_bytes().as_ptr_range().end
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use record::Point;

    use super::*;

    #[test]
    fn every_number_is_converted_by_everyone() {
        crate::kit::trial::perform_all(OPERATIONS);
        for operation in OPERATIONS {
            for point in operation.points(false) {
                let mut whole = crate::kit::trial::prepare(operation, point).expect(operation.id);
                whole.looped.perform(NUMBERS as u64).expect(operation.id);
                whole.looped.perform(NUMBERS as u64 / 2).expect(operation.id);
            }
        }
    }

    /// Short numbers repeat by chance; those of twelve or more digits practically never do.
    #[test]
    fn no_number_comes_again_from_batch_to_batch() {
        const LONG: i64 = 100_000_000_000;
        let setting = Setting::new(Point::default(), std::env::temp_dir(), 0, None, 3);
        let [seen, in_written, in_read] = handles(RefCell::new((HashSet::new(), 0)));
        let note = |number: i64, seen: &RefCell<(HashSet<i64>, u32)>| {
            if number.abs() >= LONG {
                let (numbers, count) = &mut *seen.borrow_mut();
                numbers.insert(number);
                *count += 1;
            }
        };
        let mut writing = written(integers(&setting), move |number, place| {
            note(number, &in_written);
            kept(&number.to_string(), place)
        })
        .expect("a loop");
        let other = Setting::new(Point::default(), std::env::temp_dir(), 0, None, 4);
        let mut reading = read(integers(&other), move |text| {
            let number = plain(text).parse().ok()?;
            note(number, &in_read);
            Some(number)
        })
        .expect("a loop");
        for _ in 0..10 {
            writing.perform(4096).expect("written");
            reading.perform(4096).expect("read");
        }
        let (numbers, count) = &*seen.borrow();
        assert_eq!(numbers.len(), *count as usize);
        assert!(*count > 20_000, "{count}");
    }

    #[test]
    fn the_numbers_have_all_lengths_and_the_points_all_places() {
        let setting = Setting::new(Point::default(), std::env::temp_dir(), 0, None, 3);
        let mut lengths = [0; DIGITS];
        let mut integer = integers(&setting);
        (0..NUMBERS).for_each(|_| lengths[integer().unsigned_abs().to_string().len() - 1] += 1);
        assert!(lengths.iter().all(|count| *count > NUMBERS / DIGITS / 2), "{lengths:?}");
        let mut double = doubles(&setting);
        let texts: Vec<String> = (0..NUMBERS).map(|_| double().to_string()).collect();
        assert!(texts.iter().any(|text| !text.contains('.')) && texts.iter().any(|text| text.starts_with("0.")));
        assert!(texts.iter().all(|text| text.len() < ROOM));
    }

    #[test]
    fn a_wrong_conversion_is_found_out() {
        let mut wrong = written(|| 41_i64, |number, place| kept(&(number + 1).to_string(), place));
        let failure = wrong.as_mut().expect("a loop").perform(1);
        assert_eq!(failure, Err(Failure::wrong("41 was written as '42'")));
        let mut idle = written(|| 1_i64, |_, _| 0);
        assert!(idle.as_mut().expect("a loop").perform(1).is_err());
        let mut wrong = read(|| 1.5_f64, |_| Some(1.25)).expect("a loop");
        assert!(wrong.perform(1).is_err());
        let mut refused = read(|| 1_i64, |_| None).expect("a loop");
        assert!(refused.perform(1).is_err());
    }
}
