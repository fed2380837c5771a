//! What happens in one stretch of time after another. What came before a stretch is forgotten, so that a system can be watched
//! for as long as it runs: the memory taken is that of the tasks that exist.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use record::{Observation, Usage};

use crate::cgroup;
use crate::counts::Counts;
use crate::fold::{Fold, requests};
use crate::observer::{Observer, State, threads_of};
use crate::target::ObserveError;
use crate::task::Task;
use crate::usage::{self, Clocks};

/// What happened in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// What was counted in it. Processes that did nothing are left out; of several threads, those that did nothing are.
    pub seen: Observation,
    /// The processes that were created in it.
    pub started: BTreeSet<u32>,
}

/// Something that is watched stretch by stretch.
#[derive(Debug)]
pub struct Stretches {
    observer: Observer,
    recent: Recent,
    /// What ended in this stretch.
    ended: Vec<Task>,
    /// The time that each thread had run by the last look, in ns.
    ran: HashMap<u32, u64>,
    clocks: Clocks,
    /// Processes that had one thread at the last look.
    single: HashSet<u32>,
    /// The processes of the last look.
    there: HashSet<u32>,
    /// When the stretch began, after the watching did.
    begun: Duration,
}

impl Stretches {
    /// The first stretch begins with the watching.
    pub fn of(observer: Observer) -> Stretches {
        let (ended, ran, there, single) = (Vec::new(), HashMap::new(), HashSet::new(), HashSet::new());
        let (recent, clocks) = (Recent::default(), Clocks::new());
        Stretches { observer, recent, ended, ran, clocks, single, there, begun: Duration::ZERO }
    }

    /// Collects what ended since the last call, which frees its records. It should be called some twenty times a second.
    pub fn collect(&mut self) -> Result<State, ObserveError> {
        let state = self.observer.wait(Duration::ZERO)?;
        let ended = self.observer.collected()?;
        self.ended.extend(ended);
        Ok(state)
    }

    /// A stretch in which nothing happened: how it is counted, and why not better.
    pub fn nothing(&self) -> Observation {
        self.observer.head(0.0)
    }

    /// How long the stretch has lasted.
    pub fn elapsed(&self) -> Duration {
        self.observer.elapsed().saturating_sub(self.begun)
    }

    /// Ends the stretch, and begins the next one.
    pub fn take(&mut self) -> Result<Stretch, ObserveError> {
        self.collect()?;
        let elapsed = self.elapsed();
        self.begun += elapsed;
        let mut ended = std::mem::take(&mut self.ended);
        let (mut running, idle) = self.running(&mut ended)?;
        self.recent.begin();
        for task in &mut ended {
            self.recent.ended(task);
        }
        running.retain_mut(|task| self.recent.ran(task));
        self.recent.keep(&idle);
        let (mut seen, started) = self.observed(&running, elapsed);
        // A thread that is reported after the first one of its process seems to be one that goes on.
        let alive: HashSet<u32> =
            self.recent.known.values().map(|known| known.process).chain(self.there.iter().copied()).collect();
        for process in &mut seen.processes {
            process.running &= process.pid.is_none_or(|pid| alive.contains(&pid));
        }
        Ok(Stretch { seen, started })
    }

    /// The tasks that ran, and the ids of those that did not. What did not run requested nothing, so it
    /// is not read.
    fn running(&mut self, ended: &mut [Task]) -> Result<(Vec<Task>, HashSet<u64>), ObserveError> {
        let (ran, mut active) = self.times();
        let observer = &mut self.observer;
        let idle = |thread: u32| ran.contains_key(&thread) && !active.contains_key(&thread);
        let (mut running, idle) = match &mut observer.counter {
            Some(counter) => {
                counter.add_spilled(ended);
                counter.running_but(idle)?
            }
            None => (Vec::new(), HashSet::new()),
        };
        running.retain(|task| task.process != std::process::id());
        for task in &running {
            active.remove(&task.thread);
        }
        // A thread that requested nothing may have used something.
        running.extend(active.into_iter().map(|(thread, process)| usage::without_calls(process, thread)));
        for task in &mut running {
            task.usage = observer.used(task.process, task.thread);
        }
        // What a thread had used before is needed until its end was reported, which may come a stretch late.
        let last = std::mem::replace(&mut self.ran, ran);
        observer.before.retain(|thread, _| self.ran.contains_key(thread) || last.contains_key(thread));
        self.clocks.keep(|thread| self.ran.contains_key(&thread));
        Ok((running, idle))
    }

