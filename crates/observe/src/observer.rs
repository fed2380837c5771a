//! Watches a target by the best way of counting that is possible, and tells what was counted.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use record::{CountingCost, Loss, Observation, PassedOver, Usage};
use rustix::event::{Timespec, poll};

use crate::bpf::{Counting, Losses, Whom, run_here};
use crate::calibrate;
use crate::cgroup::{self, Cgroup};
use crate::command::{self, Running};
use crate::counts::CallNames;
use crate::exits::Exits;
use crate::fold::{Fold, requests};
use crate::target::{ObserveError, Options, Source, Target};
use crate::task::Task;
use crate::usage;

pub(crate) mod stretches;

/// Records for a command and what it starts; each takes 17 KB.
const FEW: usize = 1024;
/// Records for a whole system, beyond two for each task that it has.
const MORE: usize = 2048;

/// Whether what is watched still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// The command or the process has ended; the command with this status.
    Ended(Option<ExitStatus>),
}

/// Something that is being watched. Dropping it ends the watching, not what is watched.
#[derive(Debug)]
pub struct Observer {
    what: String,
    target: Target,
    cgroup: Option<Cgroup>,
    source: Source,
    passed_over: Vec<PassedOver>,
    counting: Option<Counting>,
    command: Option<Running>,
    exits: Option<Exits>,
    fold: Fold,
    names: CallNames,
    /// What threads had used before they were watched.
    before: HashMap<u32, Usage>,
    begun: Instant,
    per_call_ns: Option<f64>,
}

impl Observer {
    /// Begins to watch.
    ///
    /// # Errors
    /// If the target does not exist or cannot be started, or the way of counting that was asked for is not possible.
    pub fn start(target: Target, options: &Options) -> Result<Observer, ObserveError> {
        let cgroup = match &target {
            Target::Cgroup(path) => Some(Cgroup::open(path)?),
            _ => None,
        };
        if let Target::Process(process) = &target
            && !fs::exists(format!("/proc/{process}")).unwrap_or(false)
        {
            return Err(ObserveError::NoProcess(*process));
        }
        let mut observer = Observer {
            what: what(&target),
            target,
            cgroup,
            source: Source::Accounts,
            passed_over: Vec::new(),
            counting: None,
            command: None,
            exits: Exits::new().ok(),
            fold: Fold::default(),
            names: CallNames::default(),
            before: HashMap::new(),
            begun: Instant::now(),
            per_call_ns: None,
        };
        if options.source.is_none_or(|source| source == Source::Bpf) {
            match observer.start_counting(options) {
                Ok(()) => observer.source = Source::Bpf,
                Err(error) if options.source.is_some() => {
                    return Err(ObserveError::Refused { with: Source::Bpf, why: refusal(&error) });
                }
                Err(error) => {
                    let source = Source::Bpf.word().into();
                    observer.passed_over.push(PassedOver { source, reason: refusal(&error) });
                }
            }
        }
        observer.note_earlier_usage();
        observer.begun = Instant::now();
        observer.start_command()?;
        Ok(observer)
    }

    fn start_counting(&mut self, options: &Options) -> io::Result<()> {
        let own = std::process::id();
        let (whom, records) = match (&self.target, &self.cgroup) {
            (Target::Command(_), _) => (Whom::Announced, FEW),
            (Target::System, _) => (Whom::AllBut(own), MORE + 2 * tasks_of_the_system()),
            (_, Some(Cgroup { id: Some((id, depth)), .. })) => (Whom::Cgroup { id: *id, depth: *depth }, FEW),
            (Target::Cgroup(_), _) => (Whom::Wanted { joined_later: true }, FEW),
            (Target::Process(_), _) => (Whom::Wanted { joined_later: false }, FEW),
        };
        let (mut counting, programs) = Counting::new(whom, records)?;
        // Before anything is attached: a task that is not wanted then is never looked at again.
        self.want(&counting)?;
        let bare = if options.calibrate { Some(calibrate::per_call(|| Ok(()))?) } else { None };
        counting.attach(&programs)?;
        if let Some(bare) = bare {
            // It also shows that a task can be announced, before the command is one.
            self.per_call_ns = Some(calibrate::per_call(|| programs.enrol())? - bare);
        }
        self.counting = Some(counting);
        Ok(())
    }

    /// Names the processes to watch, where they are watched by their ids.
    fn want(&self, counting: &Counting) -> io::Result<()> {
        match (&self.target, &self.cgroup) {
            (Target::Process(process), _) => counting.want(*process),
            (_, Some(cgroup)) if cgroup.id.is_none() => {
                cgroup.processes().into_iter().try_for_each(|process| counting.want(process))
            }
            _ => Ok(()),
        }
    }

