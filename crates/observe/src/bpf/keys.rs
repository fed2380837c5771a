//! Counting by key: in the table of a record, and where that has no room, in the map that all records share.

use super::builder::{Builder, GOLDEN, frame, helper};
use super::instruction::{Assembler, Compute, FRAME, Label, Operand, Register, When, Width};
use super::layout::{self, Kind};
use Operand::{Constant, Register as Other};

impl Builder<'_> {
    /// The error of a call, in register 3, becomes the numbers of a key: the call's number, which is in register 8, and the error.
    pub(super) fn error_key(&mut self) {
        self.code.copy(1, 8);
        self.code.compute(Compute::ShiftLeft, 1, Constant(16));
        self.code.compute(Compute::Or, 3, Other(1));
    }

    /// Gives register 3 the kind of a key, above its two numbers.
    fn key(&mut self, kind: Kind) {
        self.code.wide(1, (kind as u64) << 32);
        self.code.compute(Compute::Or, 3, Other(1));
    }

    /// Counts the key in register 3, of this kind, in the record's table, and goes to `done`. Keeps registers 6 to 9.
    pub(super) fn count_key(&mut self, kind: Kind, done: Label) {
        self.add_to_key(kind, Constant(1), done);
    }

    /// The same for the key in a register from 6 to 9.
    pub(super) fn count_number(&mut self, from: Register, kind: Kind, done: Label) {
        self.code.copy(3, from);
        self.count_key(kind, done);
    }

    /// Adds an amount, a constant or one of the registers 6 to 9, to the key in register 3, of this kind, of the record's table, and goes
    /// to `done`.
    pub(super) fn add_to_key(&mut self, kind: Kind, amount: Operand, done: Label) {
        self.change_key(kind, done, |a, at, [found, next]| {
            a.jump_if(5, When::Equal, Other(3), found);
            a.jump_if(5, When::NotEqual, Constant(0), next);
            a.store(Width::Double, 4, at, 3);
            a.place(found);
            a.load(Width::Double, 5, 4, at + 8);
            a.compute(Compute::Add, 5, amount);
        });
        self.spill(amount, done);
    }

    /// Takes 1 off what the key in register 3, of this kind, counts in the record's table, if that is there. Goes to `done`.
    pub(super) fn take_from_key(&mut self, kind: Kind, done: Label) {
        self.change_key(kind, done, |a, at, [found, next]| {
            a.jump_if(5, When::NotEqual, Other(3), next);
            a.load(Width::Double, 5, 4, at + 8);
            a.jump_if(5, When::NotEqual, Constant(0), found);
            a.otherwise(done, found);
            a.add(5, -1);
        });
        self.code.jump(done);
    }

    /// Gives register 3 the kind of a key, changes what it counts, and goes to `done`. `change` is done at each place in the table where the
    /// key may be: with the offset of the place from register 4, and what is there in register 5. It leaves the new count in register 5, or
    /// goes on at the second label. Goes on here if the table does not have the key.
    fn change_key(&mut self, kind: Kind, done: Label, change: impl Fn(&mut Assembler, i16, [Label; 2])) {
        self.key(kind);
        let a = &mut self.code;
        a.copy(4, 3);
        a.copy(5, 3);
        a.compute(Compute::ShiftRight, 5, Constant(32));
        a.compute(Compute::Xor, 4, Other(5));
        a.compute32(Compute::Multiply, 4, Constant(GOLDEN));
        a.compute32(Compute::ShiftRight, 4, Constant(32 - layout::PLACE_BITS as i32));
        a.compute(Compute::ShiftLeft, 4, Constant(4));
        a.compute(Compute::Add, 4, Other(7));
        for place in 0..layout::TRIES as i16 {
            let (at, [found, next]) = (layout::TABLE + place * 16, a.labels());
            a.load(Width::Double, 5, 4, at);
            change(a, at, [found, next]);
            a.store(Width::Double, 4, at + 8, 5);
            a.otherwise(done, next);
        }
    }

    /// Gives the key in register 3 its kind, and adds an amount to it in the map that all records share.
    pub(super) fn spill_key(&mut self, kind: Kind, amount: Operand, done: Label) {
        self.key(kind);
        self.spill(amount, done);
    }

    /// Adds an amount to the key in register 3 in the map that all records share.
    fn spill(&mut self, amount: Operand, done: Label) {
        let [again, fresh] = self.code.labels();
        let map = self.maps.spilled.descriptor();
        self.code.load(Width::Double, 1, 7, layout::ID);
        self.code.store(Width::Double, FRAME, frame::SPILLED, 1);
        self.code.store(Width::Double, FRAME, frame::SPILLED_KEY, 3);
        self.look_up(map, frame::SPILLED, fresh);
        self.code.place(again);
        self.code.compute(Compute::Move, 1, amount);
        self.code.add_at_once(0, 0, 1);
        self.code.otherwise(done, fresh);
        self.code.compute(Compute::Move, 1, amount);
        self.code.store(Width::Double, FRAME, frame::ONE, 1);
        self.frame(3, frame::ONE);
        // BPF_NOEXIST: shared records may be added to by another CPU meanwhile.
        self.code.constant(4, 1);
        self.on_map(helper::UPDATE, map, frame::SPILLED);
        self.code.jump_if(0, When::Equal, Constant(0), done);
        self.on_map(helper::LOOKUP, map, frame::SPILLED);
        self.code.jump_if(0, When::NotEqual, Constant(0), again);
        self.lose(layout::lost::EVENTS);
        self.code.jump(done);
    }
}
