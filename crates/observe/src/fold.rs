//! Tasks become processes. Processes that ended are kept one by one up to a number; the rest are added up by their creator and
//! their name, so that nothing is lost and memory stays bounded.

use std::collections::{BTreeMap, HashMap, HashSet};

use record::{
    CallCount, CallTime, FaultTime, NamedCount, ObjectCount, PageSize, PairCount, ProcessCounts, Requests,
    ThreadCounts, Usage, Waits, largest_first,
};
use rustix::param::page_size;

use crate::call_names::CallNames;
use crate::cgroup;
use crate::counts::{Call, Counts, Lengths};
use crate::names;
use crate::objects;
use crate::task::Task;

/// Ended processes that are listed one by one.
const KEPT: usize = 256;
/// Threads of a process that are listed one by one.
const THREADS: usize = 64;
/// Sums of ended processes by their creator; beyond them, they are by name alone.
const FOLDED: usize = 1024;
/// Tasks whose processes are remembered before those that nobody needs are forgotten.
const OWNERS: usize = 1 << 16;

/// One process that is being put together.
#[derive(Clone, Debug, Default)]
struct Process {
    pid: u32,
    name: String,
    /// The task that created its first thread.
    creator: Option<u64>,
    /// How many processes these are.
    processes: u64,
    ended: bool,
    /// True if its first thread has ended.
    headless: bool,
    kernel: bool,
    cgroup: u64,
    /// Sums of those of one number.
    threads: Vec<Task>,
    thread_count: u64,
    usage: Usage,
    counts: Counts,
}

/// All processes that were watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fold {
    /// By a number that begins at the first process and never comes again.
    processes: BTreeMap<u64, Process>,
    next: u64,
    /// The process that has an id now.
    current: HashMap<u32, u64>,
    /// The id of the process of each task.
    owners: HashMap<u64, u32>,
    /// Ended processes by their creator and name.
    folded: BTreeMap<(Option<u32>, String), Process>,
    ended: usize,
    /// How many of the owners were needed when that was last looked at, twice.
    owners_kept: usize,
}

impl Fold {
    /// Adds a task that ended.
    pub(crate) fn add(&mut self, task: &Task) {
        self.owners.insert(task.id, task.process);
        if self.owners.len() > self.owners_kept.max(OWNERS) {
            self.forget_owners();
        }
        let number = match self.current.get(&task.process) {
            Some(number) => *number,
            None => {
                let number = self.taken_over(task).unwrap_or_else(|| {
                    self.next += 1;
                    self.next
                });
                self.current.insert(task.process, number);
                number
            }
        };
        let process = self.processes.entry(number).or_default();
        process.add(task);
        if task.end_ns.is_some() && process.headless {
            // The first thread of a process is the last to be reported, unless it ended before the others.
            process.ended = true;
            self.current.remove(&task.process);
            self.ended += 1;
        }
        if self.ended > KEPT {
            self.fold_oldest();
        }
    }

    /// The process whose first thread ended because another of its threads executed a program: that thread is the first now.
    fn taken_over(&mut self, task: &Task) -> Option<u64> {
        let creator = task.parent.and_then(|creator| self.owners.get(&creator));
        let own = creator == Some(&task.process);
        let last = self.processes.iter_mut().rev().find(|(_, process)| own && process.pid == task.process);
        let (number, process) = last.filter(|(_, process)| process.ended)?;
        process.ended = false;
        self.ended -= 1;
        Some(*number)
    }

    /// Adds the oldest ended process to the others of its creator and name.
    fn fold_oldest(&mut self) {
        let Some((&number, _)) = self.processes.iter().find(|(_, process)| process.ended) else { return };
        let Some(process) = self.processes.remove(&number) else { return };
        self.ended -= 1;
        let creator = process.creator.and_then(|creator| self.owners.get(&creator)).copied();
        let mut key = (creator, process.name.clone());
        let by_creator = self.folded.len() < FOLDED || self.folded.contains_key(&key);
        if !by_creator {
            key.0 = None;
        }
        let sum = self.folded.entry(key).or_default();
        sum.name.clone_from(&process.name);
        sum.creator = process.creator.filter(|_| by_creator);
        sum.ended = true;
        sum.cgroup = process.cgroup;
        sum.processes += process.processes;
        sum.thread_count += process.thread_count;
        sum.usage = sum.usage.plus(&process.usage);
        sum.counts.add(&process.counts);
    }

