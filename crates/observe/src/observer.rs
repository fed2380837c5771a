//! Watches a target by the best way of counting that is possible, and reports what was counted.

mod losses;
mod members;
mod start;
pub(crate) mod stretches;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use record::{Accounting, CountingCost, Observation, PassedOver, Usage};
use rustix::event::{Timespec, poll};
use system::machine::TaskStat;

use members::Members;

use crate::bpf::ModeSamples;
use crate::calibrate::Added;
use crate::call_names::CallNames;
use crate::cgroup::{self, Cgroup};
use crate::command::{self, Running};
use crate::counter::Counter;
use crate::counts::Counts;
use crate::exits::Exits;
use crate::fold::{Fold, requests};
use crate::inherited::Inherited;
use crate::stacks::Stacks;
use crate::target::{Calibration, Detail, ObserveError, Source, Target};
use crate::task::Task;
use crate::traced::Tracer;
use crate::usage::{self, Earlier, Split};

/// Whether what is watched still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// The command or the process has ended; the command with this status.
    Ended(Option<ExitStatus>),
}

/// Accounts of the same work differ by less than this, as a share: the kernel rounds some of them to microseconds.
const ROUNDED: f64 = 0.01;

/// Something that is being watched. Dropping it ends the watching, not what is watched.
#[derive(Debug)]
pub struct Observer {
    what: String,
    target: Target,
    cgroup: Option<Cgroup>,
    members: Members,
    source: Source,
    passed_over: Vec<PassedOver>,
    counter: Option<Counter>,
    command: Option<Running>,
    inherited: Inherited,
    exits: Option<Exits>,
    /// Tasks that ended without anybody to report what they had used, and those of them of which not even their time is known.
    unknown_ends: u64,
    uncharged_ends: u64,
    fold: Fold,
    names: CallNames,
    /// What threads had used before they were watched.
    before: HashMap<u32, Earlier>,
    /// What a process that only its accounts report had used before it was watched, and by the last look while it was there.
    account: Option<[Usage; 2]>,
    begun: Instant,
    /// What counting adds to a call, if that was determined.
    added: Option<Added>,
    accounting: Accounting,
    split: Split,
    /// The functions that made sampled calls, if they are wanted.
    stacks: Option<Box<Stacks>>,
}

impl Observer {
    /// What counting adds here, for another watching; `None` if it was not determined.
    pub fn calibration(&self) -> Option<Calibration> {
        self.added.clone().map(|added| Calibration(Box::new(added)))
    }

    /// Names the processes to watch, where they are watched by their ids.
    fn want(&self, counter: &Counter, members: &[u32]) -> io::Result<()> {
        match (&self.target, &self.cgroup) {
            (Target::Process(process), _) => counter.want(*process),
            (_, Some(cgroup)) if cgroup.id.is_none() => members.iter().try_for_each(|process| counter.want(*process)),
            _ => Ok(()),
        }
    }

    /// The processes of a watched cgroup.
    fn members_now(&self) -> Vec<u32> {
        self.cgroup.as_ref().map_or_else(Vec::new, Cgroup::processes)
    }

    /// What is charged is what threads use from now on.
    fn note_earlier_usage(&mut self) {
        self.note_usage_of(self.processes());
        self.account = self.whole_process().map(|usage| [usage; 2]);
        self.members = Members::of(self.members_now());
    }

    /// What the threads of these processes have used is not charged.
    fn note_usage_of(&mut self, processes: Vec<u32>) {
        for (process, thread) in of_threads(processes) {
            if let Some(earlier) = Earlier::of_thread(process, thread) {
                self.before.entry(thread).or_insert(earlier);
            }
        }
    }

    /// What a process that is watched by its accounts alone has used: those of its threads are gone with them, its own has all.
    fn whole_process(&self) -> Option<Usage> {
        match self.target {
            Target::Process(process) if self.counter.is_none() => usage::of_process(process),
            _ => None,
        }
    }

    /// The threads of what is watched, as they are now: process and thread. Those of a command are known to the programs.
    fn threads(&self) -> Vec<(u32, u32)> {
        of_threads(self.processes()).collect()
    }

