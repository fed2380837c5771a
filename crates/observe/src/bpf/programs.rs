//! The programs that count, one for each tracepoint. They find the task's record, add to it, and leave; nothing is sent to
//! the reader while the task runs.

use super::instruction::{Assembler, Compute, FRAME, Instruction, Label, Operand, Register, When, Width};
use super::layout::{self, HERE, Kind};
use super::maps::Maps;
use Operand::{Constant, Register as Other};

/// Whom the programs watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// The tasks that were announced, once they execute a program, and what they create.
    Announced,
    /// The processes in the map of the wanted, and what they create. Processes that run may be wanted later only if so said.
    Wanted { joined_later: bool },
    /// All in the cgroup with this id, which lies this deep, and what they create.
    Cgroup { id: u64, depth: i32 },
    /// All but the process with this id.
    AllBut(u32),
}

/// Helpers by number (include/uapi/linux/bpf.h, `BPF_FUNC_*`).
pub(super) mod helper {
    pub(crate) const LOOKUP: i32 = 1;
    pub(crate) const UPDATE: i32 = 2;
    pub(crate) const DELETE: i32 = 3;
    pub(crate) const MONOTONIC: i32 = 5;
    pub(crate) const THIS_CPU: i32 = 8;
    pub(crate) const IDENTITY: i32 = 14;
    pub(crate) const NAME: i32 = 16;
    pub(crate) const TASK: i32 = 35;
    pub(crate) const CGROUP: i32 = 80;
    pub(crate) const PUSH: i32 = 87;
    pub(crate) const POP: i32 = 88;
    pub(crate) const READ: i32 = 113;
    pub(crate) const ANCESTOR: i32 = 123;
}

/// The frame: where the programs keep what helpers take by address.
pub(super) mod frame {
    pub(crate) const TASK: i16 = -8;
    pub(crate) const SLOT: i16 = -16;
    pub(crate) const WORD: i16 = -24;
    pub(crate) const ONE: i16 = -32;
    pub(crate) const SPILLED: i16 = -48;
    pub(crate) const SPILLED_KEY: i16 = -40;
}

/// Fibonacci hashing: 2^32 over the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4).
const GOLDEN: i32 = 0x9E37_79B1_u32 as i32;

/// A program being built, and the maps it uses. Registers: 6 the context, 7 the record, 8 and 9 what the program keeps.
pub(super) struct Builder<'a> {
    pub(super) code: Assembler,
    pub(super) maps: &'a Maps,
}

impl<'a> Builder<'a> {
    pub(super) fn new(maps: &'a Maps) -> Builder<'a> {
        let mut code = Assembler::default();
        code.copy(6, 1);
        Builder { code, maps }
    }

    /// Ends the program at this label.
    pub(super) fn end(mut self, end: Label) -> Vec<Instruction> {
        self.code.place(end);
        self.code.exit();
        self.code.finish()
    }

    /// Puts the address of a place of the frame into a register.
    fn frame(&mut self, to: Register, place: i16) {
        self.code.copy(to, FRAME);
        self.code.add(to, i32::from(place));
    }

    /// Calls a helper on a map and the key in the frame.
    pub(super) fn on_map(&mut self, helper: i32, map: i32, key: i16) {
        self.frame(2, key);
        self.code.map(1, map);
        self.code.call(helper);
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
        self.on_map(helper::LOOKUP, self.maps.tasks.descriptor(), frame::TASK);
        self.code.jump_if(0, When::Equal, Constant(0), missing);
        self.code.load(Width::Word, 0, 0, 0);
        self.code.jump_if(0, When::Equal, Constant(layout::IGNORED), ignored);
        self.code.jump_if(0, When::NotEqual, Constant(layout::OVERFLOW), own);
        self.code.call(helper::THIS_CPU);
        self.code.place(own);
        self.code.store(Width::Word, FRAME, frame::SLOT, 0);
        self.record(missing);
    }

    /// The record whose number is in the frame: register 7.
    pub(super) fn record(&mut self, missing: Label) {
        self.on_map(helper::LOOKUP, self.maps.records.descriptor(), frame::SLOT);
        self.code.jump_if(0, When::Equal, Constant(0), missing);
        self.code.copy(7, 0);
    }

    /// Adds 1 to a count of the record that `base` points into. Only the task itself writes to its record.
    pub(super) fn count(&mut self, base: Register, offset: i16) {
        self.code.load(Width::Double, 1, base, offset);
        self.code.add(1, 1);
        self.code.store(Width::Double, base, offset, 1);
    }

    fn lose(&mut self, what: i16) {
        self.code.constant(1, 1);
        self.code.map_value(2, self.maps.lost.descriptor());
        self.code.add_at_once(2, what, 1);
    }

    /// Reads 4 bytes of the kernel's memory at register 3 into register 0.
    pub(super) fn read_word(&mut self) {
        self.code.constant(2, 4);
        self.frame(1, frame::WORD);
        self.code.call(helper::READ);
        self.code.load(Width::Word, 0, FRAME, frame::WORD);
    }

    /// Gives register 3 the kind of a key, above its two numbers.
    pub(super) fn key(&mut self, kind: Kind) {
        self.code.wide(1, (kind as u64) << 32);
        self.code.compute(Compute::Or, 3, Other(1));
    }

    /// Counts the key in register 3 in the record's table, and goes to `done`. Keeps registers 6 to 9.
    pub(super) fn count_key(&mut self, done: Label) {
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
            let at = layout::TABLE + place * 16;
            let (found, next) = (a.label(), a.label());
            a.load(Width::Double, 5, 4, at);
            a.jump_if(5, When::Equal, Other(3), found);
            a.jump_if(5, When::NotEqual, Constant(0), next);
            a.store(Width::Double, 4, at, 3);
            a.place(found);
            a.load(Width::Double, 5, 4, at + 8);
            a.add(5, 1);
            a.store(Width::Double, 4, at + 8, 5);
            a.jump(done);
            a.place(next);
        }
        self.spill(done);
    }

