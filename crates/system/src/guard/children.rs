//! Child processes with a limited life: how they are bound, ended and counted.

use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::process::{self, Pid, Signal, WaitOptions};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use crate::machine::TaskStat;

/// More processes than this beyond those at the start of a round are a fork bomb.
pub(super) const MOST_EXTRA: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reaped {
    Exit(i32),
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
    let _ = process::setpgid(None, None);
    inherit_orphans(true);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Makes this process the parent of every orphan below it, or undoes that.
pub fn inherit_orphans(inherit: bool) {
    let _ = process::set_child_subreaper(inherit.then(process::getpid));
}

/// Closes every descriptor except this one, and replaces the standard three with the null device. A round must not hold
/// the launcher's descriptors open, and must not write into the user's tables.
pub(super) fn keep_only(kept: RawFd) {
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
    let _ = (dup2_stdin(&null), dup2_stdout(&null), dup2_stderr(&null));
}

/// Makes this process a round's child: a group of its own, default signals, dead when the launcher is.
pub(super) fn become_round() {
    let _ = process::setpgid(None, None);
    let _ = process::set_parent_process_death_signal(Some(Signal::KILL));
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE, libc::SIGXFSZ] {
        // SAFETY: restoring the default installs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Kills a round's child with its whole group and every orphan it left, and reaps all of them.
pub(super) fn end(pid: libc::pid_t) -> Reaped {
    // A child that has reported ends by itself within this time; then its exit status shows how.
    let mut reaped = reap(pid, WaitOptions::NOHANG);
    if reaped.is_none() {
        kill_group(pid);
        // Before it had a group of its own, only the process itself can be reached.
        kill(pid);
        reaped = reap_within(pid, LAST_BREATH);
    }
    if reaped.is_none() {
        // As long as it lives its children are not ours; one that left the group may even be what holds it.
        started_by(pid, usize::MAX).into_iter().for_each(kill);
    }
    kill_group(pid);
    end_orphans();
    reaped.unwrap_or(Reaped::Stuck)
}

/// How a killed child ended, or `None` if the kernel has not released it within this time, in which it did not wait for a CPU to die on.
fn reap_within(pid: libc::pid_t, patience: Duration) -> Option<Reaped> {
    let mut last = Instant::now();
    loop {
        let reaped = reap(pid, WaitOptions::NOHANG);
        if reaped.is_some() {
            return reaped;
        }
        if last.elapsed() > patience {
            if TaskStat::of_process(pid as u32).is_none_or(|stat| stat.state != 'R') {
                return None;
            }
            last = Instant::now();
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Kills a process of ours.
pub fn kill(pid: libc::pid_t) {
    let _ = Pid::from_raw(pid).map(|pid| process::kill_process(pid, Signal::KILL));
}

/// Kills a group whose leader is or was our child: its id is not used again while the group has members. [`end_orphans`] reaps it.
pub(super) fn kill_group(group: libc::pid_t) {
    let _ = Pid::from_raw(group).map(|group| process::kill_process_group(group, Signal::KILL));
}

/// Kills and reaps every remaining child. Descendants that left the group are our orphans by now, or become so when
/// their parents die: hence the loop. It gives up on processes that the kernel does not release.
pub fn end_orphans() {
    let all_stuck = own_children().is_some_and(|children| children.into_iter().all(is_stuck));
    let patience = if all_stuck { KNOWN_STUCK } else { LAST_BREATH };
    // Time since the last child ended. Thousands of children may take longer than the limit for one.
    let mut last = Instant::now();
    loop {
        // Without /proc they are not known, and those that were killed with their group are waited for.
        let children = own_children().unwrap_or_default();
        children.iter().copied().for_each(kill);
        // As many as were killed, before the rest is looked for: with one at a time, thousands took minutes.
        for _ in 0..children.len().max(1) {
            match process::wait(WaitOptions::NOHANG) {
                Err(_) => return,
                Ok(None) if own_children().is_some_and(|left| left.is_empty()) || last.elapsed() > patience => return,
                Ok(None) => {
                    std::thread::sleep(Duration::from_micros(200));
                    break;
                }
                Ok(Some(_)) => last = Instant::now(),
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
fn own_children() -> Option<Vec<libc::pid_t>> {
    children_in("/proc/thread-self/children")
}

/// How a child ended; `None` while it lives, if `options` are not to wait.
pub(super) fn reap(pid: libc::pid_t, options: WaitOptions) -> Option<Reaped> {
    match retry_on_intr(|| process::waitpid(Pid::from_raw(pid), options)) {
        Ok(None) => None,
        Err(_) => Some(Reaped::Unknown),
        Ok(Some((_, status))) => Some(match status.terminating_signal() {
            Some(signal) => Reaped::Signal(signal),
            None => Reaped::Exit(status.exit_status().unwrap_or(0)),
        }),
    }
}

/// Waits until this child is gone.
pub fn wait_for(pid: libc::pid_t) -> Reaped {
    reap(pid, WaitOptions::empty()).unwrap_or(Reaped::Unknown)
}

/// As long as it exists, this thread goes before all that share a processor by turns, if it may: among thousands of processes that
/// multiply, its turn to end them would come too late.
pub(super) struct First(bool);

impl First {
    pub(super) fn new() -> First {
        // Requested of the kernel, as musl's functions do nothing.
        // SAFETY: reads this thread's policy alone.
        let shares = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) } == i64::from(libc::SCHED_OTHER);
        First(shares && schedule(libc::SCHED_FIFO, 1))
    }
}

impl Drop for First {
    fn drop(&mut self) {
        if self.0 {
            schedule(libc::SCHED_OTHER, 0);
        }
    }
}

/// True if this thread is scheduled in this way now.
fn schedule(policy: i32, priority: i32) -> bool {
    // `struct sched_param` of the kernel is its priority.
    // SAFETY: the priority is valid to read, and the call concerns this thread alone.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) == 0 }
}

/// True if most of the surplus processes descend from this one, and not from another program that started many in the
/// meantime. Also true if the kernel does not list children.
pub(super) fn is_crowd(pid: libc::pid_t) -> bool {
    let crowd = MOST_EXTRA as usize / 2;
    if children_of(pid).is_none() {
        return true;
    }
    // Descendants whose parents have ended are children of this process.
    started_by(pid, crowd).len() >= crowd || own_children().is_some_and(|children| children.len() > crowd)
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
    children_in(&format!("/proc/{pid}/task/{pid}/children"))
}

fn children_in(file: &str) -> Option<Vec<libc::pid_t>> {
    let text = std::fs::read_to_string(file).ok()?;
    Some(text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// Processes and threads in the system (modulo 65,536: the kernel keeps the low 16 bits).
pub(super) fn processes() -> u64 {
    u64::from(rustix::system::sysinfo().procs)
}
