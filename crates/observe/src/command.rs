//! The command that is watched: started so that it is announced before it executes its program, and waited for with what the
//! kernel charged it and everything that it waited for.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::ExitStatus;
use std::time::Duration;

use record::Usage;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::inherited::Inherited;

/// How a command ended, and what it and everything that it waited for used.
pub(crate) type End = (ExitStatus, Usage);

/// A started command.
#[derive(Debug)]
pub(crate) struct Running {
    pid: Pid,
    descriptor: Option<OwnedFd>,
    ended: Option<End>,
}

/// Starts a command with what howslow inherited. The new process calls `announce` before it executes the program.
/// Fails if there is no such program, or it cannot be executed; or `announce` fails.
pub(crate) fn start(
    words: &[OsString],
    inherited: Inherited,
    mut announce: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<Running> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = std::process::Command::new(program);
    command.args(arguments);
    let prepare = move || {
        inherited.restore()?;
        announce()
    };
    // SAFETY: between fork and exec, `prepare` makes system calls only and allocates nothing.
    unsafe { command.pre_exec(prepare) };
    let child = command.spawn()?;
    let pid = Pid::from_raw(child.id() as i32).ok_or(io::ErrorKind::NotFound)?;
    // Without it (before Linux 5.3), the end is noticed at the next look.
    let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok();
    Ok(Running { pid, descriptor, ended: None })
}

impl Running {
    /// Waits for its end, at most this long. `reap` gives the end: [`reap`], or the tracer, to whom the kernel reports it instead.
    pub(crate) fn wait(
        &mut self,
        time: Duration,
        reap: impl FnOnce(Pid) -> io::Result<Option<End>>,
    ) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            if let Some(descriptor) = &self.descriptor {
                let mut ready = [PollFd::new(descriptor, PollFlags::IN)];
                // A signal ends the wait early, which is what the caller wants.
                let _ = poll(&mut ready, Timespec::try_from(time).ok().as_ref());
            } else {
                std::thread::sleep(time.min(Duration::from_millis(5)));
            }
            self.ended = reap(self.pid)?;
        }
        Ok(self.ended.map(|(status, _)| status))
    }

    /// Passes a signal on.
    pub(crate) fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal).filter(|_| self.ended.is_none()) {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// What it and everything that it waited for used, once it ended.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.ended.as_ref().map(|(_, usage)| *usage)
    }
}

/// The end of a child, if it has ended. Fails if the kernel has no such child.
pub(crate) fn reap(pid: Pid) -> io::Result<Option<End>> {
    let event = wait4(pid.as_raw_nonzero().get(), libc::WNOHANG)?;
    Ok(event.map(|(_, status, used)| (ExitStatus::from_raw(status), usage(&used))))
}

/// An event of a child by wait4(2): its number, its status, and what the kernel charged it; `None` if there is none yet.
pub(crate) fn wait4(pid: libc::pid_t, flags: libc::c_int) -> io::Result<Option<(u32, libc::c_int, libc::rusage)>> {
    let mut status = 0;
    // SAFETY: the kernel's structure for an account consists of numbers, for which zero is a value.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places live through the call and have the types that wait4(2) writes.
    match unsafe { libc::wait4(pid, &raw mut status, flags, &raw mut used) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        found => Ok(Some((found as u32, status, used))),
    }
}

/// What the kernel charged.
pub(crate) fn usage(used: &libc::rusage) -> Usage {
    let time = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    let (user, system) = (time(used.ru_utime), time(used.ru_stime));
    let count = |count: i64| u64::try_from(count).ok();
    Usage {
        cpu_ns: Some(user + system),
        user_ns: Some(user),
        system_ns: Some(system),
        sampled_ns: None,
        minor_faults: count(used.ru_minflt),
        major_faults: count(used.ru_majflt),
        voluntary_switches: count(used.ru_nvcsw),
        involuntary_switches: count(used.ru_nivcsw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(words: &[&str]) -> (ExitStatus, Usage) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut running = start(&words, Inherited::change(), || Ok(())).expect("it starts");
        loop {
            if let Some(status) = running.wait(Duration::from_secs(1), reap).expect("a child") {
                return (status, running.usage().expect("what it used"));
            }
        }
    }

    #[test]
    fn the_end_of_a_command_is_reported_as_it_is() {
        assert_eq!(ended(&["sh", "-c", "exit 7"]).0.code(), Some(7));
        assert_eq!(ended(&["sh", "-c", "kill -9 $$"]).0.signal(), Some(9));
        let (status, usage) = ended(&["true"]);
        assert!(status.success());
        assert!(usage.minor_faults.is_some_and(|faults| faults > 10), "{usage:?}");
    }

    #[test]
    fn what_cannot_be_started_has_a_reason() {
        let missing = start(&["/no/such/program".into()], Inherited::change(), || Ok(())).expect_err("it is not there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
