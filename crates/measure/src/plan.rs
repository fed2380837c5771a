//! The input of a measurement, its progress reports, and its result.

use std::path::Path;
use std::time::Duration;

use operation::{Item, Operation};
use record::{Cost, Noise, Settings, Skip};

use crate::quiet::Width;

/// What to measure, and how.
pub struct Plan<'a> {
    /// What to measure.
    pub items: Vec<Item>,
    /// The registry, to find the terms of the items.
    pub find: fn(&str) -> Option<&'static Operation>,
    /// True for operations that leave work to the kernel's threads or to interrupts: those that cross a device, a queue
    /// or a network. They get rounds that look for hidden processor time.
    pub crosses: fn(&Operation) -> bool,
    /// The settings.
    pub settings: Settings,
    /// Of this many items, from the first, single iterations are timed, if the settings ask for it.
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
    /// The costs, in the order of the items.
    pub costs: Vec<Cost>,
    /// The items that were not measured.
    pub skipped: Vec<Skip>,
    /// How quiet the machine was.
    pub noise: Noise,
    /// The width of an undisturbed core.
    pub width: Width,
    /// The signal that ended the work early, if any.
    pub interrupted: Option<i32>,
}
