//! How many different names a program looks up: each name is hashed together with what is known of the folder that it is
//! relative to, and the hash goes into the sketch of the record. A descriptor of a process keeps the hash of the name that it was opened
//! by, and a new process has the descriptors of its creator.
//! Calls that take no name are not slowed down.

use super::builder::{Builder, GOLDEN as HASH, Registers, frame, helper};
use super::by_object;
use super::instruction::{Compute, FRAME, Label, Operand, When, Width};
use super::kinds;
use super::layout::{self, HERE, Kind};
use crate::naming::{ATTRIBUTES, COPIES, ENTERS, GOLDEN, MAY_COPY, MAY_CREATE, OPENS, SECOND};
use crate::sketch::REGISTER_BITS;
use Operand::{Constant, Register as Other};

/// `AT_FDCWD`, with its sign turned.
const WORKING_FOLDER: i32 = 100;
const SLASH: i32 = b'/' as i32;

/// Counts the name of a call that returned. In register 1 the class of the call, in 7 the record, in 9 the result; registers 6
/// to 9 are kept.
pub(super) fn count(b: &mut Builder, done: Label) {
    let [copies, added] = b.code.labels();
    b.code.store(Width::Double, FRAME, frame::CLASS, 1);
    match (b.registers, HERE.more_registers) {
        (Registers::ByType, _) => {
            b.code.load(Width::Double, 3, 6, 0);
            for place in HERE.arguments {
                b.code.load(Width::Double, 2, 3, HERE.offset(place));
                b.code.store(Width::Double, FRAME, place, 2);
            }
        }
        (Registers::ByHelper, Some(more)) => {
            b.code.load(Width::Double, 3, 6, 0);
            b.read_registers(more);
            b.code.load(Width::Double, 1, FRAME, frame::CLASS);
        }
        (Registers::ByHelper, None) => {}
    }
    b.code.jump_if_any(1, i32::from(COPIES), copies);
    read_name(b, done);
    hash_name(b);
    compare_name(b);
    keep_name(b);
    add_to_sketch(b, added);
    b.code.place(added);
    count_creation(b, done);
    b.code.place(copies);
    copy_name(b, done);
}

/// The name into the frame, and the hash of its folder.
fn read_name(b: &mut Builder, done: Label) {
    let [second, known] = b.code.labels();
    has(b, SECOND, second);
    b.code.load(Width::Double, 3, FRAME, HERE.arguments[0]);
    b.code.load(Width::Double, 2, 7, layout::FOLDER);
    b.code.otherwise(known, second);
    b.code.load(Width::Double, 3, FRAME, HERE.arguments[1]);
    b.code.load(Width::Word, 4, FRAME, HERE.arguments[0]);
    b.code.load(Width::Double, 2, 7, layout::FOLDER);
    b.code.copy(5, 4);
    b.code.compute32(Compute::Add, 5, Constant(WORKING_FOLDER));
    b.code.jump_if(5, When::Equal, Constant(0), known);
    find_kept(b);
    b.code.place(known);
    // Without a name, the call is about a descriptor. To find out by reading would take the kernel some 700 ns.
    b.code.jump_if(3, When::Less, Constant(1), done);
    b.code.store(Width::Double, FRAME, frame::FOLDER, 2);
    b.code.store(Width::Double, FRAME, frame::NAME_AT, 3);
    read_piece(b);
    // So is one with an empty name.
    b.code.jump_if(0, When::Less, Constant(2), done);
}

/// The text at the address in register 3 into the frame, as far as there is room. Its bytes with the zero at its end: register 0.
fn read_piece(b: &mut Builder) {
    b.code.constant(0, 0);
    for word in 0..frame::PATH_SIZE / 8 {
        b.code.store(Width::Double, FRAME, frame::PATH + word * 8, 0);
    }
    b.frame(1, frame::PATH);
    b.code.constant(2, i32::from(frame::PATH_SIZE));
    b.code.call(helper::READ_TEXT);
}

/// The hash that is kept for the descriptor in register 4: register 2, 0 if there is none. What a process did not open itself, it may have
/// from its creator.
fn find_kept(b: &mut Builder) {
    let [found, done] = b.code.labels();
    for owner in [layout::IDENTITY, layout::CREATOR] {
        kept_place(b, owner);
        b.code.load(Width::Double, 1, 5, 0);
        b.code.jump_if(1, When::Equal, Other(0), found);
    }
    b.code.constant(2, 0);
    b.code.otherwise(done, found);
    b.code.load(Width::Double, 2, 5, 8);
    b.code.place(done);
}

