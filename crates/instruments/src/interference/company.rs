//! All workers of one pass: their posts, their folders, and what the one that gives work says to them.

use std::path::Path;
use std::time::{Duration, Instant};

use system::guard::{Crew, Post};

use crate::interference::error::InterferenceError;
use crate::interference::worker::{READY, Task, slot, work};

/// Workers that were started together.
pub(crate) struct Company {
    crew: Crew,
    pub tasks: Vec<Task>,
    /// The latest command to each.
    sent: Vec<u32>,
}

/// A stretch as it is requested.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// How long it is at least.
    pub length: Duration,
    /// How long the victim works before.
    pub before: Duration,
    /// If the victim shares its CPU: how long it waits at either end for the end of a turn of the other work.
    pub turn: Duration,
}

/// What a victim's stretch took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VictimCost {
    /// Elapsed ns per operation.
    pub elapsed: f64,
    /// Processor time in ns per operation; `None` if the kernel's accounts are too coarse for so little.
    pub cpu: Option<f64>,
}

/// How long setting up, a stretch or a stop may take beyond what it should.
const PATIENCE: Duration = Duration::from_secs(20);

impl Company {
    /// Starts a worker for each task and waits until all of them are ready or have ended. `scratch` is removed if this
    /// process is gone before it can do so.
    /// Forks: call it while the process has one thread.
    pub fn start(tasks: Vec<Task>, scratch: &Path) -> Result<Company, InterferenceError> {
        let gone = || {
            let _ = std::fs::remove_dir_all(scratch);
        };
        let crew = Crew::start(tasks.len(), |number, post| work(&tasks[number], post), gone)
            .map_err(|lost| InterferenceError::Start(lost.to_string()))?;
        let sent = vec![0; tasks.len()];
        let company = Company { crew, tasks, sent };
        let began = Instant::now();
        for number in 0..company.tasks.len() {
            let ready = company.answered(number, began + PATIENCE, |answer| answer == READY);
            if !ready && company.crew.ended(number).is_none() {
                let kind = company.tasks[number].kind.name;
                return Err(InterferenceError::Start(format!("{kind} was not ready within {PATIENCE:?}")));
            }
        }
        Ok(company)
    }

    fn post(&self, number: usize) -> &Post {
        self.crew.post(number)
    }

    /// Why a worker's work is impossible here, if it has ended for that reason.
    pub fn impossible(&self, number: usize) -> Option<String> {
        self.crew.ended(number).filter(|_| self.post(number).number(slot::SKIPPED) == 1.0)
    }

    /// Checks that a worker lives. Fails if it has ended, whatever the reason.
    pub fn check(&self, number: usize) -> Result<(), InterferenceError> {
        let kind = || self.tasks[number].kind.name.to_string();
        match self.crew.ended(number) {
            None => Ok(()),
            Some(reason) if self.post(number).number(slot::SKIPPED) == 1.0 => {
                Err(InterferenceError::Impossible { kind: kind(), reason })
            }
            Some(why) => Err(InterferenceError::Died { kind: kind(), why }),
        }
    }

    /// Waits until a worker's answer is as wanted, it has ended, or time is up. Returns whether it answered so.
    fn answered(&self, number: usize, until: Instant, wanted: impl Fn(u32) -> bool) -> bool {
        let post = self.post(number);
        loop {
            let answer = post.answer();
            if wanted(answer) {
                return true;
            }
            if Instant::now() > until || self.crew.ended(number).is_some() {
                return false;
            }
            post.wait_for_answer(answer, Duration::from_millis(50));
        }
    }

    /// Gives a worker its next command and waits for its answer to it.
    fn command(&mut self, number: usize, command: u32, patience: Duration) -> Result<(), InterferenceError> {
        self.sent[number] = command;
        self.post(number).send(command);
        if self.answered(number, Instant::now() + patience, |answer| answer == command) {
            return Ok(());
        }
        self.check(number)?;
        let kind = self.tasks[number].kind.name.to_string();
        Err(InterferenceError::Died { kind, why: format!("it did not answer within {patience:?}") })
    }

    /// Lets a load work for this share of the time. Returns when it has done its first batch.
    pub fn begin(&mut self, number: usize, dose: f64) -> Result<(), InterferenceError> {
        self.post(number).put(slot::WANTED, dose);
        let next = (self.sent[number] / 2 + 1) * 2;
        self.command(number, next, PATIENCE)
    }

    /// Stops a load. Returns when it has stopped.
    pub fn stop(&mut self, number: usize) -> Result<(), InterferenceError> {
        let next = self.sent[number] + 1;
        self.command(number, next, PATIENCE)
    }

    /// Lets a victim work for a stretch of time. Returns what the stretch took.
    pub fn stretch(&mut self, number: usize, wanted: Wanted) -> Result<VictimCost, InterferenceError> {
        /// The kernel keeps its accounts in microseconds: of so much time, one is half a percent.
        const LEAST: f64 = 200e3;
        let Wanted { length, before, turn } = wanted;
        for (place, time) in [(slot::WANTED, length), (slot::BEFORE, before), (slot::TURN, turn)] {
            self.post(number).put(place, time.as_nanos() as f64);
        }
        // A victim's commands follow its READY: any other number will do.
        let next = self.sent[number].max(READY) + 1;
        self.command(number, next, PATIENCE + length)?;
        let [elapsed, cpu, done] = [slot::ELAPSED, slot::CPU, slot::DONE].map(|place| self.post(number).number(place));
        Ok(VictimCost { elapsed: elapsed / done, cpu: (cpu >= LEAST).then_some(cpu / done) })
    }

    /// Operations that a load has done so far.
    pub fn done(&self, number: usize) -> f64 {
        self.post(number).number(slot::DONE)
    }

    /// Processor time in ns that a load has used since its process began; the first value is that of its set-up.
    pub fn cpu(&self, number: usize) -> f64 {
        self.post(number).number(slot::CPU)
    }
}
