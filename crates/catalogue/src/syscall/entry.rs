//! The family `syscall`: the cost of entering the kernel, measured by the shortest calls. Files are named relative to an
//! open folder, by one component, so that the cost does not depend on the path of the scratch folder.

use operation::{Axis, Failure, Loop, Operation, Setting, in_a_function, repeat, term, word, words};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, statx};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::kit::library::{fstat, getppid, open, openat, read, statat, write};
use crate::kit::{BASE, ENTRY, call, exactly, new_file, scratch};

const CALLED: Axis = word("call", words!["getppid", "statx"]);
/// Where the instruction that enters the kernel lies: in the loop, or in a function that returns to it.
const FROM: Axis = word("from", words!["loop", "function"]);

const ENTERING: Operation = BASE.headline().explained_by(ENTRY);

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.named("syscall.getppid", "ask for the parent's process id: the system call that does almost nothing")
        .calls(&["getppid"])
        .aliases(&["GSSW"])
        .at_least(&["instruction.call"])
        .headline()
        .prepare(|_| Ok(repeat(|| answer(getppid())))),
    ENTERING
        .named("syscall.read.null", "read from /dev/null, which returns end of file")
        .calls(&["read"])
        .aliases(&["QIOW"])
        .prepare(|_| {
            let device = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let mut byte = [0];
            Ok(repeat(move || exactly(0, read(&device, &mut byte)?)))
        }),
    ENTERING.named("syscall.read.zero", "read one byte from /dev/zero").calls(&["read"]).moves(|_| 1).prepare(|_| {
        let device = open("/dev/zero", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut byte = [0];
        Ok(repeat(move || exactly(1, read(&device, &mut byte)?)))
    }),
    ENTERING.named("syscall.write.null", "write one byte to /dev/null").calls(&["write"]).moves(|_| 1).prepare(|_| {
        let device = open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        let byte = [0];
        Ok(repeat(move || exactly(1, write(&device, &byte)?)))
    }),
    ENTERING.named("syscall.fstat", "ask for the attributes of an open file").calls(&["fstat"]).prepare(|setting| {
        let file = new_file(&scratch(setting)?)?;
        Ok(repeat(move || exactly(0, fstat(&file)?.st_size as usize)))
    }),
    ENTERING
        .named("syscall.stat", "ask for the attributes of a file by its name in an open folder")
        .calls(&["newfstatat"])
        .prepare(|setting| {
            let folder = scratch(setting)?;
            new_file(&folder)?;
            Ok(repeat(move || exactly(0, statat(&folder, c"file", AtFlags::empty())?.st_size as usize)))
        }),
    BASE.named("syscall.open.close", "open a file by its name in an open folder, and close it")
        .version(2)
        .calls(&["openat", "close"])
        .per("pair")
        .headline()
        .explained_by(&[term(2.0, "syscall.getppid")])
        .prepare(|setting| {
            let folder = scratch(setting)?;
            new_file(&folder)?;
            Ok(repeat(move || {
                let file = openat(&folder, c"file", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
                exactly(0, call::close(file)?)
            }))
        }),
    BASE.id("syscall.called")
        .summary("a system call made in the loop itself, or by a function that then returns, as a C library makes it")
        .calls(&["getppid", "statx"])
        .axes(&[CALLED, FROM])
        .prepare(called),
];

/// The loop of `syscall.called`. Some processors and kernels mispredict the kernel's returns if the caller of a system call
/// returns too. Every other operation makes its calls in functions.
fn called(setting: &Setting) -> Result<Loop, Failure> {
    let folder = scratch(setting)?;
    new_file(&folder)?;
    let parent = || answer(rustix::process::getppid());
    let stat = move || {
        let attributes = statx(&folder, c"file", AtFlags::empty(), StatxFlags::BASIC_STATS)?;
        exactly(0, attributes.stx_size as usize)
    };
    Ok(match (setting.word("call")?, setting.word("from")?) {
        ("getppid", "loop") => repeat(parent),
        ("getppid", _) => repeat(move || in_a_function(parent)),
        (_, "loop") => repeat(stat),
        _ => repeat(move || in_a_function(&stat)),
    })
}

#[inline(always)]
fn answer(parent: Option<Pid>) -> Result<(), Failure> {
    match Pid::as_raw(parent) {
        0.. => Ok(()),
        errno => Err(Errno::from_raw_os_error(-errno).into()),
    }
}
