//! How long tasks are off the CPU, in which call and why.

use record::WaitReason;

use super::builder::{Builder, frame};
use super::instruction::{Compute, FRAME, Instruction, Label, Operand, When, Width};
use super::layout::{self, Kind};
use super::logarithm::logarithm;
use super::maps::Maps;
use super::timed;
use Operand::{Constant, Register as Other};

/// States of a task (include/linux/sched.h): `TASK_INTERRUPTIBLE`, `TASK_UNINTERRUPTIBLE` or `TASK_RTLOCK_WAIT`, `TASK_NOLOAD`. The last
/// marks kernel threads and others that sleep uninterruptibly without waiting for the kernel.
const INTERRUPTIBLE: i32 = 1;
const UNINTERRUPTIBLE: i32 = 2 | 0x1000;
const NO_LOAD: i32 = 0x400;
/// `TASK_DEAD`: the task never runs again.
const DEAD: i32 = 0x80;

/// One task leaves a CPU and another gets it: `sched_switch(preempted, previous, next, state of the previous)`. The state is an argument
/// since Linux 5.18; older kernels refuse to attach the program. What the program takes is in no sample: the one task is away from its
/// begin on, the other until its end.
pub(crate) fn switched(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let [end, next, noted] = b.code.labels();
    b.now();
    leave(&mut b, next);
    b.code.place(next);
    b.find_passed(16, end);
    b.code.load(Width::Double, 9, 7, layout::LEFT);
    b.code.jump_if(9, When::Equal, Constant(0), end);
    b.code.set(Width::Double, 7, layout::LEFT, 0);
    b.code.load(Width::Double, 1, 7, layout::AWAY);
    b.code.compute(Compute::Add, 1, Other(8));
    b.code.compute(Compute::Subtract, 1, Other(9));
    b.code.store(Width::Double, 7, layout::AWAY, 1);
    note_call(&mut b);
    // A task whose wake-up was not seen slept until now.
    let [known, ready] = b.code.labels();
    b.if_field(Width::Double, layout::RUNNABLE, (When::NotEqual, 0), known);
    b.code.copy(1, 8);
    b.code.place(known);
    b.code.store(Width::Double, FRAME, frame::PATH, 1);
    b.code.compute(Compute::Subtract, 1, Other(9));
    b.code.copy(9, 1);
    b.code.jump_if(9, When::Equal, Constant(0), ready);
    state(&mut b);
    add_wait(&mut b, ready);
    b.code.place(ready);
    b.code.load(Width::Double, 1, FRAME, frame::PATH);
    b.code.copy(9, 8);
    b.code.compute(Compute::Subtract, 9, Other(1));
    b.code.jump_if(9, When::Equal, Constant(0), noted);
    b.code.set(Width::Word, FRAME, frame::CLASS, WaitReason::Runnable as i32);
    add_wait(&mut b, noted);
    b.code.place(noted);
    timed::pass_over_since(&mut b, 8, end);
    b.end(end)
}

/// Notes when and in which state the previous task left. Register 8 is the time.
fn leave(b: &mut Builder, next: Label) {
    let [runnable, lives] = b.code.labels();
    b.find_passed(8, next);
    b.if_field(Width::Double, layout::END, (When::Equal, 0), lives);
    b.code.load(Width::Double, 1, 6, 24);
    b.code.jump_if_none(1, DEAD, lives);
    timed::finish(b, next);
    b.code.place(lives);
    b.code.store(Width::Double, 7, layout::LEFT, 8);
    b.code.load(Width::Double, 1, 6, 24);
    b.code.compute32(Compute::Move, 1, Other(1));
    b.code.store(Width::Word, 7, layout::STATE, 1);
    b.code.copy(2, 8);
    b.code.jump_if(1, When::Equal, Constant(0), runnable);
    b.code.load(Width::Double, 3, 6, 0);
    b.code.jump_if_any(3, 0xff, runnable);
    b.code.constant(2, 0);
    b.code.place(runnable);
    b.code.store(Width::Double, 7, layout::RUNNABLE, 2);
}

/// The number of the call in which the task of register 7 is, above 16 bits: in the frame. In user mode there is no call: a page that
/// must be read makes it sleep there, or it was preempted.
fn note_call(b: &mut Builder) {
    let [none, noted] = b.code.labels();
    b.if_field(Width::Word, layout::FLAGS, (When::NotEqual, 0), none);
    b.saved_number(none);
    b.if_beyond(0, none);
    b.code.otherwise(noted, none);
    b.code.constant(0, layout::NONE);
    b.code.place(noted);
    b.code.compute(Compute::ShiftLeft, 0, Constant(16));
    b.code.store(Width::Double, FRAME, frame::FOLDER, 0);
}

/// Why the task of register 7 slept, as a [`WaitReason`]: in the frame.
fn state(b: &mut Builder) {
    let [event, stopped, noted] = b.code.labels();
    b.code.load(Width::Word, 1, 7, layout::STATE);
    b.code.copy(2, 1);
    b.code.jump_if_any(2, INTERRUPTIBLE | NO_LOAD, event);
    b.code.jump_if_none(1, UNINTERRUPTIBLE, stopped);
    b.code.constant(1, WaitReason::Kernel as i32);
    b.code.otherwise(noted, event);
    b.code.constant(1, WaitReason::Event as i32);
    b.code.otherwise(noted, stopped);
    b.code.constant(1, WaitReason::Stopped as i32);
    b.code.place(noted);
    b.code.store(Width::Word, FRAME, frame::CLASS, 1);
}

/// Adds the time in register 9 to what the task of register 7 waited, and goes to `done`: for the call and the reason in the frame.
fn add_wait(b: &mut Builder, done: Label) {
    let counted = b.code.label();
    logarithm(b);
    b.code.load(Width::Word, 1, FRAME, frame::CLASS);
    b.code.compute(Compute::ShiftLeft, 1, Constant(8));
    b.code.copy(3, 0);
    b.code.compute(Compute::Or, 3, Other(1));
    b.code.load(Width::Double, 1, FRAME, frame::FOLDER);
    b.code.compute(Compute::Or, 3, Other(1));
    b.count_key(Kind::Wait, counted);
    b.code.place(counted);
    b.code.load(Width::Word, 3, FRAME, frame::CLASS);
    b.code.load(Width::Double, 1, FRAME, frame::FOLDER);
    b.code.compute(Compute::Or, 3, Other(1));
    b.add_to_key(Kind::WaitTime, Other(9), done);
}

/// A task that sleeps is runnable from now on, the time in register 8. In the program at `sched_waking(task)`. It may have left another CPU
/// after that time was read: then it is runnable since it left.
pub(super) fn note_woken(b: &mut Builder) {
    let [over, slept] = b.code.labels();
    b.find_passed(0, over);
    b.if_field(Width::Double, layout::LEFT, (When::Equal, 0), over);
    b.code.load(Width::Double, 2, 7, layout::RUNNABLE);
    b.code.jump_if(2, When::NotEqual, Constant(0), over);
    b.code.copy(2, 8);
    b.code.jump_if(8, When::Above, Other(1), slept);
    b.code.copy(2, 1);
    b.code.place(slept);
    b.code.store(Width::Double, 7, layout::RUNNABLE, 2);
    b.code.place(over);
}