    /// Forgets the processes of tasks that created nothing which is kept, and whose own are gone.
    fn forget_owners(&mut self) {
        let all = || self.processes.values().chain(self.folded.values());
        let creators: HashSet<u64> = all().filter_map(|process| process.creator).collect();
        let kept: HashSet<u32> = all().map(|process| process.pid).collect();
        self.owners.retain(|task, process| creators.contains(task) || kept.contains(process));
        self.owners_kept = 2 * self.owners.len();
    }

    /// Notes the process of a task, for those that it creates.
    pub(crate) fn owner(&mut self, task: u64, process: u32) {
        self.owners.insert(task, process);
    }

    /// All processes, with the tasks that run now, those with the most calls first; and all counts together.
    pub(crate) fn with_running(&self, running: &[Task], names: &CallNames, cgroups: &mut cgroup::Names) -> Processes {
        let mut all = self.clone();
        running.iter().for_each(|task| all.add(task));
        let mut together = Counts::default();
        let every = all.processes.values().chain(all.folded.values());
        let mut processes: Vec<ProcessCounts> = Vec::new();
        for process in every {
            together.add(&process.counts);
            let parent = process.creator.and_then(|creator| all.owners.get(&creator)).copied();
            // A process is no child of its own, though another of its threads may have executed its program.
            let parent = parent.filter(|parent| *parent != process.pid);
            let mut described = process.described(parent, names);
            // Only the end of a task has its cgroup; of those that run, /proc does.
            let running = described.pid.filter(|_| described.running).and_then(cgroup::of_process);
            described.cgroup = running.or_else(|| cgroups.of(process.cgroup));
            processes.push(described);
        }
        processes.sort_by_key(|process| std::cmp::Reverse(process.requests.total()));
        Processes { processes, together }
    }
}

/// Processes and what they did together.
pub(crate) struct Processes {
    pub processes: Vec<ProcessCounts>,
    pub together: Counts,
}

impl Process {
    fn add(&mut self, task: &Task) {
        let first = task.thread == task.process;
        if first || self.name.is_empty() {
            self.name.clone_from(&task.name);
            self.creator = task.parent;
            self.cgroup = task.cgroup;
        }
        self.headless |= first && task.end_ns.is_some();
        self.pid = task.process;
        self.kernel = task.kernel;
        self.processes = 1;
        self.counts.add(&task.counts);
        let usage = task.usage.unwrap_or_default();
        self.usage = self.usage.plus(&usage);
        if let Some(known) = self.threads.iter_mut().find(|known| known.thread == task.thread) {
            // Another thread has its number by now.
            known.name.clone_from(&task.name);
            known.usage = Some(known.usage.unwrap_or_default().plus(&usage));
            known.counts.add(&task.counts);
            return;
        }
        self.thread_count += 1;
        if self.threads.len() < THREADS {
            self.threads.push(task.clone());
        }
    }

    fn described(&self, parent: Option<u32>, names: &CallNames) -> ProcessCounts {
        // What one thread did is what the process did.
        let several = self.threads.len() > 1;
        let threads = self.threads.iter().filter(|_| several).map(|thread| ThreadCounts {
            tid: thread.thread,
            name: thread.name.clone(),
            usage: thread.usage.unwrap_or_default(),
            requests: requests(&thread.counts, names),
        });
        ProcessCounts {
            pid: (self.processes == 1 && self.pid > 0).then_some(self.pid),
            name: self.name.clone(),
            parent,
            processes: self.processes,
            running: !self.ended,
            kernel: self.kernel,
            cgroup: None,
            threads: threads.collect(),
            thread_count: self.thread_count,
            usage: self.usage,
            requests: requests(&self.counts, names),
        }
    }
}

