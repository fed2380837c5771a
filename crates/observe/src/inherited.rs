//! What howslow has from its creator and cannot watch with: a command is to have it unchanged.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// What was changed.
#[derive(Clone, Debug)]
pub(crate) struct Inherited {
    open_files: Rlimit,
    ignores_ends: bool,
}

impl Inherited {
    /// Allows as many open files as may be, since a program at events needs one for each CPU, and `top` one for each thread; and has the
    /// kernel keep the ends of children, which it forgets where `SIGCHLD` is ignored.
    pub(crate) fn change() -> Inherited {
        let open_files = system::machine::raise_open_files();
        // SAFETY: the kernel's structure for an action consists of numbers, for which zero is a value.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the place lives through the call and has the type that sigaction(2) writes; nothing is changed.
        unsafe { libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut action) };
        let ignores_ends = action.sa_sigaction == libc::SIG_IGN;
        if ignores_ends {
            // SAFETY: the default action of this signal runs no code of this program.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        }
        Inherited { open_files, ignores_ends }
    }

    /// Gives it back to the calling process. Allocates nothing, so it may be called between fork and exec. Fails if a limit cannot be set.
    pub(crate) fn restore(&self) -> io::Result<()> {
        if self.ignores_ends {
            // SAFETY: ignoring a signal runs no code of this program.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        }
        Ok(setrlimit(Resource::Nofile, self.open_files)?)
    }
}
