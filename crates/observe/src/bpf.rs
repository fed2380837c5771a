//! Counting in the kernel: programs on raw tracepoints, assembled here. Needs the right to load them, and nothing else: no
//! compiler, no headers, no type information of the kernel.

mod builder;
mod by_object;
mod events;
mod instruction;
mod keys;
mod kinds;
mod layout;
mod links;
mod loaded;
mod logarithm;
mod maps;
mod modes;
mod names;
mod pages;
mod programs;
mod reader;
mod request;
mod returned;
mod sampled;
mod sampler;
mod search;
mod stacks;
mod sys;
mod timed;
mod types;
mod waits;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CStr;
use std::io;
use std::time::{Duration, Instant};

use crate::counts::Counts;
use crate::naming;
use crate::objects;
use crate::stacks::CallSample;
use crate::target::{Detail, Options};
use crate::task::Task;

use events::possible_cpus;
pub(crate) use loaded::Programs;
use loaded::{at, attach_if};
use maps::Maps;
pub(crate) use modes::ModeSamples;
use modes::Modes;
use request::Request;
use sampled::StackMaps;
use sampler::Sampler;
pub(crate) use search::Whom;
use sys::{Attachment, Program};
pub(crate) use sys::{keep_statistics, run_here};

/// How long a task that has ended is given to leave its CPU, which others may use.
const LAST_SWITCH: Duration = Duration::from_secs(1);

/// How many records are kept free at most, after bursts of new tasks: 90 MB.
const MOST_FREE: u64 = 4096;

/// What was lost, and what could be counted only together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    /// Tasks that were counted together with others, because no record was left.
    pub together: u64,
    /// Tasks that were not counted.
    pub tasks: u64,
    /// Keys beyond the tables of records that were not counted, and stacks.
    pub events: u64,
}

/// Programs that count, attached until this is dropped or this process ends.
#[derive(Debug)]
pub(crate) struct Counting {
    attached: Vec<Attachment>,
    announce: Program,
    sampler: Option<Sampler>,
    modes: Option<Modes>,
    maps: Maps,
    /// Records whose task ended while those that run were looked for.
    late: Vec<u32>,
    /// The id and the thread of each record that was read, as long as it is in use.
    read: HashMap<u32, (u64, u32)>,
    /// True if times off the CPU are noted.
    waits: bool,
    /// How many records are kept free for tasks to come.
    reserve: u64,
    whom: Whom,
    /// Tasks for which no record was left when that was last looked at.
    refused: u64,
    /// True if some of them may still have none.
    some_share: bool,
}

impl Counting {
    /// Loads the programs, with this many free records. Nothing is counted before [`Counting::attach`].
    /// Fails if this process may not do so, or the kernel cannot.
    pub(crate) fn new(whom: Whom, records: usize, options: &Options) -> io::Result<(Counting, Programs)> {
        let (cpus, detail) = (possible_cpus(), options.detail);
        let mut maps = Maps::new(records, cpus, whom.spilled_keys())?;
        if options.stacks && detail == Detail::All {
            maps.stacks = Some(StackMaps::new(cpus)?);
        }
        maps.classes.set(&0_u32.to_ne_bytes(), &[naming::classes(), objects::places()].concat())?;
        let announce = Program::load("announce", &programs::announce(&maps))?;
        let programs = Programs::load(&maps, whom, detail)?;
        let counting = Counting {
            attached: Vec::new(),
            sampler: None,
            modes: None,
            announce,
            maps,
            late: Vec::new(),
            read: HashMap::new(),
            waits: false,
            reserve: records as u64,
            whom,
            refused: 0,
            some_share: false,
        };
        Ok((counting, programs))
    }

