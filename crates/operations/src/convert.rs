//! The family `convert`: numbers to text and back, by the C library, by the standard library and by the crates taken
//! instead. All read the same numbers and leave the same: a text in its place, or a number added to a sum.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_double, c_longlong};
use std::fmt::{Debug, Display};
use std::io::Write;
use std::ptr::null_mut;
use std::rc::Rc;
use std::str::FromStr;

use measure::{Axis, Choice::Word, Failure, Loop, Operation, Setting, word};

use crate::DEFAULT;
use crate::cycle::Cycle;

/// Numbers in the table: too many for the length of the next to be known from those before, few enough for the
/// core's own cache.
const NUMBERS: usize = 4096;

/// Bytes for a text, its ending zero included. The longest, a double by `%.17g`, has 24.
const ROOM: usize = 31;

/// Digits at most: those of every integer fit 64 bits, those of every double tell it from its neighbours.
const DIGITS: u32 = 17;

const INTEGER_WRITERS: &[Axis] = &[word("by", &[Word("libc"), Word("std"), Word("to_string"), Word("itoa")])];
const DOUBLE_WRITERS: &[Axis] = &[word("by", &[Word("libc"), Word("std"), Word("to_string"), Word("zmij")])];
const READERS: &[Axis] = &[word("by", &[Word("libc"), Word("std"), Word("lexical-core")])];

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "convert.integer.text",
        summary: "write a 64-bit integer of 1 to 17 digits in decimal, into a place of its own",
        per: "number",
        like: &["ASCII"],
        axes: INTEGER_WRITERS,
        prepare: |setting| match setting.word("by") {
            "libc" => written(integers(setting), |number, place| {
                // SAFETY: the place has so much room; the format takes one long long, which is what follows.
                let length =
                    unsafe { libc::snprintf(place.as_mut_ptr().cast(), ROOM, c"%lld".as_ptr(), number as c_longlong) };
                length as usize
            }),
            "std" => written(integers(setting), formatted),
            "to_string" => written(integers(setting), |number, place| kept(&number.to_string(), place)),
            _ => written(integers(setting), |number, place| kept(itoa::Buffer::new().format(number), place)),
        },
        ..DEFAULT
    },
    Operation {
        id: "convert.text.integer",
        summary: "read a decimal text of 1 to 17 digits as a 64-bit integer, and see that it is one to its end",
        per: "number",
        like: &["BINARY"],
        axes: READERS,
        prepare: |setting| match setting.word("by") {
            "libc" => read(integers(setting), |text| {
                let mut end = null_mut();
                // SAFETY: the text ends in a zero, and the end is written to a pointer of ours.
                let number = unsafe { libc::strtoll(start(text), &mut end, 10) };
                ended(text, end).then_some(number)
            }),
            "std" => read(integers(setting), |text| plain(text).parse().ok()),
            _ => read(integers(setting), |text| lexical_core::parse(plain(text).as_bytes()).ok()),
        },
        ..DEFAULT
    },
    Operation {
        id: "convert.double.text",
        summary: "write a double of 1 to 17 decimal digits so that reading gives it back, into a place of its own",
        per: "number",
        axes: DOUBLE_WRITERS,
        prepare: |setting| match setting.word("by") {
            // The C library cannot look for the shortest text; 17 digits tell any two doubles apart.
            "libc" => written(doubles(setting), |number, place| {
                // SAFETY: the place has so much room; the format takes one double, which is what follows.
                let length =
                    unsafe { libc::snprintf(place.as_mut_ptr().cast(), ROOM, c"%.17g".as_ptr(), number as c_double) };
                length as usize
            }),
            "std" => written(doubles(setting), formatted),
            "to_string" => written(doubles(setting), |number, place| kept(&number.to_string(), place)),
            _ => written(doubles(setting), |number, place| kept(zmij::Buffer::new().format_finite(number), place)),
        },
        ..DEFAULT
    },
    Operation {
        id: "convert.text.double",
        summary: "read a decimal text of 1 to 17 digits and a point as the nearest double, and see that it is one",
        per: "number",
        axes: READERS,
        prepare: |setting| match setting.word("by") {
            "libc" => read(doubles(setting), |text| {
                let mut end = null_mut();
                // SAFETY: the text ends in a zero, and the end is written to a pointer of ours.
                let number = unsafe { libc::strtod(start(text), &mut end) };
                ended(text, end).then_some(number)
            }),
            "std" => read(doubles(setting), |text| plain(text).parse().ok()),
            _ => read(doubles(setting), |text| lexical_core::parse(plain(text).as_bytes()).ok()),
        },
        ..DEFAULT
    },
];

