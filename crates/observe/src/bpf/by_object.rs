//! Calls by what they are made on. What a descriptor stands for is looked up in the kernel's tables once, and kept until a call of its
//! process changes that.

use super::builder::{Builder, Registers, frame, helper};
use super::instruction::{Compute, FRAME, Label, Operand, When, Width};
use super::kinds::{self, clear, find};
use super::layout::{self, HERE};
use super::types::Types;
use crate::objects::{CLOSE, CLOSES_MANY, OPENS, kind};
use Operand::{Constant, Register as Other};

/// Kinds of inodes (include/uapi/linux/stat.h), by the high bits of their mode.
const PIPE: i32 = 0x1000;
const CHARACTERS: i32 = 0x2000;
const FOLDER: i32 = 0x4000;
const REGULAR: i32 = 0x8000;
const SOCKET: i32 = 0xc000;
/// File systems (include/uapi/linux/magic.h).
const UNNAMED: i32 = 0x0904_1934;
const SYSTEMS: [(i32, &str); 4] =
    [(0x9fa0, "proc"), (0x6265_6572, "sys"), (0x6367_7270, "sys"), (0x0102_1994, "tmpfs")];
/// The first bytes of the names of objects that have no file.
const NAMES: [(&[u8; 8], &str); 3] = [(b"[eventfd", "eventfd"), (b"[eventpo", "epoll"), (b"[timerfd", "timerfd")];
/// `FMODE_CREATED` (include/linux/fs.h).
const CREATED: i32 = 1 << 20;

/// Register 2 becomes what register 8's call of this object is counted in, as `by_number` would make it. In register 1 the place of the
/// call among those that are counted by object; goes on at `counted`.
pub(super) fn place(b: &mut Builder, counted: Label) {
    let [returns, known, priced, many] = b.code.labels();
    b.code.store(Width::Double, FRAME, frame::CLASS, 1);
    match b.registers {
        Registers::ByHelper => b.code.load(Width::Word, 4, FRAME, HERE.arguments[0]),
        Registers::ByType => {
            b.code.load(Width::Double, 3, 6, 0);
            b.code.load(Width::Word, 4, 3, HERE.offset(HERE.arguments[0]));
        }
    }
    b.code.jump_if(1, When::Above, Constant(OPENS - 1), returns);
    b.code.otherwise(known, returns);
    b.code.jump_if(1, When::Equal, Constant(CLOSES_MANY), many);
    b.code.copy(4, 9);
    b.code.constant(3, 0);
    b.code.jump_if(9, When::Less, Constant(0), priced);
    b.code.place(known);
    b.code.constant(3, 0);
    if let Some(types) = b.maps.types {
        of_descriptor(b, &types, priced);
    }
    b.code.place(priced);
    b.code.load(Width::Double, 2, FRAME, frame::CLASS);
    b.code.compute(Compute::And, 2, Constant(layout::OBJECT_CALLS as i32 - 1));
    b.code.compute(Compute::Multiply, 2, Constant(layout::OBJECT_KINDS as i32));
    b.code.compute(Compute::Add, 2, Other(3));
    b.code.compute(Compute::ShiftLeft, 2, Constant(4));
    b.code.compute(Compute::Add, 2, Other(7));
    b.code.add(2, i32::from(layout::OBJECTS) - i32::from(layout::COUNTS));
    b.code.otherwise(counted, many);
    kinds::forget_all(b);
    b.place_by_number();
    b.code.jump(counted);
}