    /// The processes of what is watched; of a whole system, the kernel's own threads too.
    fn processes(&self) -> Vec<u32> {
        let processes = match (&self.target, &self.cgroup) {
            (Target::Command(_), _) => Vec::new(),
            (Target::Process(process), _) => vec![*process],
            (_, Some(cgroup)) => cgroup.processes(),
            _ => cgroup::numbers_in("/proc"),
        };
        let own = std::process::id();
        processes.into_iter().filter(|process| *process != own).collect()
    }

    /// Waits at most this long, and collects what ended meanwhile. A signal to this process ends the wait early.
    pub fn step(&mut self, time: Duration) -> Result<State, ObserveError> {
        let state = self.wait(time)?;
        self.collect()?;
        Ok(state)
    }

    fn wait(&mut self, time: Duration) -> Result<State, ObserveError> {
        let time = self.counter.as_ref().and_then(Counter::due).map_or(time, |due| time.min(due));
        let state = match (&mut self.command, &self.target) {
            (Some(command), _) => {
                let tracer = self.counter.as_ref().and_then(Counter::tracer);
                let ended = command.wait(time, |pid| match tracer {
                    Some(tracer) => Ok(tracer.take_end()),
                    None => command::reap(pid),
                })?;
                ended.map_or(State::Running, |status| State::Ended(Some(status)))
            }
            (None, target) => {
                let _ = poll(&mut [], Timespec::try_from(time).ok().as_ref());
                let gone = matches!(target, Target::Process(process) if ended(*process));
                if gone { State::Ended(None) } else { State::Running }
            }
        };
        let members = self.members_now();
        if let Some(counter) = &self.counter {
            self.want(counter, &members)?;
        }
        let moved = self.members.moved(members);
        self.note_usage_of(moved);
        Ok(state)
    }

    fn collect(&mut self) -> io::Result<()> {
        if let Some((account, now)) = self.account.zip(self.whole_process()) {
            self.account = Some([account[0], now]);
        }
        // The memory of a process is known as long as it runs.
        if let (Some(stacks), Some(Counter::Bpf(counting))) = (&mut self.stacks, &self.counter) {
            counting.stacks().iter().for_each(|sample| stacks.add(sample));
        }
        let mut ended = self.collected()?;
        if let Some(counter) = &mut self.counter {
            counter.add_spilled(&mut ended);
        }
        for task in &mut ended {
            task.name_its_end();
            self.fold.add(task);
        }
        Ok(())
    }

    /// The tasks that ended since the last call, with what they used since they are watched. Their keys beyond the tables
    /// are not yet added.
    fn collected(&mut self) -> io::Result<Vec<Task>> {
        let Some(counter) = &mut self.counter else { return Ok(Vec::new()) };
        let mut tasks = counter.ended()?;
        if let Some(exits) = &mut self.exits {
            exits.drain();
        }
        tasks.retain(|task| task.process != std::process::id());
        // With its first thread, a process ends; others that ended with it belong to it.
        tasks.sort_by_key(|task| task.thread == task.process);
        for task in &mut tasks {
            let end = self.exits.as_mut().and_then(|exits| exits.take(task.thread));
            task.ended_by = end.map(|end| end.signal);
            let account = task.usage.or(end.map(|end| end.usage));
            let total = usage::until_its_end(account, task.run_time_ns);
            self.unknown_ends += u64::from(account.is_none() && self.exits.is_none());
            self.uncharged_ends += u64::from(total.is_none() && self.exits.is_none());
            let before = self.before.remove(&task.thread).map(|before| before.of(task)).unwrap_or_default();
            task.usage = total.map(|total| without_stops(total.since(&before), task.stops));
        }
        Ok(tasks)
    }

    /// What a thread that runs has used since this was last read, or since it is watched.
    fn used(&mut self, process: u32, thread: u32) -> Option<Usage> {
        let now = Earlier::of_thread(process, thread)?;
        let before = self.before.insert(thread, now).map(|before| before.usage).unwrap_or_default();
        Some(now.usage.since(&before))
    }

    /// Passes a signal on to the command.
    pub fn signal(&self, signal: i32) {
        if let Some(command) = &self.command {
            command.signal(signal);
        }
    }

