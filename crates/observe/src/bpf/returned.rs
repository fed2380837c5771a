//! The program that runs at every system call of every task: after it, `sys_exit(registers, result)`; or before it,
//! `sys_enter(registers, number)`, where only numbers are counted. It decides what counting costs.
//!
//! A helper of the kernel takes longer than all else here: on the Zen 4 of docs/BILL.md, to read the number from the saved
//! registers takes 35 ns, to get the running task 20. So a kernel that describes its types lets the program read them itself. The
//! saved registers of a task lie at the same place for all its life, so their address identifies the task; and before a call its number is
//! given, so numbers are counted without any helper.

use super::builder::{Builder, Registers, frame};
use super::by_object;
use super::instruction::{Compute, FRAME, Instruction, Label, Operand, When, Width};
use super::kinds;
use super::layout::{self, HERE, Kind};
use super::maps::Maps;
use super::names;
use super::search::{self, Whom};
use super::timed;
use Operand::{Constant, Register as Other};

/// `execve` of 32-bit programs: x86 lets the call that executed one end as this.
const NARROW_EXECUTE: i32 = 11;

/// The high half of the number of a call of programs with short pointers (x32).
const SHORT: i32 = 0x4000;

/// The result of a call that this kernel does not have.
const NO_SUCH_CALL: i32 = -libc::ENOSYS;

/// In place of the result of a call that begins: no error has this number.
const NO_RESULT: i32 = -MOST_ERRORS - 1;
const MOST_ERRORS: i32 = 4095;

/// The number of a call that has lost it.
const NO_NUMBER: u64 = 0xffff_ffff;

/// Where the program goes on.
struct Labels {
    /// Register 7 is the record.
    found: Label,
    /// The call is counted by its number.
    by_number: Label,
    end: Label,
}

/// Counts a call that returned. In register 7 the record, in 8 the number, in 9 the result.
pub(crate) fn returned(maps: &Maps, whom: Whom, registers: Registers) -> Vec<Instruction> {
    let mut b = Builder { registers, ..Builder::new(maps) };
    let labels = Labels { found: b.code.label(), by_number: b.code.label(), end: b.code.label() };
    b.code.set(Width::Double, FRAME, frame::SAMPLED, 0);
    search::find_fast(&mut b, whom, labels.found, labels.end);
    let [special, rare, failed, pairs, sampled, counted, object, placed] = b.code.labels();
    b.code.place(labels.found);
    b.if_field(Width::Double, layout::ENTERED, (When::NotEqual, 0), sampled);
    b.code.store(Width::Double, 7, layout::RETURNED, 1);
    b.code.place(counted);
    b.code.load(Width::Double, 9, 6, 8);
    b.code.load(Width::Double, 3, 6, 0);
    match registers {
        Registers::ByType => b.code.load(Width::Word, 8, 3, HERE.number as i16),
        Registers::ByHelper => {
            b.read_registers(HERE.registers);
            b.code.load(Width::Word, 8, FRAME, HERE.number_read);
        }
    }
    b.if_field(Width::Word, layout::FLAGS, (When::NotEqual, 0), special);
    let gate = HERE.gate.map(|places| look_at_gate(&mut b, places));
    b.code.place(labels.by_number);
    b.if_beyond(8, rare);
    let [named, has_name] = b.code.labels();
    class_of_call(&mut b, 0);
    b.code.jump_if(1, When::NotEqual, Constant(0), has_name);
    b.code.place(named);
    class_of_call(&mut b, layout::CALLS as i16);
    b.code.jump_if_any(1, layout::OBJECT_CALLS as i32 - 1, object);
    b.place_by_number();
    b.code.place(placed);
    b.count(2, layout::COUNTS);
    b.code.jump_if(9, When::Less, Constant(0), failed);
    b.add_to(2, layout::COUNTS + 8, Other(9));
    b.code.place(pairs);
    b.code.load(Width::Word, 3, 7, layout::LAST);
    b.code.store(Width::Word, 7, layout::LAST, 8);
    b.code.compute(Compute::ShiftLeft, 3, Constant(16));
    b.code.compute(Compute::Or, 3, Other(8));
    b.count_key(Kind::Pair, labels.end);
    count_error(&mut b, failed, pairs);
    b.code.place(has_name);
    names::count(&mut b, named);
    b.code.place(object);
    by_object::place(&mut b, placed);
    if let Some(gate) = gate {
        count_by_gate(&mut b, gate, &labels);
    }
    handle_special(&mut b, special, rare, &labels);
    count_rare(&mut b, rare, &labels);
    timed::count_sample(&mut b, sampled, counted);
    let end = b.code.label();
    b.code.place(labels.end);
    timed::note_return(&mut b, end);
    b.end(end)
}