/// Register 3 becomes the kind of the descriptor in register 4, 0 if it is not known. Of one that was closed, it is what was kept, and
/// nothing is kept from now on. The place of the call is in register 1.
fn of_descriptor(b: &mut Builder, types: &Types, done: Label) {
    let [closed, look, known, none] = b.code.labels();
    b.code.jump_if(4, When::Above, Constant(layout::kinds::DESCRIPTORS - 1), done);
    b.code.store(Width::Double, FRAME, frame::FOLDER, 4);
    find(b);
    b.code.load(Width::Double, 1, FRAME, frame::CLASS);
    b.code.jump_if(1, When::Above, Constant(OPENS - 1), look);
    b.code.jump_if(1, When::Equal, Constant(CLOSE), closed);
    b.code.load(Width::Double, 1, 7, layout::LOOK);
    b.code.jump_if(1, When::NotEqual, Constant(0), look);
    b.code.jump_if(3, When::Above, Constant(layout::OBJECT_KINDS as i32 - 1), look);
    b.code.otherwise(done, closed);
    clear(b);
    b.code.jump_if(3, When::Above, Constant(layout::OBJECT_KINDS as i32 - 1), none);
    b.code.otherwise(done, look);
    b.code.store(Width::Double, FRAME, frame::KEPT, 2);
    b.code.store(Width::Double, FRAME, frame::KEPT_AT, 5);
    b.code.set(Width::Double, 7, layout::LOOK, 0);
    look_up(b, types, [known, none]);
    b.code.place(known);
    b.code.load(Width::Double, 1, FRAME, frame::KEPT);
    b.code.load(Width::Double, 4, FRAME, frame::KEPT_AT);
    b.code.copy(3, 5);
    b.code.compute(Compute::Or, 1, Other(5));
    b.code.store(Width::Double, 4, layout::kinds::FIRST, 1);
    b.code.otherwise(done, none);
    b.code.constant(3, 0);
}

/// The file of the descriptor in the frame, of the running task: in the frame. Without one, goes to `none`.
fn file(b: &mut Builder, types: &Types, none: Label) {
    b.code.call(helper::TASK);
    b.code.copy(3, 0);
    for offset in [types.files, types.table] {
        b.read_double(offset);
        b.code.jump_if(3, When::Equal, Constant(0), none);
    }
    b.code.store(Width::Double, FRAME, frame::FILE, 3);
    b.read_word(types.descriptors);
    let within = b.code.label();
    b.code.load(Width::Double, 1, FRAME, frame::FOLDER);
    b.code.jump_if(0, When::Above, Other(1), within);
    b.code.otherwise(none, within);
    b.code.load(Width::Double, 3, FRAME, frame::FILE);
    b.read_double(types.by_descriptor);
    b.code.jump_if(3, When::Equal, Constant(0), none);
    b.code.load(Width::Double, 1, FRAME, frame::FOLDER);
    b.code.jump_if(1, When::Above, Constant(layout::kinds::DESCRIPTORS - 1), none);
    b.code.compute(Compute::ShiftLeft, 1, Constant(3));
    b.code.compute(Compute::Add, 3, Other(1));
    b.read_double(0);
    b.code.jump_if(3, When::Equal, Constant(0), none);
    b.code.store(Width::Double, FRAME, frame::FILE, 3);
}

/// Looks up what the descriptor in the frame stands for: in register 5, at `keep`.
fn look_up(b: &mut Builder, types: &Types, [keep, none]: [Label; 2]) {
    file(b, types, none);
    b.read_double(types.inode);
    b.code.jump_if(3, When::Equal, Constant(0), none);
    b.code.store(Width::Double, FRAME, frame::INODE, 3);
    b.read_double(types.system);
    b.read_double(types.magic);
    b.code.store(Width::Double, FRAME, frame::ONE, 3);
    unnamed(b, types, keep);
    b.code.load(Width::Double, 3, FRAME, frame::INODE);
    kind_of_inode(b, types);
    for (mode, word) in [(PIPE, "pipe"), (FOLDER, "folder")] {
        b.code.constant(5, kind(word));
        b.code.jump_if(0, When::Equal, Constant(mode), keep);
    }
    let [characters, socket, regular] = b.code.labels();
    b.code.jump_if(0, When::Equal, Constant(CHARACTERS), characters);
    b.code.jump_if(0, When::Equal, Constant(SOCKET), socket);
    b.code.jump_if(0, When::Equal, Constant(REGULAR), regular);
    b.code.constant(5, kind("device"));
    b.code.otherwise(keep, regular);
    b.code.load(Width::Double, 1, FRAME, frame::ONE);
    for (magic, word) in SYSTEMS {
        b.code.constant(5, kind(word));
        b.code.jump_if(1, When::Equal, Constant(magic), keep);
    }
    b.code.constant(5, kind("file"));
    b.code.otherwise(keep, characters);
    character_device(b, types, keep);
    b.code.place(socket);
    protocol(b, types, keep);
}

