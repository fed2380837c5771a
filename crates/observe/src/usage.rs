//! What /proc shows that a thread has used: for threads that run.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use analysis::bill::Charged;
use record::{Observation, Usage};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use system::machine::{TaskStat, processor_time};

use crate::task::Task;

/// The thread that calls this.
pub(crate) fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// A clock, in ns.
pub(crate) fn now_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What a thread has used until now, if it is still there.
pub(crate) fn of_thread(process: u32, thread: u32) -> Option<Usage> {
    let stat = TaskStat::of_thread(process, thread)?;
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/task/{thread}/{name}")).unwrap_or_default();
    Some(usage(&stat, &read("status"), &read("schedstat")))
}

/// What a thread had used at a time, in ns of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub usage: Usage,
    at_ns: u64,
}

impl Earlier {
    /// Until now, if it is still there.
    pub(crate) fn of_thread(process: u32, thread: u32) -> Option<Earlier> {
        let at_ns = now_ns(ClockId::Monotonic);
        of_thread(process, thread).map(|usage| Earlier { usage, at_ns })
    }

    /// What this task, whose thread has that number now, had used then: one that was created later, nothing.
    pub(crate) fn of(&self, task: &Task) -> Usage {
        let was_there = task.parent.is_none() || task.begin_ns <= self.at_ns;
        if was_there { self.usage } else { Usage::default() }
    }
}

/// What a process has used until now with all threads that it had, if it is still there; switches are not known.
pub(crate) fn of_process(process: u32) -> Option<Usage> {
    let stat = TaskStat::of_process(process)?;
    let time = libc::pid_t::try_from(process).ok().and_then(processor_time);
    Some(split(time, Some(ticks(&stat)), faults(&stat)))
}

/// The times that threads have run, by files that stay open: to read one again takes a sixth of opening it again.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    files: HashMap<u32, File>,
    /// How many files may stay open.
    most: usize,
}

impl Clocks {
    /// Descriptors that others need.
    const OTHERS: usize = 256;

    /// As many files as this process may have open. Beyond them, files are opened again each time.
    pub(crate) fn new() -> Clocks {
        let most = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| most as usize);
        Clocks { files: HashMap::new(), most: most.saturating_sub(Clocks::OTHERS) }
    }

    /// The time in ns that a thread has run until now, if it is still there; of one that runs now, until the last tick at least.
    /// A thread whose time stands still has not run, so nothing else of it has changed.
    pub(crate) fn run_time(&mut self, process: u32, thread: u32) -> Option<u64> {
        if let Some(time) = self.files.get(&thread).and_then(time_in) {
            return Some(time);
        }
        // The number may belong to another thread by now.
        let file = File::open(format!("/proc/{process}/task/{thread}/schedstat")).ok()?;
        let time = time_in(&file)?;
        if self.files.len() < self.most || self.files.contains_key(&thread) {
            self.files.insert(thread, file);
        }
        Some(time)
    }

    /// Closes the files of threads that are gone.
    pub(crate) fn keep(&mut self, is_there: impl Fn(u32) -> bool) {
        self.files.retain(|thread, _| is_there(*thread));
    }
}

/// The first number of the file.
fn time_in(file: &File) -> Option<u64> {
    let mut text = [0; 64];
    let length = file.read_at(&mut text, 0).ok()?;
    let first = text[..length].split(u8::is_ascii_whitespace).next()?;
    std::str::from_utf8(first).ok()?.parse().ok()
}

/// A thread that made no call, so that nobody counted for it.
pub(crate) fn without_calls(process: u32, thread: u32) -> Task {
    // The kernel's own threads have no command line, and a thread that works for a process has that of the process.
    let kernel = fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| line.is_empty())
        && TaskStat::of_process(process).is_some_and(|stat| !stat.has_ended());
    let name = name(process, thread);
    let name = if kernel { format!("[{name}]") } else { name };
    Task { process, thread, name, kernel, ..Task::default() }
}

