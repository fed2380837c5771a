//! What is asked of a run, what it tells while it lasts, and what it brings.

use std::path::Path;
use std::time::Duration;

use operation::{Item, Operation};
use record::{Cost, Noise, Settings, Skip};

use crate::quiet::Width;

/// What to measure, and how.
pub struct Plan<'a> {
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
pub struct Measurement {
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
