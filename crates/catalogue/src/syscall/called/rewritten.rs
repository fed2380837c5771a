//! Files that are there and get a new content: emptied and written again, or replaced by a new file of the same name. A file system that
//! delays the choice of blocks may write such files out at once, lest a crash leave them empty (`auto_da_alloc` of ext4).

use std::cell::RefCell;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use operation::Value::Number;
use operation::{Failure, Loop, Operation, Setting, size};
use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, statat, syncfs};
use rustix::io::write;

use super::{CALLED, function};
use crate::kit::{FILES, Fresh, call, create, exactly, scratch, tried};

const PAGE: usize = 4 << 10;

const ON_OLD_FILES: Operation = CALLED.follows_clock(|_| false).waits(|_| true);

pub(crate) const OPERATIONS: &[Operation] = &[
    ON_OLD_FILES
        .named("called.open.truncate", "open and empty a file of a page that was written and closed a moment ago")
        .calls(&["openat"])
        .prepare(|setting| rewriting(setting, Step::Open)),
    ON_OLD_FILES
        .named("called.refill", "write a page to a file that was opened and emptied")
        .calls(&["write"])
        .axes(&[size(&[Number(PAGE as u64)])])
        .moves(|_| PAGE as u64)
        .prepare(|setting| rewriting(setting, Step::Write)),
    ON_OLD_FILES
        .named("called.close.rewritten", "close a file that was opened, emptied and written")
        .calls(&["close"])
        .prepare(|setting| rewriting(setting, Step::Close)),
    ON_OLD_FILES
        .named(
            "called.rename.over",
            "give a new file of a page the name of one that the device holds, which is removed",
        )
        .calls(&["renameat"])
        .prepare(replacing),
];

/// Which of the calls that write a file anew is timed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Open,
    Write,
    Close,
}

/// One file is opened and emptied, written, and closed, again and again: one call of each in a batch, of which one is timed.
fn rewriting(setting: &Setting, timed: Step) -> Result<Loop, Failure> {
    let folder = scratch(setting)?;
    let page = [1_u8; PAGE];
    create(&folder, c"there", &page)?;
    let mut opened: Option<OwnedFd> = None;
    let mut next = Step::Open;
    let mut step = move || -> Result<(), Failure> {
        next = match (next, &opened) {
            (Step::Open, _) => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
                opened = Some(openat(&folder, c"there", flags, Mode::RUSR | Mode::WUSR)?);
                Step::Write
            }
            (Step::Write, Some(file)) => {
                exactly(PAGE, write(file, &page)?)?;
                Step::Close
            }
            _ => {
                opened.take().map_or(Ok(()), |file| exactly(0, call::close(file)?))?;
                Step::Open
            }
        };
        Ok(())
    };
    // The steps from the timed one to the one before it.
    let first = [Step::Open, Step::Write, Step::Close].iter().position(|part| *part == timed).unwrap_or(0);
    (0..first).try_for_each(|_| step())?;
    let step = Rc::new(RefCell::new(step));
    let others = Rc::clone(&step);
    let mut begun = false;
    tried(Loop::new(move |_| function(|| (step.borrow_mut())())).at_most(1).before(move |_| {
        let rest = if std::mem::replace(&mut begun, true) { 2 } else { 0 };
        (0..rest).try_for_each(|_| (others.borrow_mut())())
    }))
}

/// Files with a page each are on the device before the batch, and as many new ones are written.
fn replacing(setting: &Setting) -> Result<Loop, Failure> {
    let page = [1_u8; PAGE];
    let fresh = Rc::new(Fresh::entered(setting)?);
    let names: Rc<RefCell<Vec<[CString; 2]>>> = Rc::default();
    let (named, gone) = (Rc::clone(&names), Rc::clone(&names));
    let (home, after) = (Rc::clone(&fresh), Rc::clone(&fresh));
    let looped = Loop::new(move |times| {
        let names = names.borrow();
        names
            .iter()
            .take(times as usize)
            .try_for_each(|[new, old]| function(|| Ok(renameat(&home.folder, new, &home.folder, old)?)))
    });
    let looped = looped.at_most(FILES).batches(FILES as u32).before(move |times| {
        let (old, new) = (fresh.names(times)?, fresh.names(times)?);
        old.iter().try_for_each(|name| create(&fresh.folder, name, &page))?;
        syncfs(&fresh.folder)?;
        new.iter().try_for_each(|name| create(&fresh.folder, name, &page))?;
        named.replace(new.into_iter().zip(old).map(|(new, old)| [new, old]).collect());
        Ok(())
    });
    tried(looped.verify(move |_| {
        gone.borrow().iter().try_for_each(|[new, old]| {
            let is_there = |name: &CString| statat(&after.folder, name, AtFlags::empty()).is_ok();
            if is_there(new) || !is_there(old) { Err(Failure::wrong("a file was not renamed")) } else { Ok(()) }
        })
    }))
}
