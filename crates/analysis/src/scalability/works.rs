//! The kinds of work whose scaling is reported: data only.

use record::{Cost, FixedPoint, Point, Value};
use serde::Serialize;

use crate::form::{As, Form};

/// The axis of how many CPUs do the work.
pub const AXIS: &str = "cpus";

/// One kind of work: an operation with an axis of CPUs, at one value of its other axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorkOf {
    /// What it is, in words.
    #[serde(rename = "work")]
    pub name: &'static str,
    /// What it is bound by.
    #[serde(rename = "bound_by")]
    pub bound: &'static str,
    /// The operation.
    pub operation: &'static str,
    /// Its other axes.
    #[serde(with = "As::<Point>")]
    pub at: FixedPoint,
}

impl Form<FixedPoint> for Point {
    fn of(at: &FixedPoint) -> Point {
        at.iter().fold(Point::default(), |point, (axis, value)| point.with(axis, value.value()))
    }
}

const MEMORY: FixedPoint = &[("set", Value::Number(128 << 20))];
const ONE: FixedPoint = &[("memory", Value::Word("one"))];
const OWN: FixedPoint = &[("memory", Value::Word("own"))];

/// All of them.
pub const WORKS: &[WorkOf] = &[
    WorkOf { name: "compute", bound: "the core", operation: "scaling.compute", at: &[] },
    WorkOf { name: "read memory", bound: "memory", operation: "memory.read.cpus", at: MEMORY },
    WorkOf { name: "write memory", bound: "memory", operation: "memory.write.cpus", at: MEMORY },
    WorkOf { name: "system calls", bound: "the kernel's entry", operation: "scaling.call", at: &[] },
    WorkOf { name: "open one file", bound: "counts of one file", operation: "scaling.open", at: &[] },
    WorkOf { name: "page faults, own memory", bound: "clearing pages", operation: "contention.fault", at: OWN },
    WorkOf { name: "page faults, one memory", bound: "one address space", operation: "contention.fault", at: ONE },
    WorkOf { name: "map and unmap, own memory", bound: "the kernel", operation: "contention.map", at: OWN },
    WorkOf { name: "map and unmap, one memory", bound: "one address space", operation: "contention.map", at: ONE },
];

impl WorkOf {
    /// The number of CPUs of a cost of this work; `None` for any other cost.
    pub(super) fn cpus_of(&self, cost: &Cost) -> Option<u32> {
        if cost.operation != self.operation || cost.at.0.len() != self.at.len() + 1 {
            return None;
        }
        let same = self.at.iter().all(|(axis, value)| cost.at.0.get(*axis) == Some(&value.value()));
        let cpus = cost.at.number(AXIS).filter(|_| same)?;
        u32::try_from(cpus).ok().filter(|&cpus| cpus > 0)
    }
}