    /// How long it has been watched.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// What was counted until now.
    pub fn look(&mut self) -> Result<Observation, ObserveError> {
        self.collect()?;
        self.counted_in(self.begun.elapsed(), &HashMap::new())
    }

    /// What was counted in that time. What these threads had used by its end is known.
    fn counted_in(&mut self, elapsed: Duration, used: &HashMap<u32, Usage>) -> Result<Observation, ObserveError> {
        let elapsed_ns = elapsed.as_nanos() as f64;
        let running = self.running(used)?;
        let mut counted = self.fold.with_running(&running, &self.names, &mut cgroup::Names::default());
        // Of a process whose first thread ended first, the end of the last is no end of the process.
        let alive: HashSet<u32> = running.iter().map(|task| task.process).collect();
        for process in &mut counted.processes {
            process.running &= process.pid.is_none_or(|pid| alive.contains(&pid) || !ended(pid));
        }
        // Where everything slept, what is charged is nothing, not unknown.
        let nothing = self.before.values().next().map(|before| before.usage.since(&before.usage)).unwrap_or_default();
        let programs = counted.processes.iter().filter(|process| !process.kernel);
        let parts = programs.fold(nothing, |sum, process| sum.plus(&process.usage));
        // What the kernel charged the command holds the end of each process, which comes after its own account.
        let stops = self.counter.as_ref().and_then(Counter::tracer).map_or(0, Tracer::stops);
        let whole = self.command.as_ref().and_then(Running::usage).map(|usage| without_stops(usage, stops));
        // It lacks processes that nobody waited for, as of a server that ignores SIGCHLD, and what threads do after they were counted there;
        // then their own accounts hold more, if they are all known.
        let most = |whole: &Usage| whole.cpu_ns.map(|cpu| cpu * (1.0 + ROUNDED));
        let whole = whole.filter(|whole| self.unknown_ends > 0 || parts.cpu_ns <= most(whole));
        let account = self.account.map(|[before, now]| Usage {
            voluntary_switches: parts.voluntary_switches,
            involuntary_switches: parts.involuntary_switches,
            ..now.since(&before)
        });
        let whole = whole.or(account);
        // A sum that lacks most of its parts is no charge, and no number of faults.
        let usage = whole.unwrap_or(match (self.uncharged_ends, self.unknown_ends) {
            (0, 0) => parts,
            (0, _) => Usage { cpu_ns: parts.cpu_ns, ..Usage::default() },
            _ => Usage::default(),
        });
        // A command does not learn by how many ticks its time was split; its own samples are finer.
        let own = ModeSamples::of(counted.together.modes);
        let parts_ns = account.unwrap_or(parts).sampled_ns.filter(|_| self.unknown_ends == 0);
        let sampled_ns = own.map(|own| own.sampled_ns).or(parts_ns).filter(|_| self.uncharged_ends == 0);
        let mut seen = Observation {
            numbers_alone: self.names.detail == Detail::Numbers && self.counter.is_some(),
            usage: Usage { sampled_ns, ..usage },
            together: requests(&counted.together, &self.names),
            processes: counted.processes,
            stacks: self.stacks.as_ref().map_or_else(Vec::new, |stacks| stacks.named(|call| self.names.of(call))),
            counting: self.counting_cost(&counted.together, &usage),
            accounting: Accounting { sample_ns: own.map(|own| own.each_ns), ..self.accounting },
            ..self.head(elapsed_ns)
        };
        self.split.part(&mut seen);
        let is_known = whole.is_some() || self.unknown_ends == 0;
        if let ([process], true) = (seen.processes.as_mut_slice(), is_known)
            && !process.kernel
        {
            process.usage = seen.usage;
        }
        Ok(seen)
    }

    /// An observation of this length in which nothing happened: what was watched, how it was counted, and why not better.
    pub(crate) fn head(&self, elapsed_ns: f64) -> Observation {
        Observation {
            what: self.what.clone(),
            source: self.source.word().into(),
            passed_over: self.passed_over.clone(),
            elapsed_ns,
            losses: self.losses(),
            accounting: self.accounting,
            counting: self.counting_cost(&Counts::default(), &Usage::default()),
            ..Observation::default()
        }
    }

