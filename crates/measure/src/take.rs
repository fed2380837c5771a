//! Takes costs: the survey, the search for quiet moments, the stop rule, the budget.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use record::{Cost, Noise, Point, Settings, Skip, Term};

use crate::accounts::Accounts;
use crate::clock::Clock;
use crate::entry::{Entry, Role};
use crate::launcher::Pool;
use crate::operation::Operation;
use crate::quiet::{Quietness, Width};
use crate::result;
use crate::schedule::Schedule;
use crate::scratch::Scratch;
use crate::speed::Checker;

/// One operation at one point.
#[derive(Clone)]
pub struct Item {
    /// The operation.
    pub operation: &'static Operation,
    /// The point.
    pub point: Point,
}

/// What to measure, and how.
pub struct Order<'a> {
    /// What to measure.
    pub items: Vec<Item>,
    /// The registry: for the terms of the items.
    pub find: fn(&str) -> Option<&'static Operation>,
    /// How.
    pub settings: Settings,
    /// What a core that is ours alone looked like in earlier runs: cycles per independent add.
    pub width: Option<f64>,
    /// The program that, started with the word [`LAUNCH`](crate::LAUNCH), starts rounds; rounds of `None` are forked from
    /// this process's image.
    pub program: Option<&'a Path>,
    /// Where scratch folders are made.
    pub scratch_root: &'a Path,
}

/// What is being measured.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Operation and point.
    pub item: String,
    /// Rounds done.
    pub done: u32,
    /// Rounds the work is thought to take.
    pub total: u32,
    /// Time left.
    pub left: Duration,
}

/// What was measured.
pub struct Taken {
    /// The costs, in the order of the items.
    pub costs: Vec<Cost>,
    /// The items that were not measured.
    pub skipped: Vec<Skip>,
    /// How quiet the machine was.
    pub noise: Noise,
    /// What a core that is ours alone looked like.
    pub width: Width,
    /// The signal that ended the work early, if one did.
    pub interrupted: Option<i32>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The process that starts rounds could not be started, or was killed.
    #[error("the process that starts the rounds is gone: {0}")]
    Launcher(std::io::Error),
    /// No scratch folder.
    #[error("cannot make a scratch folder in {folder}: {error}; set TMPDIR to a folder that can be written")]
    Scratch {
        /// Where it was tried.
        folder: String,
        /// Why it failed.
        error: std::io::Error,
    },
    /// No such CPU.
    #[error("CPU {cpu} is not one this process may use ({usable})")]
    Cpu {
        /// The CPU asked for.
        cpu: u32,
        /// Those it may use.
        usable: String,
    },
    /// An operation names a term that is not in the registry.
    #[error("{operation} has the term {term}, which is no operation")]
    Term {
        /// The operation.
        operation: String,
        /// The term's name.
        term: String,
    },
}

/// Measures. Forks: call it while the process has one thread.
///
/// # Errors
/// When nothing can be measured at all; what a single operation meets is in the result.
pub fn take(order: Order<'_>, on_progress: &mut dyn FnMut(Progress)) -> Result<Taken, MeasureError> {
    let started = Instant::now();
    let checker = Checker::calibrate(Clock::calibrate());
    let accounts = Accounts::open();
    let entries = entries(&order)?;
    let items: Vec<Item> = entries.iter().map(|entry| entry.item.clone()).collect();
    let scratch = Scratch::make(order.scratch_root)?;
    let launchers = Pool::start(&items, checker, scratch.path(), order.program)?;
    let signals = Signals::watch();
    let quietness = Quietness::open(checker, order.settings.cpu, order.width, order.settings.tolerance)?;
    let mut schedule = Schedule {
        entries,
        launchers,
        quietness,
        clock: checker.clock,
        settings: &order.settings,
        started,
        on_progress,
        signals: &signals,
    };
    let ended = schedule.work();
    let more = schedule.more();
    let Schedule { entries, launchers, quietness, .. } = schedule;
    let told = launchers.told();
    drop(launchers);
    drop(scratch);
    let interrupted = match ended {
        Ok(()) => None,
        Err(Ended::Signal(signal)) => Some(signal),
        Err(Ended::Broken(error)) => return Err(error),
    };
    let mut taken = result::assemble(entries, &quietness, checker.clock, order.settings.precision, accounts);
    (taken.noise.more, taken.noise.launchers, taken.interrupted) = (more, Some(told), interrupted);
    Ok(taken)
}

/// What ended the work before its end.
pub(crate) enum Ended {
    Signal(i32),
    Broken(MeasureError),
}

/// The items, the operations that their terms name, and twins of a few for the A/A band.
fn entries(order: &Order<'_>) -> Result<Vec<Entry>, MeasureError> {
    let mut entries: Vec<Entry> =
        order.items.iter().map(|item| Entry::new(item.operation, item.point.clone(), Role::Asked)).collect();
    let mut index = 0;
    while index < entries.len() {
        let Entry { item, .. } = &entries[index];
        let terms: Vec<Term> = item.operation.terms.iter().map(|term| term.resolve(&item.point)).collect();
        let id = item.operation.id;
        for term in terms {
            if entries.iter().any(|entry| entry.is(&term)) {
                continue;
            }
            let operation = (order.find)(&term.operation)
                .ok_or_else(|| MeasureError::Term { operation: id.into(), term: term.operation.clone() })?;
            entries.push(Entry::new(operation, term.at.clone(), Role::Term));
        }
        index += 1;
    }
    entries.extend(twins(&entries[..order.items.len()]));
    Ok(entries)
}

/// Second measurements of a few items spread over the order: more cost time, fewer say little. What waits for another
/// CPU, for a device or for memory shared with other tenants scatters by their law, which is no property of howslow.
fn twins(asked: &[Entry]) -> Vec<Entry> {
    const MOST: usize = 10;
    const LEAST: usize = 5;
    let own: Vec<usize> =
        (0..asked.len()).filter(|&index| asked[index].wants_quiet() && asked[index].follows_clock()).collect();
    if own.len() < LEAST {
        return Vec::new();
    }
    let twins = own.len().min(MOST);
    let step = own.len() / twins;
    let chosen = own.iter().skip(step / 2).step_by(step).take(twins);
    chosen.map(|&of| Entry::new(asked[of].item.operation, asked[of].item.point.clone(), Role::Twin(of))).collect()
}

/// Signals that end the work early.
pub(crate) struct Signals {
    flags: Vec<(i32, Arc<AtomicBool>, Option<signal_hook::SigId>)>,
}

impl Signals {
    fn watch() -> Signals {
        let flags = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].map(|signal| {
            let flag = Arc::new(AtomicBool::new(false));
            let id = signal_hook::flag::register(signal, Arc::clone(&flag)).ok();
            (signal, flag, id)
        });
        Signals { flags: flags.into() }
    }

    /// The signal that has come, if one has.
    pub fn come(&self) -> Option<i32> {
        self.flags.iter().find(|(_, flag, _)| flag.load(Ordering::Relaxed)).map(|(signal, ..)| *signal)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (_, _, id) in &self.flags {
            id.map(signal_hook::low_level::unregister);
        }
    }
}
