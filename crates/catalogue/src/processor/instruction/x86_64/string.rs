//! The string instructions of x86-64: many bytes by one instruction.

use std::cell::RefCell;

use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers, size};

use super::special::same;
use super::text;
use crate::kit::{BASE, Block, handles};

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.id("instruction.string.copy")
        .summary("copy this many bytes by one instruction (rep movsb) to an address this far behind a multiple of 64")
        .version(2)
        .axes(&[STRING, OFFSET])
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(copies),
    BASE.id("instruction.string.fill")
        .summary("fill this many bytes by one instruction (rep stosb) at an address this far behind a multiple of 64")
        .version(2)
        .axes(&[STRING, OFFSET])
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(fills),
];

const STRING: Axis = size(numbers![64, 512, 4096]);

/// The allocator of a C library gives 16.
const OFFSET: Axis = count("offset", numbers![0, 1, 16]).headline(numbers![0]);

/// The place of the target within its page; the source begins at a page boundary. It is far enough that no load of a small
/// copy has the low twelve address bits of a recent store.
const APART: usize = 2048;

/// The letter that strings consist of.
const LETTER: u8 = 0x5A;

fn copies(setting: &Setting) -> Result<Loop, Failure> {
    let (source, target) = places(setting)?;
    Ok(strings(target, move |target| {
        // SAFETY: both have the length of the source.
        unsafe { text::copy(source.as_ptr(), target.as_mut_ptr(), source.len()) }
    }))
}

fn fills(setting: &Setting) -> Result<Loop, Failure> {
    let (_, target) = places(setting)?;
    Ok(strings(target, |target| {
        // SAFETY: the target has that length.
        unsafe { text::fill(target.as_mut_ptr(), target.len(), LETTER) }
    }))
}

/// A source filled with the letter, and a target, each at the place that the point says.
fn places(setting: &Setting) -> Result<(Block, Block), Failure> {
    let offset = APART + setting.number("offset")? as usize;
    Ok((Block::of(LETTER, setting.size()?), Block::behind(offset, setting.size()?)))
}

/// The loop of one such instruction after another. Each batch must leave only letters.
fn strings(mut target: Block, one: impl Fn(&mut Block) + 'static) -> Loop {
    target.fill(0);
    let [target, reached] = handles(RefCell::new(target));
    let run = move |times| {
        let target = &mut *target.borrow_mut();
        (0..times).for_each(|_| one(target));
        Ok(())
    };
    Loop::new(run).verify(move |_| filled(&mut reached.borrow_mut()))
}

/// Fails unless every byte is the letter. Clears them for the next batch.
fn filled(bytes: &mut [u8]) -> Result<(), Failure> {
    let wrong = bytes.iter().filter(|byte| **byte != LETTER).count() as u64;
    bytes.fill(0);
    same("bytes left as they were", wrong, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_lie_where_their_points_place_them() {
        for operation in OPERATIONS {
            for point in operation.points(false) {
                let setting = Setting::new(point.clone(), std::env::temp_dir(), 0, None, 1);
                let (source, target) = places(&setting).expect("the axes");
                let wanted = APART + setting.number("offset").expect("the axis") as usize;
                assert_eq!((source.as_ptr() as usize % 4096, target.as_ptr() as usize % 4096), (0, wanted), "{point}");
                operation.set_up(&setting).expect("a loop").perform(3).expect("strings");
            }
        }
    }

    #[test]
    fn bytes_left_out_are_found_out() {
        let short = strings(Block::new(512), |target| target[1..].fill(LETTER));
        assert!(matches!({ short }.perform(1), Err(Failure::Wrong(_))));
    }
}
