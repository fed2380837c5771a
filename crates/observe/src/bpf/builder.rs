//! What the programs are built of: finding the record of a task, giving one, counting in it. Knows no tracepoint.

use super::instruction::{Assembler, Compute, FRAME, Instruction, Label, Operand, Register, When, Width};
use super::layout;
use super::maps::Maps;
use Operand::{Constant, Register as Other};

/// Helpers by number (include/uapi/linux/bpf.h, `BPF_FUNC_*`).
pub(super) mod helper {
    pub(crate) const LOOKUP: i32 = 1;
    pub(crate) const UPDATE: i32 = 2;
    pub(crate) const DELETE: i32 = 3;
    pub(crate) const MONOTONIC: i32 = 5;
    pub(crate) const RANDOM: i32 = 7;
    pub(crate) const THIS_CPU: i32 = 8;
    pub(crate) const IDENTITY: i32 = 14;
    pub(crate) const NAME: i32 = 16;
    pub(crate) const TASK: i32 = 35;
    pub(crate) const CGROUP: i32 = 80;
    pub(crate) const PUSH: i32 = 87;
    pub(crate) const POP: i32 = 88;
    pub(crate) const READ_USER: i32 = 112;
    pub(crate) const READ: i32 = 113;
    pub(crate) const READ_TEXT: i32 = 114;
    pub(crate) const IDENTITY_IN: i32 = 120;
    pub(crate) const ANCESTOR: i32 = 123;
    pub(crate) const TASK_BY_TYPE: i32 = 158;
    pub(crate) const REGISTERS_OF: i32 = 175;
}

/// The frame: where the programs keep what helpers take by address.
pub(super) mod frame {
    pub(crate) const TASK: i16 = -8;
    pub(crate) const SLOT: i16 = -16;
    pub(crate) const WORD: i16 = -24;
    pub(crate) const ONE: i16 = -32;
    pub(crate) const SPILLED: i16 = -48;
    pub(crate) const SPILLED_KEY: i16 = -40;
    // From -96 to -48: registers, by `layout::HERE`.
    pub(crate) const CLASS: i16 = -104;
    pub(crate) const FOLDER: i16 = -112;
    /// The array of a record, and the record's place there.
    pub(crate) const CHUNK: i16 = -272;
    pub(crate) const PLACE: i16 = -280;
    /// The first bytes of a name.
    pub(crate) const PATH: i16 = -240;
    /// How many.
    pub(crate) const PATH_SIZE: i16 = 128;
    /// When the sample that the call is had been noted, in ns; 0 if it is none.
    pub(crate) const SAMPLED: i16 = -248;
    /// A file and its inode.
    pub(crate) const FILE: i16 = -256;
    pub(crate) const INODE: i16 = -264;
    /// The flags of an open.
    pub(crate) const FLAGS: i16 = -288;
    /// The address of a name.
    pub(crate) const NAME_AT: i16 = -296;
    /// What is kept for a descriptor but for its kind, and where: see `kinds`.
    pub(crate) const KEPT: i16 = -304;
    pub(crate) const KEPT_AT: i16 = -312;
}

/// Fibonacci hashing: 2^32 over the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4).
pub(super) const GOLDEN: i32 = 0x9E37_79B1_u32 as i32;

/// How a program at a call reads the registers that the task saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registers {
    /// As memory of the kernel, by a helper.
    ByHelper,
    /// As what the kernel knows them to be, by plain loads.
    ByType,
}

/// A program being built, and the maps it uses. Registers: 6 the context, 7 the record, 8 and 9 what the program keeps.
pub(super) struct Builder<'a> {
    pub(super) code: Assembler,
    pub(super) maps: &'a Maps,
    pub(super) registers: Registers,
    /// Where tasks are counted that could not be followed at all.
    pub(super) unfollowed: i16,
}

