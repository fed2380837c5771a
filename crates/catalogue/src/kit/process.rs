//! Child processes: starting them, tracing them, and waiting for their end.

use std::ffi::CStr;

use libc::{c_char, c_int, pid_t};
use operation::{Failure, Partner, Setting};

use super::call;
use super::check::exactly;
use super::invoke::{Null, invoke};

/// The exit status of a child that could not start its program, as shells use it.
pub(crate) const NOT_STARTED: c_int = 127;

/// Forks a child that runs `work` and exits with its status. `work` may only do what is allowed in a child of a process
/// with threads: make system calls.
pub(crate) fn fork(work: impl FnOnce() -> c_int) -> Result<pid_t, Failure> {
    // SAFETY: the child makes system calls only.
    match unsafe { libc::fork() } {
        -1 => Err(Failure::last_os_error()),
        // SAFETY: ends the child without running the parent's destructors.
        0 => unsafe { libc::_exit(work()) },
        child => Ok(child),
    }
}

/// Replaces this process by the program at this path, with an empty environment. Returns only if the program cannot be
/// started.
pub(crate) fn execute(program: &CStr) -> c_int {
    let arguments = [program.as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null()];
    // SAFETY: the path and both lists end in null.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    NOT_STARTED
}

/// Starts a program with an empty environment and these arguments. The first argument is its path.
pub(crate) fn spawn(arguments: &[&CStr]) -> Result<pid_t, Failure> {
    let mut list: [*mut c_char; 4] = [std::ptr::null_mut(); 4];
    for (place, argument) in list.iter_mut().zip(arguments) {
        *place = argument.as_ptr().cast_mut();
    }
    let environment = [std::ptr::null_mut()];
    let mut child = 0;
    // SAFETY: the path and both lists end in null, because there are at most three arguments; the other arguments are null.
    let error = unsafe {
        libc::posix_spawn(&mut child, list[0], std::ptr::null(), std::ptr::null(), list.as_ptr(), environment.as_ptr())
    };
    if error == 0 { Ok(child) } else { Err(Failure::Errno { errno: error }) }
}

/// Waits for a child and returns its wait status.
#[inline(always)]
pub(crate) fn status_of(child: pid_t) -> Result<c_int, Failure> {
    let mut status = [0];
    loop {
        match call::wait4(child, &mut status, 0, Null) {
            Err(Failure::Errno { errno: libc::EINTR }) => {}
            ended => return exactly(child as usize, ended?).map(|()| status[0]),
        }
    }
}

/// Waits for a child and checks that it ended successfully.
#[inline(always)]
pub(crate) fn wait_for(child: pid_t) -> Result<(), Failure> {
    match status_of(child)? {
        0 => Ok(()),
        status => Err(Failure::wrong(format!("the child ended with status {status:#x}"))),
    }
}

/// Lets the parent trace this process.
pub(crate) fn traced_by_parent() -> Result<usize, Failure> {
    // SAFETY: this command takes no address.
    unsafe { invoke!(ptrace, libc::PTRACE_TRACEME, 0, 0, 0) }
}

/// A child that this process traces. It is stopped as long as the handle lives.
pub(crate) fn stopped(setting: &Setting) -> Result<Partner, Failure> {
    let traced = setting.partner(setting.cpu(), || {
        traced_by_parent()?;
        let own = call::getpid()?;
        call::kill(own, libc::SIGSTOP).map(drop)
    })?;
    let mut status = [0_i32];
    exactly(traced.pid() as usize, call::wait4(traced.pid(), &mut status, 0, Null)?)?;
    if libc::WIFSTOPPED(status[0]) { Ok(traced) } else { Err(Failure::skip("tracing is refused here", "run as root")) }
}
