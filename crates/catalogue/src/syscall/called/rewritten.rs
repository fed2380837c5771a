//! Files that are there and get a new content: emptied and written again, or replaced by a new file of the same name. A file system that
//! delays the choice of blocks may write such files out at once, lest a crash leave them empty (`auto_da_alloc` of ext4).

use std::cell::RefCell;
use std::ffi::CString;
use std::os::fd::OwnedFd;

use operation::{Failure, Loop, Operation, Setting, numbers, size};
use rustix::fs::{AtFlags, Mode, OFlags};

use super::CALLED;
use crate::kit::library::{openat, renameat, statat, syncfs, write};
use crate::kit::{FILES, Fresh, PAGE, call, create, ensure, exactly, handles, on_each, scratch, tried};

static CONTENT: [u8; PAGE] = [1; PAGE];

const ON_OLD_FILES: Operation = CALLED.follows_clock(|_| false).waits(|_| true);

pub(crate) const OPERATIONS: &[Operation] = &[
    ON_OLD_FILES
        .named("called.open.truncate", "open and empty a file of a page that was written and closed a moment ago")
        .calls(&["openat"])
        .prepare(|setting| rewriting(setting, Step::Open)),
    ON_OLD_FILES
        .named("called.refill", "write a page to a file that was opened and emptied")
        .calls(&["write"])
        .axes(&[size(numbers![PAGE as u64])])
        .moves(|_| PAGE as u64)
        .prepare(|setting| rewriting(setting, Step::Write)),
    ON_OLD_FILES
        .named("called.close.rewritten", "close a file that was opened, emptied and written")
        .calls(&["close"])
        .prepare(|setting| rewriting(setting, Step::Close)),
    ON_OLD_FILES
        .id("called.rename.over")
        .summary("give a new file of a page the name of one that the device holds, which is removed")
        .calls(&["renameat"])
        .prepare(replacing),
];

/// The calls that write a file anew, in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Open,
    Write,
    Close,
}

/// A file that is there, and is opened and emptied, written, and closed.
struct Rewritten {
    folder: OwnedFd,
    opened: Option<OwnedFd>,
}

impl Rewritten {
    fn make(&mut self, step: Step) -> Result<(), Failure> {
        match (step, &self.opened) {
            (Step::Open, None) => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
                self.opened = Some(openat(&self.folder, c"there", flags, Mode::RUSR | Mode::WUSR)?);
                Ok(())
            }
            (Step::Write, Some(file)) => exactly(PAGE, write(file, &CONTENT)?),
            (Step::Close, Some(_)) => self.opened.take().map_or(Ok(()), |file| exactly(0, call::close(file)?)),
            _ => Err(Failure::wrong("a file is written anew in another order")),
        }
    }
}

/// One file is written anew, again and again: one of the calls is timed, in a batch of its own, and the two after it come before the next.
fn rewriting(setting: &Setting, timed: Step) -> Result<Loop, Failure> {
    let folder = scratch(setting)?;
    create(&folder, c"there", &CONTENT)?;
    let [file, others] = handles(RefCell::new(Rewritten { folder, opened: None }));
    let after = match timed {
        Step::Open => [Step::Write, Step::Close],
        Step::Write => [Step::Close, Step::Open],
        Step::Close => [Step::Open, Step::Write],
    };
    tried(Loop::new(move |_| file.borrow_mut().make(timed)).at_most(1).before(move |_| {
        let mut file = others.borrow_mut();
        after.into_iter().try_for_each(|step| match step {
            // Before the first batch, it is not open yet.
            Step::Write | Step::Close if file.opened.is_none() => Ok(()),
            step => file.make(step),
        })
    }))
}

/// Files with a page each are on the device before the batch, and as many new ones are written.
fn replacing(setting: &Setting) -> Result<Loop, Failure> {
    let [fresh, home, after] = handles(Fresh::entered(setting)?);
    let make = move |times| {
        let (old, new) = (fresh.names(times)?, fresh.names(times)?);
        old.iter().try_for_each(|name| create(&fresh.folder, name, &CONTENT))?;
        syncfs(&fresh.folder)?;
        new.iter().try_for_each(|name| create(&fresh.folder, name, &CONTENT))?;
        Ok(new.into_iter().zip(old).collect())
    };
    let rename = move |(new, old): &(CString, CString)| Ok(renameat(&home.folder, new, &home.folder, old)?);
    let renamed = move |names: Vec<(CString, CString)>| {
        let is_there = |name: &CString| statat(&after.folder, name, AtFlags::empty()).is_ok();
        names.iter().try_for_each(|(new, old)| ensure(!is_there(new) && is_there(old), || "a file was not renamed"))
    };
    tried(on_each(make, rename, renamed).at_most(FILES).batches(FILES as u32))
}
