//! The top of a task's stack at a sampled call, for the reader to find the callers in.

use super::builder::{Builder, frame, helper};
use super::instruction::{FRAME, Label, Operand, When, Width};
use super::layout::{self, HERE};
use super::sampled::{AT, CALL, IDENTITY, SAVED, SIZE, STACK, TIME, TOPS, WEIGHT};
use Operand::Constant;

/// In `count_sample`: register 9 is the time of all calls that the sample stands for, 7 the record. Goes on at `done`.
pub(super) fn capture(b: &mut Builder, done: Label) {
    let Some(maps) = &b.maps.stacks else { return };
    let (place, waiting) = (maps.place.descriptor(), maps.waiting.descriptor());
    let (stack_pointer, push) = (HERE.stack_pointer, b.code.label());
    b.code.call(helper::THIS_CPU);
    b.code.store(Width::Word, FRAME, frame::WORD, 0);
    b.look_up(place, frame::WORD, done);
    b.code.copy(8, 0);
    b.code.store(Width::Double, 8, TIME, 9);
    for (from, to, width) in [
        (layout::WEIGHT, WEIGHT, Width::Double),
        (layout::IDENTITY, IDENTITY, Width::Double),
        (layout::SAMPLED_CALL, CALL, Width::Word),
    ] {
        b.code.load(width, 1, 7, from);
        b.code.store(width, 8, to, 1);
    }
    b.code.load(Width::Double, 3, 6, 0);
    read_into(b, helper::READ, (AT, SAVED));
    for bytes in TOPS {
        b.code.set(Width::Word, 8, SIZE, bytes);
        b.code.load(Width::Double, 3, 8, AT + stack_pointer);
        read_into(b, helper::READ_USER, (STACK, bytes));
        b.code.jump_if(0, When::Equal, Constant(0), push);
    }
    b.code.set(Width::Word, 8, SIZE, 0);
    b.code.place(push);
    b.code.map(1, waiting);
    b.code.copy(2, 8);
    b.code.constant(3, 0);
    b.code.call(helper::PUSH);
    b.code.jump_if(0, When::Equal, Constant(0), done);
    b.code.load(Width::Double, 1, 7, layout::WEIGHT);
    b.lose_these(layout::lost::EVENTS);
}

/// Reads so many bytes at register 3 to this place of what register 8 points to.
fn read_into(b: &mut Builder, helper: i32, (at, bytes): (i16, i32)) {
    b.code.copy(1, 8);
    b.code.add(1, i32::from(at));
    b.code.constant(2, bytes);
    b.code.call(helper);
}
