//! One side of a pair that takes turns: an operation's own loop, or the loop by hand, each less what is not meant in it.
//! A bench's own clock times either from outside.

use std::path::PathBuf;
use std::time::Duration;

use catalogue::find;
use operation::{Loop, Setting};
use record::Point;

use super::entry::Entry;
use super::harness::{Work, empty};

/// Shortest batch, unless the loop says how many iterations it can make at most.
const BATCH: Duration = Duration::from_micros(150);
/// Shortest batch of what is subtracted.
const BATCH_OF_TERM: Duration = Duration::from_micros(50);

/// Where an operation is prepared.
#[derive(Clone)]
pub(super) struct Place {
    pub folder: PathBuf,
    pub cpu: u32,
    pub other_cpu: Option<u32>,
    pub seed: u64,
}

/// A loop whose time per operation is taken.
pub(super) struct Side {
    /// Does this many iterations and says how long they took.
    run: Box<dyn FnMut(u64) -> Result<Duration, String>>,
    /// Operations of an iteration.
    each: f64,
    most: u64,
    batches: u32,
    /// What is subtracted, and how often an operation contains it.
    less: Vec<(f64, Side)>,
    /// Operations of a batch, where this is what is subtracted.
    operations: f64,
}

impl Side {
    /// The operation of an entry with what it says is contained in it and not meant.
    ///
    /// # Errors
    /// When it cannot be prepared here.
    pub(super) fn of_operation(entry: &Entry, place: &Place) -> Result<Side, String> {
        let operation = find(entry.id).ok_or_else(|| format!("there is no operation {}", entry.id))?;
        Side::prepared(operation, &entry.point(operation)?, place)
    }

    fn prepared(operation: &operation::Operation, point: &Point, place: &Place) -> Result<Side, String> {
        if let Some((reason, remedy)) = operation.needs.iter().find_map(|need| need.missing(place.other_cpu)) {
            return Err(format!("{}: {reason}; {remedy}", operation.id));
        }
        // What is subtracted has files of its own.
        let scratch = place.folder.join(operation.id);
        let setting = Setting::new(point.clone(), scratch, place.cpu, place.other_cpu, place.seed);
        let work = operation.set_up(&setting).map_err(|failure| format!("{}: {failure}", operation.id))?;
        let mut side = Side::of_loop(work);
        for term in operation.terms.iter().map(|term| term.resolve(point)) {
            let of = find(&term.operation).ok_or_else(|| format!("there is no term {}", term.operation))?;
            let mut of = Side::prepared(of, &term.at, place)?;
            of.operations = of.fill(BATCH_OF_TERM)?;
            side.less.push((term.times, of));
        }
        Ok(side)
    }

    fn of_loop(mut work: Loop) -> Side {
        Side {
            each: work.operations_per_iteration() as f64,
            most: work.most_iterations(),
            batches: work.most_batches(),
            run: Box::new(move |times| work.timed(times).map_err(|failure| failure.to_string())),
            less: Vec::new(),
            operations: 0.0,
        }
    }

    /// The loop by hand of an entry, less a turn of an empty loop by hand where the operation subtracts one too.
    ///
    /// # Errors
    /// When it cannot be prepared here.
    pub(super) fn by_hand(entry: &Entry) -> Result<Side, String> {
        let mut side = Side::of_work((entry.make)()?);
        let terms = find(entry.id).map_or_else(Default::default, |operation| operation.terms);
        if entry.turns > 0.0 && terms.iter().any(|term| term.term.operation == "loop.empty") {
            let mut turn = Side::of_work(empty()?);
            turn.operations = turn.fill(BATCH_OF_TERM)?;
            side.less.push((entry.turns, turn));
        }
        Ok(side)
    }

    fn of_work(mut work: Work) -> Side {
        Side {
            each: work.per,
            most: work.most,
            batches: u32::try_from(work.batches).unwrap_or(u32::MAX),
            run: Box::new(move |times| Ok(work.run(times))),
            less: Vec::new(),
            operations: 0.0,
        }
    }

    /// How many operations fill a batch. What wears out is not tried beforehand.
    ///
    /// # Errors
    /// What the loop meets.
    pub(super) fn fill(&mut self, batch: Duration) -> Result<f64, String> {
        let mut times = if self.batches < u32::MAX { self.most } else { 1 };
        while times < self.most && self.shortest(times)? < batch {
            times = (times * 2).min(self.most);
        }
        Ok(times as f64 * self.each)
    }

    /// What a turn of a pair has, at first by this side alone.
    ///
    /// # Errors
    /// What the loop meets.
    pub(super) fn offer(&mut self) -> Result<Offer, String> {
        let operations = self.fill(BATCH)?;
        Ok(Offer { operations, most: self.most as f64 * self.each, batches: f64::from(self.batches) })
    }

    /// The shortest of three batches: one may have been delayed.
    fn shortest(&mut self, times: u64) -> Result<Duration, String> {
        let mut shortest = Duration::MAX;
        for _ in 0..3 {
            shortest = shortest.min((self.run)(times)?);
        }
        Ok(shortest)
    }

    /// ns of one operation over this many of them, less what is not meant, timed right after.
    ///
    /// # Errors
    /// What the loop meets.
    pub(super) fn net(&mut self, operations: f64) -> Result<f64, String> {
        let times = ((operations / self.each).round() as u64).clamp(1, self.most);
        let mut net = (self.run)(times)?.as_nanos() as f64 / (times as f64 * self.each);
        for (often, term) in &mut self.less {
            net -= *often * term.net(term.operations)?;
        }
        Ok(net)
    }

    /// The same without timing anything.
    ///
    /// # Errors
    /// What the loop meets.
    pub(super) fn warm(&mut self, operations: f64) -> Result<(), String> {
        let times = ((operations / self.each).round() as u64).clamp(1, self.most);
        (self.run)(times).map(drop)
    }
}

/// What a side says of itself before the first turn.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    /// Operations that fill a batch.
    pub operations: f64,
    /// Operations of a batch, at most.
    pub most: f64,
    /// Batches, at most.
    pub batches: f64,
}
