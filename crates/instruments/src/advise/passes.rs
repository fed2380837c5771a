//! Passes over one file within a budget, counted, checked and held to one sum: what tuning and advice share.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use analysis::prefetch::{Inputs, PageLatency};
use analysis::statistics::median;
use measure::Progress;
use operation::Failure;

use crate::advise::device::{most_ahead, requests};
use crate::advise::error::AdviseError;
use crate::advise::limits::SMALLEST;
use crate::advise::method::{Advised, Method};
use crate::advise::pass::{Passed, pass};
use crate::advise::stretch::{FileState, ReadingProgram, Stretch, patience};
use crate::advise::target::MeasuredFile;

/// A device saves up credit, and answers from it, if its reads take this many times longer in the mean than in the median.
const BURSTS: f64 = 10.0;
/// How long such a device is kept busy before each pass. Linux throttles in slices of a tenth of a second.
const DRAIN: Duration = Duration::from_millis(200);

/// Passes over a file, counted, checked and held to one sum.
pub(crate) struct Passes<'a> {
    pub target: &'a MeasuredFile,
    pub program: ReadingProgram,
    sums: HashMap<(u64, u64, u64), u64>,
    pub taken: u64,
    /// Passes meant to be cold that began with pages of the file in memory.
    pub not_cold: u64,
    progress: &'a mut dyn FnMut(&Progress),
    began: Instant,
    budget: Duration,
}

impl<'a> Passes<'a> {
    pub fn new(
        target: &'a MeasuredFile,
        rate: Option<f64>,
        budget: Duration,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Passes<'a> {
        let ns_per_byte = rate.map_or(0.0, |rate| 1e9 / rate);
        let program =
            ReadingProgram { ns_per_byte, limit: budget / 20, drain: Duration::ZERO, patience: patience(false) };
        let began = Instant::now();
        Passes { target, program, sums: HashMap::new(), taken: 0, not_cold: 0, progress, began, budget }
    }

    pub fn left(&self) -> Duration {
        self.budget.saturating_sub(self.began.elapsed())
    }

    pub fn show(&mut self, doing: &str) {
        let total = self.budget.as_secs_f64().ceil() as u32;
        let done = (self.began.elapsed().as_secs_f64() as u32).min(total);
        let left = self.left();
        (self.progress)(&Progress { item: doing.into(), left, total, done });
    }

    /// One pass, `None` where this system lacks the method: the reason is kept in `skipped`.
    pub fn take(
        &mut self,
        stretch: Stretch,
        method: Method,
        state: FileState,
        skipped: &mut Option<String>,
    ) -> Result<Option<Passed>, AdviseError> {
        let passed = match pass(&self.target.path, stretch, method, state, self.program) {
            Ok(passed) => passed,
            Err(failure) => match failure.into_skip() {
                Failure::Skip { reason, .. } => {
                    *skipped = Some(reason);
                    return Ok(None);
                }
                failure => return Err(AdviseError::Pass { file: self.target.shown(), failure }),
            },
        };
        self.taken += 1;
        if state == FileState::Cold && passed.resident > 0 {
            self.began_in_memory();
        }
        // Requests come in any order where a pass is given up early.
        if passed.elapsed_ns < self.program.limit.as_nanos() as f64 {
            let key = (stretch.start, stretch.random.map_or(0, |random| random.seed), passed.bytes);
            if *self.sums.entry(key).or_insert(passed.sum) != passed.sum {
                return Err(AdviseError::Changing { file: self.target.shown() });
            }
        }
        Ok(Some(passed))
    }

    /// A pass that was meant to be cold was not: the next ones do not wait for what stays.
    fn began_in_memory(&mut self) {
        self.not_cold += 1;
        self.program.patience = patience(true);
    }

    /// One pass by a method that every system has.
    pub fn must(&mut self, stretch: Stretch, method: Method, state: FileState) -> Result<Passed, AdviseError> {
        let mut skipped = None;
        let passed = self.take(stretch, method, state, &mut skipped)?;
        passed.ok_or_else(|| AdviseError::NotHere { file: self.target.shown(), reason: skipped.unwrap_or_default() })
    }

    /// The rate at which the program takes up what is in memory, in bytes a second.
    /// Over no more than a device of this `rate`, and the program, take within `share`.
    fn consumption(&mut self, rate: Option<f64>, share: Duration) -> Result<f64, AdviseError> {
        const ENOUGH: u64 = 64 << 20;
        let page = rustix::param::page_size() as u64;
        let own = (self.program.ns_per_byte > 0.0).then(|| 1e9 / self.program.ns_per_byte);
        let rate = rate.into_iter().chain(own).min_by(f64::total_cmp);
        let brought = rate.map_or(ENOUGH, |rate| (rate * share.as_secs_f64()) as u64 / page * page);
        let length = self.target.length.min(brought.clamp(SMALLEST, ENOUGH));
        let stretch = Stretch { start: 0, length, random: None };
        let method = Method::Mapped(Advised::Nothing);
        let mut rates = Vec::new();
        for _ in 0..3 {
            rates.push(self.must(stretch, method, FileState::Warm)?.rate());
        }
        median(rates).ok_or(AdviseError::Nothing("pass over the file succeeded"))
    }

    /// What the arithmetic takes, measured within `share`.
    pub fn inputs(&mut self, share: Duration) -> Result<(PageLatency, Inputs), AdviseError> {
        self.show("single reads");
        let target = self.target;
        let timed = requests(&target.path, target.length, share)
            .map_err(|failure| AdviseError::Pass { file: target.shown(), failure })?;
        self.program.patience = patience(timed.stayed);
        let latency =
            PageLatency::of(&timed.page_ns, timed.direct).ok_or(AdviseError::Nothing("single read succeeded"))?;
        if latency.mean_ns > BURSTS * latency.median_ns {
            self.program.drain = DRAIN;
        }
        self.show("a pass in memory");
        let mut inputs = Inputs {
            latency_ns: latency.mean_ns,
            consumption: 0.0,
            in_order: timed.in_order,
            most: most_ahead(&target.path),
            page: rustix::param::page_size() as u64,
        };
        inputs.consumption = self.consumption(inputs.best_rate(), share / 4)?;
        Ok((latency, inputs))
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use super::*;

    #[test]
    fn pages_that_once_stayed_are_waited_for_no_more() {
        let file = catalogue::reading::unnamed(&std::env::temp_dir(), SMALLEST).expect("a file");
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let target = MeasuredFile::open(Path::new(&path)).expect("it is long enough");
        let mut nothing = |_: &Progress| {};
        let mut passes = Passes::new(&target, None, Duration::from_secs(1), &mut nothing);
        assert!(!passes.program.patience.is_zero());
        passes.began_in_memory();
        assert_eq!((passes.not_cold, passes.program.patience), (1, Duration::ZERO));
    }
}
