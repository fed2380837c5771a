//! Measurements, each in a guarded process of its own.

use std::path::Path;
use std::time::{Duration, Instant};

use analysis::terminal::pseudo::Missing;
use measure::{Progress, Scratch};
use operation::{Failure, Setting};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is to be measured, and with what.
pub struct Request<'a> {
    /// The time that it may take.
    pub budget: Duration,
    /// The CPU that everything runs on.
    pub cpu: u32,
    /// Another one, for an emulator that has its own.
    pub other_cpu: Option<u32>,
    /// The folder for scratch files.
    pub scratch_root: &'a Path,
}

/// The measurements, one after the other.
pub(super) struct Cells<'a> {
    pub request: &'a Request<'a>,
    pub scratch: &'a Scratch,
    pub progress: &'a mut dyn FnMut(&Progress),
    pub began: Instant,
    pub number: u32,
    pub missing: Vec<Missing>,
}

impl Cells<'_> {
    /// Does the work in a process of its own, pinned to the CPU, with a folder of its own. `what` is reported if it fails; a cell
    /// whose path is known to be missing is left out.
    pub fn take<T: Serialize + DeserializeOwned>(
        &mut self,
        what: &str,
        work: impl FnOnce(&Setting) -> Result<T, Failure>,
    ) -> Option<T> {
        /// Longer than any cell takes that has not stopped.
        const PATIENCE: Duration = Duration::from_secs(30);
        if self.is_missing(what) {
            return None;
        }
        self.show(what);
        self.number += 1;
        let folder = self.scratch.path().join(self.number.to_string());
        let (cpu, other) = (self.request.cpu, self.request.other_cpu);
        let done = system::guard::apart_in(self.scratch.path(), PATIENCE, || {
            operation::pin(cpu)?;
            work(&Setting::new(record::Point::default(), folder.clone(), cpu, other, 1))
        });
        let _ = std::fs::remove_dir_all(&folder);
        let (reason, remedy) = match done {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(Failure::Skip { reason, remedy })) => (reason, remedy),
            Ok(Err(failure)) => (failure.to_string(), String::new()),
            Err(lost) => (lost.to_string(), String::new()),
        };
        self.missing.push(Missing { what: what.into(), reason, remedy });
        None
    }

    /// True if this could not be measured before.
    pub fn is_missing(&self, what: &str) -> bool {
        self.missing.iter().any(|missing| missing.what == what)
    }

    fn show(&mut self, what: &str) {
        let total = self.request.budget.as_secs_f64().ceil() as u32;
        let done = (self.began.elapsed().as_secs_f64() as u32).min(total);
        let left = self.request.budget.saturating_sub(self.began.elapsed());
        (self.progress)(&Progress { item: what.into(), left, total, done });
    }
}

/// Does work in a process of its own with a folder of its own, for a test of one cell.
#[cfg(test)]
pub(super) fn apart<T: Serialize + DeserializeOwned>(
    work: impl FnOnce(&Setting) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let scratch = tempfile::tempdir().expect("a folder");
    let setting = Setting::new(record::Point::default(), scratch.path().into(), 0, None, 1);
    system::guard::apart(Duration::from_secs(120), || work(&setting)).expect("not lost")
}