/// Register 1 is what is known of the call in register 8: whether it has a name, or, that many bytes on, the kind of its objects.
fn class_of_call(b: &mut Builder, after: i16) {
    b.code.map_value(1, b.maps.classes.descriptor());
    b.code.compute(Compute::Add, 1, Other(8));
    b.code.load(Width::Byte, 1, 1, after);
}

/// Goes to the result if the call may have come by the gate of 32-bit programs.
fn look_at_gate(b: &mut Builder, places: [i16; 2]) -> Label {
    let gate = b.code.label();
    for (register, place) in [1, 2].into_iter().zip(places) {
        match b.registers {
            Registers::ByType => b.code.load(Width::Double, register, 3, HERE.offset(place)),
            Registers::ByHelper => b.code.load(Width::Double, register, FRAME, place),
        }
    }
    b.code.jump_if(1, When::NotEqual, Other(2), gate);
    gate
}

/// A call after which the registers are not as the instruction of 64-bit programs leaves them: a handler's return, a tracer, or
/// the gate of 32-bit programs, which the kernel notes in the task (arch/x86/include/asm/thread_info.h: `status` follows two
/// words at the beginning of the task, and `TS_COMPAT` is 2).
fn count_by_gate(b: &mut Builder, gate: Label, labels: &Labels) {
    const STATUS: i32 = 16;
    const BY_GATE: i32 = 2;
    b.code.place(gate);
    b.this_task();
    b.code.copy(3, 0);
    b.read_word(STATUS);
    b.code.compute(Compute::And, 0, Constant(BY_GATE));
    b.code.jump_if(0, When::Equal, Constant(0), labels.by_number);
    count_low_half(b, [Kind::Narrow, Kind::NarrowError], labels.end);
}

/// Counts a call that begins, by its number alone. In register 7 the record, in 8 the number.
pub(crate) fn entered(maps: &Maps, whom: Whom) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let labels = Labels { found: b.code.label(), by_number: b.code.label(), end: b.code.label() };
    search::find_fast(&mut b, whom, labels.found, labels.end);
    let [special, rare] = b.code.labels();
    b.code.place(labels.found);
    b.code.load(Width::Double, 8, 6, 8);
    b.code.compute32(Compute::Move, 8, Other(8));
    // There is no result: neither that of a new task, nor that of a handler's return, nor an error.
    b.code.constant(9, NO_RESULT);
    b.if_field(Width::Word, layout::FLAGS, (When::NotEqual, 0), special);
    b.code.place(labels.by_number);
    b.if_beyond(8, rare);
    b.code.compute(Compute::ShiftLeft, 8, Constant(4));
    b.code.compute(Compute::Add, 8, Other(7));
    b.count(8, layout::COUNTS);
    b.code.jump(labels.end);
    handle_special(&mut b, special, rare, &labels);
    count_rare(&mut b, rare, &labels);
    b.end(labels.end)
}

/// A failed call, by its number and errno.
fn count_error(b: &mut Builder, failed: Label, counted: Label) {
    b.code.place(failed);
    b.code.copy(1, 9);
    b.code.add(1, 4096);
    b.code.jump_if(1, When::Less, Constant(0), counted);
    b.code.constant(3, 0);
    b.code.compute(Compute::Subtract, 3, Other(9));
    b.error_key();
    b.count_key(Kind::Error, counted);
}

