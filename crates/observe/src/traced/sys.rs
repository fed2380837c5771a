//! ptrace(2) and wait4(2): one function for each request. Knows nothing of what is counted.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use record::Usage;

use crate::command::{usage, wait4};

/// Requests (include/uapi/linux/ptrace.h). The C libraries give them different types, and not all of them.
mod requests {
    pub(super) const MESSAGE: u32 = 0x4201;
    pub(super) const SEIZE: u32 = 0x4206;
    pub(super) const INTERRUPT: u32 = 0x4207;
    pub(super) const CALL_INFO: u32 = 0x420e;
}

/// The bits that distinguish a stop at a system call from a delivered `SIGTRAP` (`PTRACE_O_TRACESYSGOOD`).
const AT_A_CALL: i32 = libc::SIGTRAP | 0x80;
/// What is reported. `PTRACE_O_EXITKILL` is not among them: what is watched goes on when howslow is killed.
const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT;

/// `struct ptrace_syscall_info` (include/uapi/linux/ptrace.h), as far as it is used.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct CallInfo {
    kind: u8,
    unused: [u8; 3],
    architecture: u32,
    places: [u64; 2],
    /// At entry the number, at exit the result.
    value: i64,
    /// At entry the arguments. At exit, the first byte of the first: 1 if it is an error.
    arguments: [u64; 6],
    rest: u64,
}

/// A stop at a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtCall {
    /// Before it: its number, its first arguments, and the calls of which architecture it belongs to.
    Entry { number: u64, arguments: [u64; 3], architecture: u32 },
    /// After it: its result, or the error.
    Exit(Result<u64, u16>),
    /// Neither.
    Other,
}

/// Why a task stopped, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// At a system call.
    Call,
    /// A signal is about to be delivered.
    Signal(i32),
    /// It created a task.
    Created,
    /// It executed a program.
    Executed,
    /// It is about to end.
    Ending,
    /// It and all tasks of its process are stopped by a signal, as by Ctrl-Z.
    GroupStop,
    /// It was stopped by being watched.
    Stopped,
    /// It ended, with what it used and everything that it waited for.
    Ended(ExitStatus, Usage),
}

/// Makes a request.
fn request(what: u32, thread: u32, address: usize, data: usize) -> io::Result<i64> {
    // SAFETY: the requests of this file take numbers, but for two: those give the address and the size of a structure that
    // lives through the call.
    let answer = unsafe { libc::ptrace(what as _, thread as libc::pid_t, address, data) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as i64) }
}

/// Watches a thread and what it creates. It goes on running.
/// Fails if it is gone, another process traces it, or this process may not.
pub(super) fn seize(thread: u32) -> io::Result<()> {
    request(requests::SEIZE, thread, 0, OPTIONS as usize).map(|_| ())
}

/// Stops a watched thread.
pub(super) fn interrupt(thread: u32) -> io::Result<()> {
    request(requests::INTERRUPT, thread, 0, 0).map(|_| ())
}

/// How a stopped thread goes on: the requests for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resume {
    /// To its next system call.
    ToCall = 24,
    /// To its next event.
    ToEvent = 7,
    /// It stays stopped, until the signal for that comes.
    Listen = 0x4208,
    /// It is no longer watched.
    Detached = 17,
}

/// Lets a stopped thread go on, with this signal; 0 is none. If it was killed meanwhile, there is nothing to do.
pub(super) fn resume(thread: u32, how: Resume, signal: i32) {
    let _ = request(how as u32, thread, 0, signal as usize);
}