    /// What counting this cost what was watched, which used that; `None` if that is not known.
    pub(crate) fn counting_cost(&self, counts: &Counts, usage: &Usage) -> Option<CountingCost> {
        let calls = counts.total() as f64;
        let named = counts.calls.iter().filter(|(call, _)| call.takes_name()).map(|(_, times)| times.count).sum();
        let sampled = self.counter.as_ref().map_or(0.0, Counter::sampled_share);
        let share = |count: u64| if calls > 0.0 { (count as f64 / calls).min(1.0) } else { 0.0 };
        let added = self.added.as_ref()?;
        let mut cost = added.cost(calls, [share(named), sampled], counts.in_program_ns())?;
        let switches = [usage.voluntary_switches, usage.involuntary_switches].into_iter().flatten().sum();
        cost.together_ns += added.beside_calls_ns(counts, switches);
        Some(cost)
    }

    /// The tasks that run now, with what they have used since they are watched: until now, or as these threads had.
    fn running(&mut self, used: &HashMap<u32, Usage>) -> io::Result<Vec<Task>> {
        let own = std::process::id();
        let mut tasks = self.counter.as_mut().map_or_else(|| Ok(Vec::new()), Counter::running)?;
        tasks.retain(|task| task.process != own);
        let known: HashSet<u32> = tasks.iter().map(|task| task.thread).collect();
        // A thread that requested nothing may have used something.
        for (process, thread) in self.threads().into_iter().filter(|(_, thread)| !known.contains(thread)) {
            tasks.push(usage::without_calls(process, thread));
        }
        for task in &mut tasks {
            let now = used.get(&task.thread).copied().or_else(|| usage::of_thread(task.process, task.thread));
            let before = self.before.get(&task.thread).map(|before| before.of(task)).unwrap_or_default();
            task.usage = now.map(|now| without_stops(now.since(&before), task.stops));
        }
        tasks.retain(|task| task.id > 0 || task.has_used_something());
        Ok(tasks)
    }

    /// Ends the watching and returns what was counted. What is used while the counting is ended is no part of it.
    pub fn finish(mut self) -> Result<Observation, ObserveError> {
        if self.counter.is_none() {
            return self.look();
        }
        let elapsed = self.begun.elapsed();
        let mut threads = self.threads();
        // Those of a command are known to the counter alone.
        if let (Target::Command(_), Some(counter)) = (&self.target, &mut self.counter) {
            threads.extend(counter.running()?.into_iter().map(|task| (task.process, task.thread)));
        }
        let used =
            threads.into_iter().filter_map(|(process, thread)| Some((thread, usage::of_thread(process, thread)?)));
        let used = used.collect();
        if let Some(counter) = &mut self.counter {
            counter.detach(self.exits.is_none());
        }
        self.collect()?;
        self.counted_in(elapsed, &used)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        let _ = self.inherited.restore();
    }
}

/// The threads of these processes: process and thread.
fn of_threads(processes: Vec<u32>) -> impl Iterator<Item = (u32, u32)> {
    processes.into_iter().flat_map(|process| threads_of(process).into_iter().map(move |thread| (process, thread)))
}

fn threads_of(process: u32) -> Vec<u32> {
    let folder = format!("/proc/{process}/task");
    // A folder has two links, and one more for each folder in it: most processes have one thread.
    let one = fs::metadata(&folder).is_ok_and(|folder| folder.nlink() == 3);
    if one { vec![process] } else { cgroup::numbers_in(&folder) }
}

/// Without the switches by which a tracer stopped it.
fn without_stops(usage: Usage, stops: u64) -> Usage {
    Usage { voluntary_switches: usage.voluntary_switches.map(|switches| switches.saturating_sub(stops)), ..usage }
}

/// True if a process is gone, or is kept only for its creator to see. Its first thread may end before the others.
pub(crate) fn ended(process: u32) -> bool {
    let first = TaskStat::of_process(process);
    first.is_none_or(|stat| stat.has_ended() && cgroup::numbers_in(&format!("/proc/{process}/task")).len() <= 1)
}
