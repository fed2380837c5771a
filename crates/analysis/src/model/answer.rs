//! Everything that is answered about one system: the prediction three ways, the questions, the curves.

use std::collections::BTreeSet;

use super::bounds::bounds;
use super::error::ModelError;
use super::fit::Fit;
use super::measured::MeasuredMeans;
use super::prediction::{Bounds, Method, PredictionInterval, Simulated, SteadyState};
use super::questions::{
    Bottleneck, SystemChange, UsersWithin, Worth, bottleneck, users_within, users_within_p95, worth,
};
use super::simulate::{SimulationSettings, simulate};
use super::solve::predict_by_hierarchy;
use super::system::System;
use super::uncertain::predict_interval;

/// What is in question besides the prediction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    /// A bound on the mean response in seconds: how many users stay within it?
    pub mean_s: Option<f64>,
    /// A bound in seconds on what 95 % of the responses take.
    pub p95_s: Option<f64>,
    /// What this many bytes more are worth.
    pub more_bytes: u64,
    /// How the simulation runs.
    pub simulation: SimulationSettings,
    /// What was measured of this system, to be compared.
    pub measured: Option<MeasuredMeans>,
    /// The fit that the system comes from, to be shown.
    pub fit: Option<Fit>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModelAnswer {
    pub system: System,
    /// The steady state, with the intervals of the parameters.
    pub prediction: PredictionInterval,
    /// The same by the flow-equivalent server, if the prediction is by the chain.
    pub hierarchy: Option<SteadyState>,
    /// What cannot be exceeded.
    pub bounds: Bounds,
    /// The same by simulation; or why it has no figures.
    pub simulated: Result<Simulated, ModelError>,
    pub measured: Option<MeasuredMeans>,
    /// The fit that the system comes from.
    pub fit: Option<Fit>,
    /// Users within the bounds: the bound in seconds, on the mean or on 95 %.
    pub within: Vec<(ResponseOf, f64, UsersWithin)>,
    /// What changes are worth.
    pub worth: Vec<Worth>,
    /// What limits the response.
    pub bottleneck: Bottleneck,
    /// Predictions for fewer and more users, as far as the model takes them.
    pub by_users: Vec<(f64, PredictionInterval)>,
    /// The same for less and more memory in bytes; empty if faults do not depend on it.
    pub by_memory: Vec<(f64, PredictionInterval)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseOf {
    Mean,
    /// The 95th percentile.
    P95,
}

/// Points of a curve.
const POINTS: u32 = 24;

/// Answers everything about a system.
///
/// # Errors
/// If a parameter is outside its range, or the system is larger than the model takes.
pub fn answer(system: &System, questions: &Questions) -> Result<ModelAnswer, ModelError> {
    let prediction = predict_interval(system)?;
    let hierarchy = (prediction.value.method == Method::Chain).then(|| predict_by_hierarchy(system)).transpose()?;
    let mut within = Vec::new();
    if let Some(bound_s) = questions.mean_s {
        within.push((ResponseOf::Mean, bound_s, users_within(system, bound_s)?));
    }
    if let Some(bound_s) = questions.p95_s {
        // The search simulates a dozen systems, each a part as long as the one that is shown.
        let events = (questions.simulation.events / 4).max(100_000).max(enough(&prediction.value));
        let settings = SimulationSettings { events, ..questions.simulation };
        within.push((ResponseOf::P95, bound_s, users_within_p95(system, bound_s, &settings)?));
    }
    let changes = [
        SystemChange::Memory(questions.more_bytes),
        SystemChange::Cpu,
        SystemChange::Handling,
        SystemChange::PageDevice,
        SystemChange::Eligible,
    ];
    let mut worths = Vec::new();
    for change in changes {
        worths.extend(worth(system, change, questions.mean_s)?);
    }
    let bounds = bounds(system)?;
    let most = within.iter().map(|(.., found)| found.users.high).fold(f64::from(system.users) * 1.5, f64::max);
    let most = most.max(bounds.knee * 1.5).clamp(2.0, 5000.0);
    Ok(ModelAnswer {
        by_users: by_users(system, most)?,
        by_memory: by_memory(system)?,
        simulated: simulate(system, &questions.simulation),
        measured: questions.measured.clone(),
        fit: questions.fit.clone(),
        bottleneck: bottleneck(system)?,
        worth: worths,
        system: system.clone(),
        prediction,
        hierarchy,
        bounds,
        within,
    })
}

/// Events of a simulation in which enough interactions end for a percentile: each has two of its own and two for each fault.
fn enough(state: &SteadyState) -> u64 {
    const INTERACTIONS: f64 = 1000.0;
    (INTERACTIONS * (2.0 + 2.0 * state.faults)).min(1e8) as u64
}

fn by_users(system: &System, most: f64) -> Result<Vec<(f64, PredictionInterval)>, ModelError> {
    let users = |point| (1.0 + (most - 1.0) * f64::from(point) / f64::from(POINTS - 1)).round() as u32;
    let all: BTreeSet<u32> = (0..POINTS).map(users).chain([system.users]).collect();
    predicted(all.into_iter().map(|users| (f64::from(users), System { users, ..system.clone() })))
}

fn by_memory(system: &System) -> Result<Vec<(f64, PredictionInterval)>, ModelError> {
    let Some(bytes) = system.memory_bytes.filter(|_| system.faults.is_over_memory()) else { return Ok(Vec::new()) };
    // From a quarter of the memory to four times as much, in equal ratios.
    let each = (0..POINTS).map(|point| {
        let ratio = 4_f64.powf(f64::from(point) / f64::from(POINTS - 1) * 2.0 - 1.0);
        let bytes = ((bytes as f64 * ratio) as u64).max(system.shared_bytes + 1);
        (bytes as f64, System { memory_bytes: Some(bytes), ..system.clone() })
    });
    predicted(each)
}

/// Predictions of those of these systems that the model takes.
fn predicted(systems: impl Iterator<Item = (f64, System)>) -> Result<Vec<(f64, PredictionInterval)>, ModelError> {
    let one = |(at, system): (f64, System)| {
        let prediction = ModelError::if_accepted(predict_interval(&system)).transpose()?;
        Some(prediction.map(|prediction| (at, prediction)))
    };
    systems.filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_end_where_the_model_does() {
        let system = |users| (f64::from(users), System { users, user_s: 0.1.into(), ..System::default() });
        let curve = predicted([system(2), system(u32::MAX)].into_iter()).expect("some are taken");
        assert_eq!(curve.iter().map(|point| point.0).collect::<Vec<_>>(), [2.0]);
    }
}
