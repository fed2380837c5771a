//! The records that are found by their keys, and their sums.

use operation::Setting;

/// Bytes in a record.
pub(crate) const BYTES: u64 = 80;

/// A record: its key and nine more words.
pub type Record = [u64; 10];

/// Records in the file that is evicted from memory.
pub(crate) const COLD_RECORDS: u64 = 100_000;

/// The number of records that this point requests, in the order in which they are written. Their keys are random.
pub fn records(setting: &Setting) -> Vec<Record> {
    let count = setting.point().number("records").unwrap_or(COLD_RECORDS);
    let mut random = fastrand::Rng::with_seed(setting.seed());
    (0..count).map(|_| std::array::from_fn(|_| random.u64(..))).collect()
}

/// The sum of a record's words.
pub fn sum(record: &[u64]) -> u64 {
    record.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// The sum of these bytes as words.
#[inline(always)]
pub fn sum_of_bytes(bytes: &[u8]) -> u64 {
    bytes.as_chunks().0.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_ne_bytes(*word)))
}
