//! What a program requested of the kernel while it was watched: plain counts, by process. Knows no price and no way of counting.

use serde::{Deserialize, Serialize};

use crate::counting::CountingCost;
use crate::requests::Requests;
use crate::usage::{Accounting, Repetition, Usage};
use crate::waits::WaitReason;

/// What was counted while something was watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Its sums.
    pub fn repetition(&self) -> Repetition {
        let together = &self.together;
        let waits = together.waits.iter().filter(|row| row.reason != WaitReason::Stopped).map(|row| row.total_ns);
        Repetition {
            elapsed_ns: self.elapsed_ns,
            usage: self.usage,
            calls: together.calls.iter().map(|row| (row.call.clone(), row.count)).collect(),
            waited_ns: (!together.waits.is_empty()).then(|| waits.sum()),
            counting_ns: self.counting_ns(),
        }
    }

    /// What counting added to what the program used, in ns.
    pub fn counting_ns(&self) -> f64 {
        self.counting.as_ref().map_or(0.0, |cost| cost.together_ns.max(0.0))
    }

    /// Its repetitions; without any, itself.
    pub fn all_repetitions(&self) -> Vec<Repetition> {
        if self.repetitions.is_empty() { vec![self.repetition()] } else { self.repetitions.clone() }
    }

    /// What came after `earlier`, an earlier look at the same target.
    #[must_use]
    pub fn since(&self, earlier: &Observation) -> Observation {
        let is_there =
            |row: &ProcessCounts| self.processes.iter().any(|now| now.pid == row.pid && now.name == row.name);
        let continues = |now: &ProcessCounts, row: &ProcessCounts| {
            // A process that ran may have another name now, as after it executed a program.
            let may_be_renamed = || row.pid.is_some() && row.running && !is_there(row);
            now.pid == row.pid && now.parent == row.parent && (now.name == row.name || may_be_renamed())
        };
        let processes = self.processes.iter().filter_map(|process| {
            let earlier = &earlier.processes;
            let same = earlier.iter().filter(|row| continues(process, row)).min_by_key(|row| row.name != process.name);
            let mut new = same.map_or_else(|| process.clone(), |before| process.since(before));
            // Processes that had a row of their own are part of a sum now.
            let is_in_sum = |row: &&ProcessCounts| {
                let belongs = row.pid.is_some() && row.name == process.name && row.parent == process.parent;
                belongs && !self.processes.iter().any(|now| continues(now, row))
            };
            if process.pid.is_none() {
                new = earlier.iter().filter(is_in_sum).fold(new, |new, row| new.since(row));
            }
            // By accounts alone, no process has calls.
            (new.requests.total() > 0 || new.usage.cpu_ns > Some(0.0)).then_some(new)
        });
        let together = self.together.since(&earlier.together);
        let counted_before = earlier.counting.as_ref().map_or(0.0, |cost| cost.together_ns);
        let since = |cost: &CountingCost| (cost.together_ns - counted_before).max(0.0);
        let counting = self.counting.clone().map(|cost| CountingCost { together_ns: since(&cost), ..cost });
        Observation {
            elapsed_ns: (self.elapsed_ns - earlier.elapsed_ns).max(0.0),
            usage: self.usage.since(&earlier.usage),
            processes: processes.collect(),
            counting,
            together,
            ..self.clone()
        }
    }
}

/// Calls of one kind that one chain of functions made, by samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassedOver {
    /// The way of counting.
    pub source: String,
    /// Why it was not possible, and what would make it possible.
    pub reason: String,
}

/// Something that could not be counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loss {
    /// What it was.
    pub what: String,
    /// How many; `None` if that is not known.
    pub count: Option<u64>,
}

/// What one process asked for, or several of the same name that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_by_accounts_has_the_processes_that_used_time() {
        let busy = |cpu_ns| seen(vec![row(Some(1), "serve", 1, cpu_ns), row(Some(2), "idle", 1, 5.0)]);
        assert_eq!(busy(8.0).since(&busy(3.0)).processes, [row(Some(1), "serve", 1, 5.0)]);
    }

    fn row(pid: Option<u32>, name: &str, processes: u64, cpu_ns: f64) -> ProcessCounts {
        let usage = Usage { cpu_ns: Some(cpu_ns), ..Usage::default() };
        ProcessCounts { pid, name: name.into(), processes, usage, ..ProcessCounts::default() }
    }

    fn seen(processes: Vec<ProcessCounts>) -> Observation {
        Observation { processes, ..Observation::default() }
    }

    #[test]
    fn processes_that_lost_their_row_to_a_sum_are_not_counted_again() {
        let earlier = seen(vec![row(Some(1), "true", 1, 3.0), row(Some(2), "true", 1, 4.0)]);
        let later = seen(vec![row(None, "true", 3, 12.0), row(Some(2), "true", 1, 4.0)]).since(&earlier);
        assert_eq!(later.processes, [row(None, "true", 2, 9.0)]);
    }

    #[test]
    fn a_process_that_executes_a_program_is_still_the_same() {
        let running = |name, cpu_ns| ProcessCounts { running: true, ..row(Some(1), name, 1, cpu_ns) };
        let earlier = seen(vec![running("sh", 3.0)]);
        let others = row(None, "sh", 2, 9.0);
        let later = seen(vec![others.clone(), row(Some(1), "ls", 1, 5.0)]).since(&earlier);
        assert_eq!(later.processes, [others, row(Some(1), "ls", 1, 2.0)]);
        // Another one has the id of one that ended.
        let later = seen(vec![running("ls", 5.0), row(Some(1), "sh", 1, 4.0)]).since(&earlier);
        assert_eq!(later.processes, [running("ls", 5.0), row(Some(1), "sh", 1, 1.0)]);
    }
}