/// Counts with the names of what they count.
pub(crate) fn requests(counts: &Counts, names: &CallNames) -> Requests {
    let mut calls: Vec<CallCount> = Vec::new();
    for (call, times) in &counts.calls {
        let errors = counts.errors.range((*call, 0)..=(*call, u16::MAX));
        let errors = errors.map(|((_, error), count)| NamedCount { name: names::error(*error), count: *count });
        calls.push(CallCount {
            call: names.of(*call),
            count: times.count,
            bytes: names.moves_bytes(*call).then_some(times.results),
            wakes: counts.wakes.get(call).copied().unwrap_or(0),
            near_wakes: counts.near.get(call).copied().unwrap_or(0),
            freed_pages: counts.given_back.get(call).copied().unwrap_or(0),
            objects: by_object(*call, counts, names),
            errors: errors.collect(),
            measured: counts.samples.get(call).and_then(|lengths| sampled_time(lengths, names.entry_of(*call))),
        });
    }
    calls.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.call.cmp(&other.call)));
    let mut pairs: Vec<PairCount> = Vec::new();
    for ((first, then), count) in &counts.pairs {
        pairs.push(PairCount { first: names.of(*first), then: names.of(*then), count: *count });
    }
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.count));
    let named = |numbers: &BTreeMap<u16, u64>, name: fn(u16) -> String| -> Vec<NamedCount> {
        numbers.iter().map(|(number, count)| NamedCount { name: name(*number), count: *count }).collect()
    };
    Requests {
        calls,
        pairs,
        waits: waits(counts, names),
        signals: named(&counts.signals, names::signal),
        io_uring: named(&counts.requests, names::request),
        forks: counts.forks,
        execs: counts.execs,
        creates: counts.creates,
        writing: counts.writing,
        truncating: counts.truncating,
        attributes_first: counts.attributes_first,
        huge_pages: counts.huge,
        faults: sampled_time(&counts.faults, names.fault_entry_ns).map(|each| FaultTime {
            count: counts.faults.count(),
            each,
            kinds: (counts.fault_kinds.total() > 0).then_some(counts.fault_kinds),
        }),
        copied_pages: counts.copied,
        distinct_names: counts.names.distinct(),
        page: PageSize(page_size() as u64),
    }
}

/// What a call was made on, the most frequent first; nothing where that is not known.
fn by_object(call: Call, counts: &Counts, names: &CallNames) -> Vec<ObjectCount> {
    let made_on = counts.objects.range((call, 1)..=(call, u8::MAX));
    let mut objects: Vec<ObjectCount> = made_on
        .filter_map(|((_, kind), times)| {
            let object = objects::KINDS.get(usize::from(*kind))?;
            let bytes = names.moves_bytes(call).then_some(times.results);
            Some(ObjectCount { object: (*object).into(), count: times.count, bytes })
        })
        .collect();
    objects.sort_by_key(|object| std::cmp::Reverse(object.count));
    objects
}

/// What one call or fault takes of a CPU, with the way into the kernel and back.
fn sampled_time(lengths: &Lengths, entry_ns: Option<f64>) -> Option<CallTime> {
    let (mean, error_ns) = lengths.mean_ns()?;
    let (samples, calls) = (lengths.samples().round() as u64, lengths.count() as f64);
    Some(CallTime { samples, mean_ns: mean + entry_ns?, error_ns, calls })
}

/// Times off the CPU, the longest first.
fn waits(counts: &Counts, names: &CallNames) -> Vec<Waits> {
    let mut waits: Vec<Waits> = Vec::new();
    for ((call, reason), lengths) in &counts.waits {
        let quantile = |share: f64| lengths.quantile_ns(share).unwrap_or(0.0);
        waits.push(Waits {
            call: call.map(|call| names.of(call)),
            reason: *reason,
            count: lengths.count(),
            total_ns: lengths.total_ns as f64,
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
        });
    }
    largest_first(&mut waits, |one| one.total_ns);
    waits
}

#[cfg(test)]
mod tests;
