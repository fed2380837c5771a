//! The programs of `mode` as native code: the same steps as the guests in this folder.

use operation::{Failure, opaque};
use rustix::fd::OwnedFd;
use rustix::fs::SeekFrom;

use super::file;
use super::guest::GuestProgram;
use crate::kit::library::{pread, read as read_next, seek};
use crate::kit::{ensure, exactly};

/// Bytes of an index entry: a key and a record's number.
const ENTRY: usize = 16;

/// Space for the digits of any 64-bit number.
const DIGITS: usize = 20;

/// Calls in one turn of the loop.
pub(super) const CALLS: u64 = 8;

/// The program with this name, with the words of its memory and its files.
pub(super) fn program(name: &str, memory: Vec<u64>, files: Vec<OwnedFd>) -> Result<GuestProgram, Failure> {
    match name {
        "call" => Ok(call()),
        "read" => read(memory, files),
        "keyed" => keyed(memory, files),
        "convert" => Ok(convert(memory)),
        _ => Err(Failure::wrong(format!("there is no program {name}"))),
    }
}

/// As `call.wat`.
fn call() -> GuestProgram {
    let turn = |sum: u64, _| sum + one() + one() + one() + one() + one() + one() + one() + one();
    Box::new(move |times| Ok((0..times).fold(0, turn)))
}

/// The empty procedure. Its result is what the caller counts, and the compiler cannot predict it.
#[inline(never)]
fn one() -> u64 {
    opaque(1)
}

/// As `read.wat`.
fn read(memory: Vec<u64>, open: Vec<OwnedFd>) -> Result<GuestProgram, Failure> {
    let [file] = files(open)?;
    let mut record = vec![0; memory[0] as usize];
    Ok(Box::new(move |times| {
        let mut total = 0_u64;
        for _ in 0..times {
            let mut length = read_next(&file, &mut record)?;
            if length == 0 {
                seek(&file, SeekFrom::Start(0))?;
                length = read_next(&file, &mut record)?;
            }
            exactly(record.len(), length)?;
            total = total.wrapping_add(sum(&record));
        }
        Ok(total)
    }))
}

/// As `keyed.wat`.
fn keyed(memory: Vec<u64>, open: Vec<OwnedFd>) -> Result<GuestProgram, Failure> {
    let [index, records] = files(open)?;
    let (entries, keys) = (memory[0], memory[1..].to_vec());
    let (mut entry, mut record) = ([0; ENTRY], [0; file::KEYED]);
    let mut next = 0;
    Ok(Box::new(move |times| {
        let mut total = 0_u64;
        for _ in 0..times {
            let key = keys[next];
            next = (next + 1) % keys.len();
            let (mut low, mut high, mut number) = (0, entries, 0);
            while low < high {
                let middle = (low + high) / 2;
                exactly(ENTRY, pread(&index, &mut entry, middle * ENTRY as u64)?)?;
                if word(&entry[..8]) < key {
                    low = middle + 1;
                } else {
                    high = middle;
                    number = word(&entry[8..]);
                }
            }
            exactly(file::KEYED, pread(&records, &mut record, number * file::KEYED as u64)?)?;
            ensure(word(&record[..8]) == key, || "a key was not found")?;
            total = total.wrapping_add(sum(&record));
        }
        Ok(total)
    }))
}

/// As `convert.wat`.
fn convert(memory: Vec<u64>) -> GuestProgram {
    let numbers = memory[1..].to_vec();
    let mut next = 0;
    let mut text = [0; DIGITS];
    Box::new(move |times| {
        let mut total = 0_u64;
        for _ in 0..times {
            let written = digits(numbers[next], &mut text);
            next = (next + 1) % numbers.len();
            total = total.wrapping_add(trace(value(written), written));
        }
        Ok(total)
    })
}

/// What a converted number adds to the sum: its value, its text's length, and its first digit, so that a text in another
/// base is detected.
pub(super) fn trace(value: u64, text: &[u8]) -> u64 {
    value.wrapping_add(text.len() as u64).wrapping_add(u64::from(text[0]))
}

/// Writes a number's digits from the last to the first.
fn digits(mut number: u64, text: &mut [u8; DIGITS]) -> &[u8] {
    let mut first = DIGITS;
    loop {
        first -= 1;
        text[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &text[first..];
        }
    }
}

/// Reads a number's digits from the first to the last.
fn value(text: &[u8]) -> u64 {
    text.iter().fold(0_u64, |value, digit| value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}

fn sum(record: &[u8]) -> u64 {
    record.chunks_exact(8).fold(0, |sum, bytes| sum.wrapping_add(word(bytes)))
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn files<const N: usize>(files: Vec<OwnedFd>) -> Result<[OwnedFd; N], Failure> {
    files.try_into().map_err(|_| Failure::wrong("the program received a wrong number of files"))
}
