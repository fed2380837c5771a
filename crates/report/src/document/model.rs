//! `howslow model --json`: a modelled system.

use analysis::model::PredictionInterval;
use analysis::model::answer::{ModelAnswer, ResponseOf};
use analysis::model::questions::UsersWithin;
use analysis::statistics::Interval;
use serde::Serialize;

use super::figure::finite;
use crate::chart::Unit;
use crate::model::{ModelRow, ROWS, answers, change, interval, method, resource};

/// A modelled system.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelDocument {
    /// The system, with the keys that a file has.
    pub system: serde_json::Value,
    /// The fit that the system comes from, with demands, devices, fault curve, formulas and notes; null for a system that was given.
    pub fit: Option<serde_json::Value>,
    /// How the figures were found: `exact` or `flow-equivalent server`.
    pub method: &'static str,
    /// The figures.
    pub figures: Vec<ModelFigures>,
    /// Response times of the simulation in seconds; null if it has none.
    pub percentiles: Option<ModelPercentiles>,
    /// The events that were simulated.
    pub simulated_events: u64,
    /// Users from whom on some must wait for others.
    pub knee_users: f64,
    /// The users within each bound.
    pub within: Vec<ModelUsers>,
    /// What changes are worth.
    pub worth: Vec<ModelWorth>,
    /// The resource that limits the response; null if none does.
    pub bottleneck: Option<&'static str>,
    /// By how much 1 % more of each resource shortens the mean response.
    pub gains: Vec<ModelGain>,
    /// Figures by the number of users.
    pub by_users: Vec<ModelPoint>,
    /// Figures by memory in bytes.
    pub by_memory: Vec<ModelPoint>,
    /// The answers in words.
    pub in_words: Vec<String>,
}

/// A figure by every way to it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelFigures {
    /// What it is, as on the page.
    pub figure: &'static str,
    /// `per second`, `seconds`, `share` or `count`.
    pub unit: &'static str,
    /// The bound that no system exceeds, if there is one.
    pub bound: Option<f64>,
    /// The solution, with the interval from the parameters; null if the solution does not give it.
    pub solved: Option<Interval>,
    /// By the flow-equivalent server, if the solution is exact.
    pub hierarchy: Option<f64>,
    /// By simulation, with the interval of its randomness.
    pub simulated: Option<Interval>,
    /// What was measured.
    pub measured: Option<f64>,
}

/// Percentiles of the response in seconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelPercentiles {
    /// The median.
    pub p50: Interval,
    /// 90 % are below.
    pub p90: Interval,
    /// 95 % are below.
    pub p95: Interval,
    /// 99 % are below.
    pub p99: Interval,
}

/// The users within a bound.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelUsers {
    /// What the bound is on: `mean` or `p95`.
    pub of: &'static str,
    /// The bound in seconds.
    pub bound_s: f64,
    /// The users within it.
    #[serde(flatten)]
    pub within: UsersWithin,
}

/// What a change is worth.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelWorth {
    /// The change, as on the page.
    pub change: String,
    /// Interactions per second after it, over before.
    pub throughput: Interval,
    /// Mean response after it, over before.
    pub response: Interval,
    /// Users within the bound on the mean after it, if there is a bound.
    pub users: Option<Interval>,
}

/// A gain.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelGain {
    /// The resource.
    pub resource: &'static str,
    /// Percent by which 1 % more of it shortens the mean response.
    pub percent: f64,
}

/// A point of a curve.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelPoint {
    /// Users, or bytes.
    pub at: f64,
    /// Interactions per second.
    pub throughput: Interval,
    /// Mean response in seconds.
    pub response_s: Interval,
    /// Share of the CPUs that work, page faults included.
    pub busy: f64,
    /// Share of the CPUs that handle page faults.
    pub faults: f64,
    /// Multiprogramming idle.
    pub multiprogramming_idle: f64,
    /// Idle while fewer are eligible than may be, but at least one.
    pub non_multiprogramming_idle: f64,
    /// Idle while nobody is there.
    pub zero_idle: f64,
}

impl ModelDocument {
    pub fn of(answer: &ModelAnswer) -> ModelDocument {
        let simulated = answer.simulated.as_ref();
        let no_simulation = simulated.err().map(|why| format!("no simulation: {why}"));
        let worth = answer.worth.iter().map(|worth| ModelWorth {
            change: change(worth.change),
            throughput: worth.throughput,
            response: worth.response,
            users: worth.users.map(|within| within.users),
        });
        let gains = answer.bottleneck.gains.iter();
        ModelDocument {
            system: serde_json::to_value(&answer.system).unwrap_or_default(),
            fit: answer.fit.as_ref().and_then(|fit| serde_json::to_value(fit).ok()),
            method: method(answer.prediction.value.method),
            figures: ROWS.iter().map(|row| figures(answer, row)).collect(),
            percentiles: simulated.ok().map(|simulation| {
                let of = &simulation.percentiles;
                let [p50, p90, p95, p99] = [&of.p50, &of.p90, &of.p95, &of.p99].map(|figure| figure.interval());
                ModelPercentiles { p50, p90, p95, p99 }
            }),
            simulated_events: simulated.map_or(0, |simulation| simulation.events),
            knee_users: answer.bounds.knee,
            within: answer.within.iter().map(users).collect(),
            worth: worth.collect(),
            bottleneck: answer.bottleneck.resource.map(resource),
            gains: gains.map(|&(which, percent)| ModelGain { resource: resource(which), percent }).collect(),
            by_users: answer.by_users.iter().map(point).collect(),
            by_memory: answer.by_memory.iter().map(point).collect(),
            in_words: answers(answer).into_iter().chain(no_simulation).collect(),
        }
    }
}

fn users(&(of, bound_s, within): &(ResponseOf, f64, UsersWithin)) -> ModelUsers {
    let of = match of {
        ResponseOf::Mean => "mean",
        ResponseOf::P95 => "p95",
    };
    ModelUsers { of, bound_s, within }
}

fn figures(answer: &ModelAnswer, row: &ModelRow) -> ModelFigures {
    ModelFigures {
        figure: row.name,
        unit: match row.unit {
            Unit::PerSecond => "per second",
            Unit::Nanoseconds => "seconds",
            Unit::Share => "share",
            _ => "count",
        },
        bound: row.bound(answer),
        solved: row.solved(answer),
        hierarchy: row.by_server(answer).and_then(finite),
        simulated: row.simulated(answer),
        measured: row.measured(answer),
    }
}

fn point((at, prediction): &(f64, PredictionInterval)) -> ModelPoint {
    let cpu = &prediction.value.cpu;
    ModelPoint {
        at: *at,
        throughput: interval(prediction, |state| state.throughput),
        response_s: interval(prediction, |state| state.response_s),
        busy: cpu.user + cpu.system + cpu.faults,
        faults: cpu.faults,
        multiprogramming_idle: cpu.multiprogramming_idle,
        non_multiprogramming_idle: cpu.non_multiprogramming_idle,
        zero_idle: cpu.zero_idle,
    }
}