/// The name of a thread; empty if it is gone.
pub(crate) fn name(process: u32, thread: u32) -> String {
    let name = fs::read(format!("/proc/{process}/task/{thread}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().into()
}

/// From `stat` and the texts of `status` and `schedstat` (proc(5)).
fn usage(stat: &TaskStat, status: &str, schedule: &str) -> Usage {
    let count = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.trim().parse::<u64>().ok())
    };
    let run = schedule.split_whitespace().next().and_then(|run| run.parse::<f64>().ok());
    let rest = Usage {
        voluntary_switches: count("voluntary_ctxt_switches:"),
        involuntary_switches: count("nonvoluntary_ctxt_switches:"),
        ..faults(stat)
    };
    split(run, Some(ticks(stat)), rest)
}

fn faults(stat: &TaskStat) -> Usage {
    Usage { minor_faults: Some(stat.minor_faults), major_faults: Some(stat.major_faults), ..Usage::default() }
}

/// The ticks in user mode and in the kernel, in ns.
fn ticks(stat: &TaskStat) -> [f64; 2] {
    let tick = 1e9 / rustix::param::clock_ticks_per_second() as f64;
    [stat.user_ticks, stat.system_ticks].map(|ticks| ticks as f64 * tick)
}

/// Splits the time that the scheduler counted by the shares of the ticks, which are samples. Without that time, the ticks
/// are all there is.
pub(crate) fn split(run: Option<f64>, ticks: Option<[f64; 2]>, rest: Usage) -> Usage {
    let Some([user, system]) = ticks else { return Usage { cpu_ns: run, ..rest } };
    let sampled = user + system;
    let cpu = run.unwrap_or(sampled);
    let part = |part: f64| (sampled > 0.0).then(|| cpu * part / sampled);
    Usage { cpu_ns: Some(cpu), user_ns: part(user), system_ns: part(system), sampled_ns: ticks, ..rest }
}

/// What an ended task had used, with how long it has run in all. Its account is from before its memory was given back, and has its time
/// up to its last switch before.
pub(crate) fn until_its_end(account: Option<Usage>, run_time_ns: Option<u64>) -> Option<Usage> {
    let known = account.and_then(|account| account.cpu_ns);
    let run = run_time_ns.map(|run| run as f64).filter(|run| known.is_none_or(|known| known < *run));
    let Some(run) = run else { return account };
    let account = account.unwrap_or_default();
    Some(split(Some(run), account.sampled_ns, account))
}

/// The parts of the processor time that were reported last, in ns: in user mode and in the kernel. Neither goes back, whatever samples of
/// later shares say of the time before.
#[derive(Debug, Default)]
pub(crate) struct Split([f64; 2]);