    /// Counts the key in register 3 in the map that all records share.
    fn spill(&mut self, done: Label) {
        let (again, fresh) = (self.code.label(), self.code.label());
        let map = self.maps.spilled.descriptor();
        self.code.load(Width::Double, 1, 7, layout::ID);
        self.code.store(Width::Double, FRAME, frame::SPILLED, 1);
        self.code.store(Width::Double, FRAME, frame::SPILLED_KEY, 3);
        self.on_map(helper::LOOKUP, map, frame::SPILLED);
        self.code.jump_if(0, When::Equal, Constant(0), fresh);
        self.code.place(again);
        self.code.constant(1, 1);
        self.code.add_at_once(0, 0, 1);
        self.code.jump(done);
        self.code.place(fresh);
        self.code.constant(1, 1);
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

    /// Gives the task in the frame a record, created by the one whose number is in register 9. Register 7 is the record only at
    /// `done`; without one, the program goes on at `none`.
    pub(super) fn create(&mut self, done: Label, none: Label) {
        let (full, shared, failed) = (self.code.label(), self.code.label(), self.code.label());
        let tasks = self.maps.tasks.descriptor();
        self.on_map(helper::POP, self.maps.free.descriptor(), frame::SLOT);
        self.code.jump_if(0, When::NotEqual, Constant(0), full);
        self.record(full);
        self.code.load(Width::Double, 1, FRAME, frame::TASK);
        self.code.store(Width::Double, 7, layout::TASK, 1);
        self.code.store(Width::Double, 7, layout::PARENT, 9);
        self.code.constant(1, layout::FRESH);
        self.code.store(Width::Word, 7, layout::FLAGS, 1);
        self.code.constant(1, layout::NONE);
        self.code.store(Width::Word, 7, layout::LAST, 1);
        self.code.call(helper::MONOTONIC);
        self.code.store(Width::Double, 7, layout::BEGIN, 0);
        self.insert(tasks);
        self.code.jump_if(0, When::Equal, Constant(0), done);
        self.code.jump(failed);
        self.code.place(full);
        self.code.constant(1, layout::OVERFLOW);
        self.code.store(Width::Word, FRAME, frame::SLOT, 1);
        self.lose(layout::lost::RECORDS);
        self.insert(tasks);
        self.code.jump_if(0, When::Equal, Constant(0), shared);
        self.code.place(failed);
        self.lose(layout::lost::TASKS);
        self.code.place(shared);
        self.code.jump(none);
    }

    /// Notes the record's number in the frame for the task in the frame.
    fn insert(&mut self, tasks: i32) {
        self.frame(3, frame::SLOT);
        self.code.constant(4, 0);
        self.on_map(helper::UPDATE, tasks, frame::TASK);
    }

    /// Notes that the task in the frame is not watched.
    pub(super) fn ignore(&mut self) {
        self.code.constant(1, layout::IGNORED);
        self.code.store(Width::Word, FRAME, frame::SLOT, 1);
        self.insert(self.maps.tasks.descriptor());
    }

    /// Notes who the running task is: for the record in register 7.
    pub(super) fn identify(&mut self) {
        self.code.call(helper::IDENTITY);
        self.code.store(Width::Double, 7, layout::IDENTITY, 0);
        self.code.copy(1, 7);
        self.code.add(1, i32::from(layout::NAME));
        self.code.constant(2, 16);
        self.code.call(helper::NAME);
    }
}

/// A task was created: `sched_process_fork(parent, child)`.
pub(crate) fn created(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.code.load(Width::Double, 1, 6, 0);
    b.code.store(Width::Double, FRAME, frame::TASK, 1);
    b.find(end, end);
    b.count(7, layout::FORKS);
    b.code.load(Width::Double, 9, 7, layout::ID);
    b.code.load(Width::Double, 1, 6, 8);
    b.code.store(Width::Double, FRAME, frame::TASK, 1);
    b.create(end, end);
    b.end(end)
}

/// A task executes another program: `sched_process_exec(task, ...)`.
pub(crate) fn executed(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let (end, missing) = (b.code.label(), b.code.label());
    b.this_task();
    b.code.copy(8, 0);
    b.find(missing, end);
    b.count(7, layout::EXECS);
    b.code.load(Width::Double, 1, 7, layout::TASK);
    b.code.jump_if(1, When::NotEqual, Other(8), end);
    b.code.load(Width::Word, 1, 7, layout::FLAGS);
    b.code.compute(Compute::Or, 1, Constant(layout::FRESH));
    b.code.store(Width::Word, 7, layout::FLAGS, 1);
    b.code.jump(end);
    b.code.place(missing);
    b.on_map(helper::DELETE, maps.announced.descriptor(), frame::TASK);
    b.code.jump_if(0, When::NotEqual, Constant(0), end);
    b.code.constant(9, 0);
    let found = b.code.label();
    b.create(found, end);
    b.code.place(found);
    b.count(7, layout::EXECS);
    b.end(end)
}

/// A task ended: `sched_process_exit(task, ...)`, in that task.
pub(crate) fn ended(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let (end, over, narrow) = (b.code.label(), b.code.label(), b.code.label());
    b.this_task();
    b.on_map(helper::DELETE, maps.announced.descriptor(), frame::TASK);
    b.on_map(helper::LOOKUP, maps.tasks.descriptor(), frame::TASK);
    b.code.jump_if(0, When::Equal, Constant(0), end);
    b.code.load(Width::Word, 8, 0, 0);
    b.on_map(helper::DELETE, maps.tasks.descriptor(), frame::TASK);
    b.code.jump_if(8, When::Equal, Constant(layout::IGNORED), end);
    b.code.jump_if(8, When::Equal, Constant(layout::OVERFLOW), end);
    b.code.store(Width::Word, FRAME, frame::SLOT, 8);
    b.record(end);
    b.identify();
    b.code.call(helper::CGROUP);
    b.code.store(Width::Double, 7, layout::CGROUP, 0);
    b.code.call(helper::MONOTONIC);
    b.code.store(Width::Double, 7, layout::END, 0);
    // The calls that end a task do not return, so they are counted here.
    b.code.load(Width::Double, 3, 7, layout::REGISTERS);
    b.code.jump_if(3, When::Equal, Constant(0), over);
    b.code.add(3, HERE.number);
    b.read_word();
    b.code.load(Width::Word, 1, 7, layout::FLAGS);
    b.code.compute(Compute::And, 1, Constant(layout::NARROW));
    b.code.jump_if(1, When::NotEqual, Constant(0), narrow);
    for number in HERE.exits {
        let other = b.code.label();
        b.code.jump_if(0, When::NotEqual, Constant(number), other);
        b.count(7, layout::COUNTS + (number * 16) as i16);
        b.code.jump(over);
        b.code.place(other);
    }
    b.code.jump(over);
    b.code.place(narrow);
    let found = b.code.label();
    for number in HERE.narrow_exits {
        b.code.jump_if(0, When::Equal, Constant(number), found);
    }
    b.code.jump(over);
    b.code.place(found);
    b.code.copy(3, 0);
    b.key(Kind::Narrow);
    b.count_key(over);
    b.code.place(over);
    b.code.constant(1, 0);
    b.code.store(Width::Double, 7, layout::TASK, 1);
    b.code.constant(3, 0);
    b.on_map(helper::PUSH, maps.ended.descriptor(), frame::SLOT);
    b.end(end)
}

/// A signal is delivered: `signal_deliver(number, ...)`, in the task that receives it.
pub(crate) fn signalled(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.this_task();
    b.find(end, end);
    b.code.load(Width::Double, 3, 6, 0);
    b.code.compute(Compute::And, 3, Constant(0xff));
    b.key(Kind::Signal);
    b.count_key(end);
    b.end(end)
}

/// A request is given to an io_uring: `io_uring_submit_req(request)`. The operation code follows the request's command, which
/// has 64 bytes (include/linux/io_uring_types.h, `struct io_kiocb`).
pub(crate) fn requested(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.this_task();
    b.find(end, end);
    b.code.load(Width::Double, 3, 6, 0);
    b.code.add(3, 64);
    b.read_word();
    b.code.copy(3, 0);
    b.code.compute(Compute::And, 3, Constant(0xff));
    b.key(Kind::Ring);
    b.count_key(end);
    b.end(end)
}

/// Announces the task that runs this: it is watched once it executes a program.
pub(crate) fn announce(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.this_task();
    b.code.constant(1, 0);
    b.code.store(Width::Word, FRAME, frame::SLOT, 1);
    b.frame(3, frame::SLOT);
    b.code.constant(4, 0);
    b.on_map(helper::UPDATE, maps.announced.descriptor(), frame::TASK);
    b.end(end)
}

/// Watches the task that runs this from now on.
pub(crate) fn enrol(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.this_task();
    b.code.constant(9, 0);
    b.create(end, end);
    b.end(end)
}
