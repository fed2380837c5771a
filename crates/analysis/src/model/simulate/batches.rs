//! Figures and intervals from the batches of a simulation.

use crate::model::figure::Figure;
use crate::model::prediction::{Method, Percentiles, PredictionInterval, Simulated, SteadyState};
use crate::model::steady::Steady;
use crate::statistics::{quantile, sorted, variance};

/// What was counted in a part of the simulation.
pub(super) struct Batch<'a> {
    /// Sums over its states, each weighted by the time in it.
    pub steady: Steady<'a>,
    /// Its length in seconds.
    pub time: f64,
    /// Response times in seconds, ascending.
    pub responses: Vec<f64>,
}

const SHARES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// Student's t for 95 % and the degrees of freedom of the batches.
const T: f64 = 2.064;
/// With fewer interactions a batch has no percentile.
const LEAST: usize = 10;

/// The figures; `None` if too few interactions ended.
pub(super) fn simulated(batches: &[Batch<'_>], events: u64) -> Option<Simulated> {
    if batches.iter().any(|batch| batch.responses.len() < LEAST) {
        return None;
    }
    let all = sorted(batches.iter().flat_map(|batch| &batch.responses).copied());
    let at = |responses: &[f64], share: f64| quantile(responses, share).unwrap_or(0.0);
    let [p50, p90, p95, p99] = SHARES.map(|share| {
        let parts: Vec<f64> = batches.iter().map(|batch| at(&batch.responses, share)).collect();
        let (value, half) = (at(&all, share), half(&parts));
        Figure { value, interval: Some(((value - half).max(0.0), value + half)) }
    });
    let mut prediction = figures(batches);
    let response_p95_s = p95.interval();
    prediction.value.response_p95_s = Some(response_p95_s.value);
    prediction.low.response_p95_s = Some(response_p95_s.low);
    prediction.high.response_p95_s = Some(response_p95_s.high);
    Some(Simulated { prediction, percentiles: Percentiles { p50, p90, p95, p99 }, events })
}

/// Many figures are quotients, whose mean over batches is no estimate where few of these hold a page fault: they are those of all batches
/// together, with intervals from what they are without each (the jackknife: Miller, Biometrika 61:1, 1974).
fn figures(batches: &[Batch<'_>]) -> PredictionInterval {
    let pooled = state(batches.iter());
    let without = (0..batches.len()).map(|place| state(batches[..place].iter().chain(&batches[place + 1..])));
    let without: Vec<SteadyState> = without.collect();
    PredictionInterval::of(Method::Simulation, |figure| {
        let value = figure(&pooled);
        if !value.is_finite() {
            return [value; 3];
        }
        let parts: Vec<f64> = without.iter().map(figure).collect();
        let half = (batches.len() as f64 - 1.0) * half(&parts);
        // All that happened may have happened in one batch.
        let half = if half.is_finite() { half } else { f64::INFINITY };
        [value, (value - half).max(0.0), value + half]
    })
}

/// The figures of these batches together.
fn state<'b, 'a: 'b>(batches: impl Iterator<Item = &'b Batch<'a>> + Clone) -> SteadyState {
    let time = batches.clone().map(|batch| batch.time).sum();
    let responses = || batches.clone().flat_map(|batch| &batch.responses);
    let (count, sum) = (responses().count() as f64, responses().sum::<f64>());
    let steady = batches.map(|batch| batch.steady.clone()).reduce(|sum, one| sum.plus(&one));
    let predicted = steady.map(|steady| steady.prediction(Method::Simulation, time)).unwrap_or_default();
    SteadyState { throughput: count / time, response_s: sum / count, ..predicted }
}

/// Half of the 95 % interval of the mean of independent values.
fn half(values: &[f64]) -> f64 {
    T * (variance(values) / values.len() as f64).sqrt()
}
