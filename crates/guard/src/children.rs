//! Child processes with a limited life: how they are bound, ended and counted.

use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

/// A round that starts more than this many extra processes is treated as a fork bomb.
pub const MOST_EXTRA: u64 = 1000;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reaped {
    /// It exited with this status.
    Exit(i32),
    /// This signal killed it.
    Signal(i32),
    /// It was killed and still exists, because the kernel does not release it. It is left alone.
    Stuck,
    /// Another process reaped it.
    Unknown,
}

/// Time that a killed process gets to disappear. One that frees much memory takes tenths of a second. One that waits
/// for a dead device in uninterruptible sleep never ends, so nothing may wait for it longer than this.
const LAST_BREATH: Duration = Duration::from_secs(2);

/// The same time for a process that was already killed and stuck when it was looked at.
const KNOWN_STUCK: Duration = Duration::from_millis(20);

/// Makes this process the launcher. It leaves the terminal's foreground group, so that Ctrl-C reaches the parent alone,
/// and it becomes the parent of every orphan below it.
pub fn become_guard() {
    // SAFETY: moves only this process.
    unsafe { libc::setpgid(0, 0) };
    inherit_orphans(true);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Makes this process the parent of every orphan below it, or undoes that.
pub fn inherit_orphans(inherit: bool) {
    // SAFETY: sets a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, libc::c_ulong::from(inherit)) };
}

/// Closes every descriptor except this one, and replaces the standard three with the null device. A round must not hold
/// the launcher's descriptors open, and must not write into the user's tables.
pub fn keep_only(kept: RawFd) {
    for (first, last) in [(3, kept - 1), (kept + 1, RawFd::MAX)] {
        if first > last {
            continue;
        }
        // SAFETY: this process has just been forked to run a round; nothing in it uses these descriptors.
        let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == 0;
        for fd in first..=last.min(if closed { -1 } else { 1023 }) {
            // SAFETY: as above.
            unsafe { libc::close(fd) };
        }
    }
    let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") else { return };
    for standard in 0..3 {
        // SAFETY: the standard descriptors belong to this process alone now.
        unsafe { libc::dup2(null.as_raw_fd(), standard) };
    }
}

/// Makes this process a round's child: a group of its own, default signals, dead when the launcher is.
pub fn become_round() {
    // SAFETY: moves only this process.
    unsafe { libc::setpgid(0, 0) };
    // SAFETY: sets this process's own death signal.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: restoring the default installs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Kills a round's child with its whole group and every orphan it left, and reaps all of them.
pub fn end(pid: libc::pid_t) -> Reaped {
    // A child that has reported ends by itself within this time. Its exit status then says how.
    let mut reaped = reap(pid, libc::WNOHANG);
    if reaped.is_none() {
        kill_group(pid);
        // Before it had a group of its own, only the process itself can be reached.
        // SAFETY: our own child, not yet reaped.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        reaped = reap_within(pid, LAST_BREATH);
    }
    if reaped.is_none() {
        // While it lives, its children are not ours. A child that left the group may even be what keeps it alive.
        for child in started_by(pid, usize::MAX) {
            // SAFETY: a signal to a process that descends from our own child, which is not reaped and keeps them its own.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
    }
    kill_group(pid);
    end_orphans();
    reaped.unwrap_or(Reaped::Stuck)
}

/// How a killed child ended, or `None` if the kernel has not released it within this time.
fn reap_within(pid: libc::pid_t, patience: Duration) -> Option<Reaped> {
    let start = Instant::now();
    loop {
        let reaped = reap(pid, libc::WNOHANG);
        if reaped.is_some() || start.elapsed() > patience {
            return reaped;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn kill_group(group: libc::pid_t) {
    // SAFETY: the group's leader is or was our child; its id is not reused while the group has members.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// Kills and reaps every remaining child. Descendants that left the group are our orphans by now, or become so when
/// their parents die: hence the loop. It gives up on processes that the kernel does not release.
pub fn end_orphans() {
    let all_stuck = own_children().into_iter().all(is_stuck);
    let patience = if all_stuck { KNOWN_STUCK } else { LAST_BREATH };
    // Time since the last child ended. Thousands of children may take longer than the limit for one.
    let mut last = Instant::now();
    loop {
        let children = own_children();
        for &pid in &children {
            // SAFETY: our own child, not yet reaped.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        // Reaps as many as were killed before it looks for the rest. One at a time, thousands of children took minutes.
        for _ in 0..children.len().max(1) {
            let mut status = 0;
            // SAFETY: the pointer is to an int.
            match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
                -1 => return,
                0 if own_children().is_empty() || last.elapsed() > patience => return,
                0 => {
                    std::thread::sleep(Duration::from_micros(200));
                    break;
                }
                _ => last = Instant::now(),
            }
        }
    }
}

/// True if a process was already killed and still sleeps where no signal wakes it.
fn is_stuck(pid: libc::pid_t) -> bool {
    const KILL: u64 = 1 << (libc::SIGKILL - 1);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
    let pending = |name: &str| u64::from_str_radix(field(name), 16).unwrap_or(0);
    field("State:").starts_with('D') && (pending("SigPnd:") | pending("ShdPnd:")) & KILL != 0
}

/// The ids of our children, if the kernel lists them.
fn own_children() -> Vec<libc::pid_t> {
    let text = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn reap(pid: libc::pid_t, options: libc::c_int) -> Option<Reaped> {
    let mut status = 0;
    loop {
        // SAFETY: the pointer is to an int.
        match unsafe { libc::waitpid(pid, &mut status, options) } {
            0 => return None,
            -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            -1 => return Some(Reaped::Unknown),
            _ if libc::WIFSIGNALED(status) => return Some(Reaped::Signal(libc::WTERMSIG(status))),
            _ => return Some(Reaped::Exit(libc::WEXITSTATUS(status))),
        }
    }
}

/// Waits until this child is gone.
pub fn wait_for(pid: libc::pid_t) -> Reaped {
    reap(pid, 0).unwrap_or(Reaped::Unknown)
}

/// True if most of the surplus processes descend from this one, and not from another program that started many in the
/// meantime. Also true if the kernel does not list children.
pub fn is_crowd(pid: libc::pid_t) -> bool {
    let crowd = MOST_EXTRA as usize / 2;
    if children_of(pid).is_none() {
        return true;
    }
    // Descendants whose parents have ended are children of this process.
    started_by(pid, crowd).len() >= crowd || own_children().len() > crowd
}

/// The processes that descend from this one, at most `most`.
fn started_by(pid: libc::pid_t, most: usize) -> Vec<libc::pid_t> {
    let mut found = children_of(pid).unwrap_or_default();
    let mut looked_at = 0;
    while let Some(&next) = found.get(looked_at).filter(|_| found.len() < most) {
        found.extend(children_of(next).unwrap_or_default());
        looked_at += 1;
    }
    found
}

/// The children of a process, if the kernel lists them.
fn children_of(pid: libc::pid_t) -> Option<Vec<libc::pid_t>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    Some(text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// Processes and threads in the system (modulo 65,536: the kernel keeps the low 16 bits).
pub fn processes() -> u64 {
    u64::from(rustix::system::sysinfo().procs)
}

/// `SIGSEGV` for 11, and so on for the signals that end a round.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS (a mapped file was cut short, could not be read, or had no room to be written)",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        libc::SIGABRT => "SIGABRT",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGSYS => "SIGSYS (a seccomp filter)",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGTERM => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.into()
}
