//! Processes: one that ends at once, one that runs a program that does nothing, one that runs the shell.

use std::ffi::{CStr, CString};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

use libc::{c_char, c_int, pid_t};
use operation::{Failure, Need, Operation, Setting, repeat, term};
use rustix::fs::{Access, access};
use rustix::io::Errno;

pub(crate) mod apart;
mod ways;

use crate::call::raw::tried;

pub(crate) const OPERATIONS: &[Operation] = &[
    FORK,
    EXEC,
    SPAWN,
    SHELL,
    ways::FORK_RESIDENT,
    #[cfg(target_arch = "x86_64")]
    ways::FORK_CALL,
    ways::VFORK,
    ways::CLONE,
    ways::CLONE3,
    ways::NAMESPACE,
    ways::EXEC_DYNAMIC,
    apart::FORK,
    apart::EXEC,
    apart::CLONE,
];

/// What all of them are: a child that has come and gone.
const CHILD: Operation = Operation { per: "process", headline: true, ..crate::DEFAULT };

const FORK: Operation = Operation {
    id: "process.fork",
    summary: "copy this small process, let the copy end at once, wait for it (fork, wait)",
    prepare: |_| Ok(repeat(|| wait_for(fork(|| 0)?))),
    ..CHILD
};

const EXEC: Operation = Operation {
    id: "process.exec",
    summary: "copy this small process, run a program that does nothing in the copy, wait (fork, execve, wait)",
    calls: &["execve"],
    explained_by: &[term(1.0, "process.fork")],
    at_least: &["process.fork"],
    prepare: |setting| {
        let program = do_nothing(setting)?;
        Ok(repeat(move || wait_for(fork(|| execute(&program))?)))
    },
    ..CHILD
};

const SPAWN: Operation = Operation {
    id: "process.spawn",
    summary: "run a program that does nothing, without copying this process, and wait for it (posix_spawn, wait)",
    prepare: |setting| {
        let program = do_nothing(setting)?;
        Ok(repeat(move || wait_for(spawn(&[&program])?)))
    },
    ..CHILD
};

const SHELL: Operation = Operation {
    id: "process.shell",
    summary: "run the shell with nothing to do and wait for it (/bin/sh -c :)",
    needs: &[Need::Program("/bin/sh")],
    explained_by: &[term(1.0, "process.spawn")],
    at_least: &["process.spawn"],
    prepare: |_| Ok(repeat(|| wait_for(spawn(&[c"/bin/sh", c"-c", c":"])?))),
    ..CHILD
};

/// The exit status of a child that could not start its program, as the shell has it.
pub(crate) const NOT_STARTED: c_int = 127;

/// Forks a child that does `work` and exits with its status. `work` must keep to what a child of a process with
/// threads may do: system calls.
pub(crate) fn fork(work: impl FnOnce() -> c_int) -> Result<pid_t, Failure> {
    // SAFETY: the child makes system calls only.
    match unsafe { libc::fork() } {
        -1 => Err(Failure::last_os_error()),
        // SAFETY: ends the child without running the parent's destructors.
        0 => unsafe { libc::_exit(work()) },
        child => Ok(child),
    }
}

/// Becomes the program at this path, with an empty environment; returns only when it cannot be started.
fn execute(program: &CStr) -> c_int {
    let arguments = [program.as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null()];
    // SAFETY: the path and both lists end in null.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    NOT_STARTED
}

/// Starts a program with these arguments, the first of which is its path, and an empty environment.
fn spawn(arguments: &[&CStr]) -> Result<pid_t, Failure> {
    let mut list: [*mut c_char; 4] = [std::ptr::null_mut(); 4];
    for (place, argument) in list.iter_mut().zip(arguments) {
        *place = argument.as_ptr().cast_mut();
    }
    let environment = [std::ptr::null_mut()];
    let mut child = 0;
    // SAFETY: the path and both lists end in null, for there are at most three arguments; the rest is the default.
    let error = unsafe {
        libc::posix_spawn(&mut child, list[0], std::ptr::null(), std::ptr::null(), list.as_ptr(), environment.as_ptr())
    };
    if error == 0 { Ok(child) } else { Err(Failure::Errno { errno: error }) }
}

