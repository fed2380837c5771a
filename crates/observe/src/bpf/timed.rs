//! What a sample of calls, of page faults and of the ends of tasks takes from its begin to its end.

use super::builder::{Builder, frame, helper};
use super::instruction::{Compute, FRAME, Instruction, Label, Operand, When, Width};
use super::layout::{self, Kind};
use super::logarithm::logarithm;
use super::maps::Maps;
use super::pages;
use super::stacks;
use Operand::{Constant, Register as Other};

/// A call begins: `sys_enter(registers, number)`. Notes the time of the calls that are sampled.
pub(crate) fn sampling(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.code.load(Width::Double, 8, 6, 8);
    b.if_beyond(8, end);
    choose(&mut b, maps.sampled_one_in(), end);
    b.code.map_value(2, maps.window.descriptor());
    b.code.load(Width::Word, 1, 2, 0);
    b.code.compute(Compute::Multiply, 9, Other(1));
    b.this_task();
    b.find_own(end);
    b.if_field(Width::Word, layout::FLAGS, (When::NotEqual, 0), end);
    pages::note(&mut b);
    begin(&mut b);
    b.end(end)
}

/// Goes to `passed` unless this one is sampled: of each number, in register 8, the first ones and then one in `one_in`. The weight is in
/// register 9.
fn choose(b: &mut Builder, one_in: i32, passed: Label) {
    let [rest, chosen] = b.code.labels();
    b.code.copy(1, 8);
    b.code.compute(Compute::ShiftLeft, 1, Constant(2));
    b.code.map_value(2, b.maps.samples.descriptor());
    b.code.compute(Compute::Add, 2, Other(1));
    b.code.load(Width::Word, 1, 2, 0);
    b.code.constant(9, 1);
    b.code.jump_if(1, When::Above, Constant(layout::SAMPLED_FIRST - 1), rest);
    b.code.otherwise(chosen, rest);
    b.code.call(helper::RANDOM);
    b.code.jump_if_any(0, one_in - 1, passed);
    b.code.constant(9, one_in);
    b.code.place(chosen);
}

/// Notes in the record of register 7 that the sample with the number in register 8 and the weight in register 9 begins.
fn begin(b: &mut Builder) {
    b.code.store(Width::Word, 7, layout::SAMPLED_CALL, 8);
    // The kernel forgets what it knew of a register that is kept beyond a call.
    b.code.compute(Compute::And, 8, Constant(layout::SAMPLED_NUMBERS as i32 - 1));
    b.code.compute(Compute::ShiftLeft, 8, Constant(2));
    b.code.map_value(2, b.maps.samples.descriptor());
    b.code.compute(Compute::Add, 2, Other(8));
    b.code.load(Width::Word, 1, 2, 0);
    b.code.add(1, 1);
    b.code.store(Width::Word, 2, 0, 1);
    b.code.store(Width::Double, 7, layout::WEIGHT, 9);
    note_away(b);
    b.code.set(Width::Double, 7, layout::RETURNED, 0);
    b.code.call(helper::MONOTONIC);
    b.code.store(Width::Double, 7, layout::ENTERED, 0);
}

/// A sampled call returned: adds its time on the CPU, and goes to `counted`. Keeps registers 6 and 7.
pub(super) fn count_sample(b: &mut Builder, sampled: Label, counted: Label) {
    b.code.place(sampled);
    // As in `finish`.
    let of_call = b.code.label();
    b.if_field(Width::Word, layout::SAMPLED_CALL, (When::NotEqual, layout::FAULT), of_call);
    b.code.set(Width::Double, 7, layout::ENTERED, 0);
    b.code.otherwise(counted, of_call);
    add(b);
    let captured = b.code.label();
    stacks::capture(b, captured);
    b.code.place(captured);
    pages::count_given_back(b);
    // From here on it does what it does at every call.
    b.code.call(helper::MONOTONIC);
    b.code.store(Width::Double, FRAME, frame::SAMPLED, 0);
    b.code.jump(counted);
}

