//! What becomes of pages: those that a copied process has, huge ones that are given, those that calls give back, and faults by what
//! they were.

use record::PageSize;
use rustix::param::page_size;

use super::builder::Builder;
use super::instruction::{Compute, Instruction, Label, Operand, When, Width};
use super::layout::{self, Kind};
use super::maps::Maps;
use Operand::{Constant, Register as Other};

/// Counts the pages of its own that the creator has, unless the child shares them.
pub(super) fn count_copied(b: &mut Builder) {
    let Some((memory, anonymous)) = places(b.maps) else { return };
    let counted = b.code.label();
    b.code.load(Width::Double, 3, 6, 8);
    b.read_double(memory);
    b.code.copy(9, 3);
    b.code.load(Width::Double, 3, 6, 0);
    b.read_double(memory);
    b.code.jump_if(3, When::Equal, Constant(0), counted);
    b.code.jump_if(3, When::Equal, Other(9), counted);
    b.read_double(anonymous);
    b.code.copy(9, 3);
    b.code.jump_if(9, When::Less, Constant(1), counted);
    b.code.constant(3, 0);
    b.add_to_key(Kind::Copied, Other(9), counted);
    b.code.place(counted);
}

/// Memory was taken: `mm_page_alloc(page, order, ...)`. Counts huge pages that a task in user mode was given.
pub(crate) fn allocated(maps: &Maps) -> Vec<Instruction> {
    let order = PageSize(page_size() as u64).in_huge().ilog2() as i32;
    let mut b = Builder::new(maps);
    let [end, user] = b.code.labels();
    b.code.load(Width::Double, 1, 6, 8);
    b.code.compute32(Compute::Move, 1, Other(1));
    b.code.jump_if(1, When::NotEqual, Constant(order), end);
    b.this_task();
    b.find(end, end);
    b.saved_number(end);
    b.if_beyond(0, user);
    b.code.otherwise(end, user);
    b.code.constant(3, 0);
    b.count_key(Kind::Huge, end);
    b.end(end)
}

/// A call that is sampled begins, its number in register 8: if it may give pages back, notes how many the process has of its own. Keeps
/// registers 6 to 9.
pub(super) fn note(b: &mut Builder) {
    let Some(places) = places(b.maps) else { return };
    let noted = b.code.label();
    note_own(b, places, noted);
    b.code.place(noted);
}

/// A sampled call returned: counts the pages that it gave back, as often as the sample stands for others. Keeps registers 6 and 7.
pub(super) fn count_given_back(b: &mut Builder) {
    let Some(places) = places(b.maps) else { return };
    let counted = b.code.label();
    b.code.load(Width::Word, 8, 7, layout::SAMPLED_CALL);
    b.code.load(Width::Double, 9, 7, layout::PAGES);
    note_own(b, places, counted);
    b.code.compute(Compute::Subtract, 9, Other(3));
    b.code.jump_if(9, When::Less, Constant(1), counted);
    b.code.load(Width::Double, 1, 7, layout::WEIGHT);
    b.code.compute(Compute::Multiply, 9, Other(1));
    b.code.copy(3, 8);
    b.code.compute(Compute::ShiftLeft, 3, Constant(16));
    b.add_to_key(Kind::GivenBack, Other(9), counted);
    b.code.place(counted);
}

/// A page fault of a program is sampled, with the weight in register 9: counts it by what it was. Keeps registers 6 to 9.
pub(super) fn count_fault(b: &mut Builder) {
    /// The error code: bit 0 means that the page was there, bit 1 that it was to be written (arch/x86/include/asm/trap_pf.h).
    const CODE: i16 = 16;
    const THERE_AND_WRITTEN: i32 = 3;
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let counted = b.code.label();
    b.code.load(Width::Double, 3, 6, CODE);
    b.code.compute(Compute::And, 3, Constant(THERE_AND_WRITTEN));
    b.add_to_key(Kind::Fault, Other(9), counted);
    b.code.place(counted);
}

/// If the call with the number in register 8 may give memory back, notes in the record how many anonymous pages the process has, which
/// are then in register 3 too; else goes to `other`. Keeps registers 6 to 9.
fn note_own(b: &mut Builder, (memory, anonymous): (i32, i32), other: Label) {
    let found = b.code.label();
    b.code.jump_if_one_of(8, &layout::GIVES_BACK, found);
    b.code.otherwise(other, found);
    b.code.load(Width::Double, 3, 7, layout::TASK);
    b.read_double(memory);
    b.code.jump_if(3, When::Equal, Constant(0), other);
    b.read_double(anonymous);
    b.code.store(Width::Double, 7, layout::PAGES, 3);
}

/// Where a task has its memory, and that the number of its anonymous pages, if the kernel reports it.
fn places(maps: &Maps) -> Option<(i32, i32)> {
    maps.types.and_then(|types| Some((types.memory, types.anonymous?)))
}
