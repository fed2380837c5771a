//! One task as a source of counts reports it.

use record::Usage;

use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ};

use crate::counts::Counts;

/// A task: a thread, with what it did until now or until its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Task {
    /// A number that no other task of the observation has.
    pub id: u64,
    /// The number of the task that created it, if that was watched.
    pub parent: Option<u64>,
    pub process: u32,
    pub thread: u32,
    pub name: String,
    /// True for a thread of the kernel's own.
    pub kernel: bool,
    /// When it was created or first seen, in ns of the monotonic clock.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: Option<u64>,
    /// How long it has run in all its life, once it has ended, in ns; `None` if that is not known.
    pub run_time_ns: Option<u64>,
    /// The id of its cgroup in the unified hierarchy at its end; 0 if not known.
    pub cgroup: u64,
    /// How often watching stopped it. Each stop is a voluntary switch that is not its own.
    pub stops: u64,
    /// The signal that ended it, 0 if none did; `None` if that is not known.
    pub ended_by: Option<u16>,
    /// What it used, if that is known.
    pub usage: Option<Usage>,
    pub counts: Counts,
}

/// Stands among the signals of a task for the end of its process, which is reported to every thread.
pub(crate) const ENDS: u16 = 0;

/// Signals that leave a dump of memory: one of these is delivered to a thread under its own number (signal(7)).
const DUMPING: [i32; 10] = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS];

impl Task {
    pub(crate) fn has_used_something(&self) -> bool {
        self.usage.is_some_and(|usage| !usage.is_nothing())
    }

    /// Replaces the end of the process, among the signals of an ended task, by the signal that ended it. It is that of the first
    /// thread: a process gets it once. Where the signal is not known, the end stays.
    pub(crate) fn name_its_end(&mut self) {
        let has_ended = self.counts.signals.remove(&ENDS).is_some() && self.thread == self.process;
        let named = match self.ended_by {
            Some(0) => None,
            Some(signal) => Some(signal).filter(|signal| !DUMPING.contains(&i32::from(*signal))),
            None => Some(ENDS),
        };
        if let Some(signal) = named.filter(|_| has_ended) {
            *self.counts.signals.entry(signal).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_gets_the_signal_that_ended_it_once() {
        let signals = |process, ended_by| {
            let mut task = Task { process, thread: 7, ended_by, ..Task::default() };
            task.counts.signals.insert(ENDS, 1);
            task.name_its_end();
            task.counts.signals.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(signals(7, Some(15)), [(15, 1)]);
        assert_eq!(signals(7, Some(9)), [(9, 1)]);
        assert_eq!(signals(7, None), [(ENDS, 1)], "by a signal or by a call");
        assert!(signals(7, Some(0)).is_empty(), "another thread made the process exit");
        assert!(signals(7, Some(11)).is_empty(), "it was delivered to a thread");
        assert!(signals(6, Some(15)).is_empty(), "not the first thread");
    }
}
