//! The family `syscall`: what entering the kernel costs, by the shortest calls there are. Files are named relative to
//! an open folder, by one component, so that the cost does not depend on where the scratch folder is.

use operation::{Failure, Operation, Setting, TermOf, repeat, term};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, open, openat, statat};
use rustix::io::{Errno, read, write};
use rustix::process::{Pid, getppid};

use crate::DEFAULT;

/// Entering the kernel and leaving it again, once.
const ENTRY: &[TermOf] = &[term(1.0, "syscall.getppid")];

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "syscall.getppid",
        summary: "ask for the parent's process id: the system call that does next to nothing",
        calls: &["getppid"],
        aliases: &["GSSW"],
        at_least: &["instruction.call"],
        headline: true,
        prepare: |_| {
            Ok(repeat(|| match Pid::as_raw(getppid()) {
                0.. => Ok(()),
                errno => Err(Errno::from_raw_os_error(-errno).into()),
            }))
        },
        ..DEFAULT
    },
    Operation {
        id: "syscall.read.null",
        summary: "read from /dev/null, which is at its end",
        calls: &["read"],
        aliases: &["QIOW"],
        headline: true,
        explained_by: ENTRY,
        prepare: |_| {
            let device = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let mut byte = [0];
            Ok(repeat(move || exactly(0, read(&device, &mut byte)?)))
        },
        ..DEFAULT
    },
    Operation {
        id: "syscall.read.zero",
        summary: "read one byte from /dev/zero",
        calls: &["read"],
        headline: true,
        moves: |_| 1,
        explained_by: ENTRY,
        prepare: |_| {
            let device = open("/dev/zero", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let mut byte = [0];
            Ok(repeat(move || exactly(1, read(&device, &mut byte)?)))
        },
        ..DEFAULT
    },
    Operation {
        id: "syscall.write.null",
        summary: "write one byte to /dev/null",
        calls: &["write"],
        headline: true,
        moves: |_| 1,
        explained_by: ENTRY,
        prepare: |_| {
            let device = open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            let byte = [0];
            Ok(repeat(move || exactly(1, write(&device, &byte)?)))
        },
        ..DEFAULT
    },
    Operation {
        id: "syscall.fstat",
        summary: "ask for the attributes of an open file",
        calls: &["fstat"],
        headline: true,
        explained_by: ENTRY,
        prepare: |setting| {
            let file = new_file(&scratch(setting)?)?;
            Ok(repeat(move || exactly(0, fstat(&file)?.st_size as usize)))
        },
        ..DEFAULT
    },
    Operation {
        id: "syscall.stat",
        summary: "ask for the attributes of a file by its name in an open folder",
        calls: &["newfstatat"],
        headline: true,
        explained_by: ENTRY,
        prepare: |setting| {
            let folder = scratch(setting)?;
            new_file(&folder)?;
            Ok(repeat(move || exactly(0, statat(&folder, c"file", AtFlags::empty())?.st_size as usize)))
        },
        ..DEFAULT
    },
    Operation {
        id: "syscall.open.close",
        summary: "open a file by its name in an open folder, and close it",
        calls: &["openat", "close"],
        per: "pair",
        headline: true,
        explained_by: &[term(2.0, "syscall.getppid")],
        prepare: |setting| {
            let folder = scratch(setting)?;
            new_file(&folder)?;
            Ok(repeat(move || {
                drop(openat(&folder, c"file", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
                Ok(())
            }))
        },
        ..DEFAULT
    },
];

/// The scratch folder, open.
pub(crate) fn scratch(setting: &Setting) -> Result<OwnedFd, Failure> {
    Ok(openat(CWD, setting.scratch(), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// A new empty file of the name `file` in this folder, open for reading and writing.
pub(crate) fn new_file(folder: &OwnedFd) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    Ok(openat(folder, c"file", flags, Mode::RUSR | Mode::WUSR)?)
}

/// Fails unless a call returned what it must; costs a compare and a branch.
#[inline(always)]
pub(crate) fn exactly(wanted: usize, returned: usize) -> Result<(), Failure> {
    if returned == wanted { Ok(()) } else { Err(other_result(wanted, returned)) }
}

#[cold]
fn other_result(wanted: usize, returned: usize) -> Failure {
    Failure::wrong(format!("a call returned {returned} where it must return {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_returns_what_it_must() {
        crate::trial::perform_all(OPERATIONS);
    }

    #[test]
    fn another_result_is_a_failure() {
        assert_eq!(exactly(1, 1), Ok(()));
        assert!(matches!(exactly(1, 0), Err(Failure::Wrong(_))));
    }
}
