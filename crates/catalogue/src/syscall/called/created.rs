//! Files that programs create, fill and remove. A file's content is in memory; what the device holds of it differs.

use std::cell::RefCell;
use std::ffi::CString;
use std::os::fd::OwnedFd;

use operation::{Axis, Failure, Loop, Operation, Setting, numbers, size, word, words};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::CALLED;
use crate::kit::library::{copy_file_range, fstat, openat, statat, syncfs, unlinkat, write};
use crate::kit::{
    Block, FILES, Fresh, STOCK, Tree, call, consuming, create, exactly, file_of, handles, on_each, producing, scratch,
    tried,
};

const PAGE: u64 = 4 << 10;
const LARGE: u64 = 64 << 10;
const FILLED: Axis = size(numbers![PAGE, LARGE]);
const REMOVED: Axis = size(numbers![0, PAGE, LARGE]);
/// Written a moment ago and not yet to the device; or written there, too.
const CONTENT: Axis = word("content", words!["new", "written"]);

const ON_NEW_FILES: Operation = CALLED.follows_clock(|_| false);

pub(crate) const OPERATIONS: &[Operation] = &[
    ON_NEW_FILES
        .named("called.create", "create a file in an open folder, and open it for writing")
        .calls(&["openat"])
        .prepare(creating),
    CALLED
        .named("called.open.write", "open a file for writing that would be created if it were not there")
        .calls(&["openat"])
        .prepare(|setting| {
            let open = there(setting)?;
            tried(producing(open))
        }),
    CALLED
        .named("called.close.write", "close the only descriptor of a file that was opened for writing")
        .calls(&["close"])
        .version(2)
        .prepare(|setting| {
            // Each file has one descriptor: ext4 does more at the last one that writes.
            let mut tree = Tree::new(setting, STOCK as usize, 0)?;
            let open = move || {
                let (folder, name) = tree.next();
                Ok(openat(folder, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?)
            };
            tried(consuming(open, |file| exactly(0, call::close(file)?)))
        }),
    ON_NEW_FILES
        .named("called.fill", "write the only block of a new file, without waiting for the device")
        .calls(&["write"])
        .axes(&[FILLED])
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(|setting| {
            let (size, block) = (setting.size()?, Block::new(setting.size()?));
            filling(setting, move |file| exactly(size, write(file, &block)?))
        }),
    ON_NEW_FILES
        .named(
            "called.copy",
            "copy a file that is in memory to a new one by one call, without waiting for the device; file systems \
                that share blocks copy none",
        )
        .calls(&["copy_file_range"])
        .axes(&[FILLED])
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(|setting| {
            let (size, from) = (setting.size()?, file_of(setting, setting.size()?)?);
            filling(setting, move |file| exactly(size, copy_file_range(&from, Some(&mut 0), file, None, size)?))
        }),
    ON_NEW_FILES
        .named("called.unlink", "remove the only name of a file of this size whose content is in memory")
        .calls(&["unlinkat"])
        .axes(&[REMOVED, CONTENT])
        // A file system mounted with `discard` may wait until the device has learned that the file's blocks are free.
        .waits(|point| point.word("content") == Some("written"))
        .has_point(|point| point.number("size") != Some(0) || point.word("content") == Some("new"))
        .prepare(removing),
];

/// Opens one file for writing, which is there.
fn there(setting: &Setting) -> Result<impl Fn() -> Result<OwnedFd, Failure> + 'static, Failure> {
    let folder = scratch(setting)?;
    create(&folder, c"there", &[])?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    Ok(move || Ok(openat(&folder, c"there", flags, Mode::RUSR | Mode::WUSR)?))
}

#[inline(always)]
fn open_new(folder: &OwnedFd, name: &CString) -> Result<OwnedFd, Failure> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?)
}

/// All files stay until the round ends: see [`Fresh`].
fn creating(setting: &Setting) -> Result<Loop, Failure> {
    let [fresh, home] = handles(Fresh::entered(setting)?);
    let [files, made] = handles(RefCell::new(Vec::with_capacity(FILES as usize)));
    let creating = on_each(
        move |times| fresh.names(times),
        move |name| {
            files.borrow_mut().push(open_new(&home.folder, name)?);
            Ok(())
        },
        move |names| exactly(names.len(), made.borrow_mut().drain(..).count()),
    );
    tried(creating.at_most(FILES).batches(FILES as u32))
}

/// Each file is created before its batch; its size is checked after it.
fn filling(setting: &Setting, fill: impl FnMut(&OwnedFd) -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    let size = setting.size()?;
    let fresh = Fresh::entered(setting)?;
    let filling = on_each(
        move |times| fresh.names(times)?.iter().map(|name| open_new(&fresh.folder, name)).collect(),
        fill,
        move |files| files.iter().try_for_each(|file| exactly(size, fstat(file)?.st_size as usize)),
    );
    tried(filling.at_most(FILES).batches(FILES as u32))
}

/// All files are created and filled before the batch.
fn removing(setting: &Setting) -> Result<Loop, Failure> {
    let content = vec![1_u8; setting.size()?];
    let written = setting.word("content")? == "written";
    let [fresh, home, after] = handles(Fresh::entered(setting)?);
    let make = move |times| {
        let names = fresh.names(times)?;
        names.iter().try_for_each(|name| create(&fresh.folder, name, &content))?;
        if written {
            syncfs(&fresh.folder)?;
        }
        Ok(names)
    };
    let remove = move |name: &CString| Ok(unlinkat(&home.folder, name, AtFlags::empty())?);
    let gone = move |names: Vec<CString>| {
        names.iter().try_for_each(|name| match statat(&after.folder, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            _ => Err(Failure::wrong("a removed file is still there")),
        })
    };
    tried(on_each(make, remove, gone).at_most(FILES).batches(FILES as u32))
}