/// What both kinds of numbers have.
trait Number: Copy + Debug + Display + FromStr + PartialEq + 'static {
    /// All of its bits.
    fn bits(self) -> u64;
}

impl Number for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

impl Number for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// A text and how long it is; none while it is zero.
#[derive(Clone, Copy)]
struct Place {
    length: u8,
    bytes: [u8; ROOM],
}

const EMPTY: Place = Place { length: 0, bytes: [0; ROOM] };

/// Numbers of 1 to 17 digits, every length as often; every second one is negative, which costs no misprediction.
fn integers(setting: &Setting) -> Vec<i64> {
    let mut random = fastrand::Rng::with_seed(setting.seed());
    (0..NUMBERS).map(|place| drawn(&mut random).1 * if place % 2 == 0 { 1 } else { -1 }).collect()
}

/// The same with a decimal point somewhere in them, or before them, or behind them.
fn doubles(setting: &Setting) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(setting.seed());
    let mut double = |place: usize| {
        let (digits, number) = drawn(&mut random);
        let sign = if place.is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * number as f64 / 10_f64.powi(random.i32(0..=digits as i32))
    };
    (0..NUMBERS).map(&mut double).collect()
}

/// A number of digits, and a number that has so many.
fn drawn(random: &mut fastrand::Rng) -> (u32, i64) {
    let digits = random.u32(1..=DIGITS);
    (digits, random.i64(10_i64.pow(digits - 1)..10_i64.pow(digits)))
}

/// The loop that writes the next number as a text. Every text of a batch is read again after it.
fn written<T: Number>(numbers: Vec<T>, write: impl Fn(T, &mut [u8; ROOM]) -> usize + 'static) -> Result<Loop, Failure> {
    let numbers: Rc<[T]> = numbers.into();
    let places = Rc::new(RefCell::new(vec![EMPTY; NUMBERS]));
    let (table, filled, emptied) = (Rc::clone(&numbers), Rc::clone(&places), Rc::clone(&places));
    let mut next = 0;
    let run = move |times| {
        let places = &mut *filled.borrow_mut();
        for _ in 0..times {
            let place = &mut places[next];
            place.length = write(table[next], &mut place.bytes) as u8;
            next = (next + 1) % NUMBERS;
        }
        Ok(())
    };
    let mut first = 0;
    let verify = move |times: u64| {
        let places = places.borrow();
        for index in (first..first + (times as usize).min(NUMBERS)).map(|index| index % NUMBERS) {
            let (place, number) = (&places[index], numbers[index]);
            let text = std::str::from_utf8(&place.bytes[..usize::from(place.length).min(ROOM)]).unwrap_or_default();
            if text.parse().ok() != Some(number) {
                return Err(Failure::wrong(format!("{number:?} was written as '{text}'")));
            }
        }
        first = (first + times as usize) % NUMBERS;
        Ok(())
    };
    let before = move |_| {
        emptied.borrow_mut().fill(EMPTY);
        Ok(())
    };
    Ok(Loop::new(run).before(before).verify(verify))
}

