//! What a program asked of the kernel while it was watched: plain counts, by process. Knows no price and no way of counting.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counting::CountingCost;
use crate::usage::{Accounting, Repetition, Usage};
use crate::waits::{CallTime, FaultTime, WaitReason, Waits};

/// What was counted while something was watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Observation {
    /// What was watched: a command, a process, a cgroup, the system.
    pub what: String,
    /// How it was counted: `eBPF`, `ptrace` or `accounts`.
    pub source: String,
    /// True if calls were counted by number alone: no bytes, errors and pairs.
    #[serde(default)]
    pub numbers_alone: bool,
    /// Better ways of counting that were not possible, with the reason.
    pub passed_over: Vec<PassedOver>,
    /// How long it was watched, in ns.
    pub elapsed_ns: f64,
    /// What all processes together used; threads of the kernel are left out.
    pub usage: Usage,
    /// How the kernel accounts that.
    #[serde(default)]
    pub accounting: Accounting,
    /// What all processes together asked for.
    pub together: Requests,
    /// The processes, those with the most calls first.
    pub processes: Vec<ProcessCounts>,
    /// The functions of the program that made sampled calls, those of most calls first; empty unless they were wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Stack>,
    /// What could not be counted.
    pub losses: Vec<Loss>,
    /// What counting cost the program.
    pub counting: Option<CountingCost>,
    /// Each run of a command that was repeated; the counts above are those of the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repetitions: Vec<Repetition>,
}

impl Observation {
    /// Its sums; `counting_each_ns` is what counting one call took, in ns.
    pub fn repetition(&self, counting_each_ns: f64) -> Repetition {
        let together = &self.together;
        let waits = together.waits.iter().filter(|row| row.reason != WaitReason::Stopped).map(|row| row.total_ns);
        Repetition {
            elapsed_ns: self.elapsed_ns,
            usage: self.usage,
            calls: together.calls.iter().map(|row| (row.call.clone(), row.count)).collect(),
            waited_ns: (!together.waits.is_empty()).then(|| waits.sum()),
            counting_ns: counting_each_ns * together.total() as f64,
        }
    }

    /// Its repetitions; without any, itself.
    pub fn all_repetitions(&self) -> Vec<Repetition> {
        if self.repetitions.is_empty() {
            return vec![self.repetition(self.counting.as_ref().map_or(0.0, |row| row.per_call_ns.max(0.0)))];
        }
        self.repetitions.clone()
    }

    /// What came after `earlier`, an earlier look at the same target.
    #[must_use]
    pub fn since(&self, earlier: &Observation) -> Observation {
        let processes = self.processes.iter().filter_map(|process| {
            let same = |row: &&ProcessCounts| {
                row.pid == process.pid && row.name == process.name && row.parent == process.parent
            };
            let new = match earlier.processes.iter().find(same) {
                Some(before) => process.since(before),
                None => process.clone(),
            };
            (new.requests.total() > 0).then_some(new)
        });
        let together = self.together.since(&earlier.together);
        let calls = together.total() as f64;
        Observation {
            elapsed_ns: (self.elapsed_ns - earlier.elapsed_ns).max(0.0),
            usage: self.usage.since(&earlier.usage),
            processes: processes.collect(),
            counting: self.counting.clone().map(|row| CountingCost { together_ns: row.per_call_ns * calls, ..row }),
            together,
            ..self.clone()
        }
    }
}

/// What is in `now` beyond what was in `then`, by key.
fn beyond<T: Clone, K: PartialEq>(
    now: &[T],
    then: &[T],
    key: fn(&T) -> K,
    less: impl Fn(&T, Option<&T>) -> Option<T>,
) -> Vec<T> {
    now.iter().filter_map(|row| less(row, then.iter().find(|before| key(before) == key(row)))).collect()
}

/// Calls of one kind that one chain of functions made, by samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Stack {
    /// The name of the process.
    pub process: String,
    /// The call.
    pub call: String,
    /// The functions, the outermost first.
    pub frames: Vec<StackFrame>,
    /// How many calls the samples stand for.
    pub calls: u64,
    /// What these took of a CPU, in ns.
    pub cpu_ns: f64,
}

/// A function of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StackFrame {
    /// Its name; without one, its file and the address in it.
    pub function: String,
    /// Source file and line, `copy.c:12`, where debug information has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// True if it is in the file that the process executes, and not in a library.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
}

