//! Names of errors, signals and io_uring operations.

use syscalls::Errno;

use crate::task::ENDS;

/// `EAGAIN` for 11. Beyond the published ones there are those that the kernel keeps to itself (include/linux/errno.h): it
/// makes such a call again.
pub(crate) fn error(number: u16) -> String {
    let known = match number {
        512 => Some("ERESTARTSYS"),
        513 => Some("ERESTARTNOINTR"),
        514 => Some("ERESTARTNOHAND"),
        516 => Some("ERESTART_RESTARTBLOCK"),
        _ => Errno::new(i32::from(number)).name(),
    };
    known.map_or_else(|| format!("error {number}"), Into::into)
}

/// The standard signals by number, from 1 (signal(7); the numbers are those of x86 and ARM).
const SIGNALS: [&str; 31] = [
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV",
    "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
    "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
];

/// `SIGTERM` for 15.
pub(crate) fn signal(number: u16) -> String {
    if number == ENDS {
        return "the end of the process".into();
    }
    let standard = usize::from(number).checked_sub(1).and_then(|place| SIGNALS.get(place));
    standard.map_or_else(|| format!("signal {number}"), |name| (*name).into())
}

/// Operations of an io_uring by code, from 0 (include/uapi/linux/io_uring.h, `enum io_uring_op`).
const RING: [&str; 63] = [
    "nop", "readv", "writev", "fsync", "read_fixed", "write_fixed", "poll_add", "poll_remove", "sync_file_range",
    "sendmsg", "recvmsg", "timeout", "timeout_remove", "accept", "async_cancel", "link_timeout", "connect",
    "fallocate", "openat", "close", "files_update", "statx", "read", "write", "fadvise", "madvise", "send", "recv",
    "openat2", "epoll_ctl", "splice", "provide_buffers", "remove_buffers", "tee", "shutdown", "renameat", "unlinkat",
    "mkdirat", "symlinkat", "linkat", "msg_ring", "fsetxattr", "setxattr", "fgetxattr", "getxattr", "socket",
    "uring_cmd", "send_zc", "sendmsg_zc", "read_multishot", "waitid", "futex_wait", "futex_wake", "futex_waitv",
    "fixed_fd_install", "ftruncate", "bind", "listen", "recv_zc", "epoll_wait", "readv_fixed", "writev_fixed", "pipe",
];

/// `read` for 22.
pub(crate) fn request(code: u16) -> String {
    RING.get(usize::from(code)).map_or_else(|| format!("operation {code}"), |name| (*name).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_names() {
        assert_eq!(signal(libc::SIGCHLD as u16), "SIGCHLD");
        assert_eq!(signal(libc::SIGSYS as u16), "SIGSYS");
        assert_eq!((signal(0), signal(40)), ("the end of the process".into(), "signal 40".into()));
        assert_eq!(error(libc::ENOENT as u16), "ENOENT");
        assert_eq!(error(514), "ERESTARTNOHAND");
        assert_eq!((request(0), request(22), request(27)), ("nop".into(), "read".into(), "recv".into()));
    }
}