/// Adds the time of the sample that ends in the task of register 7. Afterwards register 9 is the weighted time and 8 the weight.
fn add(b: &mut Builder) {
    let [summed, noted, known] = b.code.labels();
    b.code.call(helper::MONOTONIC);
    b.code.copy(9, 0);
    // A task that runs, and for all that was seen has left its CPU: kernels do not report every switch from threads that they hide. How
    // much of the sample it was away is not known.
    b.if_field(Width::Double, layout::LEFT, (When::Equal, 0), known);
    b.code.constant(9, 0);
    for field in [layout::LEFT, layout::ENTERED] {
        b.code.store(Width::Double, 7, field, 9);
    }
    b.code.otherwise(noted, known);
    b.code.load(Width::Double, 1, 7, layout::ENTERED);
    b.code.compute(Compute::Subtract, 9, Other(1));
    less_away(b);
    b.code.set(Width::Double, 7, layout::ENTERED, 0);
    add_weighted(b, Kind::Sample, summed);
    b.code.place(summed);
    b.code.compute(Compute::Multiply, 8, Other(8));
    sampled_call(b, None);
    b.add_to_key(Kind::Squares, Other(8), noted);
    b.code.place(noted);
    b.code.load(Width::Double, 8, 7, layout::WEIGHT);
}

/// Adds the time in register 9 to the sum of the sampled call, and its length to those of this kind, as often as the sample stands for.
/// Goes to `summed` if there is no room; afterwards register 9 is the weighted time and 8 the weight.
fn add_weighted(b: &mut Builder, kind: Kind, summed: Label) {
    let counted = b.code.label();
    logarithm(b);
    b.code.load(Width::Double, 8, 7, layout::WEIGHT);
    sampled_call(b, Some(0));
    b.add_to_key(kind, Other(8), counted);
    b.code.place(counted);
    b.code.compute(Compute::Multiply, 9, Other(8));
    sampled_call(b, None);
    b.add_to_key(Kind::SampleTime, Other(9), summed);
}

/// Register 3 is the key for the sampled call, with the number in a register below it.
fn sampled_call(b: &mut Builder, below: Option<u8>) {
    b.code.load(Width::Word, 3, 7, layout::SAMPLED_CALL);
    b.code.compute(Compute::ShiftLeft, 3, Constant(16));
    if let Some(below) = below {
        b.code.compute(Compute::Or, 3, Other(below));
    }
}

/// After a call returned the kernel may go on before the task is in its program again: it gives back files that were closed, writes out
/// one that was written anew, lets another task have its turn. At the end it gives the program its CPU, if the program's C library asked
/// for that (glibc since 2.35): `rseq_update(task)`. The time until then belongs to the call. After an interrupt, the registers do not
/// have the call's number.
pub(crate) fn went_on(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.code.call(helper::MONOTONIC);
    b.code.copy(9, 0);
    b.this_task();
    b.find_own(end);
    b.code.load(Width::Double, 8, 7, layout::RETURNED);
    b.code.jump_if(8, When::Equal, Constant(0), end);
    b.code.set(Width::Double, 7, layout::RETURNED, 0);
    b.code.compute(Compute::Subtract, 9, Other(8));
    b.saved_number(end);
    b.code.load(Width::Word, 1, 7, layout::SAMPLED_CALL);
    b.code.jump_if(0, When::NotEqual, Other(1), end);
    less_away(&mut b);
    add_weighted(&mut b, Kind::WentOn, end);
    b.end(end)
}

/// Takes what the task of register 7 was off the CPU since [`note_away`] from the time in register 9. An interrupt may have come between
/// that and the begin of the time: then nothing is left, not less.
fn less_away(b: &mut Builder) {
    let [negative, done] = b.code.labels();
    b.code.load(Width::Double, 1, 7, layout::AWAY);
    b.code.compute(Compute::Subtract, 9, Other(1));
    b.code.load(Width::Double, 1, 7, layout::ENTERED_AWAY);
    b.code.compute(Compute::Add, 9, Other(1));
    b.code.jump_if(9, When::Less, Constant(0), negative);
    b.code.otherwise(done, negative);
    b.code.constant(9, 0);
    b.code.place(done);
}