/// A task that has not been in its program since it was created or executed one; 32-bit programs; shared records.
fn handle_special(b: &mut Builder, special: Label, rare: Label, labels: &Labels) {
    let [known, parent, narrow, wide] = b.code.labels();
    b.code.place(special);
    b.code.jump_if_none(1, layout::FRESH, known);
    b.identify();
    b.code.load(Width::Double, 3, 6, 0);
    b.code.store(Width::Double, 7, layout::REGISTERS, 3);
    let same = b.code.label();
    kinds::forget_if_first(b, same);
    b.code.place(same);
    let (place, mask, value) = HERE.narrow;
    b.read_word(place);
    b.code.compute(Compute::And, 0, Constant(mask));
    b.code.constant(1, 0);
    b.code.jump_if(0, When::NotEqual, Constant(value), wide);
    b.code.constant(1, layout::NARROW);
    b.code.place(wide);
    b.code.store(Width::Word, 7, layout::FLAGS, 1);
    // The call by which a program was executed was made by the program before it, and may have the number of either.
    b.code.jump_if(9, When::NotEqual, Constant(0), known);
    let executed = b.code.label();
    b.code.jump_if(8, When::Equal, Constant(layout::EXECUTE), executed);
    b.code.jump_if(8, When::NotEqual, Constant(NARROW_EXECUTE), known);
    b.code.jump_if(1, When::Equal, Constant(0), known);
    b.code.place(executed);
    b.code.constant(8, layout::EXECUTE);
    b.code.jump(labels.by_number);
    b.code.place(known);
    // The call that created this task was its creator's.
    b.code.jump_if(9, When::NotEqual, Constant(0), parent);
    b.if_narrow(narrow);
    b.code.jump_if_one_of(8, HERE.forks, labels.end);
    b.code.otherwise(parent, narrow);
    b.code.jump_if_one_of(8, &layout::NARROW_FORKS, labels.end);
    b.code.place(parent);
    b.if_narrow(rare);
    // The tasks of a shared record are not one after another.
    b.if_field(Width::Word, layout::FLAGS, (When::Equal, 0), labels.by_number);
    b.code.set(Width::Word, 7, layout::LAST, layout::NONE);
    // Nor are they of one process, so that what their descriptors stand for is looked up each time.
    b.code.store(Width::Double, 7, layout::LOOK, 1);
    b.code.jump(labels.by_number);
}

/// Counts the call by the low half of its number, of the first kind, and if it failed, its error, of the second kind. Goes to `done`. The
/// results of 32-bit programs have 32 bits.
fn count_low_half(b: &mut Builder, [call, error]: [Kind; 2], done: Label) {
    let succeeded = b.code.label();
    b.code.compute(Compute::And, 8, Constant(0xffff));
    b.code.constant(3, 0);
    b.code.compute32(Compute::Subtract, 3, Other(9));
    b.code.jump_if(3, When::Equal, Constant(0), succeeded);
    b.code.jump_if(3, When::Above, Constant(MOST_ERRORS), succeeded);
    b.error_key();
    b.count_key(error, succeeded);
    b.code.place(succeeded);
    b.count_number(8, call, done);
}

/// Goes to `other` unless the call is a handler's return, which restores the registers of before, without the number of a call. What it
/// returned is what was in the register before: register 9 becomes 0, and register 8 this number.
fn handler_returned(b: &mut Builder, number: i32, other: Label) {
    b.code.wide(1, NO_NUMBER);
    b.code.jump_if(8, When::NotEqual, Other(1), other);
    b.code.jump_if_one_of(9, &[NO_SUCH_CALL, NO_RESULT], other);
    b.code.constant(8, number);
    b.code.constant(9, 0);
}

/// Numbers beyond the table, and 32-bit programs.
fn count_rare(b: &mut Builder, rare: Label, labels: &Labels) {
    let [other, unknown, narrow, large, small] = b.code.labels();
    let whole = b.code.label();
    b.code.place(rare);
    b.if_narrow(narrow);
    handler_returned(b, layout::SIGNAL_RETURN, other);
    b.code.otherwise(labels.by_number, other);
    b.code.copy(3, 8);
    b.code.compute(Compute::ShiftRight, 3, Constant(16));
    b.code.jump_if(3, When::NotEqual, Constant(SHORT), unknown);
    count_low_half(b, [Kind::Short, Kind::ShortError], labels.end);
    b.code.place(unknown);
    count_low_half(b, [Kind::Unknown, Kind::UnknownError], labels.end);
    b.code.place(narrow);
    handler_returned(b, layout::NARROW_SIGNAL_RETURN, large);
    b.code.place(large);
    b.code.jump_if(8, When::Above, Constant(0xffff), small);
    b.code.otherwise(whole, small);
    b.code.constant(8, 0xffff);
    b.code.place(whole);
    count_low_half(b, [Kind::Narrow, Kind::NarrowError], labels.end);
}