    /// The time that each thread has run, and the processes of those that ran since the last look.
    fn times(&mut self) -> (HashMap<u32, u64>, HashMap<u32, u32>) {
        let (mut ran, mut active) = (HashMap::new(), HashMap::new());
        self.there.clear();
        let single = std::mem::take(&mut self.single);
        for process in self.observer.processes() {
            self.there.insert(process);
            // A process that has one thread, which did not run, has no others now.
            let idle = single.contains(&process).then(|| self.clocks.run_time(process, process)).flatten();
            let idle = idle.filter(|time| *time > 0 && self.ran.get(&process) == Some(time));
            if let Some(time) = idle {
                ran.insert(process, time);
                self.single.insert(process);
                continue;
            }
            let threads = threads_of(process);
            if threads == [process] {
                self.single.insert(process);
            }
            for thread in threads {
                let time = self.clocks.run_time(process, thread).unwrap_or(0);
                ran.insert(thread, time);
                // A kernel that does not report the time gives 0.
                if time == 0 || self.ran.get(&thread) != Some(&time) {
                    active.insert(thread, process);
                }
            }
        }
        (ran, active)
    }

    fn observed(&mut self, running: &[Task], elapsed: Duration) -> (Observation, BTreeSet<u32>) {
        let (observer, recent) = (&self.observer, &mut self.recent);
        let counted = recent.fold.with_running(running, &observer.names, &mut recent.cgroups);
        let programs = counted.processes.iter().filter(|process| !process.kernel);
        let usage = programs.fold(Usage::default(), |sum, process| sum.plus(&process.usage));
        let seen = Observation {
            usage,
            together: requests(&counted.together, &observer.names),
            processes: counted.processes,
            counting: observer.counting_cost(&counted.together, &usage),
            ..observer.head(elapsed.as_nanos() as f64)
        };
        (seen, std::mem::take(&mut recent.started))
    }
}

/// What is known of the tasks that exist: what they had requested by the end of the last stretch.
#[derive(Debug, Default)]
struct Recent {
    /// By the id of the task.
    known: HashMap<u64, Known>,
    /// What ended in this stretch.
    fold: Fold,
    started: BTreeSet<u32>,
    cgroups: cgroup::Names,
}

#[derive(Debug)]
struct Known {
    process: u32,
    counts: Counts,
    /// True if it was there at the last look.
    there: bool,
}

impl Recent {
    /// Forgets the last stretch.
    fn begin(&mut self) {
        self.fold = Fold::default();
        self.started = BTreeSet::new();
        for (id, known) in &mut self.known {
            known.there = false;
            self.fold.owner(*id, known.process);
        }
    }

    /// A task that ended: only what it did in this stretch is left in it.
    fn ended(&mut self, task: &mut Task) {
        self.note_start(task);
        if let Some(known) = self.known.remove(&task.id) {
            task.counts.subtract(&known.counts);
        }
        self.fold.add(task);
    }

    /// A task that runs: only what it did in this stretch is left in it. Returns whether it did anything.
    fn ran(&mut self, task: &mut Task) -> bool {
        // One that is just ending is reported again as ended.
        task.end_ns = None;
        if task.id > 0 {
            self.note_start(task);
            self.fold.owner(task.id, task.process);
            let known = Known { process: task.process, counts: task.counts.clone(), there: true };
            if let Some(before) = self.known.insert(task.id, known) {
                task.counts.subtract(&before.counts);
            }
        }
        task.counts != Counts::default() || task.has_used_something()
    }

    fn note_start(&mut self, task: &Task) {
        if task.parent.is_some() && task.thread == task.process && !self.known.contains_key(&task.id) {
            self.started.insert(task.process);
        }
    }

    /// Forgets the tasks that are gone.
    fn keep(&mut self, idle: &HashSet<u64>) {
        self.known.retain(|id, known| known.there || idle.contains(id));
    }
}

#[cfg(test)]
mod tests;
