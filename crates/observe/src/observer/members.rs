//! Processes that are moved into a cgroup while it is watched.

use std::collections::HashSet;

use rustix::time::ClockId;
use system::machine::TaskStat;

use crate::usage::now_ns;

/// The processes of a watched cgroup at the last look.
#[derive(Debug, Default)]
pub(super) struct Members {
    known: HashSet<u32>,
    /// When the watching began, in ticks since the boot.
    since: u64,
}

impl Members {
    /// Those of the beginning.
    pub(super) fn of(known: impl IntoIterator<Item = u32>) -> Members {
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        Members { known: known.into_iter().collect(), since: now_ns(ClockId::Boottime) / tick_ns }
    }

    /// Those that were moved into it since the last look; these are there now. One that was created since the watching began is taken
    /// for one that was created there.
    pub(super) fn moved(&mut self, now: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let now: HashSet<u32> = now.into_iter().collect();
        let is_older = |process: &u32| TaskStat::of_process(*process).is_some_and(|stat| stat.began < self.since);
        let moved = now.difference(&self.known).copied().filter(is_older).collect();
        self.known = now;
        moved
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use crate::{Observer, Options, Source, Target, usage};

    #[test]
    fn what_a_process_had_used_before_it_was_moved_is_not_charged() {
        let folder = tempfile::tempdir().expect("a folder");
        let list = folder.path().join("cgroup.procs");
        std::fs::write(&list, "").expect("it is written");
        let script = "use() { i=0; while [ $i -lt $1 ]; do i=$((i+1)); done; echo; read x; }; use 200000; use 20000";
        let mut child = Command::new("sh");
        child.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().expect("sh starts");
        let mut input = child.stdin.take().expect("its input");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        lines.next().expect("a line").expect("it reads");
        let used = usage::of_process(child.id()).and_then(|usage| usage.cpu_ns).expect("it runs");
        let options = Options { source: Some(Source::Accounts), ..Options::default() };
        // A tick later, so that it is older than the watching.
        std::thread::sleep(Duration::from_millis(20));
        let mut observer = Observer::start(Target::Cgroup(folder.path().into()), &options).expect("it is watched");
        std::fs::write(&list, format!("{}\n", child.id())).expect("it is moved");
        observer.step(Duration::ZERO).expect("a look");
        input.write_all(b"\n").expect("it is written");
        lines.next().expect("a line").expect("it reads");
        let seen = observer.finish().expect("what was seen");
        let charged = seen.usage.cpu_ns.expect("it has used something");
        assert!(charged > 0.0 && charged < used / 2.0, "{charged} of {used}");
        assert_eq!(seen.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [Some(child.id())]);
        drop(input);
        child.wait().expect("its end");
    }
}