/// What a stop at a system call is about. Fails if the thread was killed meanwhile, or the kernel is older than Linux 5.3.
pub(super) fn call(thread: u32) -> io::Result<AtCall> {
    const ENTRY: u8 = 1;
    const EXIT: u8 = 2;
    let mut info = CallInfo::default();
    let address = (&raw mut info).expose_provenance();
    request(requests::CALL_INFO, thread, size_of::<CallInfo>(), address)?;
    Ok(match info.kind {
        ENTRY => {
            let [first, second, third, ..] = info.arguments;
            let arguments = [first, second, third];
            AtCall::Entry { number: info.value as u64, arguments, architecture: info.architecture }
        }
        EXIT if info.arguments[0].to_ne_bytes()[0] == 0 => AtCall::Exit(Ok(info.value as u64)),
        EXIT => AtCall::Exit(Err(info.value.unsigned_abs() as u16)),
        _ => AtCall::Other,
    })
}

/// Reads from the memory of a watched thread, as much as there is. Returns the number of bytes.
/// Fails if there is nothing at this address, or the thread was killed meanwhile.
pub(super) fn read(thread: u32, address: u64, into: &mut [u8]) -> io::Result<usize> {
    // No page is smaller on the two architectures. A part is read as a whole or not at all.
    const PAGE: usize = 4096;
    let first = (PAGE - address as usize % PAGE).min(into.len());
    let part = |at: u64, length: usize| libc::iovec {
        iov_base: std::ptr::without_provenance_mut(at as usize),
        iov_len: length,
    };
    let from = [part(address, first), part(address.wrapping_add(first as u64), into.len() - first)];
    let to = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: the memory written to is that of `into`, and no more than its length; the other addresses belong to the other
    // process, whose memory is only read.
    let read = unsafe { libc::process_vm_readv(thread as libc::pid_t, &raw const to, 1, from.as_ptr(), 2, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

/// The number that belongs to an event: the thread that was created, or the one that executed a program before it got the
/// number of its process. Fails if the thread was killed meanwhile.
pub(super) fn message(thread: u32) -> io::Result<u32> {
    let mut number: libc::c_ulong = 0;
    request(requests::MESSAGE, thread, 0, (&raw mut number).expose_provenance())?;
    Ok(number as u32)
}

/// Waits for the next event of a thread that the calling thread watches. The error is `ECHILD` if it watches none.
pub(super) fn wait() -> io::Result<(u32, Event)> {
    let (thread, status, used) = wait4(-1, libc::__WALL | libc::__WNOTHREAD)?.ok_or(io::ErrorKind::WouldBlock)?;
    Ok((thread, event(status, &used)))
}

fn event(status: i32, used: &libc::rusage) -> Event {
    if !libc::WIFSTOPPED(status) {
        return Event::Ended(ExitStatus::from_raw(status), usage(used));
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        0 if signal == AT_A_CALL => Event::Call,
        0 => Event::Signal(signal),
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => Event::Created,
        libc::PTRACE_EVENT_EXEC => Event::Executed,
        libc::PTRACE_EVENT_EXIT => Event::Ending,
        // A stop of the process has the signal that stopped it.
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Event::GroupStop,
        _ => Event::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_those_of_ptrace() {
        // SAFETY: the kernel's structure for an account consists of numbers, for which zero is a value.
        let used: libc::rusage = unsafe { std::mem::zeroed() };
        let stopped = |signal: i32, what: i32| event(0x7f | signal << 8 | what << 16, &used);
        assert_eq!(stopped(libc::SIGTRAP | 0x80, 0), Event::Call);
        assert_eq!(stopped(libc::SIGTRAP, 0), Event::Signal(libc::SIGTRAP));
        assert_eq!(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_CLONE), Event::Created);
        assert_eq!(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_STOP), Event::Stopped);
        assert_eq!(stopped(libc::SIGTSTP, libc::PTRACE_EVENT_STOP), Event::GroupStop);
        assert!(matches!(event(7 << 8, &used), Event::Ended(status, _) if status.code() == Some(7)));
        assert!(matches!(event(9, &used), Event::Ended(status, _) if status.signal() == Some(9)));
        // The kernel's structure has 88 bytes.
        assert_eq!(size_of::<CallInfo>(), 88);
    }
}
