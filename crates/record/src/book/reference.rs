//! A reference machine: what a book states that holds howslow's own figures instead of published ones. Such a book has a
//! table `[reference]` and its costs under `measured_cost`, as numbers with the interval in which another run lands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cost::{Cost, Estimate, Figures};
use crate::point::{Point, Unit};
use crate::units::Bytes;

/// How the figures of a reference machine were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The version of howslow that measured.
    pub howslow: String,
    /// The number of runs behind the figures.
    pub runs: u32,
    /// The core cycle at which costs that follow the clock are quoted, in ns.
    pub cycle_ns: f64,
    /// The share of batches in which the core was undisturbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undisturbed: Option<f64>,
    /// The share of the machine's CPU time that other programs used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// The unit of each axis whose numbers are not counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, Unit>,
}

/// One cost of a reference machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The operation's id.
    pub operation: String,
    /// The point it was taken at.
    #[serde(default, skip_serializing_if = "point_is_empty")]
    pub at: Point,
    /// The operation's version.
    pub version: u32,
    /// The heading it is shown under.
    pub group: String,
    /// What one iteration is.
    pub per: String,
    /// The figure it is quoted by.
    pub estimate: Estimate,
    /// CPUs that it keeps busy.
    pub cpus: u32,
    /// True if its time scales with the core clock, so that it is compared in cycles.
    pub follows_clock: bool,
    /// The number of runs behind the figure.
    pub runs: u32,
    /// Its net cost in ns.
    pub ns: f64,
    /// Lower end of the interval in which another run on that machine lands, 95 times in 100.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// The net cost in core cycles.
    pub cycles: f64,
    /// Payload moved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

fn point_is_empty(point: &Point) -> bool {
    point.0.is_empty()
}

fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl Measured {
    /// The cost in the form of a run's.
    pub(super) fn cost(&self) -> Cost {
        let figures = Figures::given(self.ns, self.low, self.high);
        Cost {
            group: self.group.clone(),
            version: self.version,
            cpus: self.cpus,
            follows_clock: self.follows_clock,
            headline: self.estimate,
            cycles: self.cycles,
            bytes: Bytes(self.bytes),
            ..Cost::given(&self.operation, self.at.clone(), &self.per, figures)
        }
    }

    /// What is wrong with it, if anything.
    pub(super) fn wrong(&self) -> Option<&'static str> {
        let figures = [self.low, self.ns, self.high, self.cycles];
        if self.operation.is_empty() {
            Some("it has no id")
        } else if !figures.iter().all(|figure| figure.is_finite() && *figure > 0.0) {
            Some("its figures are not all positive numbers")
        } else if !(self.low <= self.ns && self.ns <= self.high) {
            Some("its figure lies outside its own interval")
        } else {
            None
        }
    }
}

impl Reference {
    /// What is wrong with it, if anything.
    pub(super) fn wrong(&self) -> Option<&'static str> {
        let share = |share: Option<f64>| share.is_none_or(|share| (0.0..=1.0).contains(&share));
        if !(self.cycle_ns.is_finite() && self.cycle_ns > 0.0) {
            Some("cycle_ns is not a positive number")
        } else if self.runs == 0 {
            Some("it rests on no run")
        } else if !share(self.undisturbed) || !share(self.others) {
            Some("a share lies outside 0 to 1")
        } else {
            None
        }
    }
}