/// The key of the descriptor in register 4 in this process of the record: register 0; and the address of its place: register 5.
fn kept_place(b: &mut Builder, owner: i16) {
    let a = &mut b.code;
    a.load(Width::Double, 0, 7, owner);
    a.compute(Compute::ShiftRight, 0, Constant(32));
    a.copy(5, 0);
    a.compute(Compute::ShiftLeft, 0, Constant(32));
    a.compute(Compute::Or, 0, Other(4));
    a.compute32(Compute::Multiply, 5, Constant(HASH));
    a.compute32(Compute::Add, 5, Other(4));
    a.compute32(Compute::Multiply, 5, Constant(HASH));
    a.compute32(Compute::ShiftRight, 5, Constant(32 - layout::FOLDER_BITS));
    a.compute(Compute::ShiftLeft, 5, Constant(layout::FOLDER_SIZE_BITS));
    a.map_value(1, b.maps.folders.descriptor());
    a.compute(Compute::Add, 5, Other(1));
}

/// Goes there if the class has this.
fn has(b: &mut Builder, what: u8, to: Label) {
    b.code.load(Width::Double, 1, FRAME, frame::CLASS);
    b.code.jump_if_any(1, i32::from(what), to);
}

/// The hash of the name and its folder: register 2. What there was no room for is hashed as a name in a folder that is what came before.
fn hash_name(b: &mut Builder) {
    const ROOM: i16 = frame::PATH_SIZE - 1;
    let [relative, whole] = b.code.labels();
    b.code.load(Width::Double, 2, FRAME, frame::FOLDER);
    b.code.load(Width::Byte, 1, FRAME, frame::PATH);
    b.code.jump_if(1, When::NotEqual, Constant(SLASH), relative);
    b.code.constant(2, 0);
    b.code.place(relative);
    hash_piece(b);
    b.code.load(Width::Byte, 1, FRAME, frame::PATH + ROOM - 1);
    b.code.jump_if(1, When::Equal, Constant(0), whole);
    b.code.store(Width::Double, FRAME, frame::FOLDER, 2);
    b.code.load(Width::Double, 3, FRAME, frame::NAME_AT);
    b.code.add(3, i32::from(ROOM));
    read_piece(b);
    b.code.load(Width::Double, 2, FRAME, frame::FOLDER);
    b.code.jump_if(0, When::Less, Constant(2), whole);
    hash_piece(b);
    b.code.place(whole);
}

/// The hash of the text in the frame after what has the hash in register 2: register 2.
fn hash_piece(b: &mut Builder) {
    let hashed = b.code.label();
    b.code.wide(3, GOLDEN);
    for word in 0..frame::PATH_SIZE / 8 {
        b.code.load(Width::Double, 1, FRAME, frame::PATH + word * 8);
        b.code.jump_if(1, When::Equal, Constant(0), hashed);
        b.code.compute(Compute::Xor, 2, Other(1));
        b.code.compute(Compute::Multiply, 2, Other(3));
        b.code.copy(1, 2);
        b.code.compute(Compute::ShiftRight, 1, Constant(32));
        b.code.compute(Compute::Xor, 2, Other(1));
    }
    b.code.place(hashed);
    b.code.compute(Compute::Multiply, 2, Other(3));
    b.code.copy(1, 2);
    b.code.compute(Compute::ShiftRight, 1, Constant(29));
    b.code.compute(Compute::Xor, 2, Other(1));
}

/// Counts an open of the name in register 2 if its attributes were requested right before, and notes a name whose attributes are requested.
fn compare_name(b: &mut Builder) {
    let [attributes, opens, noted, counted] = b.code.labels();
    b.code.store(Width::Double, FRAME, frame::FOLDER, 2);
    b.code.load(Width::Double, 3, 7, layout::ATTRIBUTES_OF);
    b.code.constant(4, 0);
    has(b, ATTRIBUTES, attributes);
    has(b, OPENS, opens);
    b.code.otherwise(noted, attributes);
    b.code.copy(4, 2);
    b.code.place(noted);
    b.code.store(Width::Double, 7, layout::ATTRIBUTES_OF, 4);
    b.code.otherwise(counted, opens);
    b.code.store(Width::Double, 7, layout::ATTRIBUTES_OF, 4);
    b.code.jump_if(3, When::NotEqual, Other(2), counted);
    b.code.jump_if(9, When::Less, Constant(0), counted);
    b.count_number(8, Kind::AskedFirst, counted);
    b.code.place(counted);
    b.code.load(Width::Double, 2, FRAME, frame::FOLDER);
}