/// What a program has taken since the time in this register is no part of what is being timed of the task of register 7. Goes to `end`.
pub(super) fn pass_over_since(b: &mut Builder, begin: u8, end: Label) {
    b.code.load(Width::Double, 1, 7, layout::ENTERED);
    b.code.load(Width::Double, 2, 7, layout::RETURNED);
    b.code.compute(Compute::Or, 1, Other(2));
    b.code.jump_if(1, When::Equal, Constant(0), end);
    b.code.call(helper::MONOTONIC);
    b.code.compute(Compute::Subtract, 0, Other(begin));
    b.add_to(7, layout::AWAY, Other(0));
}

fn note_away(b: &mut Builder) {
    b.code.load(Width::Double, 1, 7, layout::AWAY);
    b.code.store(Width::Double, 7, layout::ENTERED_AWAY, 1);
}

/// The end of the program at a call: adds what counting took behind a sample, and notes when all of it had been noted.
pub(super) fn note_return(b: &mut Builder, end: Label) {
    b.code.load(Width::Double, 1, FRAME, frame::SAMPLED);
    b.code.jump_if(1, When::Equal, Constant(0), end);
    b.code.store(Width::Double, 7, layout::LOOK, 1);
    b.code.call(helper::MONOTONIC);
    b.code.load(Width::Double, 1, FRAME, frame::SAMPLED);
    b.code.compute(Compute::Subtract, 0, Other(1));
    b.code.load(Width::Double, 2, 7, layout::WEIGHT);
    b.code.compute(Compute::Multiply, 0, Other(2));
    for (place, amount) in [(layout::IN_PROGRAM, 0), (layout::IN_PROGRAM_CALLS, 2)] {
        b.add_to(7, place, Other(amount));
    }
    note_away(b);
    b.code.call(helper::MONOTONIC);
    b.code.store(Width::Double, 7, layout::RETURNED, 0);
}

/// A page fault begins in user mode: `page_fault_user(address, registers, code)`.
pub(crate) fn fault_began(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.code.constant(8, layout::FAULT);
    choose(&mut b, layout::FAULTS_ONE_IN, end);
    b.this_task();
    b.find_own(end);
    pages::count_fault(&mut b);
    begin(&mut b);
    b.end(end)
}

/// A page fault was handled: at an event of the kernel's.
pub(crate) fn fault_ended(maps: &Maps) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let end = b.code.label();
    b.this_task();
    b.find_own(end);
    b.if_field(Width::Double, layout::ENTERED, (When::Equal, 0), end);
    b.if_field(Width::Word, layout::SAMPLED_CALL, (When::NotEqual, layout::FAULT), end);
    add(&mut b);
    b.end(end)
}

/// The task of register 7, whose record is at the number in the frame, leaves a CPU for the last time: its call that does not return is
/// over, the scheduler has added its last run (`update_curr` in kernel/sched/fair.c), and its record goes to the reader. The task is the
/// second argument of the program. Goes on behind itself, with the time in register 8.
pub(super) fn finish(b: &mut Builder, next: Label) {
    let [over, gone] = b.code.labels();
    b.if_field(Width::Double, layout::ENTERED, (When::Equal, 0), over);
    // A page fault that could not be handled has no end.
    b.if_field(Width::Word, layout::SAMPLED_CALL, (When::Equal, layout::FAULT), over);
    add(b);
    b.code.place(over);
    note_run_time(b);
    give_back(b, gone);
    b.code.place(gone);
    b.now();
    b.code.jump(next);
}

/// Notes how long the task in the frame, whose record is in register 7, has run up to its last switch or tick.
pub(super) fn note_run_time(b: &mut Builder) {
    if let Some(types) = b.maps.types {
        b.code.load(Width::Double, 3, FRAME, frame::TASK);
        b.read_double(types.run_time);
        b.code.store(Width::Double, 7, layout::RUN_TIME, 3);
    }
}

/// Gives the record of register 7 to the reader, unless another has done it.
pub(super) fn give_back(b: &mut Builder, done: Label) {
    b.code.set(Width::Double, 7, layout::TASK, 0);
    b.code.store(Width::Double, 7, layout::REGISTERS, 1);
    b.on_map(helper::DELETE, b.maps.tasks.descriptor(), frame::TASK);
    b.code.jump_if(0, When::NotEqual, Constant(0), done);
    b.code.constant(3, 0);
    b.on_map(helper::PUSH, b.maps.ended.descriptor(), frame::SLOT);
}
