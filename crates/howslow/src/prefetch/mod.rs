//! Ways to read a user's own file, measured on that file: what `howslow file tune` and `howslow file advise` share.

pub(crate) mod advise;
pub(crate) mod asked;
mod candidates;
mod grid;
pub(crate) mod tune;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use analysis::prefetch::{Inputs, Latency};
use anyhow::{Context, bail};
use measure::Progress;
use operation::Failure;
use operations::reading::prefetch::{Method, Passed, Program, State, Stretch, most_ahead, pass, requests};
use operations::residence::{self, FileError};

use crate::output::{Bar, Misuse};

/// The shortest file of which a pass can be told from what surrounds it.
const SMALLEST: u64 = 256 << 10;
/// The longest stretch of a pass: longer ones tell nothing more.
const LONGEST: u64 = 256 << 20;

/// A device whose reads take so many times longer in the mean than in the median answers from credit that it saves up.
const BURSTS: f64 = 10.0;
/// How long such a device is kept busy before each pass: Linux throttles by slices of a tenth of a second.
const DRAIN: Duration = Duration::from_millis(200);

/// The file asked about.
pub(crate) struct Target {
    path: PathBuf,
    /// Said instead of the path.
    name: Option<String>,
    length: u64,
    /// Why it cannot be out of memory; `None` where it can.
    never_cold: Option<String>,
}

impl Target {
    /// # Errors
    /// A misuse where it is no file that can be read, or too small to tell.
    fn open(path: &Path) -> anyhow::Result<Target> {
        let misuse = |text: String| Misuse(record::printable(&text));
        let file = residence::open(path).map_err(|error| match error {
            FileError::Open { .. } | FileError::Kind { .. } => misuse(error.to_string()).into(),
            error => anyhow::Error::from(error),
        })?;
        let length = residence::length(&file)?;
        if length == 0 {
            return Err(misuse(FileError::Empty { path: path.into() }.to_string()).into());
        }
        if length < SMALLEST {
            let (shown, smallest) = (path.display(), record::Bytes(SMALLEST));
            let text =
                format!("{shown} has {length} bytes, too few to tell methods apart; name a file of {smallest} or more");
            return Err(misuse(text).into());
        }
        let never_cold = residence::can_be_cold(&file).err().map(|error| error.sentence());
        Ok(Target { path: path.into(), name: None, length, never_cold })
    }

    fn called(self, name: Option<&str>) -> Target {
        Target { name: name.map(String::from), ..self }
    }

    fn shown(&self) -> String {
        self.name.clone().unwrap_or_else(|| record::printable(&self.path.display().to_string()))
    }
}

/// Passes over a file, counted, checked and held to one sum.
struct Passes<'a> {
    target: &'a Target,
    program: Program,
    sums: HashMap<(u64, u64, u64), u64>,
    taken: u64,
    not_cold: u64,
    bar: Bar,
    began: Instant,
    budget: Duration,
}

impl<'a> Passes<'a> {
    fn new(target: &'a Target, rate: Option<f64>, budget: Duration) -> Passes<'a> {
        let ns_per_byte = rate.map_or(0.0, |rate| 1e9 / rate);
        let program = Program { ns_per_byte, limit: budget / 20, drain: Duration::ZERO };
        let (bar, began) = (Bar::new(), Instant::now());
        Passes { target, program, sums: HashMap::new(), taken: 0, not_cold: 0, bar, began, budget }
    }

    fn left(&self) -> Duration {
        self.budget.saturating_sub(self.began.elapsed())
    }

    /// What is done now, on a terminal.
    fn show(&self, doing: &str) {
        let total = self.budget.as_secs_f64().ceil() as u32;
        let done = (self.began.elapsed().as_secs_f64() as u32).min(total);
        self.bar.show(&Progress { item: doing.into(), left: self.left(), total, done });
    }

    /// One pass, `None` where this system lacks the method: the reason is kept in `skipped`.
    fn take(
        &mut self,
        stretch: Stretch,
        method: Method,
        state: State,
        skipped: &mut Option<String>,
    ) -> anyhow::Result<Option<Passed>> {
        let passed = match pass(&self.target.path, stretch, method, state, self.program) {
            Ok(passed) => passed,
            Err(failure) => match failure.into_skip() {
                Failure::Skip { reason, .. } => {
                    *skipped = Some(reason);
                    return Ok(None);
                }
                failure => bail!("{}: {failure}", self.target.shown()),
            },
        };
        self.taken += 1;
        self.not_cold += u64::from(state == State::Cold && passed.resident > 0);
        // Requests come in any order where a pass is given up early.
        if passed.elapsed_ns < self.program.limit.as_nanos() as f64 {
            let key = (stretch.start, stretch.random.map_or(0, |random| random.seed), passed.bytes);
            if *self.sums.entry(key).or_insert(passed.sum) != passed.sum {
                bail!(
                    "{}: two passes read different bytes: the file is being written; try again when it is not",
                    self.target.shown()
                );
            }
        }
        Ok(Some(passed))
    }

    /// One pass by a method that every system has.
    fn must(&mut self, stretch: Stretch, method: Method, state: State) -> anyhow::Result<Passed> {
        let mut skipped = None;
        let passed = self.take(stretch, method, state, &mut skipped)?;
        passed.with_context(|| format!("{}: {}", self.target.shown(), skipped.unwrap_or_default()))
    }

    /// The rate at which the program takes up what is in memory, in bytes a second.
    /// Over no more than a device of this `rate`, and the program, take within `share`.
    fn consumption(&mut self, rate: Option<f64>, share: Duration) -> anyhow::Result<f64> {
        const ENOUGH: u64 = 64 << 20;
        let page = rustix::param::page_size() as u64;
        let own = (self.program.ns_per_byte > 0.0).then(|| 1e9 / self.program.ns_per_byte);
        let rate = rate.into_iter().chain(own).min_by(f64::total_cmp);
        let brought = rate.map_or(ENOUGH, |rate| (rate * share.as_secs_f64()) as u64 / page * page);
        let length = self.target.length.min(brought.clamp(SMALLEST, ENOUGH));
        let stretch = Stretch { start: 0, length, random: None };
        let method = Method::Mapped(operations::reading::prefetch::Advised::Nothing);
        let mut rates = Vec::new();
        for _ in 0..3 {
            rates.push(self.must(stretch, method, State::Warm)?.rate());
        }
        analysis::statistics::median(rates).context("no pass over the file succeeded")
    }

    /// What the arithmetic takes, measured within `share`.
    fn inputs(&mut self, share: Duration) -> anyhow::Result<(Latency, Inputs)> {
        self.show("single reads");
        let target = self.target;
        let timed = requests(&target.path, target.length, share)
            .map_err(|failure| anyhow::anyhow!("{}: {failure}", target.shown()))?;
        let latency = Latency::of(&timed.page_ns, timed.direct).context("no single read succeeded")?;
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

impl Drop for Passes<'_> {
    fn drop(&mut self) {
        self.bar.clear();
    }
}
