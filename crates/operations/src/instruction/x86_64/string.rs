//! The string instructions of x86-64: many bytes by one instruction.

use std::cell::Cell;
use std::rc::Rc;

use measure::{Axis, Choice, Failure, Loop, Operation, Setting, repeat, size};

use super::super::special::same;
use crate::DEFAULT;

pub(crate) const STRINGS: &[Operation] = &[
    Operation {
        id: "instruction.string.copy",
        summary: "copy so many bytes by one instruction (rep movsb)",
        axes: &[STRING],
        moves: |point| point.number("size").unwrap_or(0),
        prepare: copies,
        ..DEFAULT
    },
    Operation {
        id: "instruction.string.fill",
        summary: "fill so many bytes by one instruction (rep stosb)",
        axes: &[STRING],
        moves: |point| point.number("size").unwrap_or(0),
        prepare: fills,
        ..DEFAULT
    },
];

const STRING: Axis = size(&[Choice::Number(64), Choice::Number(512), Choice::Number(4096)]);

/// What strings are made of.
const LETTER: u8 = 0x5A;

/// The loop of string copies.
fn copies(setting: &Setting) -> Result<Loop, Failure> {
    let source = vec![LETTER; setting.size()];
    let target: Rc<[Cell<u8>]> = vec![Cell::new(0); setting.size()].into();
    let reached = Rc::clone(&target);
    let copies = repeat(move || {
        // SAFETY: both are as long as the source.
        unsafe { super::copy(source.as_ptr(), target.as_ptr().cast::<u8>().cast_mut(), source.len()) };
        Ok(())
    });
    Ok(copies.verify(move |_| filled(&reached)))
}

/// The loop of string fills.
fn fills(setting: &Setting) -> Result<Loop, Failure> {
    let target: Rc<[Cell<u8>]> = vec![Cell::new(0); setting.size()].into();
    let reached = Rc::clone(&target);
    let fills = repeat(move || {
        // SAFETY: the target is so long.
        unsafe { super::fill(target.as_ptr().cast::<u8>().cast_mut(), target.len(), LETTER) };
        Ok(())
    });
    Ok(fills.verify(move |_| filled(&reached)))
}

/// Whether every byte is the letter; they are cleared for the next batch.
fn filled(bytes: &[Cell<u8>]) -> Result<(), Failure> {
    let wrong = bytes.iter().filter(|byte| byte.replace(0) != LETTER).count() as u64;
    same("bytes left as they were", wrong, 0)
}
