//! What howslow has from its creator and cannot watch with: a command is to have it unchanged.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};
use system::ignored::{is_ignored, was_pipe_ignored};

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
        let ignores_ends = is_ignored(libc::SIGCHLD);
        if ignores_ends {
            // SAFETY: the default action of this signal runs no code of this program.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        }
        Inherited { open_files, ignores_ends }
    }

    /// Gives it back to the calling process. Allocates nothing, so it may be called between fork and exec. Fails if a limit cannot be set.
    pub(crate) fn restore(&self) -> io::Result<()> {
        let ignored = [(libc::SIGCHLD, self.ignores_ends), (libc::SIGPIPE, was_pipe_ignored())];
        for (signal, _) in ignored.into_iter().filter(|(_, ignored)| *ignored) {
            // SAFETY: ignoring a signal runs no code of this program.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        Ok(setrlimit(Resource::Nofile, self.open_files)?)
    }
}