impl Split {
    /// Splits the processor time as it was sampled, with what the samples cannot see.
    pub(crate) fn part(&mut self, seen: &mut Observation) {
        let charged = Charged::of(seen).filter(|charged| charged.kernel_alone && seen.usage.sampled_ns.is_some());
        let Some(cpu) = seen.usage.cpu_ns else { return };
        let Some(user) = charged.map(|charged| cpu - charged.ns).or(seen.usage.user_ns) else { return };
        let least = self.0[0].min(cpu);
        let user = user.clamp(least, (cpu - self.0[1]).max(least));
        self.0 = [user, cpu - user];
        (seen.usage.user_ns, seen.usage.system_ns) = (Some(user), Some(cpu - user));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_the_scheduler_counted_is_split_by_the_ticks() {
        let stat = TaskStat::parse("7 (a) b (c) S 1 7 7 0 -1 4194560 11 22 33 44 3 1 0 0 20 0 1 0 5").expect("fields");
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n";
        let found = usage(&stat, status, "8000000 1 2");
        assert_eq!((found.minor_faults, found.major_faults), (Some(11), Some(33)));
        assert_eq!((found.voluntary_switches, found.involuntary_switches), (Some(5), Some(6)));
        assert_eq!((found.cpu_ns, found.user_ns, found.system_ns), (Some(8e6), Some(6e6), Some(2e6)));
    }

    #[test]
    fn the_clock_of_a_thread_goes_on_until_it_ends() {
        let mut clocks = Clocks::new();
        let id = std::process::id();
        let own = this_thread();
        let Some(first) = clocks.run_time(id, own) else {
            return testing::not_tested!("this kernel tells no times of threads; one with CONFIG_SCHED_INFO");
        };
        let mut later = first;
        while later == first {
            std::thread::yield_now();
            later = clocks.run_time(id, own).expect("it is here");
        }
        assert!(later > first);
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
        assert!(clocks.run_time(child.id(), child.id()).is_some());
        drop(child.stdin.take());
        child.wait().expect("our child");
        assert_eq!(clocks.run_time(child.id(), child.id()), None);
        clocks.keep(|thread| thread == own);
        assert_eq!(clocks.files.len(), 1);
    }

    #[test]
    fn a_process_keeps_what_its_ended_threads_have_used() {
        let own = std::process::id();
        let cpu = || of_process(own).and_then(|usage| usage.cpu_ns).expect("a clock");
        let before = cpu();
        let thread = std::thread::spawn(|| {
            for number in 0..1_000_000_u32 {
                std::hint::black_box(number);
            }
            now_ns(ClockId::ThreadCPUTime) as f64
        });
        let used = thread.join().expect("it ends");
        assert!(used > 0.0 && cpu() - before >= used, "{used} ns of {} ns", cpu() - before);
        assert_eq!(of_process(u32::MAX >> 2), None);
    }

    #[test]
    fn threads_of_the_kernel_are_distinguished_from_programs() {
        assert!(!without_calls(std::process::id(), std::process::id()).kernel);
        let name = fs::read_to_string("/proc/2/comm").unwrap_or_default();
        if name.trim() != "kthreadd" {
            return testing::not_tested!("process 2 is no thread of the kernel; run outside of a container");
        }
        let task = without_calls(2, 2);
        assert_eq!((task.kernel, task.name.as_str()), (true, "[kthreadd]"));
    }

    #[test]
    fn this_thread_has_used_something() {
        let id = std::process::id();
        let found = of_thread(id, this_thread());
        // The thread of a test is not the first of its process.
        assert!(found.is_some_and(|usage| usage.voluntary_switches.is_some() && usage.minor_faults.is_some()));
        assert_eq!(of_thread(id, u32::MAX >> 2), None);
    }

    #[test]
    fn what_an_earlier_thread_of_the_same_number_had_used_is_not_that_of_a_new_one() {
        let usage = Usage { cpu_ns: Some(7e9), ..Usage::default() };
        let earlier = Earlier { usage, at_ns: 5 };
        assert_eq!(earlier.of(&Task { begin_ns: 9, ..Task::default() }), usage, "it was first seen then");
        assert_eq!(earlier.of(&Task { parent: Some(1), begin_ns: 4, ..Task::default() }), usage);
        assert_eq!(earlier.of(&Task { parent: Some(1), begin_ns: 9, ..Task::default() }), Usage::default());
    }

    #[test]
    fn no_part_of_the_time_goes_back() {
        let mut split = Split::default();
        let mut parts = |cpu: f64, user: f64| {
            let usage =
                Usage { cpu_ns: Some(cpu), user_ns: Some(user), system_ns: Some(cpu - user), ..Usage::default() };
            let mut seen = Observation { usage, ..Observation::default() };
            split.part(&mut seen);
            (seen.usage.user_ns, seen.usage.system_ns)
        };
        assert_eq!(parts(800.0, 400.0), (Some(400.0), Some(400.0)));
        assert_eq!(parts(801.0, 390.0), (Some(400.0), Some(401.0)), "a tick in the kernel");
        assert_eq!(parts(1000.0, 700.0), (Some(599.0), Some(401.0)));
    }
}
