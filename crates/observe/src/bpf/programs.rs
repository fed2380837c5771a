//! The programs that count, one for each tracepoint. They find the task's record, add to it, and leave; nothing is sent to
//! the reader while the task runs.

use super::builder::{Builder, frame, helper};
use super::instruction::{Compute, FRAME, Instruction, Label, Operand, When, Width};
use super::kinds;
use super::layout::{self, Kind};
use super::maps::Maps;
use super::pages;
use super::request::Request;
use super::search::{self, Whom};
use super::timed;
use super::waits;
use crate::call_names::{NARROW_EXITS, RESTARTS};
use crate::target::Detail;
use crate::task::ENDS;
use Operand::{Constant, Register as Other};

/// A task was created: `sched_process_fork(parent, child)`.
pub(crate) fn created(maps: &Maps, whom: Whom) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.this_task();
    find_outside(&mut b, whom, end);
    b.count(7, layout::FORKS);
    pages::count_copied(&mut b);
    create_from(&mut b, 8, end);
    b.end(end)
}

/// Finds the record of the running task. One that did not return from a call yet is given a record if it is to be watched.
fn find_outside(b: &mut Builder, whom: Whom, end: Label) {
    if search::flags(b, whom).is_none() {
        return b.find(end, end);
    }
    let [missing, given, found] = b.code.labels();
    b.find(missing, end);
    b.code.otherwise(found, missing);
    search::admit_outside(b, whom, given, [end, end]);
    b.code.place(given);
    b.identify();
    b.code.place(found);
}

/// Makes the record of the new task that the tracepoint has at this offset, with what it has from the one of register 7; goes to `none`
/// if there is no room.
fn create_from(b: &mut Builder, task: i16, none: Label) {
    /// Fields of the creator, and of the new task; between them, they are in the frame.
    const HANDED_ON: [(i16, i16, i16); 2] =
        [(layout::IDENTITY, frame::CLASS, layout::CREATOR), (layout::FOLDER, frame::FOLDER, layout::FOLDER)];
    let made = b.code.label();
    b.code.load(Width::Double, 9, 7, layout::ID);
    for (field, place, _) in HANDED_ON {
        b.code.load(Width::Double, 1, 7, field);
        b.code.store(Width::Double, FRAME, place, 1);
    }
    b.passed_task(task);
    b.create(made, none);
    b.code.place(made);
    for (_, place, field) in HANDED_ON {
        b.code.load(Width::Double, 1, FRAME, place);
        b.code.store(Width::Double, 7, field, 1);
    }
}

/// A new task may run: `sched_wakeup_new(task)`, in the task that created it. Those that the kernel creates for a process, such as the one
/// that submits the requests of an io_uring, are announced here only. Others that cannot be followed were noted before.
pub(crate) fn helped(maps: &Maps, whom: Whom) -> Vec<Instruction> {
    let mut b = Builder { unfollowed: layout::lost::EPOCH, ..Builder::new(maps) };
    let end = b.code.label();
    b.passed_task(0);
    b.on_map(helper::LOOKUP, maps.tasks.descriptor(), frame::TASK);
    b.code.jump_if(0, When::NotEqual, Constant(0), end);
    b.this_task();
    find_outside(&mut b, whom, end);
    create_from(&mut b, 0, end);
    b.end(end)
}

/// A task executes another program: `sched_process_exec(task, ...)`.
pub(crate) fn executed(maps: &Maps, detail: Detail) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let [end, missing] = b.code.labels();
    b.this_task();
    b.code.copy(8, 0);
    b.find(missing, end);
    b.count(7, layout::EXECS);
    b.code.load(Width::Double, 1, 7, layout::TASK);
    b.code.jump_if(1, When::NotEqual, Other(8), end);
    b.code.load(Width::Word, 1, 7, layout::FLAGS);
    b.code.compute(Compute::Or, 1, Constant(layout::FRESH));
    b.code.store(Width::Word, 7, layout::FLAGS, 1);
    b.code.otherwise(end, missing);
    b.on_map(helper::DELETE, maps.announced.descriptor(), frame::TASK);
    b.code.jump_if(0, When::NotEqual, Constant(0), end);
    b.code.constant(9, 0);
    let found = b.code.label();
    b.create(found, end);
    b.code.place(found);
    b.count(7, layout::EXECS);
    if detail == Detail::Numbers {
        // The call began before the task was watched.
        b.count(7, layout::COUNTS + (layout::EXECUTE * 16) as i16);
    }
    b.end(end)
}

