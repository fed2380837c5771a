//! How watching begins: the ways of counting are tried, the best first, until one is possible.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::time::Instant;

use record::PassedOver;

use super::members::Members;
use super::{Observer, ended};
use crate::bpf::{Counting, Whom, run_here};
use crate::calibrate::{can_follow, counted_calls, followed_calls};
use crate::call_names::CallNames;
use crate::cgroup::Cgroup;
use crate::command::{self, Running};
use crate::counter::Counter;
use crate::exits::Exits;
use crate::fold::Fold;
use crate::inherited::Inherited;
use crate::target::{Calibrate, ObserveError, Options, Source, Target};
use crate::traced::{Tracer, process_of};
use crate::usage::Split;

/// Records that are free for a command and what it starts until those that ended are read; each takes 23 KB. More come when these are
/// not enough.
const FEW: usize = 512;
/// The same for a whole system, beyond one for each eight tasks that it has.
const MORE: usize = 256;

/// Why watching does not begin in one way.
enum Hindrance {
    /// This way is not possible: the reason.
    Impossible(String),
    /// No way is.
    Wrong(ObserveError),
}

impl Observer {
    /// Begins to watch. Fails if the target does not exist or cannot be started, or the way of counting that was requested is not possible.
    pub fn start(target: Target, options: &Options) -> Result<Observer, ObserveError> {
        let cgroup = if let Target::Cgroup(path) = &target { Some(Cgroup::open(path)?) } else { None };
        if let Target::Process(process) = &target {
            match fs::exists(format!("/proc/{process}")) {
                Ok(true) if ended(*process) => return Err(ObserveError::Ended(*process)),
                Ok(true) => {}
                _ => return Err(ObserveError::NoProcess(*process)),
            }
            if let Some(of) = process_of(*process).filter(|of| of != process) {
                return Err(ObserveError::OfProcess { thread: *process, process: of });
            }
        }
        let mut observer = Observer {
            what: what(&target),
            target,
            cgroup,
            members: Members::default(),
            source: Source::Accounts,
            passed_over: Vec::new(),
            counter: None,
            command: None,
            inherited: Inherited::change(),
            exits: Exits::new().ok(),
            unknown_ends: 0,
            uncharged_ends: 0,
            fold: Fold::default(),
            names: CallNames::new(options.detail),
            before: HashMap::new(),
            account: None,
            begun: Instant::now(),
            added: None,
            accounting: system::machine::accounting(),
            split: Split::default(),
            stacks: options.stacks.then(Box::default),
        };
        for source in Source::ALL.into_iter().filter(|source| options.source.is_none_or(|only| only == *source)) {
            match observer.begin(source, options) {
                Ok(()) => break,
                Err(Hindrance::Wrong(error)) => return Err(error),
                Err(Hindrance::Impossible(why)) if options.source.is_some() => {
                    return Err(ObserveError::Refused { with: source, why });
                }
                Err(Hindrance::Impossible(reason)) => {
                    observer.passed_over.push(PassedOver { source: source.word().into(), reason });
                }
            }
        }
        Ok(observer)
    }

    fn begin(&mut self, source: Source, options: &Options) -> Result<(), Hindrance> {
        match source {
            Source::Bpf => self.load(options).map_err(|error| Hindrance::Impossible(refusal(&error)))?,
            Source::Ptrace => self.attach(options).map_err(Hindrance::Impossible)?,
            Source::Accounts => {}
        }
        self.source = source;
        self.note_earlier_usage();
        self.begun = Instant::now();
        self.start_command(options)
    }

    fn load(&mut self, options: &Options) -> io::Result<()> {
        let own = std::process::id();
        let (whom, records) = match (&self.target, &self.cgroup) {
            (Target::Command(_), _) => (Whom::Announced, FEW),
            (Target::System, _) => (Whom::AllBut(own), MORE + tasks_of_the_system() / 8),
            (_, Some(Cgroup { id: Some((id, depth)), .. })) => (Whom::Cgroup { id: *id, depth: *depth }, FEW),
            (Target::Cgroup(_), _) => (Whom::Wanted { joined_later: true }, FEW),
            (Target::Process(_), _) => (Whom::Wanted { joined_later: false }, FEW),
        };
        // It also shows that a task can be announced, before the command is one.
        let added = match &options.calibrate {
            Calibrate::Not => None,
            Calibrate::Before => Some(counted_calls(whom, options)?),
            Calibrate::Known(calibration) => Some((*calibration.0).clone()),
        };
        let (counting, programs) = Counting::new(whom, records, options)?;
        let mut counter = Counter::Bpf(Box::new(counting));
        // Before anything is attached: a task that is not wanted then is never looked at again.
        self.want(&counter, &self.members_now())?;
        if let Counter::Bpf(counting) = &mut counter {
            counting.attach(programs)?;
        }
        if let Some(added) = &added {
            (self.names.entry_ns, self.names.fault_entry_ns) = (added.entry_ns, added.fault_entry_ns);
            self.accounting.call_return_ns = added.call_return_ns;
            self.accounting.fault_return_ns = added.fault_return_ns;
        }
        self.added = added;
        self.counter = Some(counter);
        Ok(())
    }

    /// Follows a process; for a command, sees whether that is possible.
    fn attach(&mut self, options: &Options) -> Result<(), String> {
        if matches!(self.target, Target::Cgroup(_) | Target::System) {
            return Err("it follows a command or a process, not a cgroup or the system".into());
        }
        let added = match &options.calibrate {
            Calibrate::Not => can_follow(options.detail).map(|()| None)?,
            Calibrate::Before => Some(followed_calls(options.detail)?),
            Calibrate::Known(calibration) => Some((*calibration.0).clone()),
        };
        if let Target::Process(process) = self.target {
            self.counter = Some(Counter::Traced(Tracer::attach(process, options.detail)?));
        }
        self.added = added;
        Ok(())
    }

    fn start_command(&mut self, options: &Options) -> Result<(), Hindrance> {
        let Target::Command(words) = &self.target else { return Ok(()) };
        let command = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let wrong = |why: io::Error| Hindrance::Wrong(ObserveError::Start { command: command.clone(), why });
        let running: Running = match (self.source, &self.counter) {
            (Source::Ptrace, _) => {
                let (awaited, announce) = Tracer::await_command(options.detail).map_err(Hindrance::Impossible)?;
                let running = command::start(words, self.inherited.clone(), announce);
                let tracer = awaited.started();
                // Without its tracer, the command was not started.
                self.counter = Some(Counter::Traced(tracer.map_err(Hindrance::Impossible)?));
                running.map_err(wrong)?
            }
            (_, Some(Counter::Bpf(counting))) => {
                let program = counting.announce();
                command::start(words, self.inherited.clone(), move || run_here(program)).map_err(wrong)?
            }
            _ => command::start(words, self.inherited.clone(), || Ok(())).map_err(wrong)?,
        };
        self.command = Some(running);
        Ok(())
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
            let remedy = system::machine::remedy_of_refusal();
            format!("this process may not load programs into the kernel; {remedy}, or give it CAP_BPF and CAP_PERFMON")
        }
        Some(libc::ENOSYS) => "this kernel has no bpf(2)".into(),
        _ => format!("the kernel does not take the programs: {error}"),
    }
}
