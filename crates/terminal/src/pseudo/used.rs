//! Processor time by the kernel's accounts: what tasks were charged, and what the kernel's own threads took.

use std::collections::HashMap;
use std::fs;

use analysis::terminal::pseudo::Used;
use operation::Failure;
use rustix::process::RawPid;
use rustix::time::{ClockId, clock_gettime};

/// An open account.
pub(super) struct Account {
    tasks: Vec<(RawPid, f64)>,
    own: f64,
    kernel: HashMap<RawPid, f64>,
}

impl Account {
    /// Of this process, of those of these ones that live, and of the kernel's threads.
    ///
    /// # Errors
    /// A skip if the kernel keeps no such accounts.
    pub fn open(tasks: &[RawPid]) -> Result<Account, Failure> {
        if runtime(std::process::id() as RawPid).is_none() {
            return Err(Failure::skip("the kernel tells no task's time", "a kernel with /proc/PID/schedstat"));
        }
        // A login shell starts others that end at once.
        let known = tasks.iter().filter_map(|&pid| Some((pid, runtime(pid)?)));
        Ok(Account { tasks: known.collect(), kernel: kernel_threads(), own: own() })
    }

    /// What was used since. A task that has ended in the meantime carried none of the bytes: they would not have come.
    pub fn close(self) -> Used {
        let own = own() - self.own;
        let tasks: f64 = self.tasks.iter().filter_map(|&(pid, before)| Some(runtime(pid)? - before)).sum();
        // A thread that was not there before has worked only since.
        let since = |(pid, now): (&RawPid, &f64)| now - self.kernel.get(pid).unwrap_or(&0.0);
        let kernel: f64 = kernel_threads().iter().map(since).sum();
        Used { tasks_s: (own + tasks) / 1e9, kernel_s: kernel / 1e9 }
    }
}

/// The clock of this process is exact; the account of a task that runs is as old as the last tick.
fn own() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// The time that a task has run, in ns.
fn runtime(pid: RawPid) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// All threads of the kernel, with the time that they have run.
fn kernel_threads() -> HashMap<RawPid, f64> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<RawPid>().ok());
    pids.filter(|&pid| is_kernel_thread(pid)).filter_map(|pid| Some((pid, runtime(pid)?))).collect()
}

fn is_kernel_thread(pid: RawPid) -> bool {
    /// `PF_KTHREAD` of the kernel.
    const KERNEL_THREAD: u64 = 0x0020_0000;
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The fields after the name, which may hold anything: state, parent, group, session, terminal, its group, flags.
    let flags = text.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_this_process_and_of_another_is_counted() {
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a child");
        let account = Account::open(&[child.id() as RawPid]).expect("an account");
        let begin = own();
        while own() - begin < 20e6 {}
        // However busy the machine is, it gets its turn.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let used = account.close();
        child.kill().expect("our child");
        child.wait().expect("our child");
        assert!(used.tasks_s >= 0.02 + 0.001, "{used:?}");
    }

    #[test]
    fn a_task_that_ends_is_left_out() {
        let mut child = std::process::Command::new("true").spawn().expect("a child");
        let account = Account::open(&[child.id() as RawPid]).expect("an account");
        child.wait().expect("our child");
        assert!(account.close().tasks_s > 0.0);
        let gone = child.id() as RawPid;
        assert!(Account::open(&[gone]).expect("an account").close().tasks_s > 0.0);
    }

    #[test]
    fn the_kernel_has_threads_and_this_is_none() {
        if std::process::id() > 2 && fs::read_to_string("/proc/2/stat").is_ok_and(|stat| stat.contains("(kthreadd)")) {
            assert!(is_kernel_thread(2));
        }
        assert!(!is_kernel_thread(std::process::id() as RawPid));
    }
}