/// The loop that reads the next text, as the standard library writes it, and adds up the numbers' bits.
fn read<T: Number>(numbers: Vec<T>, parse: impl Fn(&str) -> Option<T> + 'static) -> Result<Loop, Failure> {
    let mut texts = String::new();
    let ends: Vec<(usize, usize)> = numbers
        .iter()
        .map(|number| {
            let first = texts.len();
            texts += &number.to_string();
            let end = texts.len();
            texts.push('\0');
            (first, end)
        })
        .collect();
    let mut cycle = Cycle::new(numbers.iter().map(|number| number.bits()));
    let sum = Rc::new(Cell::new(0));
    let result = Rc::clone(&sum);
    let mut next = 0;
    let run = move |times| {
        let mut total = 0_u64;
        for _ in 0..times {
            let (first, end) = ends[next];
            let text = &texts[first..=end];
            let number =
                parse(text).ok_or_else(|| Failure::wrong(format!("'{}' was not read as a number", plain(text))))?;
            total = total.wrapping_add(number.bits());
            next = (next + 1) % NUMBERS;
        }
        sum.set(total);
        Ok(())
    };
    Ok(Loop::new(run).verify(move |times| cycle.hold(times, result.get())))
}

/// Writes a number by `write!`, and returns the text's length.
fn formatted(number: impl Display, place: &mut [u8; ROOM]) -> usize {
    let mut rest = place.as_mut_slice();
    match write!(rest, "{number}") {
        Ok(()) => ROOM - rest.len(),
        Err(_) => 0,
    }
}

/// Copies a text into its place, and returns its length.
fn kept(text: &str, place: &mut [u8; ROOM]) -> usize {
    place[..text.len()].copy_from_slice(text.as_bytes());
    text.len()
}

/// A text without the zero it ends in, which only the C library needs.
fn plain(text: &str) -> &str {
    &text[..text.len() - 1]
}

fn start(text: &str) -> *const c_char {
    text.as_ptr().cast()
}

/// Whether the C library read the text to its end.
fn ended(text: &str, end: *mut c_char) -> bool {
    end.cast_const().cast() == plain(text).as_bytes().as_ptr_range().end
}

#[cfg(test)]
mod tests {
    use record::Point;

    use super::*;

    #[test]
    fn every_number_is_converted_by_everyone() {
        crate::trial::perform_all(OPERATIONS);
        for operation in OPERATIONS {
            for point in operation.points(false) {
                let mut whole = crate::trial::prepare(operation, point).expect(operation.id);
                whole.looped.perform(3 * NUMBERS as u64 / 2).expect(operation.id);
                whole.looped.perform(NUMBERS as u64).expect(operation.id);
            }
        }
    }

    #[test]
    fn the_numbers_have_all_lengths_and_the_points_all_places() {
        let setting = Setting::new(Point::default(), std::env::temp_dir(), 0, None, 3);
        let count = |length: usize| {
            integers(&setting).iter().filter(|number| number.unsigned_abs().to_string().len() == length).count()
        };
        assert!((1..=DIGITS as usize).all(|length| count(length) > NUMBERS / DIGITS as usize / 2));
        let texts: Vec<String> = doubles(&setting).iter().map(f64::to_string).collect();
        assert!(texts.iter().any(|text| !text.contains('.')) && texts.iter().any(|text| text.starts_with("0.")));
        assert!(texts.iter().all(|text| text.len() < ROOM));
    }

    #[test]
    fn a_wrong_conversion_is_found_out() {
        let mut wrong = written(vec![41_i64; NUMBERS], |number, place| kept(&(number + 1).to_string(), place));
        let failure = wrong.as_mut().expect("a loop").perform(1);
        assert_eq!(failure, Err(Failure::wrong("41 was written as '42'")));
        let mut idle = written(vec![1_i64; NUMBERS], |_, _| 0);
        assert!(idle.as_mut().expect("a loop").perform(1).is_err());
        let mut wrong = read(vec![1.5_f64; NUMBERS], |_| Some(1.25)).expect("a loop");
        assert!(wrong.perform(1).is_err());
        let mut refused = read(vec![1_i64; NUMBERS], |_| None).expect("a loop");
        assert!(refused.perform(1).is_err());
    }
}
