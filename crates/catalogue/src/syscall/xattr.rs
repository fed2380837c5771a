//! Calls on the extended attributes of files, whose names users choose.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use operation::{Failure, Loop, Operation, Setting, repeat};

use super::{CALL, PAIR};
use crate::kit::{
    call, enter, exactly, file_of, invoke, new_file, scratch, steadily, steadily_with, tried, turning, with_file,
};

/// The attribute that is set and read, and its value. The other value has the same length. A file system may do nothing if
/// an attribute is set to the value it has (ext4 does).
const NAME: &CStr = c"user.howslow";
const VALUE: &[u8; 16] = b"sixteen letters!";
const OTHER: &[u8; 16] = b"another sixteen!";

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.setxattr", "replace a file's extended attribute of 16 bytes by another")
        .version(2)
        .prepare(|setting| replacing(setting, |_, value| call::setxattr(c"file", NAME, value, 0))),
    CALL.named("call.lsetxattr", "replace an attribute of 16 bytes of a file or link by another")
        .version(2)
        .prepare(|setting| replacing(setting, |_, value| call::lsetxattr(c"file", NAME, value, 0))),
    CALL.named("call.fsetxattr", "replace an open file's attribute of 16 bytes by another")
        .version(2)
        .prepare(|setting| replacing(setting, |file, value| call::fsetxattr(file, NAME, value, 0))),
    CALL.named("call.getxattr", "read a file's attribute of 16 bytes")
        .prepare(|setting| reading(setting, |_, value| call::getxattr(c"file", NAME, value))),
    CALL.named("call.lgetxattr", "read an attribute of 16 bytes of a file or link")
        .prepare(|setting| reading(setting, |_, value| call::lgetxattr(c"file", NAME, value))),
    CALL.named("call.fgetxattr", "read an open file's attribute of 16 bytes")
        .prepare(|setting| reading(setting, |file, value| call::fgetxattr(file, NAME, value))),
    CALL.named("call.listxattr", "list the names of a file's attributes")
        .prepare(|setting| listing(setting, |_, names| call::listxattr(c"file", names))),
    CALL.named("call.llistxattr", "list the names of the attributes of a file or link")
        .prepare(|setting| listing(setting, |_, names| call::llistxattr(c"file", names))),
    CALL.named("call.flistxattr", "list the names of an open file's attributes")
        .prepare(|setting| listing(setting, |file, names| call::flistxattr(file, names))),
    PAIR.named("call.removexattr", "add an attribute of 16 bytes to a file and remove it")
        .calls(&["setxattr", "removexattr"])
        .prepare(|setting| {
            with_file(setting)?;
            tried(repeat(move || {
                exactly(0, call::setxattr(c"file", NAME, VALUE, 0)?)?;
                exactly(0, call::removexattr(c"file", NAME)?)
            }))
        }),
    PAIR.named("call.lremovexattr", "add an attribute of 16 bytes to a file or link and remove it")
        .calls(&["lsetxattr", "lremovexattr"])
        .prepare(|setting| {
            with_file(setting)?;
            tried(repeat(move || {
                exactly(0, call::lsetxattr(c"file", NAME, VALUE, 0)?)?;
                exactly(0, call::lremovexattr(c"file", NAME)?)
            }))
        }),
    PAIR.named("call.fremovexattr", "add an attribute of 16 bytes to an open file and remove it")
        .calls(&["fsetxattr", "fremovexattr"])
        .prepare(|setting| {
            let file = file_of(setting, 0)?;
            tried(repeat(move || {
                exactly(0, call::fsetxattr(&file, NAME, VALUE, 0)?)?;
                exactly(0, call::fremovexattr(&file, NAME)?)
            }))
        }),
    CALL.named("call.setxattrat", "replace an attribute of 16 bytes of a file of an open folder by another")
        .version(2)
        .prepare(|setting| {
            let (folder, _) = with_attribute(setting)?;
            let values = [OTHER, VALUE].map(|value| [value.as_ptr() as u64, 16]);
            // SAFETY: the value is an address of 16 constant bytes and their number.
            turning(values, move |value| unsafe { invoke!(setxattrat, &folder, c"file", 0, NAME, &value, 16) })
        }),
    CALL.named("call.getxattrat", "read an attribute of 16 bytes of a file of an open folder").prepare(|setting| {
        let (folder, _) = with_attribute(setting)?;
        let mut room = Box::new([0_u8; 64]);
        let mut value = [room.as_mut_ptr() as u64, 64];
        steadily(16, move || {
            let _kept = &room;
            // SAFETY: the value is the address of the room, which is kept, and its size.
            unsafe { invoke!(getxattrat, &folder, c"file", 0, NAME, &mut value, 16) }
        })
    }),
    CALL.named("call.listxattrat", "list the names of the attributes of a file of an open folder").prepare(|setting| {
        let folder = scratch(setting)?;
        listing(setting, move |_, names| call::listxattrat(&folder, c"file", 0, names))
    }),
    PAIR.named("call.removexattrat", "add an attribute of 16 bytes to a file of an open folder and remove it")
        .calls(&["setxattrat", "removexattrat"])
        .prepare(|setting| {
            let folder = with_file(setting)?;
            let value = [VALUE.as_ptr() as u64, 16];
            tried(repeat(move || {
                // SAFETY: the value is an address of 16 constant bytes and their number.
                exactly(0, unsafe { invoke!(setxattrat, &folder, c"file", 0, NAME, &value, 16) }?)?;
                exactly(0, call::removexattrat(&folder, c"file", 0, NAME)?)
            }))
        }),
];

/// The scratch folder, entered, and the file `file` in it, which has the attribute.
fn with_attribute(setting: &Setting) -> Result<(OwnedFd, OwnedFd), Failure> {
    let folder = enter(setting)?;
    let file = new_file(&folder)?;
    exactly(0, call::fsetxattr(&file, NAME, VALUE, 0)?)?;
    Ok((folder, file))
}

/// A loop of a call on the file that sets the attribute to the other value and back.
fn replacing(
    setting: &Setting,
    mut set: impl FnMut(&OwnedFd, &[u8; 16]) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    let (_, file) = with_attribute(setting)?;
    turning([OTHER, VALUE], move |value| set(&file, value))
}

/// A loop of a call on the file that reads the attribute.
fn reading(
    setting: &Setting,
    mut get: impl FnMut(&OwnedFd, &mut [u8; 64]) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    let (_, file) = with_attribute(setting)?;
    steadily_with(16, [0; 64], move |value| get(&file, value))
}

/// A loop of a call on the file that lists its attributes.
fn listing(
    setting: &Setting,
    mut list: impl FnMut(&OwnedFd, &mut [u8; 1024]) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    let (_, file) = with_attribute(setting)?;
    let mut names = [0; 1024];
    let length = call::flistxattr(&file, &mut names)?;
    steadily_with(length, names, move |names| list(&file, names))
}