/// When the reader is given the record of a task that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// At once.
    AtItsEnd,
    /// When the task has left its CPU for the last time, so that the work of ending it is known.
    AtItsLastSwitch,
}

/// Where the saved registers of a task that ends are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saved {
    /// By a helper of the kernel, since Linux 5.15.
    ByHelper,
    /// By the record of the task, which a task that shares one does not have.
    InRecord,
}

/// A task ended: `sched_process_exit(task, ...)`, in that task.
pub(crate) fn ended(maps: &Maps, (whom, detail): (Whom, Detail), given: Given, saved: Saved) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let [end, over, own, found, missing, others] = b.code.labels();
    let shared = b.code.label();
    b.this_task();
    b.on_map(helper::DELETE, maps.announced.descriptor(), frame::TASK);
    b.look_up(maps.tasks.descriptor(), frame::TASK, missing);
    b.code.load(Width::Word, 8, 0, 0);
    b.code.jump_if(8, When::Less, Constant(layout::CREATED), own);
    b.code.jump_if(8, When::Equal, Constant(layout::IGNORED), others);
    b.code.place(shared);
    if detail == Detail::All && saved == Saved::ByHelper {
        b.code.call(helper::THIS_CPU);
        b.code.store(Width::Word, FRAME, frame::SLOT, 0);
        b.record(others);
        count_last(&mut b, saved, others);
    }
    b.code.place(others);
    b.on_map(helper::DELETE, maps.tasks.descriptor(), frame::TASK);
    // The stack of a task that was not watched may become that of one that is.
    b.lose(layout::lost::EPOCH);
    b.code.otherwise(end, missing);
    search::admit_outside(&mut b, whom, found, [end, shared]);
    b.code.place(own);
    b.code.store(Width::Word, FRAME, frame::SLOT, 8);
    b.record(end);
    b.code.place(found);
    b.identify();
    b.code.call(helper::CGROUP);
    b.code.store(Width::Double, 7, layout::CGROUP, 0);
    b.code.call(helper::MONOTONIC);
    b.code.store(Width::Double, 7, layout::END, 0);
    if detail == Detail::All {
        count_last(&mut b, saved, over);
    }
    b.code.place(over);
    match given {
        Given::AtItsEnd => timed::give_back(&mut b, end),
        // For tasks whose last switch is not seen any more.
        Given::AtItsLastSwitch => timed::note_run_time(&mut b),
    }
    b.end(end)
}

/// The calls that end a task do not return, so they are counted at its end. One that a signal interrupted has been counted, as if it had
/// failed; if it does not return to its program, it has not. (arm64 has forgotten by now which call that was: `do_signal` in
/// arch/arm64/kernel/signal.c. It stays failed there.)
fn count_last(b: &mut Builder, saved: Saved, over: Label) {
    let [narrow, interrupted] = b.code.labels();
    match saved {
        Saved::ByHelper => {
            b.code.call(helper::TASK_BY_TYPE);
            b.code.copy(1, 0);
            b.code.call(helper::REGISTERS_OF);
            b.code.copy(9, 0);
        }
        Saved::InRecord => b.code.load(Width::Double, 9, 7, layout::REGISTERS),
    }
    b.code.jump_if(9, When::Equal, Constant(0), over);
    b.code.copy(3, 9);
    b.read_word(layout::HERE.number);
    b.code.copy(8, 0);
    b.if_narrow(narrow);
    for number in layout::EXITS {
        let other = b.code.label();
        b.code.jump_if(8, When::NotEqual, Constant(number), other);
        b.count(7, layout::COUNTS + (number * 16) as i16);
        b.code.otherwise(over, other);
    }
    b.if_beyond(8, over);
    b.code.copy(3, 9);
    b.read_double(layout::HERE.result);
    b.code.copy(9, 3);
    b.code.constant(3, 0);
    b.code.compute(Compute::Subtract, 3, Other(9));
    b.code.jump_if(3, When::Equal, Constant(libc::EINTR), interrupted);
    b.code.copy(1, 3);
    b.code.add(1, -i32::from(*RESTARTS.start()));
    b.code.jump_if(1, When::Above, Constant(i32::from(RESTARTS.end() - RESTARTS.start())), over);
    b.code.place(interrupted);
    b.error_key();
    b.take_from_key(Kind::Error, over);
    b.code.place(narrow);
    let found = b.code.label();
    b.code.jump_if_one_of(8, &NARROW_EXITS.map(i32::from), found);
    b.code.otherwise(over, found);
    b.count_number(8, Kind::Narrow, over);
}