    /// Begins to count. Fails if the kernel lacks a tracepoint that is needed.
    pub(crate) fn attach(&mut self, mut programs: Programs) -> io::Result<()> {
        // A task's end comes first, so that no record is held by a task that is gone.
        let switched = attach_if(programs.switched.as_ref(), c"sched_switch");
        self.waits = switched.is_some();
        self.attached.extend(switched);
        match self.waits {
            true => self.attached.push(at(&programs.ending, Programs::END)?),
            false => self.attach_end(&programs)?,
        }
        let needed: [(&Program, &CStr); 3] = [
            (&programs.created, c"sched_process_fork"),
            (&programs.executed, c"sched_process_exec"),
            (&programs.signalled, c"signal_deliver"),
        ];
        for (program, tracepoint) in needed {
            self.attached.push(at(program, tracepoint)?);
        }
        // Without this one, threads of the kernel's that work for a program are not counted with it.
        self.attached.extend(attach_if(Some(&programs.helped), c"sched_wakeup_new"));
        // Without these, no wake-ups and no waits are reported, and the rest is counted.
        self.attached.extend(attach_if(programs.waking.as_ref(), c"sched_waking"));
        self.attached.extend(attach_if(programs.allocated.as_ref(), c"mm_page_alloc"));
        // Without times off the CPU, a sample would take waiting for work.
        self.attached.extend(programs.attach_faults().filter(|_| self.waits).into_iter().flatten());
        self.attached.extend(attach_if(programs.went_on.as_ref().filter(|_| self.waits), c"rseq_update"));
        // A command may be short; what is watched for longer has enough of the kernel's ticks.
        self.modes = (self.whom == Whom::Announced).then(|| Modes::start(&self.maps)).flatten();
        self.sampler = programs.sampling.take().filter(|_| self.waits).and_then(Sampler::start);
        // Without these, no requests to an io_uring are reported.
        self.attached
            .extend(Request::TRACEPOINTS.iter().find_map(|tracepoint| programs.requested.attach(tracepoint).ok()));
        // Last, so that it goes first: no call is counted after the time and the charge were read.
        self.attached.push(at(&programs.called, programs.at_call)?);
        Ok(())
    }

    /// Notes the ends of tasks alone, and gives their records back. Fails if the kernel lacks the tracepoint.
    pub(crate) fn attach_end(&mut self, programs: &Programs) -> io::Result<()> {
        self.attached.push(at(&programs.ended, Programs::END)?);
        Ok(())
    }

    /// Samples few of the next calls and page faults, as after the first ones of each number.
    pub(crate) fn sample_few(&self) -> io::Result<()> {
        self.maps.set_sampled(layout::SAMPLED_FIRST as u32)
    }