/// A new descriptor or working folder keeps the hash in register 2.
fn keep_name(b: &mut Builder) {
    let [opens, enters, kept] = b.code.labels();
    b.code.jump_if(9, When::Less, Constant(0), kept);
    has(b, OPENS, opens);
    has(b, ENTERS, enters);
    b.code.otherwise(kept, enters);
    b.code.store(Width::Double, 7, layout::FOLDER, 2);
    b.code.otherwise(kept, opens);
    open(b);
    b.code.place(kept);
}

/// The hash in register 2 becomes that of the descriptor in register 9.
fn open(b: &mut Builder) {
    b.code.copy(4, 9);
    b.code.compute32(Compute::Move, 4, Other(4));
    kept_place(b, layout::IDENTITY);
    b.code.store(Width::Double, 5, 0, 0);
    b.code.store(Width::Double, 5, 8, 2);
}

/// Adds the hash in register 2: the register chosen by its high bits gets the place of the first set bit of the others.
fn add_to_sketch(b: &mut Builder, done: Label) {
    let larger = b.code.label();
    b.code.copy(4, 2);
    b.code.compute(Compute::ShiftRight, 4, Constant(64 - REGISTER_BITS));
    b.code.compute(Compute::Add, 4, Other(7));
    b.code.compute(Compute::ShiftLeft, 2, Constant(REGISTER_BITS));
    b.code.constant(3, 1);
    for bits in [16, 8, 4, 2, 1] {
        let set = b.code.label();
        b.code.copy(1, 2);
        b.code.compute(Compute::ShiftRight, 1, Constant(64 - bits));
        b.code.jump_if(1, When::NotEqual, Constant(0), set);
        b.code.add(3, bits);
        b.code.compute(Compute::ShiftLeft, 2, Constant(bits));
        b.code.place(set);
    }
    b.code.load(Width::Byte, 1, 4, layout::SKETCH);
    b.code.jump_if(3, When::Above, Other(1), larger);
    b.code.otherwise(done, larger);
    b.code.store(Width::Byte, 4, layout::SKETCH, 3);
    b.code.jump(done);
}

/// A file that was opened to be created or written.
fn count_creation(b: &mut Builder, done: Label) {
    /// Flags of opens that may create, or that write.
    const CHANGES: i32 = libc::O_CREAT | libc::O_ACCMODE;
    let [may, second, flagged, there, writes, empties] = b.code.labels();
    b.code.jump_if(9, When::Less, Constant(0), done);
    has(b, MAY_CREATE, may);
    b.code.otherwise(done, may);
    has(b, SECOND, second);
    b.code.load(Width::Word, 2, FRAME, HERE.arguments[1]);
    b.code.otherwise(flagged, second);
    b.code.load(Width::Word, 2, FRAME, HERE.arguments[2]);
    b.code.place(flagged);
    b.code.store(Width::Double, FRAME, frame::FLAGS, 2);
    b.code.jump_if_none(2, CHANGES, done);
    by_object::opened(b, writes);
    b.code.load(Width::Double, 2, FRAME, frame::FLAGS);
    b.code.jump_if_none(2, libc::O_CREAT, there);
    by_object::was_created(b, there);
    b.count_number(8, Kind::Create, done);
    b.code.place(there);
    by_object::is_regular(b, done);
    b.code.place(writes);
    b.count_number(8, Kind::Writing, empties);
    b.code.place(empties);
    b.code.load(Width::Double, 2, FRAME, frame::FLAGS);
    b.code.jump_if_none(2, libc::O_TRUNC, done);
    b.count_number(8, Kind::Truncating, done);
}

/// A copied descriptor, or one that becomes the working folder, passes its hash on.
fn copy_name(b: &mut Builder, done: Label) {
    let [by_command, copied, enters] = b.code.labels();
    b.code.jump_if(9, When::Less, Constant(0), done);
    has(b, MAY_COPY, by_command);
    b.code.otherwise(copied, by_command);
    b.code.load(Width::Word, 2, FRAME, HERE.arguments[1]);
    b.code.jump_if(2, When::Equal, Constant(libc::F_DUPFD), copied);
    b.code.jump_if(2, When::NotEqual, Constant(libc::F_DUPFD_CLOEXEC), done);
    b.code.place(copied);
    b.code.load(Width::Word, 4, FRAME, HERE.arguments[0]);
    find_kept(b);
    has(b, ENTERS, enters);
    open(b);
    kinds::forget(b);
    b.code.otherwise(done, enters);
    b.code.store(Width::Double, 7, layout::FOLDER, 2);
    b.code.jump(done);
}
