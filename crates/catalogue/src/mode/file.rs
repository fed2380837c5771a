//! The files that the programs of `mode` read: records of random words, and an index by key.

use std::ffi::CStr;

use operation::{Failure, Setting};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

use crate::kit::library::{openat, pwrite};
use crate::kit::{exactly, scratch};

/// Bytes in the file read from beginning to end: the 7,040 records of 80 bytes of "MPE/iX and Performance", section 1.4.
const LENGTH: usize = 7040 * 80;

/// Bytes in a record found by its key. The first word is the key.
pub(super) const KEYED: usize = 80;

/// The words of the file read from beginning to end.
pub(super) fn content(seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..LENGTH / 8).map(|_| random.u64(..)).collect()
}

/// This number of records in the order in which they were written. Their keys are all different, because the factor is odd,
/// and in no order.
pub(super) fn keyed(count: u64, seed: u64) -> Vec<Vec<u64>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let key = |number: u64| number.wrapping_add(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..count)
        .map(|number| std::iter::once(key(number)).chain((1..KEYED / 8).map(|_| random.u64(..))).collect())
        .collect()
}

/// Key and number of every record, by key.
pub(super) fn index(records: &[Vec<u64>]) -> Vec<u64> {
    let mut entries: Vec<[u64; 2]> = (0..).zip(records).map(|(number, record)| [record[0], number]).collect();
    entries.sort_unstable();
    entries.concat()
}

pub(super) fn sum(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// A new file of these words, open for reading at its beginning. Little-endian, as WebAssembly reads its memory.
pub(super) fn holding(setting: &Setting, name: &CStr, words: &[u64]) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(scratch(setting)?, name, flags, Mode::RUSR | Mode::WUSR)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    exactly(bytes.len(), pwrite(&file, &bytes, 0)?)?;
    Ok(file)
}
