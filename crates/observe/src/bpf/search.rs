//! Finding the record of the task that runs, as fast as can be; and giving one to a task that is to be watched.

use super::builder::{Builder, GOLDEN, frame, helper};
use super::instruction::{Compute, FRAME, Label, Operand, When, Width};
use super::layout;
use Operand::{Constant, Register as Other};

/// A kernel stack is at least this aligned: 4 KiB.
const STACK_BITS: i32 = 12;

/// `PF_KTHREAD` (include/linux/sched.h): a thread of the kernel's own.
const KERNEL: i32 = 0x0020_0000;

/// No cgroup of a service or container lies deeper.
const DEEPEST: i32 = 24;

/// Whom the programs watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// The tasks that were announced, once they execute a program, and what they create.
    Announced,
    /// The processes in the map of the wanted, and what they create. Processes that run may be wanted later only if so requested.
    Wanted { joined_later: bool },
    /// All in the cgroup with this id, and what they create. Its depth, where that is known: in a namespace of cgroups, levels count
    /// from a root that is not known.
    Cgroup { id: u64, depth: Option<i32> },
    /// All but the process with this id; in a namespace of process ids, all of that namespace.
    AllBut(u32),
}

impl Whom {
    /// True if a task that is not watched is not watched later, unless it is given a record.
    pub(super) fn stays(self) -> bool {
        !matches!(self, Whom::Wanted { joined_later: true } | Whom::Cgroup { .. })
    }

    /// Room for keys beyond the tables of all records together: those of tasks that run stay.
    pub(super) fn spilled_keys(self) -> usize {
        match self {
            Whom::Announced | Whom::Wanted { joined_later: false } => 1 << 14,
            _ => 1 << 16,
        }
    }

    /// The marks of tasks for which no record was left that their next call shows to be watched.
    pub(super) fn readmits(self) -> &'static [i32] {
        match self {
            Whom::Announced => &[],
            Whom::Wanted { joined_later: false } => &[layout::OVERFLOW],
            _ => &[layout::OVERFLOW, layout::CREATED],
        }
    }
}

/// Finds the record of the running task by the hint for the address of its saved registers, which takes a third of a search.
/// A task that was searched for in vain is remembered by that address too, until a record is given out or such a task ends: then the
/// address may belong to a new task.
pub(super) fn find_fast(b: &mut Builder, whom: Whom, found: Label, end: Label) {
    let [search, missing, strange] = b.code.labels();
    b.code.load(Width::Double, 9, 6, 0);
    b.code.copy(1, 9);
    // Of an address with a type, the kernel lets this be computed with: its low half, by subtraction.
    b.code.compute32(Compute::Subtract, 1, Constant(0));
    b.code.compute32(Compute::ShiftRight, 1, Constant(STACK_BITS));
    b.code.compute32(Compute::Multiply, 1, Constant(GOLDEN));
    b.code.compute32(Compute::ShiftRight, 1, Constant(32 - layout::HINT_BITS));
    b.code.compute(Compute::ShiftLeft, 1, Constant(layout::HINT_SIZE_BITS));
    b.code.map_value(8, b.maps.hints.descriptor());
    b.code.compute(Compute::Add, 8, Other(1));
    b.code.load(Width::Word, 1, 8, layout::HINT_SLOT);
    b.code.store(Width::Word, FRAME, frame::SLOT, 1);
    b.record(search);
    b.code.load(Width::Double, 1, 7, layout::REGISTERS);
    b.code.jump_if(1, When::Equal, Other(9), found);
    b.code.place(search);
    if whom.stays() {
        let unknown = b.code.label();
        b.code.load(Width::Double, 1, 8, layout::HINT_STRANGER);
        b.code.jump_if(1, When::NotEqual, Other(9), unknown);
        b.epoch(2);
        b.code.load(Width::Double, 1, 8, layout::HINT_EPOCH);
        b.code.jump_if(1, When::Equal, Other(2), end);
        b.code.place(unknown);
    }
    b.this_task();
    b.find(missing, strange);
    // A shared record belongs to no task, so it is never found by a hint.
    b.code.load(Width::Double, 1, 7, layout::TASK);
    b.code.load(Width::Double, 2, FRAME, frame::TASK);
    b.code.jump_if(1, When::NotEqual, Other(2), found);
    b.code.load(Width::Word, 1, FRAME, frame::SLOT);
    b.code.store(Width::Word, 8, layout::HINT_SLOT, 1);
    b.code.otherwise(found, missing);
    admit(b, whom, found, [strange, end]);
    b.code.place(strange);
    if whom.stays() {
        b.epoch(2);
        b.code.store(Width::Double, 8, layout::HINT_STRANGER, 9);
        b.code.store(Width::Double, 8, layout::HINT_EPOCH, 2);
    }
    b.code.jump(end);
}

/// A task without a record: gives it one if it is to be watched. One that is not goes to `strange`, or to `end` if it may be watched later.
pub(super) fn admit(b: &mut Builder, whom: Whom, found: Label, [strange, end]: [Label; 2]) {
    let ignored = b.code.label();
    if whom == Whom::Announced {
        b.code.jump(strange);
        return;
    }
    choose(b, whom, [ignored, end]);
    b.code.constant(9, 0);
    b.create(found, end);
    // The kernel takes no program with instructions that nothing leads to.
    if !matches!(whom, Whom::Cgroup { .. }) {
        b.code.place(ignored);
        if whom != (Whom::Wanted { joined_later: true }) {
            b.ignore();
        }
        b.code.jump(strange);
    }
}