    /// What is charged is what threads use from now on.
    fn note_earlier_usage(&mut self) {
        for (process, thread) in self.threads() {
            if let Some(usage) = usage::of_thread(process, thread) {
                self.before.insert(thread, usage);
            }
        }
    }

    /// The threads of what is watched, as they are now: process and thread. Those of a command are known to the programs.
    fn threads(&self) -> Vec<(u32, u32)> {
        self.threads_knowing(&HashSet::new())
    }

    /// The same where these processes are known to be programs, which saves reading their command lines.
    fn threads_knowing(&self, programs: &HashSet<u32>) -> Vec<(u32, u32)> {
        let is_a_program = |process: &u32| programs.contains(process) || is_a_program(*process);
        let processes = match (&self.target, &self.cgroup) {
            (Target::Command(_), _) => Vec::new(),
            (Target::Process(process), _) => vec![*process],
            (_, Some(cgroup)) => cgroup.processes(),
            _ => cgroup::numbers_in("/proc").into_iter().filter(is_a_program).collect(),
        };
        let own = std::process::id();
        let of = |process: u32| {
            let folder = format!("/proc/{process}/task");
            // A folder has two links, and one more for each folder in it: most processes have one thread.
            let one = fs::metadata(&folder).is_ok_and(|folder| folder.nlink() == 3);
            let threads = if one { vec![process] } else { cgroup::numbers_in(&folder) };
            threads.into_iter().map(move |thread| (process, thread))
        };
        processes.into_iter().filter(|process| *process != own).flat_map(of).collect()
    }

    fn start_command(&mut self) -> Result<(), ObserveError> {
        let Target::Command(words) = &self.target else { return Ok(()) };
        let program = self.counting.as_ref().map(Counting::announce);
        let announce = move || program.map_or(Ok(()), run_here);
        let command = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let running = command::start(words, announce).map_err(|why| ObserveError::Start { command, why })?;
        self.command = Some(running);
        Ok(())
    }

    /// Waits at most this long, and collects what ended meanwhile. A signal to this process ends the wait early.
    ///
    /// # Errors
    /// The kernel's refusal of something that it allowed before.
    pub fn step(&mut self, time: Duration) -> Result<State, ObserveError> {
        let state = self.wait(time)?;
        self.collect()?;
        Ok(state)
    }

    fn wait(&mut self, time: Duration) -> Result<State, ObserveError> {
        let state = match (&mut self.command, &self.target) {
            (Some(command), _) => command.wait(time)?.map_or(State::Running, |status| State::Ended(Some(status))),
            (None, target) => {
                let _ = poll(&mut [], Timespec::try_from(time).ok().as_ref());
                let gone = matches!(target, Target::Process(process) if ended(*process));
                if gone { State::Ended(None) } else { State::Running }
            }
        };
        if let Some(counting) = &self.counting {
            self.want(counting)?;
        }
        Ok(state)
    }

    fn collect(&mut self) -> io::Result<()> {
        let mut ended = self.collected()?;
        if let Some(counting) = &mut self.counting {
            counting.add_spilled(ended.iter_mut().map(|(task, _)| task));
        }
        for (task, usage) in ended {
            self.fold.add(&task, usage);
        }
        Ok(())
    }

    /// The tasks that ended since the last call, with what they used since they are watched. Their keys beyond the tables
    /// are not yet added.
    fn collected(&mut self) -> io::Result<Vec<(Task, Option<Usage>)>> {
        let Some(counting) = &mut self.counting else { return Ok(Vec::new()) };
        let mut tasks = counting.ended()?;
        if let Some(exits) = &mut self.exits {
            exits.drain();
        }
        tasks.retain(|task| task.process != std::process::id());
        // With its first thread, a process ends; others that ended with it belong to it.
        tasks.sort_by_key(|task| task.thread == task.process);
        let used = |task: Task| {
            let total = self.exits.as_mut().and_then(|exits| exits.take(task.thread));
            let before = self.before.remove(&task.thread).unwrap_or_default();
            (task, total.map(|total| total.since(&before)))
        };
        Ok(tasks.into_iter().map(used).collect())
    }