impl StackFrame {
    /// `flush (copy.c:12)`.
    pub fn shown(&self) -> String {
        self.line.as_ref().map_or_else(|| self.function.clone(), |line| format!("{} ({line})", self.function))
    }
}

/// A way of counting that was not possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PassedOver {
    /// The way of counting.
    pub source: String,
    /// Why it was not possible, and what would make it possible.
    pub reason: String,
}

/// Something that could not be counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Loss {
    /// What it was.
    pub what: String,
    /// How many; `None` if that is not known.
    pub count: Option<u64>,
}

/// What was asked of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Requests {
    /// System calls, the most frequent first.
    pub calls: Vec<CallCount>,
    /// A call and the one that the same task made right after it, the most frequent first.
    pub pairs: Vec<PairCount>,
    /// Times off the CPU by call and reason, the longest first; empty if the kernel does not report them.
    #[serde(default)]
    pub waits: Vec<Waits>,
    /// Signals that were delivered.
    pub signals: Vec<NamedCount>,
    /// Requests to an io_uring, by operation.
    pub io_uring: Vec<NamedCount>,
    /// Processes and threads that were created.
    pub forks: u64,
    /// Programs that were executed.
    pub execs: u64,
    /// Files that were opened and, if there were none, created.
    #[serde(default)]
    pub creates: u64,
    /// Files that were there and were opened to be written.
    #[serde(default)]
    pub writing: u64,
    /// Opens right after the same task had asked for the attributes of the same name.
    #[serde(default)]
    pub asked_first: u64,
    /// Huge pages that were given at a first touch.
    #[serde(default)]
    pub huge_pages: u64,
    /// Pages that processes had of their own when they were copied.
    #[serde(default)]
    pub copied_pages: u64,
    /// What page faults took of a CPU; `None` where none were timed.
    pub faults: Option<FaultTime>,
    /// How many different names were looked up, within some per cent; null if none was, or if that was not counted.
    #[serde(default)]
    pub distinct_names: Option<u64>,
}

impl Requests {
    /// What came after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Requests) -> Requests {
        let call = |now: &CallCount, then: Option<&CallCount>| {
            let then = if let Some(then) = then { then } else { &CallCount::default() };
            let count = now.count.saturating_sub(then.count);
            let bytes = now.bytes.map(|bytes| bytes.wrapping_sub(then.bytes.unwrap_or(0)));
            let errors = beyond(&now.errors, &then.errors, NamedCount::key, NamedCount::since);
            let wakes = now.wakes.saturating_sub(then.wakes);
            let near_wakes = now.near_wakes.saturating_sub(then.near_wakes);
            let objects = beyond(&now.objects, &then.objects, |row| row.object.clone(), ObjectCount::since);
            (count > 0).then(|| CallCount { count, bytes, wakes, near_wakes, objects, errors, ..now.clone() })
        };
        let pair = |now: &PairCount, then: Option<&PairCount>| {
            let count = now.count - then.map_or(0, |then| then.count).min(now.count);
            (count > 0).then(|| PairCount { count, ..now.clone() })
        };
        let named = |now: &[NamedCount], then: &[NamedCount]| beyond(now, then, NamedCount::key, NamedCount::since);
        Requests {
            calls: beyond(&self.calls, &earlier.calls, |call| call.call.clone(), call),
            pairs: beyond(&self.pairs, &earlier.pairs, |pair| (pair.first.clone(), pair.then.clone()), pair),
            waits: beyond(&self.waits, &earlier.waits, |waits| (waits.call.clone(), waits.reason), Waits::since),
            signals: named(&self.signals, &earlier.signals),
            io_uring: named(&self.io_uring, &earlier.io_uring),
            forks: self.forks.saturating_sub(earlier.forks),
            execs: self.execs.saturating_sub(earlier.execs),
            creates: self.creates.saturating_sub(earlier.creates),
            writing: self.writing.saturating_sub(earlier.writing),
            asked_first: self.asked_first.saturating_sub(earlier.asked_first),
            huge_pages: self.huge_pages.saturating_sub(earlier.huge_pages),
            copied_pages: self.copied_pages.saturating_sub(earlier.copied_pages),
            faults: self.faults.map(|faults| faults.since(earlier.faults)),
            // Those of the stretch are among them.
            distinct_names: self.distinct_names,
        }
    }

    /// All system calls together.
    pub fn total(&self) -> u64 {
        self.calls.iter().map(|call| call.count).sum()
    }
}

