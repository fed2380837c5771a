//! Figures and intervals from the batches of a simulation.

use crate::model::figure::Figure;
use crate::model::prediction::{Method, Percentiles, PredictionInterval, Simulated, SteadyState};
use crate::statistics::{mean, quantile, sorted, variance};

/// What was counted in a part of the simulation.
pub(super) struct Batch {
    pub state: SteadyState,
    /// Response times in seconds, ascending.
    pub responses: Vec<f64>,
}

const SHARES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// Student's t for 95 % and the degrees of freedom of the batches.
const T: f64 = 2.064;
/// With fewer interactions a batch has no percentile.
const LEAST: usize = 10;

/// The figures; `None` if too few interactions ended.
pub(super) fn simulated(batches: &[Batch], events: u64) -> Option<Simulated> {
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

fn figures(batches: &[Batch]) -> PredictionInterval {
    PredictionInterval::of(Method::Simulation, |figure| {
        let values: Vec<f64> = batches.iter().map(|batch| figure(&batch.state)).collect();
        let (mean, half) = (mean(&values), half(&values));
        if !mean.is_finite() {
            return [mean; 3];
        }
        [mean, (mean - half).max(0.0), mean + half]
    })
}

/// Half of the 95 % interval of the mean of independent values.
fn half(values: &[f64]) -> f64 {
    T * (variance(values) / values.len() as f64).sqrt()
}