    /// What a thread that runs has used since this was last asked, or since it is watched.
    fn used(&mut self, process: u32, thread: u32) -> Option<Usage> {
        let now = usage::of_thread(process, thread)?;
        let before = self.before.insert(thread, now).unwrap_or_default();
        Some(now.since(&before))
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
    ///
    /// # Errors
    /// The kernel's refusal of something that it allowed before.
    pub fn look(&mut self) -> Result<Observation, ObserveError> {
        self.collect()?;
        let elapsed_ns = self.begun.elapsed().as_nanos() as f64;
        let running = self.running()?;
        let told = self.fold.told(&running, &self.names, &mut cgroup::Names::default());
        let parts = told.processes.iter().fold(Usage::default(), |sum, process| sum.plus(&process.usage));
        // What the kernel charged the command holds the end of each process, which comes after its own account.
        let usage = self.command.as_ref().and_then(Running::usage).unwrap_or(parts);
        let calls = told.together.total() as f64;
        Ok(Observation {
            what: self.what.clone(),
            source: self.source.word().into(),
            passed_over: self.passed_over.clone(),
            elapsed_ns,
            usage,
            together: requests(&told.together, &self.names),
            processes: told.processes,
            losses: self.losses(),
            counting: self.per_call_ns.map(|per_call_ns| CountingCost {
                per_call_ns,
                together_ns: per_call_ns * calls,
                method: "a call of its own, timed before and while it was counted".into(),
            }),
        })
    }

    /// The tasks that run now, with what they have used since they are watched.
    fn running(&mut self) -> io::Result<Vec<(Task, Option<Usage>)>> {
        let own = std::process::id();
        let mut tasks = match &mut self.counting {
            Some(counting) => counting.running()?,
            None => Vec::new(),
        };
        tasks.retain(|task| task.process != own);
        let known: HashSet<u32> = tasks.iter().map(|task| task.thread).collect();
        // A thread that asked for nothing may have used something.
        for (process, thread) in self.threads().into_iter().filter(|(_, thread)| !known.contains(thread)) {
            tasks.push(Task { process, thread, name: usage::name(process, thread), ..Task::default() });
        }
        let used = |task: Task| {
            let now = usage::of_thread(task.process, task.thread);
            let before = self.before.get(&task.thread).copied().unwrap_or_default();
            (task, now.map(|now| now.since(&before)))
        };
        let idle = |(task, usage): &(Task, Option<Usage>)| task.id == 0 && usage.is_none_or(|usage| usage.is_nothing());
        Ok(tasks.into_iter().map(used).filter(|task| !idle(task)).collect())
    }

    fn losses(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        let mut lose = |count: u64, what: &str| {
            if count > 0 {
                losses.push(Loss { what: what.into(), count: Some(count) });
            }
        };
        if let Some(counting) = &self.counting {
            let Losses { together, tasks, events } = counting.losses();
            lose(together, "tasks were counted together, because all records were in use");
            lose(tasks, "tasks were not counted, because the kernel had no room for them");
            lose(events, "pairs, errors and signals were not counted, because the kernel had no room for them");
        }
        match &self.exits {
            Some(exits) if exits.lost => {
                let what = "tasks ended too fast for their processor time and faults to be told by process";
                losses.push(Loss { what: what.into(), count: None });
            }
            _ => {}
        }
        losses
    }

    /// Ends the watching and returns what was counted.
    ///
    /// # Errors
    /// The kernel's refusal of something that it allowed before.
    pub fn finish(mut self) -> Result<Observation, ObserveError> {
        if let Some(counting) = &mut self.counting {
            counting.detach();
        }
        self.look()
    }
}

/// The target in words.
fn what(target: &Target) -> String {
    match target {
        Target::Command(words) => {
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        }
        Target::Process(process) => format!("process {process}"),
        Target::Cgroup(path) => format!("cgroup {}", path.display()),
        Target::System => "the whole system".into(),
    }
}

/// True if a process is gone, or is kept only for its creator to see.
fn ended(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X'])))
}

/// False for the kernel's own threads, which have no command line.
fn is_a_program(process: u32) -> bool {
    fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty())
}

/// The tasks of the system, from the fourth field of /proc/loadavg.
fn tasks_of_the_system() -> usize {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = text.split_whitespace().nth(3).and_then(|field| field.split_once('/'));
    tasks.and_then(|(_, all)| all.parse().ok()).unwrap_or(1000)
}

/// Why programs cannot be loaded, and what to do.
fn refusal(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "this process may not load programs into the kernel; run it as root, or with CAP_BPF and CAP_PERFMON".into()
        }
        Some(libc::ENOSYS) => "this kernel has no bpf(2)".into(),
        _ => format!("the kernel does not take the programs: {error}"),
    }
}