    /// When the next window in which calls are sampled begins or ends.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.sampler.as_ref().map(Sampler::due)
    }

    /// The part of the time in which calls were sampled.
    pub(crate) fn sampled_share(&self) -> f64 {
        self.sampler.as_ref().map_or(0.0, Sampler::share)
    }

    /// The program that a new task runs by [`run_here`] to be watched once it executes a program.
    pub(crate) fn announce(&self) -> i32 {
        self.announce.descriptor()
    }

    /// Watches this process from its next call. Fails if too many are watched.
    pub(crate) fn want(&self, process: u32) -> io::Result<()> {
        self.maps.wanted.set(&process.to_ne_bytes(), &0_u32.to_ne_bytes())
    }

    /// The tasks that ended since the last call, without what they have beyond the tables of their records.
    pub(crate) fn ended(&mut self) -> io::Result<Vec<Task>> {
        let mut tasks = Vec::new();
        self.late.extend(self.maps.take_ended());
        for slot in std::mem::take(&mut self.late) {
            tasks.push(reader::task(&self.maps.record(slot)?));
            self.read.remove(&slot);
            self.maps.recycle(slot)?;
        }
        self.replenish();
        if let Some(sampler) = &mut self.sampler {
            sampler.schedule(&self.maps);
        }
        if let Some(modes) = &mut self.modes {
            modes.schedule();
        }
        Ok(tasks)
    }

    /// Keeps records free. Tasks that found none come to their own now, where each call checks whether its task is to be watched.
    fn replenish(&mut self) {
        let refused = self.maps.noted(layout::lost::RECORDS);
        let lacking = refused - self.refused;
        self.reserve = (self.reserve + lacking).min(MOST_FREE.max(self.reserve));
        let free = self.maps.replenish(self.reserve);
        self.some_share |= lacking > 0;
        // One that was refused again would be lost twice.
        if self.some_share && free > 0 {
            self.some_share = self.maps.forget_shared(self.whom.readmits(), free) == free;
        }
        self.refused = refused;
    }

    /// True if the kernel reports what descriptors stand for.
    pub(crate) fn knows_objects(&self) -> bool {
        self.maps.types.is_some()
    }

    /// The sampled calls whose stacks were noted since the last call.
    pub(crate) fn stacks(&self) -> Vec<CallSample> {
        self.maps.stacks.iter().flat_map(StackMaps::take).collect()
    }

    /// Adds to ended tasks what they have beyond the tables of their records, and forgets it.
    pub(crate) fn add_spilled(&mut self, ended: &mut [Task]) {
        let mut ended: HashMap<u64, &mut Task> = ended.iter_mut().map(|task| (task.id, task)).collect();
        if ended.is_empty() {
            return;
        }
        // What belongs to tasks that still run stays, because they add to it.
        for key in self.maps.spilled.keys() {
            if let Some(task) = ended.get_mut(&reader::number(&key, 0)) {
                let count = self.maps.spilled.get(&key).map_or(0, |value| reader::number(&value, 0));
                reader::add_key(&mut task.counts, reader::number(&key, 8), count);
                let _ = self.maps.spilled.remove(&key);
            }
        }
    }

    /// The tasks that still run, and what was counted for several together, as it is now.
    pub(crate) fn running(&mut self) -> io::Result<Vec<Task>> {
        Ok(self.running_but(|_| false)?.0)
    }

    /// The same without the threads that are known to have been idle since the last call, and the ids of those.
    pub(crate) fn running_but(&mut self, idle: impl Fn(u32) -> bool) -> io::Result<(Vec<Task>, HashSet<u64>)> {
        // A key that goes while the keys are read makes the kernel begin again.
        let mut slots: BTreeSet<u32> = self.maps.slots().map(|(_, slot)| slot).collect();
        // A task that ends from now on is in the one or in the other.
        self.late.extend(self.maps.take_ended());
        slots.extend(&self.late);
        slots.extend(0..self.maps.shared);
        let (mut tasks, mut others) = (Vec::new(), HashSet::new());
        for slot in slots {
            if let Some((id, _)) = self.read.get(&slot).filter(|(_, thread)| idle(*thread)) {
                others.insert(*id);
                continue;
            }
            let task = reader::task(&self.maps.record(slot)?);
            if slot >= self.maps.shared {
                self.read.insert(slot, (task.id, task.thread));
            }
            // One that has only been created has no number yet.
            if (slot >= self.maps.shared && task.thread > 0) || task.counts != Counts::default() {
                tasks.push(task);
            }
        }
        let places: HashMap<u64, usize> = tasks.iter().enumerate().map(|(place, task)| (task.id, place)).collect();
        for key in self.maps.spilled.keys() {
            let place = places.get(&reader::number(&key, 0));
            if let (Some(place), Ok(count)) = (place, self.maps.spilled.get(&key)) {
                reader::add_key(&mut tasks[*place].counts, reader::number(&key, 8), reader::number(&count, 0));
            }
        }
        Ok((tasks, others))
    }

    /// Stops counting. What was counted can still be read. If asked to, waits for tasks that ended a moment ago to leave their CPUs: only
    /// then do the programs know for how long they ran.
    pub(crate) fn detach(&mut self, waits_for_ends: bool) {
        if let Some(sampler) = &mut self.sampler {
            sampler.stop();
        }
        self.modes = None;
        // The ends of tasks and their last switches go last, as they came first: each program takes some time to go, and with their ends
        // unseen, tasks that are gone would be given the calls of those that have their addresses now.
        let last = if self.waits { 2 } else { 1 };
        while self.attached.len() > last {
            self.attached.pop();
        }
        let begun = Instant::now();
        let mut ending = if waits_for_ends && self.waits { self.ending() } else { Vec::new() };
        while !ending.is_empty() && begun.elapsed() < LAST_SWITCH {
            std::thread::sleep(Duration::from_millis(1));
            ending.retain(|(key, _)| self.maps.tasks.get(key).is_ok());
        }
        while self.attached.pop().is_some() {}
        for (key, slot) in self.ending() {
            if self.maps.tasks.remove(&key).is_ok() {
                let _ = self.maps.ended.push(&slot.to_ne_bytes());
            }
        }
    }

    /// The keys of tasks that have ended and not left their CPUs, with the numbers of their records.
    fn ending(&self) -> Vec<(Vec<u8>, u32)> {
        let has_ended = |slot| self.maps.record(slot).is_ok_and(|record| reader::number(&record, layout::END) > 0);
        self.maps.slots().filter(|(_, slot)| has_ended(*slot)).collect()
    }

    /// What was lost until now.
    pub(crate) fn losses(&self) -> Losses {
        Losses {
            together: self.maps.noted(layout::lost::RECORDS),
            tasks: self.maps.noted(layout::lost::TASKS),
            events: self.maps.noted(layout::lost::EVENTS),
        }
    }
}

/// True if calls take longer now because this process is traced, or because a program in the kernel runs at each call of the
/// system. The latter is known to root alone.
pub fn are_calls_traced() -> bool {
    let own = std::process::id();
    crate::traced::tracer_of(own).is_some() || links::is_any_used(&[c"sys_enter", c"sys_exit"])
}

#[cfg(test)]
mod tests;