/// A signal is delivered: `signal_deliver(number, information, ...)`, in the task that receives it. When a process ends, by whatever
/// signal or by a call, the kernel sends each thread SIGKILL without information (`get_signal` in kernel/signal.c).
pub(crate) fn signalled(maps: &Maps, whom: Whom) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.this_task();
    find_outside(&mut b, whom, end);
    b.code.load(Width::Double, 3, 6, 0);
    b.code.compute(Compute::And, 3, Constant(0xff));
    let counted = b.code.label();
    b.code.jump_if(3, When::NotEqual, Constant(libc::SIGKILL), counted);
    b.code.load(Width::Double, 1, 6, 8);
    b.code.jump_if(1, When::NotEqual, Constant(0), counted);
    b.code.compute(Compute::And, 3, Constant(i32::from(ENDS)));
    b.code.place(counted);
    b.count_key(Kind::Signal, end);
    b.end(end)
}

/// A sleeping task is about to be woken: `sched_waking(task)`, in the task that wakes it.
pub(crate) fn waking(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let [end, noted] = b.code.labels();
    b.now();
    b.code.store(Width::Double, FRAME, frame::PATH, 8);
    waits::note_woken(&mut b);
    b.this_task();
    b.find(end, end);
    // Whoever waits for a task that ended is not woken by a call.
    b.if_field(Width::Double, layout::END, (When::NotEqual, 0), end);
    b.if_narrow(end);
    b.saved_number(end);
    // In user mode there is no call: an interrupt woke the task.
    b.if_beyond(0, end);
    b.code.copy(9, 0);
    if let Some(types) = maps.types {
        let far = b.code.label();
        b.code.load(Width::Double, 3, 6, 0);
        b.read_word(types.cpu);
        b.code.copy(8, 0);
        b.code.call(helper::THIS_CPU);
        b.code.jump_if(0, When::NotEqual, Other(8), far);
        b.code.copy(3, 9);
        b.spill_key(Kind::WakeNear, Constant(1), noted);
        b.code.place(far);
    }
    b.code.copy(3, 9);
    b.spill_key(Kind::Wake, Constant(1), noted);
    b.code.place(noted);
    b.code.load(Width::Double, 8, FRAME, frame::PATH);
    timed::pass_over_since(&mut b, 8, end);
    b.end(end)
}

/// A request is given to an io_uring, by the task itself or by a thread that the kernel created for it.
pub(crate) fn requested(maps: &Maps, whom: Whom, request: Request) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let [end, missing, found, known] = b.code.labels();
    b.this_task();
    b.find(missing, end);
    b.code.place(found);
    // A thread of the kernel's never returns from a call, after which others are identified.
    b.if_field(Width::Double, layout::IDENTITY, (When::NotEqual, 0), known);
    b.identify();
    b.code.place(known);
    match request {
        Request::First => {
            b.code.load(Width::Double, 3, 6, 0);
            b.read_word(Request::CODE);
            b.code.copy(3, 0);
        }
        Request::Argument(place) => b.code.load(Width::Double, 3, 6, place * 8),
    }
    b.code.compute(Compute::And, 3, Constant(0xff));
    let keeps = b.code.label();
    b.code.jump_if(3, When::NotEqual, Constant(Request::CLOSE), keeps);
    kinds::forget_all(&mut b);
    b.code.place(keeps);
    b.count_key(Kind::Ring, end);
    b.code.place(missing);
    search::admit(&mut b, whom, found, [end, end]);
    b.end(end)
}

/// Announces the task that runs this: it is watched once it executes a program.
pub(crate) fn announce(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.this_task();
    b.code.set(Width::Word, FRAME, frame::SLOT, 0);
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
