//! The input of a measurement, its progress reports, and its result.

use std::path::Path;
use std::time::Duration;

use operation::{Item, Registry};
use record::{Machine, Run, Settings};

use crate::quiet::Width;

/// What to measure, and how.
pub struct Plan<'a> {
    /// What to measure.
    pub items: Vec<Item>,
    /// The list of all operations: their terms, headings and order.
    pub registry: Registry,
    /// This machine.
    pub machine: Machine,
    /// The settings.
    pub settings: Settings,
    /// Of this many items, from the first, single iterations are timed, if the settings request it.
    pub tailed: usize,
    /// This many items, from the first, are measured in lockstep: in common rounds, in which their batches alternate, so that the
    /// ratios of their costs are those of the same moments. 0 for none.
    pub paired: usize,
    /// The width of an undisturbed core in earlier runs: cycles per independent add.
    pub width: Option<f64>,
    /// The program that starts rounds when it is started with the word [`LAUNCH`](crate::LAUNCH). With `None`, rounds
    /// are forked from this process's image.
    pub program: Option<&'a Path>,
    /// Where scratch folders are made.
    pub scratch_root: &'a Path,
    /// Asked before every round. An error ends the measurement: what should run beside it no longer does.
    pub check: Option<&'a dyn Fn() -> Result<(), String>>,
    /// A run whose rounds are used instead of new ones.
    pub recorded: Option<&'a Run>,
}

/// The progress of a measurement.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Operation and point.
    pub item: String,
    /// Rounds done.
    pub done: u32,
    /// Estimated number of rounds.
    pub total: u32,
    /// Time left.
    pub left: Duration,
}

/// What was measured.
pub struct Measurement {
    /// The run: the costs in the order of the registry, the items that were not measured, and how quiet the machine was.
    pub run: Run,
    /// The width of an undisturbed core.
    pub width: Width,
    /// The signal that ended the work early, if any.
    pub interrupted: Option<i32>,
}

/// The usual settings of a run.
pub fn usual_settings() -> Settings {
    Settings {
        // The smallest number of rounds whose smallest and largest median enclose the true one with 95 %: 1 - 2 / 2^6 = 0.97.
        rounds: 6,
        precision: 0.01,
        // The clock readings are 0.03 % of a batch. Batches of 500 us contained the interruptions that this system and the
        // hypervisor cause a thousand times a second, and were 1 % too long.
        batch_us: 100.0,
        tolerance: 0.03,
        ..Settings::default()
    }
}
