//! Signals that this process ignores, and those that it was started to ignore: what it starts is to ignore them, too.

use std::sync::atomic::{AtomicBool, Ordering};

/// True if this process ignores the signal.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: the structure consists of numbers, and of an optional function that zero leaves out.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action nothing is changed; the old one is written to a place of its type.
    let status = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    status == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// True if this process was started to ignore SIGPIPE, as by a service manager. Its action does not say so: the standard library has every
/// program ignore it before `main`, and gives what a program starts the default action.
pub fn was_pipe_ignored() -> bool {
    PIPE_IGNORED.load(Ordering::Relaxed)
}

static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

extern "C" fn note() {
    PIPE_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
}

// SAFETY: the C library calls what stands in this section once, before `main` and what the standard library does before it, while there is
// one thread; `note` makes a system call and stores a flag.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = note;