/// Where a task has its flags, if [`admit_outside`] can give it a record.
pub(super) fn flags(b: &Builder, whom: Whom) -> Option<i32> {
    b.maps.types.map(|types| types.flags).filter(|_| whom != Whom::Announced)
}

/// As [`admit`] outside of calls, where threads of the kernel's own come too: one that is not watched goes to `end`, and nothing is
/// remembered. One for which no record is left goes to `refused`.
pub(super) fn admit_outside(b: &mut Builder, whom: Whom, found: Label, [end, refused]: [Label; 2]) {
    let Some(flags) = flags(b, whom) else { return b.code.jump(end) };
    b.code.load(Width::Double, 3, FRAME, frame::TASK);
    b.read_word(flags);
    b.code.jump_if_any(0, KERNEL, end);
    choose(b, whom, [end, end]);
    b.code.constant(9, 0);
    b.create(found, refused);
}

/// Goes on if the running task is to be watched. Else goes to `ignored`, or to `end` if that may change.
fn choose(b: &mut Builder, whom: Whom, [ignored, end]: [Label; 2]) {
    match whom {
        Whom::Announced => {}
        Whom::Wanted { .. } => {
            b.identity_inside(ignored);
            b.code.compute(Compute::ShiftRight, 0, Constant(32));
            b.code.store(Width::Word, FRAME, frame::WORD, 0);
            b.look_up(b.maps.wanted.descriptor(), frame::WORD, ignored);
        }
        // A task may be moved into the cgroup later, so nothing is remembered.
        Whom::Cgroup { id, depth: Some(depth) } => {
            ancestor(b, depth, id);
            b.code.jump_if(0, When::NotEqual, Other(1), end);
        }
        Whom::Cgroup { id, depth: None } => {
            let found = b.code.label();
            for depth in 0..DEEPEST {
                ancestor(b, depth, id);
                b.code.jump_if(0, When::Equal, Other(1), found);
                b.code.jump_if(0, When::Equal, Constant(0), end);
            }
            b.code.otherwise(end, found);
        }
        Whom::AllBut(process) => {
            b.identity_inside(ignored);
            b.code.compute(Compute::ShiftRight, 0, Constant(32));
            b.code.jump_if(0, When::Equal, Constant(process as i32), ignored);
        }
    }
}

impl Builder<'_> {
    /// Gives the task in the frame a record, created by the one whose number is in register 9. Register 7 is the record only at
    /// `done`; without one, the program goes on at `none`.
    pub(super) fn create(&mut self, done: Label, none: Label) {
        let [full, marked, failed] = self.code.labels();
        let free = self.maps.free.descriptor();
        self.lose(layout::lost::GIVEN);
        self.lose(layout::lost::EPOCH);
        self.on_map(helper::POP, free, frame::SLOT);
        self.code.jump_if(0, When::NotEqual, Constant(0), full);
        self.record(full);
        self.code.load(Width::Double, 1, FRAME, frame::TASK);
        self.code.store(Width::Double, 7, layout::TASK, 1);
        self.code.store(Width::Double, 7, layout::PARENT, 9);
        self.code.set(Width::Word, 7, layout::FLAGS, layout::FRESH);
        self.code.set(Width::Word, 7, layout::LAST, layout::NONE);
        self.code.call(helper::MONOTONIC);
        self.code.store(Width::Double, 7, layout::BEGIN, 0);
        self.insert();
        self.code.jump_if(0, When::Equal, Constant(0), done);
        self.code.constant(3, 0);
        self.on_map(helper::PUSH, free, frame::SLOT);
        self.code.constant(1, -1);
        self.lose_these(layout::lost::GIVEN);
        self.code.otherwise(failed, full);
        self.code.constant(1, layout::CREATED);
        self.code.jump_if(9, When::NotEqual, Constant(0), marked);
        self.code.constant(1, layout::OVERFLOW);
        self.code.place(marked);
        self.code.store(Width::Word, FRAME, frame::SLOT, 1);
        self.lose(layout::lost::RECORDS);
        self.insert();
        self.code.jump_if(0, When::Equal, Constant(0), none);
        self.code.place(failed);
        self.lose(self.unfollowed);
        self.code.jump(none);
    }

    /// Notes the record's number in the frame for the task in the frame.
    fn insert(&mut self) {
        self.frame(3, frame::SLOT);
        self.code.constant(4, 0);
        self.on_map(helper::UPDATE, self.maps.tasks.descriptor(), frame::TASK);
    }

    /// Notes that the task in the frame is not watched.
    fn ignore(&mut self) {
        self.code.set(Width::Word, FRAME, frame::SLOT, layout::IGNORED);
        self.insert();
    }
}

/// The id of the running task's cgroup at this level, 0 below its own: register 0. In register 1 the wanted id.
fn ancestor(b: &mut Builder, level: i32, wanted: u64) {
    b.code.constant(1, level);
    b.code.call(helper::ANCESTOR);
    b.code.wide(1, wanted);
}
