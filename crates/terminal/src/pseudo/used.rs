//! Processor time by the kernel's accounts: what tasks were charged, and what the kernel's own threads took.

use analysis::terminal::pseudo::Used;
use operation::processor_time;
use rustix::process::RawPid;
use system::machine::KernelThreads;

pub(super) struct Account {
    tasks: Vec<(RawPid, f64)>,
    kernel: Option<KernelThreads>,
}

impl Account {
    /// Of this process, of those of these ones that live, and of the kernel's threads.
    pub fn open(tasks: &[RawPid]) -> Account {
        let this = std::process::id() as RawPid;
        // A login shell starts others that end at once.
        let known = tasks.iter().chain([&this]).filter_map(|&pid| Some((pid, processor_time(pid)?)));
        Account { tasks: known.collect(), kernel: KernelThreads::now() }
    }

    /// What was used since. A task that has ended in the meantime carried none of the bytes: they would not have come.
    pub fn close(self) -> Used {
        let tasks: f64 = self.tasks.iter().filter_map(|&(pid, before)| Some(processor_time(pid)? - before)).sum();
        let kernel = KernelThreads::now().zip(self.kernel).map(|(now, before)| now.since(&before) / 1e9);
        Used { tasks_s: tasks / 1e9, kernel_threads_s: kernel }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_this_process_and_of_another_is_counted() {
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a child");
        let pids = [std::process::id(), child.id()].map(|pid| pid as RawPid);
        let used_ns = || pids.map(|pid| processor_time(pid).expect("an account"));
        let account = Account::open(&pids[1..]);
        // However busy the machine is, each gets its turn.
        let before = used_ns();
        while used_ns().iter().zip(before).any(|(now, before)| now - before < 20e6) {}
        let used = account.close();
        child.kill().expect("our child");
        child.wait().expect("our child");
        assert!(used.tasks_s >= 2.0 * 0.02, "{used:?}");
    }

    #[test]
    fn a_task_that_ends_is_left_out() {
        let mut child = std::process::Command::new("true").spawn().expect("a child");
        let account = Account::open(&[child.id() as RawPid]);
        child.wait().expect("our child");
        assert!(account.close().tasks_s > 0.0);
        let gone = child.id() as RawPid;
        assert!(Account::open(&[gone]).close().tasks_s > 0.0);
    }
}