/// Waits for a child and checks that it ended well.
pub(crate) fn wait_for(child: pid_t) -> Result<(), Failure> {
    let mut status = 0;
    // SAFETY: the status is valid to write.
    while unsafe { libc::waitpid(child, &mut status, 0) } != child {
        let failure = Failure::last_os_error();
        if failure != Errno::INTR.into() {
            return Err(failure);
        }
    }
    if status == 0 { Ok(()) } else { Err(Failure::wrong(format!("the child ended with status {status:#x}"))) }
}

/// Writes the smallest program that does nothing into the scratch folder and returns its path.
pub(crate) fn do_nothing(setting: &Setting) -> Result<CString, Failure> {
    let path = setting.scratch().join("nothing");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o700).open(&path)?;
    file.write_all(&program())?;
    drop(file);
    match access(&path, Access::EXEC_OK) {
        Ok(()) => {}
        Err(Errno::ACCESS) => {
            let reason = "programs in the scratch folder may not be run (noexec)";
            return Err(Failure::skip(reason, "set TMPDIR to a folder where they may"));
        }
        Err(errno) => return Err(errno.into()),
    }
    let program = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Failure::wrong("the scratch folder's name holds a zero"))?;
    match spawn(&[&program]).and_then(wait_for) {
        Err(Failure::Errno { errno: libc::ENOEXEC }) => Err(Failure::skip(
            "the system under the emulator executes no programs of the emulated processor",
            "register the emulator with that system (binfmt_misc; Debian: apt install qemu-user-binfmt)",
        )),
        // Whatever else keeps it from starting is for the loop to meet.
        _ => Ok(program),
    }
}

/// `exit(0)`: xor edi, edi; mov eax, 60; syscall.
#[cfg(target_arch = "x86_64")]
const EXIT: &[u8] = &[0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05];
#[cfg(target_arch = "x86_64")]
/// The number of this processor in an ELF header.
pub(crate) const ELF_MACHINE: u16 = 62;

/// `exit(0)`: mov x0, 0; mov x8, 93; svc 0.
#[cfg(target_arch = "aarch64")]
const EXIT: &[u8] = &[0x00, 0x00, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4];
#[cfg(target_arch = "aarch64")]
/// The number of this processor in an ELF header.
pub(crate) const ELF_MACHINE: u16 = 183;

/// A static executable of one segment that holds the whole file: two headers and the code. The layout is that of
/// the ELF-64 object file format, little-endian, version 1.
pub fn program() -> Vec<u8> {
    const FILE_HEADER: u16 = 64;
    const PROGRAM_HEADER: u16 = 56;
    const HEADERS: u64 = FILE_HEADER as u64 + PROGRAM_HEADER as u64;
    const ADDRESS: u64 = 0x40_0000;
    // The largest page of both architectures, which the segment's address and offset must agree in.
    const PAGE: u64 = 0x1_0000;
    let whole = HEADERS + EXIT.len() as u64;

    let mut file = Vec::with_capacity(whole as usize);
    // 64-bit, little-endian, version 1, no particular system.
    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    // Executable, for this machine, version 1.
    file.extend([2, ELF_MACHINE, 1, 0].map(u16::to_le_bytes).as_flattened());
    // Entry, where the program headers are, and that there are no sections.
    file.extend([ADDRESS + HEADERS, u64::from(FILE_HEADER), 0].map(u64::to_le_bytes).as_flattened());
    // No flags (two halves); sizes of the headers; one program header; no sections.
    file.extend([0, 0, FILE_HEADER, PROGRAM_HEADER, 1, 0, 0, 0].map(u16::to_le_bytes).as_flattened());
    // To be loaded, to be read and executed.
    file.extend([1_u32, 4 | 1].map(u32::to_le_bytes).as_flattened());
    // From the file's beginning, to the address (virtual and physical), size in file and memory, alignment.
    file.extend([0, ADDRESS, ADDRESS, whole, whole, PAGE].map(u64::to_le_bytes).as_flattened());
    file.extend(EXIT);
    file
}
