//! How work scales with the number of CPUs: throughput and speed-up, and the Universal Scalability Law fitted to them (N. J.
//! Gunther, "Guerrilla Capacity Planning", 2007). With n CPUs the throughput is n / (1 + s (n - 1) + k n (n - 1)) times that
//! of one: s is the share of the work for which CPUs wait for each other (contention), k what each pair of them costs to
//! agree on data (coherence). The figures are typical ones: on a shared machine all CPUs are rarely undisturbed at the same
//! time. Pure arithmetic; the operations are named in one list.

mod fit;
mod works;

use record::{Bytes, Cost, Doubt, Run};
use serde::Serialize;

pub use fit::{FittedLaw, LEAST, fit};
pub use works::{AXIS, WORKS, WorkOf};

use crate::form::{As, Form, TimeFigure};
use crate::statistics::Interval;
use crate::sums::{doubts_of_all, quotient};
use crate::typical::typical;

/// The cost of work at one number of CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CostAtCpus {
    /// The number of CPUs that do it at the same time.
    pub cpus: u32,
    /// The time in which each of them does it once.
    #[serde(with = "As::<TimeFigure>")]
    pub time: Interval,
    /// How often it is done per second by all of them.
    pub per_second: Interval,
    /// Payload per second, null if it moves none.
    pub bytes_per_second: Option<Interval>,
    /// The throughput over that of one CPU; null if either is not known from zero.
    pub speed_up: Option<Interval>,
}

/// One kind of work at all numbers of CPUs that a run has.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scaling {
    /// The work.
    #[serde(flatten)]
    pub work: WorkOf,
    /// The run's costs of it, one CPU first.
    pub levels: Vec<CostAtCpus>,
    /// The law that fits them, or why none is fitted.
    #[serde(flatten, with = "As::<LawOrNone>")]
    pub law: Result<FittedLaw, String>,
    /// The number of CPUs from which on another one certainly adds less than half of what the first one does.
    pub stops_at: Option<u32>,
    /// The doubts of its costs.
    pub doubts: Vec<Doubt>,
}

/// The law that fits the costs, or why none is fitted.
#[derive(Serialize, JsonSchema)]
struct LawOrNone {
    /// The law that fits its costs; null if none is fitted.
    law: Option<FittedLaw>,
    /// Why none is fitted.
    no_law: Option<String>,
}

impl Form<Result<FittedLaw, String>> for LawOrNone {
    fn of(law: &Result<FittedLaw, String>) -> LawOrNone {
        LawOrNone { law: law.as_ref().ok().copied(), no_law: law.as_ref().err().cloned() }
    }
}

/// Another CPU that adds less than this share of the first one's throughput is hardly worth it.
const HARDLY: f64 = 0.5;

/// Every kind of work, by typical figures (see [`typical`]), that a run has at one CPU and at some other number.
pub fn scalings(run: &Run) -> Vec<Scaling> {
    WORKS.iter().filter_map(|work| scaling(*work, run)).collect()
}

fn scaling(work: WorkOf, run: &Run) -> Option<Scaling> {
    let mut costs: Vec<(u32, &Cost)> = run.costs.iter().filter_map(|cost| Some((work.cpus_of(cost)?, cost))).collect();
    costs.sort_by_key(|(cpus, _)| *cpus);
    let times: Vec<(u32, Interval)> = costs.iter().map(|(cpus, cost)| (*cpus, typical(run, cost))).collect();
    let one = times.first().filter(|(cpus, _)| *cpus == 1 && times.len() > 1)?.1;
    let levels: Vec<CostAtCpus> =
        times.iter().zip(&costs).map(|(&(cpus, time), (_, cost))| level(cpus, time, cost.bytes, one)).collect();
    let doubts = doubts_of_all(costs.iter().map(|(_, cost)| *cost));
    Some(Scaling { work, law: fit(&times), stops_at: stops_at(&levels), levels, doubts })
}

fn level(cpus: u32, time: Interval, payload: Bytes, one: Interval) -> CostAtCpus {
    let many = f64::from(cpus);
    let rate = |times: f64| over(times * 1e9, time);
    CostAtCpus {
        cpus,
        time,
        per_second: rate(many),
        // The payload of a cost is that of all CPUs.
        bytes_per_second: (payload.0 > 0).then(|| rate(payload.0 as f64)),
        speed_up: if cpus == 1 {
            Some(Interval::exactly(1.0))
        } else {
            quotient(one, time).map(|ratio| ratio.times(many))
        },
    }
}

/// A number over a time, with its interval; without one where the time has none or may be zero.
fn over(number: f64, time: Interval) -> Interval {
    if time.is_bounded() && time.low > 0.0 { time.under(number) } else { Interval::unbounded(number / time.value) }
}

/// The first number of CPUs after which further ones certainly add less than [`HARDLY`] of the first one's throughput each.
fn stops_at(levels: &[CostAtCpus]) -> Option<u32> {
    levels.windows(2).find_map(|pair| {
        let (before, after) = (pair[0].speed_up?, pair[1].speed_up?);
        let added = f64::from(pair[1].cpus - pair[0].cpus);
        (after.is_bounded() && before.is_bounded() && after.high - before.low < HARDLY * added).then_some(pair[0].cpus)
    })
}

#[cfg(test)]
mod tests;
