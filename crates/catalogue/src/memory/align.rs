//! The family `align`: adding up an array of numbers at aligned and at unaligned addresses. Unaligned numbers are loaded
//! directly, or assembled from smaller pieces, as compilers did for processors without unaligned loads.

use std::cell::Cell;

use operation::{Axis, Loop, Operation, count, numbers, opaque, word, words};

use crate::kit::{BASE, ensure, handles};

/// The distance of each number behind a multiple of 4.
const OFFSET: Axis = count("offset", numbers![0, 1, 2]);

/// `vectors`: as the compiler does it, several numbers per load. `load`: one load per number. `halves`: two 16-bit loads, a
/// shift and an or, which is what the paper's three instructions do. `bytes`: four 8-bit loads.
const BY: Axis = word("by", words!["vectors", "load", "halves", "bytes"]);

/// Numbers in the array: 16 KiB, half of the smallest current first-level cache.
const NUMBERS: usize = 4096;

/// Arrays begin at a cache line boundary.
const LINE: usize = 64;

pub(crate) const OPERATIONS: &[Operation] = &[BASE
    .named(
        "align.sum",
        "add the next 32-bit number of an array in the cache, which begins this far behind its natural address",
    )
    .per("number")
    .axes(&[BY, OFFSET])
    .moves(|_| 4)
    // One turn of the loop covers 4,096 numbers.
    .terms(&[])
    .prepare(|setting| {
        let offset = setting.number("offset")? as usize;
        Ok(match setting.word("by")? {
            "load" => sums(setting.seed(), offset, loaded),
            "halves" => sums(setting.seed(), offset, from_halves),
            "bytes" => sums(setting.seed(), offset, from_bytes),
            _ => sums(setting.seed(), offset, by_vectors),
        })
    })];

/// The loop that adds up all numbers with `sum`, and checks the total.
fn sums(seed: u64, offset: usize, sum: impl Fn(&[u8]) -> u32 + 'static) -> Loop {
    let mut random = fastrand::Rng::with_seed(seed);
    let numbers: Vec<u32> = (0..NUMBERS).map(|_| random.u32(..)).collect();
    let expected = numbers.iter().fold(0_u32, |sum, number| sum.wrapping_add(*number));
    let mut room = vec![0_u8; NUMBERS * 4 + 2 * LINE];
    let start = room.as_ptr().align_offset(LINE) + offset;
    let end = start + NUMBERS * 4;
    room[start..end].copy_from_slice(&numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>());
    let [total, result] = handles(Cell::new(0_u32));
    Loop::new(move |times| {
        for _ in 0..times {
            // The array's address is hidden from the optimizer each time, or it would compute one sum for all iterations.
            let from = opaque(start as u64) as usize;
            total.set(total.get().wrapping_add(sum(&room[from..from + NUMBERS * 4])));
        }
        Ok(())
    })
    .unrolled(NUMBERS as u64)
    .verify(move |times| {
        ensure(
            result.replace(0) == expected.wrapping_mul(times as u32),
            || "the numbers of the array do not add up to what was written",
        )
    })
}

/// The sum, where `number` makes each number.
#[inline(always)]
fn added(bytes: &[u8], number: impl Fn([u8; 4]) -> u32) -> u32 {
    bytes.as_chunks().0.iter().fold(0, |sum, four| sum.wrapping_add(number(*four)))
}

fn by_vectors(bytes: &[u8]) -> u32 {
    added(bytes, u32::from_le_bytes)
}

fn loaded(bytes: &[u8]) -> u32 {
    added(bytes, |four| opaque(u64::from(u32::from_le_bytes(four))) as u32)
}

/// Each half is hidden from the optimizer, which would otherwise replace both by one load.
fn from_halves(bytes: &[u8]) -> u32 {
    let half = |two| opaque(u64::from(u16::from_le_bytes(two))) as u32;
    added(bytes, |[a, b, c, d]| half([a, b]) | half([c, d]) << 16)
}

/// The same for each byte.
fn from_bytes(bytes: &[u8]) -> u32 {
    let one = |byte| opaque(u64::from(byte)) as u32;
    added(bytes, |[a, b, c, d]| one(a) | one(b) << 8 | one(c) << 16 | one(d) << 24)
}

#[cfg(test)]
mod tests {
    use operation::Failure;

    use super::*;

    #[test]
    fn all_ways_make_the_same_number_of_the_same_bytes() {
        let bytes: Vec<u8> = (1..=8).collect();
        let expected = 0x0403_0201 + 0x0807_0605;
        for way in [by_vectors, loaded, from_halves, from_bytes] {
            assert_eq!(way(&bytes), expected);
        }
    }

    #[test]
    fn a_number_left_out_is_found_out() {
        let mut short = sums(1, 1, |bytes| by_vectors(&bytes[4..]));
        assert!(matches!(short.perform(1), Err(Failure::Wrong(_))));
    }
}