/// How often a system call was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CallCount {
    /// The kernel's name of it.
    pub call: String,
    /// How often, whether it succeeded or failed.
    pub count: u64,
    /// The bytes that it moved; `None` if it moves none.
    pub bytes: Option<u64>,
    /// Sleeping tasks that were woken while the caller made it, as far as that was counted (by eBPF).
    #[serde(default)]
    pub wakes: u64,
    /// Those of them that were last on the CPU of the caller.
    #[serde(default)]
    pub near_wakes: u64,
    /// What it was made on, as far as that is known, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ObjectCount>,
    /// How often it failed, by error.
    pub errors: Vec<NamedCount>,
    /// What it took of a CPU from entry to exit, by samples; `None` without any.
    #[serde(default)]
    pub measured: Option<CallTime>,
}

impl CallCount {
    /// How often it failed.
    pub fn failed(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}

/// How often a call was made on one kind of object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ObjectCount {
    /// `file` (of a device), `tmpfs`, `proc`, `sys`, `pipe`, `tcp`, `udp`, `unix`, `socket` (any other), `eventfd`, `timerfd`,
    /// `epoll`, `tty`, `null` (also `/dev/zero`), `folder`, `device`, `other`.
    pub object: String,
    /// How often, whether it succeeded or failed.
    pub count: u64,
    /// The bytes that it moved; `None` if it moves none.
    pub bytes: Option<u64>,
}

impl ObjectCount {
    fn since(&self, earlier: Option<&ObjectCount>) -> Option<ObjectCount> {
        let count = self.count - earlier.map_or(0, |earlier| earlier.count).min(self.count);
        let before = earlier.and_then(|earlier| earlier.bytes).unwrap_or(0);
        let bytes = self.bytes.map(|bytes| bytes.wrapping_sub(before));
        (count > 0).then(|| ObjectCount { count, bytes, ..self.clone() })
    }
}

/// A name and how often.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NamedCount {
    /// The name.
    pub name: String,
    /// How often.
    pub count: u64,
}

impl NamedCount {
    fn key(&self) -> String {
        self.name.clone()
    }

    fn since(&self, earlier: Option<&NamedCount>) -> Option<NamedCount> {
        let count = self.count - earlier.map_or(0, |earlier| earlier.count).min(self.count);
        (count > 0).then(|| NamedCount { count, ..self.clone() })
    }
}

/// A call and the one after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PairCount {
    /// The first call.
    pub first: String,
    /// The call after it.
    pub then: String,
    /// How often.
    pub count: u64,
}

/// What one process asked for, or several of the same name that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ProcessCounts {
    /// Its id; `None` for several.
    pub pid: Option<u32>,
    /// Its name.
    pub name: String,
    /// The id of the process that created it, if that was watched.
    pub parent: Option<u32>,
    /// How many processes these are.
    pub processes: u64,
    /// True if it was still running at the end.
    pub running: bool,
    /// True if it is a thread of the kernel, which makes no calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kernel: bool,
    /// Its cgroup in the unified hierarchy, at its end.
    pub cgroup: Option<String>,
    /// Its threads.
    pub threads: Vec<ThreadCounts>,
    /// How many threads it had, told one by one or not.
    #[serde(default)]
    pub thread_count: u64,
    /// What it used.
    pub usage: Usage,
    /// What it asked for.
    pub requests: Requests,
}

impl ProcessCounts {
    /// What came after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &ProcessCounts) -> ProcessCounts {
        let threads =
            self.threads.iter().map(|thread| match earlier.threads.iter().find(|row| row.tid == thread.tid) {
                Some(before) => ThreadCounts {
                    usage: thread.usage.since(&before.usage),
                    requests: thread.requests.since(&before.requests),
                    ..thread.clone()
                },
                None => thread.clone(),
            });
        ProcessCounts {
            processes: (self.processes - earlier.processes.min(self.processes)).max(1),
            threads: threads.collect(),
            usage: self.usage.since(&earlier.usage),
            requests: self.requests.since(&earlier.requests),
            ..self.clone()
        }
    }
}

/// What one thread did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ThreadCounts {
    /// Its id.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// What it used.
    pub usage: Usage,
    /// What it asked for.
    pub requests: Requests,
}
