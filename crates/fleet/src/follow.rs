//! Follows a fleet: submits what is missing, looks at the jobs, gathers, and decides what became of each attempt.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use record::units::counted;
use store::Store;

use crate::error::FleetError;
use crate::folder::{Folder, remove_shared};
use crate::gather::{collect, left};
use crate::scheduler::{Refusing, Scheduler, Seen, Sight, Task};
use crate::state::{Attempt, Fleet, Means, Stage};
use crate::verdict::{Facts, Mark, Verdict, decide};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An attempt ended on this node.
    Ended { node: String, stage: Stage, reason: String },
    /// Something that the user should know, which ends nothing.
    Note(String),
}

pub struct Follower<'a> {
    folder: &'a Folder,
    scheduler: Box<dyn Scheduler>,
    /// Where the runs are kept besides the folder of documents.
    store: Option<Store>,
    /// How long files may take to appear after their job has ended: a file system of a network shows them late.
    patience: Duration,
    marks: BTreeMap<usize, Mark>,
    last_trouble: String,
}

impl<'a> Follower<'a> {
    /// Prepares to follow this fleet, looking at intervals of `every`. Fails if what reaches the nodes cannot be prepared.
    pub fn new(fleet: &Fleet, folder: &'a Folder, every: Duration) -> Result<Follower<'a>, FleetError> {
        const LOOKS: u32 = 12;
        // Clients of NFS show a new file after a minute, however often they are asked.
        const LEAST: Duration = Duration::from_secs(60);
        let scheduler: Box<dyn Scheduler> = match &fleet.means {
            Means::Slurm(options) => Box::new(crate::slurm::Slurm {
                script: crate::script::script(folder, fleet)?,
                options: options.clone(),
            }),
            Means::Ssh => Box::new(crate::ssh::Ssh::new()?),
        };
        let patience = (every * LOOKS).max(LEAST);
        let (marks, last_trouble) = (BTreeMap::new(), String::new());
        Ok(Follower { folder, scheduler, store: None, patience, marks, last_trouble })
    }

    /// Also keeps every gathered run in this store.
    pub fn keep_in(&mut self, store: Store) {
        self.store = Some(store);
    }

    /// Begins an attempt on every node that lacks a document and has none open. Stops early if `go_on` requires it. Adds what happened to
    /// the events, also if it fails: if there is no scheduler, or the state cannot be written. Returns the number of jobs submitted.
    pub fn submit(
        &mut self,
        fleet: &mut Fleet,
        go_on: &mut dyn FnMut(usize) -> bool,
        events: &mut Vec<Event>,
    ) -> Result<usize, FleetError> {
        let refusing = self.scheduler.refusing()?;
        self.find_sent(fleet)?;
        for place in fleet.unfinished() {
            self.take_in(fleet, place, events)?;
            let node = &mut fleet.nodes[place];
            let missing = node.missing(&fleet.plan);
            if missing.is_empty() {
                // Its documents arrived after its last attempt was given up.
                if let Some(late) = node.attempts.last_mut() {
                    (late.stage, late.reason) = (Stage::Done, String::new());
                }
                continue;
            }
            let reason = refusing.get(&node.name).cloned().unwrap_or_default();
            let stage = if reason.is_empty() { Stage::Submitting } else { Stage::Refused };
            if stage == Stage::Refused {
                events.push(Event::Ended { node: node.name.clone(), stage, reason: reason.clone() });
            }
            let number = node.attempts.len() as u32 + 1;
            let submitted = format!("{:.0}", Timestamp::now());
            node.attempts.push(Attempt { number, job: None, submitted, repetitions: missing, stage, reason });
            self.marks.remove(&place);
        }
        self.folder.write(fleet)?;
        let count = self.send(fleet, go_on, events)?;
        self.folder.write(fleet)?;
        Ok(count)
    }

    /// Finds the jobs of attempts that were submitted without an answer, or before this program was killed.
    fn find_sent(&self, fleet: &mut Fleet) -> Result<(), FleetError> {
        let unsent = unsent(fleet);
        let seen = if unsent.is_empty() { BTreeMap::new() } else { self.scheduler.look(fleet, &unsent)? };
        for task in unsent {
            // A host that does not answer is no job.
            let job = seen.get(&task.place).map(|seen| seen.job.clone()).filter(|job| !job.is_empty());
            let has_begun = left(&fleet.shared, &task.name).started;
            if let Some(attempt) = fleet.nodes[task.place].open_mut().filter(|_| job.is_some() || has_begun) {
                (attempt.stage, attempt.job) = (Stage::Waiting, job);
            }
        }
        Ok(())
    }

    fn send(
        &self,
        fleet: &mut Fleet,
        go_on: &mut dyn FnMut(usize) -> bool,
        events: &mut Vec<Event>,
    ) -> Result<usize, FleetError> {
        const SAVE: Duration = Duration::from_secs(1);
        let fixed = fleet.clone();
        let tasks = unsent(&fixed);
        let (mut reported, mut sent) = (BTreeSet::new(), 0);
        let mut saved = Instant::now();
        let mut note = |task: &Task, result: Result<Option<String>, String>| {
            reported.insert(task.place);
            let node = fleet.nodes[task.place].name.clone();
            let Some(attempt) = fleet.nodes[task.place].open_mut() else { return ControlFlow::Continue(()) };
            match result {
                Ok(job) => {
                    sent += 1;
                    attempt.stage = if job.is_some() { Stage::Waiting } else { Stage::Submitting };
                    attempt.job = job;
                }
                Err(reason) => {
                    (attempt.stage, attempt.reason) = (Stage::Refused, reason.clone());
                    events.push(Event::Ended { node, stage: Stage::Refused, reason });
                }
            }
            if saved.elapsed() > SAVE {
                saved = Instant::now();
                // Saved again at the end. Jobs that are not noted are found by their names.
                let _ = self.folder.write(fleet);
            }
            if go_on(sent) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let result = self.scheduler.submit(&fixed, &tasks, &mut note);
        for task in tasks.iter().filter(|task| !reported.contains(&task.place)) {
            fleet.nodes[task.place].attempts.pop();
        }
        if result.is_err() {
            self.folder.write(fleet)?;
        }
        result.map(|()| sent)
    }

    /// Looks at the open attempts once, gathers what arrived, and writes the state. Adds what happened to the events, also if it fails:
    /// if a document or the state cannot be written here. Trouble with the scheduler is an event.
    pub fn step(&mut self, fleet: &mut Fleet, events: &mut Vec<Event>) -> Result<(), FleetError> {
        let before = fleet.clone();
        let tasks = tasks(fleet);
        let (seen, refusing) = match self.look(fleet, &tasks) {
            Ok(found) => found,
            Err(error) => {
                let text = error.to_string();
                if text != self.last_trouble {
                    events.push(Event::Note(format!("{text}; asking again")));
                }
                self.last_trouble = text;
                return Ok(());
            }
        };
        self.last_trouble.clear();
        let (mut cancel, mut unwritten) = (Vec::new(), Ok(()));
        for task in tasks {
            let damaged = match self.take_in(fleet, task.place, events) {
                Ok(damaged) => damaged,
                // What was decided so far is carried out and written all the same.
                Err(error) => {
                    unwritten = Err(error);
                    break;
                }
            };
            let facts = Facts {
                sight: seen.get(&task.place).map(|seen| &seen.sight),
                refusing: refusing.get(&task.node).map(String::as_str),
                left: left(&fleet.shared, &task.name),
                complete: fleet.nodes[task.place].missing(&fleet.plan).is_empty(),
                damaged: damaged.first().map(String::as_str),
                limit_s: fleet.plan.job_limit_s(task.repetitions.len()),
                has_job: task.job.is_some(),
                shared: &fleet.shared,
                patience: self.patience,
            };
            let verdict = decide(&facts, self.marks.entry(task.place).or_default());
            let node = &mut fleet.nodes[task.place];
            let Some(attempt) = node.attempts.last_mut() else { continue };
            // A host that does not answer is no job.
            if let Some(seen) = seen.get(&task.place).filter(|seen| !seen.job.is_empty()) {
                attempt.job = Some(seen.job.clone());
            }
            match verdict {
                Verdict::Still(stage, reason) => (attempt.stage, attempt.reason) = (stage, reason),
                Verdict::Over { stage, reason, cancel: must_cancel } => {
                    (attempt.stage, attempt.reason) = (stage, reason.clone());
                    events.push(Event::Ended { node: node.name.clone(), stage, reason });
                    cancel.extend(must_cancel.then_some(task));
                }
            }
        }
        // Cancelling may take long, and this program may be killed meanwhile.
        let written = if *fleet == before { Ok(()) } else { self.folder.write(fleet) };
        let refused = self.scheduler.cancel(fleet, &cancel).into_iter().find_map(Result::err);
        events.extend(refused.map(Event::Note));
        written.and(unwritten)
    }

    /// What is seen of the tasks, by place, and the nodes that take no job.
    fn look(&self, fleet: &Fleet, tasks: &[Task]) -> Result<(BTreeMap<usize, Seen>, Refusing), FleetError> {
        let seen = self.scheduler.look(fleet, tasks)?;
        let is_running = |seen: &Seen| matches!(seen.sight, Sight::Running(_));
        let at_ease = |task: &Task| seen.get(&task.place).is_some_and(is_running);
        // Requested only if it can explain why a job does not run.
        let refusing = if tasks.iter().all(at_ease) { BTreeMap::new() } else { self.scheduler.refusing()? };
        Ok((seen, refusing))
    }

    /// Takes in and keeps what has arrived from a node. Returns what is wrong with documents that are damaged. Fails if one cannot be
    /// written here; what was taken in before stays known.
    fn take_in(&self, fleet: &mut Fleet, place: usize, events: &mut Vec<Event>) -> Result<Vec<String>, FleetError> {
        let mut runs = Vec::new();
        let damaged = collect(fleet, place, &mut runs);
        self.keep(&runs, events);
        if damaged.is_err() {
            self.folder.write(fleet)?;
        }
        damaged
    }

    fn keep(&self, runs: &[record::Run], events: &mut Vec<Event>) {
        let Some(store) = &self.store else { return };
        for run in runs {
            let warning = match store.keep(run) {
                Ok(kept) => kept.warning,
                Err(error) => Some(format!("the run {} is not kept in the store: {error}", run.id)),
            };
            events.extend(warning.map(Event::Note));
        }
    }

    /// Cancels all open attempts. Documents that have arrived are gathered before. Adds what happened to the events, also if it fails.
    /// Returns the nodes. Fails if one is not cancelled, after it has noted the others, or the state cannot be written.
    pub fn cancel(&mut self, fleet: &mut Fleet, events: &mut Vec<Event>) -> Result<Vec<String>, FleetError> {
        let tasks = tasks(fleet);
        let results = self.scheduler.cancel(fleet, &tasks);
        let (mut cancelled, mut refused, mut unwritten) = (Vec::new(), Vec::new(), Ok(()));
        for (task, result) in tasks.into_iter().zip(results) {
            // A job that is cancelled is noted even if a document cannot be written here.
            unwritten = unwritten.and(self.take_in(fleet, task.place, events).map(drop));
            let complete = fleet.nodes[task.place].missing(&fleet.plan).is_empty();
            let Some(attempt) = fleet.nodes[task.place].open_mut() else { continue };
            match result {
                _ if complete => attempt.stage = Stage::Done,
                Ok(()) => {
                    (attempt.stage, attempt.reason) = (Stage::Cancelled, "cancelled by `howslow fleet cancel`".into());
                    cancelled.push(task.node);
                }
                Err(why) => refused.push(why),
            }
        }
        self.folder.write(fleet)?;
        unwritten?;
        if refused.is_empty() {
            return Ok(cancelled);
        }
        refused.dedup();
        let nodes = counted(cancelled.len() as u64, "node");
        Err(FleetError::Trouble(format!("{}; cancelled on {nodes}, and not on the others", refused.join("; "))))
    }

    /// Removes what nodes no longer need, if every node is complete: the programs, and what attempts left. Returns what the user
    /// should know.
    pub fn clean(&self, fleet: &Fleet) -> Option<String> {
        if fleet.complete() < fleet.nodes.len() {
            return None;
        }
        self.scheduler.clean(fleet);
        remove_shared(fleet)
    }
}

/// The open attempts of which no job is known.
fn unsent(fleet: &Fleet) -> Vec<Task> {
    let is_submitting = |task: &Task| fleet.nodes[task.place].stage() == Some(Stage::Submitting);
    tasks(fleet).into_iter().filter(|task| task.job.is_none() && is_submitting(task)).collect()
}

/// The open attempts.
fn tasks(fleet: &Fleet) -> Vec<Task> {
    let task = |place: usize| {
        let node = &fleet.nodes[place];
        let attempt = node.open()?;
        Some(Task {
            place,
            node: node.name.clone(),
            name: fleet.prefix(place, attempt.number),
            repetitions: attempt.repetitions.clone(),
            job: attempt.job.clone(),
        })
    };
    (0..fleet.nodes.len()).filter_map(task).collect()
}

#[cfg(test)]
mod tests;
