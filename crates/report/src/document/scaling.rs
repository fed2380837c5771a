//! `howslow scaling --json`: how work scales with the number of CPUs.

use analysis::scalability::{CostAtCpus, FittedLaw, Scaling};
use record::{Doubt, Point, Run, Skip};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::{RatioFigure, TimeFigure, all, finite, ratio};

/// How work scales with the number of CPUs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ScalingDocument<'a> {
    /// The run's id.
    pub run: &'a str,
    /// The kinds of work.
    pub works: Vec<ScalingWork<'a>>,
    /// What was not measured here, and why.
    pub skipped: &'a [Skip],
}

/// One kind of work.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ScalingWork<'a> {
    /// Its name.
    pub work: &'a str,
    /// What it is bound by.
    pub bound_by: &'a str,
    /// The operation.
    pub operation: &'a str,
    /// The operation's other axes.
    pub at: Point,
    /// One level for each number of CPUs.
    pub levels: Vec<ScalingLevel>,
    /// The Universal Scalability Law; null where none is fitted.
    pub law: Option<ScalingLaw>,
    /// Why no law is fitted.
    pub no_law: Option<&'a str>,
    /// The number of CPUs from which on another one certainly adds less than half of what the first one does.
    pub stops_at: Option<u32>,
    /// The doubts of its costs.
    pub doubts: &'a [Doubt],
}

/// The work at one number of CPUs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ScalingLevel {
    /// The number of CPUs.
    pub cpus: u32,
    /// The time in which each of them does it once.
    pub time: TimeFigure,
    /// How often all of them do it per second.
    pub per_second: RatioFigure,
    /// The payload per second, if it moves any.
    pub bytes_per_second: Option<RatioFigure>,
    /// The throughput over that of one CPU; null if it is not known from zero.
    pub speed_up: Option<RatioFigure>,
}

/// The law with its parameters.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ScalingLaw {
    /// The share of the work for which CPUs wait for each other.
    pub contention: RatioFigure,
    /// What each pair of CPUs costs to agree on data, as a share of the work.
    pub coherence: RatioFigure,
    /// The number of CPUs with the highest throughput; null where none is certain.
    pub peak_cpus: Option<RatioFigure>,
    /// The speed-up that no number of CPUs exceeds; null where none is certain.
    pub limit: Option<RatioFigure>,
    /// The largest difference between a cost and the law, as a share of the cost.
    pub off: Option<f64>,
}

impl<'a> ScalingDocument<'a> {
    /// The document.
    pub fn of(run: &'a Run, scalings: &'a [Scaling]) -> ScalingDocument<'a> {
        ScalingDocument { run: &run.id, works: all(scalings), skipped: &run.skipped }
    }
}

impl<'a> From<&'a Scaling> for ScalingWork<'a> {
    fn from(it: &'a Scaling) -> ScalingWork<'a> {
        let at = it.work.at.iter().fold(Point::default(), |point, (axis, value)| point.with(axis, value.value()));
        ScalingWork {
            work: it.work.name,
            bound_by: it.work.bound,
            operation: it.work.operation,
            at,
            levels: all(&it.levels),
            law: it.law.as_ref().ok().map(ScalingLaw::from),
            no_law: it.law.as_ref().err().map(String::as_str),
            stops_at: it.stops_at,
            doubts: &it.doubts,
        }
    }
}

impl From<&CostAtCpus> for ScalingLevel {
    fn from(it: &CostAtCpus) -> ScalingLevel {
        ScalingLevel {
            cpus: it.cpus,
            time: TimeFigure::from(&it.time),
            per_second: RatioFigure::from(&it.per_second),
            bytes_per_second: ratio(it.bytes_per_second.as_ref()),
            speed_up: ratio(it.speed_up.as_ref()),
        }
    }
}

impl From<&FittedLaw> for ScalingLaw {
    fn from(it: &FittedLaw) -> ScalingLaw {
        ScalingLaw {
            contention: RatioFigure::from(&it.contention),
            coherence: RatioFigure::from(&it.coherence),
            peak_cpus: ratio(it.peak.as_ref()),
            limit: ratio(it.limit.as_ref()),
            off: finite(it.off),
        }
    }
}