/// An object that has no file: by its name. In register 3 what identifies the file system.
fn unnamed(b: &mut Builder, types: &Types, keep: Label) {
    let named = b.code.label();
    b.code.jump_if(3, When::NotEqual, Constant(UNNAMED), named);
    b.code.load(Width::Double, 3, FRAME, frame::FILE);
    b.read_double(types.entry);
    b.read_double(types.name);
    b.read_double(0);
    for (name, word) in NAMES {
        b.code.wide(1, u64::from_ne_bytes(*name));
        b.code.constant(5, kind(word));
        b.code.jump_if(3, When::Equal, Other(1), keep);
    }
    b.code.constant(5, kind("other"));
    b.code.otherwise(keep, named);
}

/// A device of characters: random numbers, other memory (`/dev/null`, `/dev/zero`), a terminal, or another.
fn character_device(b: &mut Builder, types: &Types, keep: Label) {
    /// Majors (Documentation/admin-guide/devices.txt).
    const MEMORY: i32 = 1;
    const RANDOM: [i32; 2] = [MEMORY << 20 | 8, MEMORY << 20 | 9];
    const TERMINALS: [i32; 4] = [4, 5, 136, 137];
    b.code.load(Width::Double, 3, FRAME, frame::INODE);
    b.read_word(types.device);
    b.code.constant(5, kind("random"));
    b.code.jump_if_one_of(0, &RANDOM, keep);
    b.code.compute(Compute::ShiftRight, 0, Constant(20));
    b.code.constant(5, kind("null"));
    b.code.jump_if(0, When::Equal, Constant(MEMORY), keep);
    b.code.constant(5, kind("tty"));
    b.code.jump_if_one_of(0, &TERMINALS, keep);
    b.code.constant(5, kind("device"));
    b.code.jump(keep);
}

/// A socket by its family and type.
fn protocol(b: &mut Builder, types: &Types, keep: Label) {
    b.code.load(Width::Double, 3, FRAME, frame::FILE);
    b.read_double(types.private);
    b.code.store(Width::Double, FRAME, frame::INODE, 3);
    b.read_word(types.kind);
    b.code.compute(Compute::And, 0, Constant(0xffff));
    b.code.store(Width::Double, FRAME, frame::ONE, 0);
    b.code.load(Width::Double, 3, FRAME, frame::INODE);
    b.read_double(types.sock);
    b.read_word(types.family);
    b.code.compute(Compute::And, 0, Constant(0xffff));
    b.code.constant(5, kind("unix"));
    b.code.jump_if(0, When::Equal, Constant(libc::AF_UNIX), keep);
    let internet = b.code.label();
    b.code.jump_if_one_of(0, &[libc::AF_INET, libc::AF_INET6], internet);
    b.code.constant(5, kind("socket"));
    b.code.otherwise(keep, internet);
    b.code.load(Width::Double, 1, FRAME, frame::ONE);
    b.code.constant(5, kind("tcp"));
    b.code.jump_if(1, When::Equal, Constant(libc::SOCK_STREAM), keep);
    b.code.constant(5, kind("udp"));
}

/// The file that was opened by this call, with the descriptor in register 9: in the frame. Goes to `unknown` if it is not found.
pub(super) fn opened(b: &mut Builder, unknown: Label) {
    let Some(types) = b.maps.types else { return };
    b.code.store(Width::Double, FRAME, frame::FOLDER, 9);
    file(b, &types, unknown);
}

/// Goes to `old` if the opened file was there before.
pub(super) fn was_created(b: &mut Builder, old: Label) {
    let Some(types) = b.maps.types else { return };
    b.code.load(Width::Double, 3, FRAME, frame::FILE);
    b.read_word(types.modes);
    b.code.jump_if_none(0, CREATED, old);
}

/// Goes to `other` if the opened file is known to be no regular one.
pub(super) fn is_regular(b: &mut Builder, other: Label) {
    let Some(types) = b.maps.types else { return };
    let unknown = b.code.label();
    b.code.load(Width::Double, 3, FRAME, frame::FILE);
    b.read_double(types.inode);
    b.code.jump_if(3, When::Equal, Constant(0), unknown);
    kind_of_inode(b, &types);
    b.code.jump_if(0, When::NotEqual, Constant(REGULAR), other);
    b.code.place(unknown);
}

/// The kind of the inode in register 3: in register 0.
fn kind_of_inode(b: &mut Builder, types: &Types) {
    b.read_word(types.mode);
    b.code.compute(Compute::And, 0, Constant(0xf000));
}