impl<'a> Builder<'a> {
    pub(super) fn new(maps: &'a Maps) -> Builder<'a> {
        let mut code = Assembler::default();
        code.copy(6, 1);
        Builder { code, maps, registers: Registers::ByHelper, unfollowed: layout::lost::TASKS }
    }

    /// Ends the program at this label.
    pub(super) fn end(mut self, end: Label) -> Vec<Instruction> {
        self.code.place(end);
        self.code.exit();
        self.code.finish()
    }

    /// Puts the address of a place of the frame into a register.
    pub(super) fn frame(&mut self, to: Register, place: i16) {
        self.code.copy(to, FRAME);
        self.code.add(to, i32::from(place));
    }

    /// Calls a helper on a map and the key in the frame.
    pub(super) fn on_map(&mut self, helper: i32, map: i32, key: i16) {
        self.frame(2, key);
        self.code.map(1, map);
        self.code.call(helper);
    }

    /// Register 0 becomes the address of what a map has for the key in the frame. Goes to `missing` if it has nothing.
    pub(super) fn look_up(&mut self, map: i32, key: i16, missing: Label) {
        self.on_map(helper::LOOKUP, map, key);
        self.code.jump_if(0, When::Equal, Constant(0), missing);
    }

    /// The time: register 8.
    pub(super) fn now(&mut self) {
        self.code.call(helper::MONOTONIC);
        self.code.copy(8, 0);
    }

    /// The task that the tracepoint has at this offset becomes the key of the frame.
    pub(super) fn passed_task(&mut self, offset: i16) {
        self.code.load(Width::Double, 1, 6, offset);
        self.code.store(Width::Double, FRAME, frame::TASK, 1);
    }

    /// The running task becomes the key of the frame. It stays in register 0.
    pub(super) fn this_task(&mut self) {
        self.code.call(helper::TASK);
        self.code.store(Width::Double, FRAME, frame::TASK, 0);
    }

    /// Finds the record of the task in the frame: register 7. Its number stays in the frame. A task that is known not to be
    /// watched goes to `ignored`.
    pub(super) fn find(&mut self, missing: Label, ignored: Label) {
        let own = self.code.label();
        self.look_up(self.maps.tasks.descriptor(), frame::TASK, missing);
        self.code.load(Width::Word, 0, 0, 0);
        self.code.jump_if(0, When::Equal, Constant(layout::IGNORED), ignored);
        self.code.jump_if(0, When::Less, Constant(layout::CREATED), own);
        self.code.call(helper::THIS_CPU);
        self.code.place(own);
        self.code.store(Width::Word, FRAME, frame::SLOT, 0);
        self.record(missing);
    }

    /// The record of the task in the frame, if it has one of its own: register 7.
    pub(super) fn find_own(&mut self, missing: Label) {
        self.look_up(self.maps.tasks.descriptor(), frame::TASK, missing);
        self.code.load(Width::Word, 0, 0, 0);
        self.code.jump_if(0, When::Above, Constant(layout::CREATED - 1), missing);
        self.code.store(Width::Word, FRAME, frame::SLOT, 0);
        self.record(missing);
    }

    /// The same of the task that the tracepoint has at this offset.
    pub(super) fn find_passed(&mut self, task: i16, missing: Label) {
        self.passed_task(task);
        self.find_own(missing);
    }

    /// The record whose number is in the frame: register 7.
    pub(super) fn record(&mut self, missing: Label) {
        self.code.load(Width::Word, 1, FRAME, frame::SLOT);
        self.code.copy(2, 1);
        self.code.compute(Compute::And, 2, Constant(layout::CHUNK as i32 - 1));
        self.code.store(Width::Word, FRAME, frame::PLACE, 2);
        self.code.compute(Compute::ShiftRight, 1, Constant(layout::CHUNK_BITS));
        self.code.store(Width::Word, FRAME, frame::CHUNK, 1);
        // The kernel puts both searches into the program, so they take no call.
        self.look_up(self.maps.records.descriptor(), frame::CHUNK, missing);
        self.code.copy(1, 0);
        self.frame(2, frame::PLACE);
        self.code.call(helper::LOOKUP);
        self.code.jump_if(0, When::Equal, Constant(0), missing);
        self.code.copy(7, 0);
    }

    /// Register 2 becomes where the call in register 8 is counted by its number, less the offset of all.
    pub(super) fn place_by_number(&mut self) {
        self.code.copy(2, 8);
        self.code.compute(Compute::ShiftLeft, 2, Constant(4));
        self.code.compute(Compute::Add, 2, Other(7));
    }

    /// Adds 1 to a count of the record that `base` points into.
    pub(super) fn count(&mut self, base: Register, offset: i16) {
        self.add_to(base, offset, Constant(1));
    }

    /// Adds an amount to a sum of the record that `base` points into. Only the task itself writes to its record.
    pub(super) fn add_to(&mut self, base: Register, offset: i16, amount: Operand) {
        self.code.load(Width::Double, 1, base, offset);
        self.code.compute(Compute::Add, 1, amount);
        self.code.store(Width::Double, base, offset, 1);
    }

    /// What was remembered of addresses holds as long as this is the same: into this register.
    pub(super) fn epoch(&mut self, to: Register) {
        self.code.map_value(to, self.maps.lost.descriptor());
        self.code.load(Width::Double, to, to, layout::lost::EPOCH);
    }

    pub(super) fn lose(&mut self, what: i16) {
        self.code.constant(1, 1);
        self.lose_these(what);
    }

    /// The same for as many as register 1 holds.
    pub(super) fn lose_these(&mut self, what: i16) {
        self.code.map_value(2, self.maps.lost.descriptor());
        self.code.add_at_once(2, what, 1);
    }

    /// Reads 4 bytes of the kernel's memory, this far behind what register 3 points to, into register 0.
    pub(super) fn read_word(&mut self, offset: i32) {
        self.read_registers((offset, 4, frame::WORD));
        self.code.load(Width::Word, 0, FRAME, frame::WORD);
    }

    /// Register 3 becomes the 8 bytes of the kernel's memory that are this far behind what it points to.
    pub(super) fn read_double(&mut self, offset: i32) {
        self.read_registers((offset, 8, frame::WORD));
        self.code.load(Width::Double, 3, FRAME, frame::WORD);
    }

    /// Register 0 becomes the number of the call that the task of register 7 is in, as its saved registers have it; goes to `none` if they
    /// were not found yet.
    pub(super) fn saved_number(&mut self, none: Label) {
        self.code.load(Width::Double, 3, 7, layout::REGISTERS);
        self.code.jump_if(3, When::Equal, Constant(0), none);
        self.read_word(layout::HERE.number);
    }

    /// Reads this part of the saved registers, which register 3 points to, into the frame.
    pub(super) fn read_registers(&mut self, (at, bytes, place): (i32, i32, i16)) {
        self.code.add(3, at);
        self.code.constant(2, bytes);
        self.frame(1, place);
        self.code.call(helper::READ);
    }

    /// Goes to `to` if this compares so with a field of the record of register 7. The field is in register 1 afterwards.
    pub(super) fn if_field(&mut self, width: Width, field: i16, (when, than): (When, i32), to: Label) {
        self.code.load(width, 1, 7, field);
        self.code.jump_if(1, when, Constant(than), to);
    }

    /// Goes to `to` if the task of register 7 runs a 32-bit program.
    pub(super) fn if_narrow(&mut self, to: Label) {
        self.code.load(Width::Word, 1, 7, layout::FLAGS);
        self.code.jump_if_any(1, layout::NARROW, to);
    }

    /// Goes to `to` if the number in this register is not among those by which calls are counted.
    pub(super) fn if_beyond(&mut self, number: Register, to: Label) {
        self.code.jump_if(number, When::Above, Constant(layout::CALLS as i32 - 1), to);
    }

    /// Process id in the high half, thread id in the low one: register 0. In the numbers of howslow's namespace, if it is not the
    /// first one and the task is in it.
    fn identity(&mut self) {
        if self.maps.namespace.is_none() {
            return self.code.call(helper::IDENTITY);
        }
        let [outside, known] = self.code.labels();
        self.identity_inside(outside);
        self.code.otherwise(known, outside);
        self.code.call(helper::IDENTITY);
        self.code.place(known);
    }

    /// The same of a task in howslow's namespace; a task outside of it, or in one within it, goes to `outside`.
    pub(super) fn identity_inside(&mut self, outside: Label) {
        let Some((device, inode)) = self.maps.namespace else { return self.code.call(helper::IDENTITY) };
        self.code.wide(1, device);
        self.code.wide(2, inode);
        self.frame(3, frame::SPILLED);
        self.code.constant(4, 8);
        self.code.call(helper::IDENTITY_IN);
        self.code.jump_if(0, When::NotEqual, Constant(0), outside);
        // The kernel writes the thread's id and then that of the process.
        self.code.load(Width::Double, 0, FRAME, frame::SPILLED);
    }

    /// Notes who the running task is: for the record in register 7.
    pub(super) fn identify(&mut self) {
        self.identity();
        self.code.store(Width::Double, 7, layout::IDENTITY, 0);
        self.code.copy(1, 7);
        self.code.add(1, i32::from(layout::NAME));
        self.code.constant(2, 16);
        self.code.call(helper::NAME);
    }
}
