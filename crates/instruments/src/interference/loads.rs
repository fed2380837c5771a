//! Loads beside any measurement: started before it, checked while it runs, counted at its end.

use std::path::Path;
use std::time::Instant;

use measure::Scratch;
use record::{Achieved, Beside};

use crate::interference::company::Company;
use crate::interference::error::InterferenceError;
use crate::interference::load::{Cpus, Load};
use crate::interference::worker::{Role, Task};

/// Loads that run until this value is finished or dropped.
pub struct Loads {
    company: Company,
    loads: Vec<Load>,
    cpu: u32,
    began: Instant,
    /// What each had done and used when it began.
    before: Vec<(f64, f64)>,
    /// Dropped after the workers, which use it.
    _scratch: Scratch,
}

impl Loads {
    /// Starts loads beside a victim on `cpus.victim`. Returns when all of them work.
    /// Forks: call it while the process has one thread. Fails if one of them cannot run here.
    pub fn start(loads: &[Load], cpus: &Cpus, scratch_root: &Path) -> Result<Loads, InterferenceError> {
        let scratch = Scratch::make(scratch_root)?;
        let places = spread(loads, cpus)?;
        let tasks = loads.iter().zip(&places).enumerate();
        let tasks = tasks.map(|(number, (load, &cpu))| Task {
            kind: load.kind,
            role: Role::Load,
            cpu,
            folder: scratch.path().join(format!("load-{number}")),
            seed: number as u64,
        });
        let mut company = Company::start(tasks.collect(), scratch.path())?;
        for (number, load) in loads.iter().enumerate() {
            company.check(number)?;
            company.begin(number, load.dose)?;
        }
        let before = (0..loads.len()).map(|number| (company.done(number), company.cpu(number))).collect();
        Ok(Loads { company, loads: loads.to_vec(), cpu: cpus.victim, began: Instant::now(), before, _scratch: scratch })
    }

    /// What a run's document says of them.
    pub fn described(&self) -> Vec<Beside> {
        self.loads.iter().map(|load| load.described(self.cpu)).collect()
    }

    /// Checks that all of them live. Fails if one has ended.
    pub fn check(&self) -> Result<(), InterferenceError> {
        (0..self.loads.len()).try_for_each(|number| self.company.check(number))
    }

    /// Stops them, and returns what they did. Fails if one has ended before, or has done nothing.
    pub fn finish(mut self) -> Result<Vec<Achieved>, InterferenceError> {
        let seconds = self.began.elapsed().as_secs_f64();
        let mut achieved = Vec::new();
        for (number, load) in self.loads.iter().enumerate() {
            self.company.check(number)?;
            self.company.stop(number)?;
            let (done, cpu) = self.before[number];
            let done = self.company.done(number) - done;
            if done <= 0.0 {
                return Err(InterferenceError::Idle { kind: load.kind.name.into(), seconds });
            }
            achieved.push(Achieved {
                kind: load.kind.name.into(),
                per_second: done / seconds,
                cpu: (self.company.cpu(number) - cpu) / 1e9 / seconds,
            });
        }
        Ok(achieved)
    }
}

/// The CPU of each load. Several at one place use its CPUs in turn.
pub(crate) fn spread(loads: &[Load], cpus: &Cpus) -> Result<Vec<u32>, InterferenceError> {
    let place = |(number, load): (usize, &Load)| {
        let before = loads[..number].iter().filter(|other| other.place == load.place).count();
        let found = cpus.at(load.place)?;
        Ok(found[before % found.len()])
    };
    loads.iter().enumerate().map(place).collect()
}
