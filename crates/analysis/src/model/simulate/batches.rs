//! Figures and intervals from the batches of a simulation.

use crate::model::figure::Figure;
use crate::model::prediction::{Method, Percentiles, PredictionInterval, Simulated, SteadyState};
use crate::statistics::{mean, quantile, sorted, variance};

pub(super) struct Batch {
    pub prediction: SteadyState,
    pub finished: u64,
    pub time: f64,
    pub responses: Vec<f64>,
}

pub(super) struct Batches {
    predictions: Vec<SteadyState>,
    percentiles: Vec<[f64; 4]>,
    responses: Vec<f64>,
    fewest: u64,
}

const SHARES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// Student's t for 95 % and the degrees of freedom of the batches.
const T: f64 = 2.064;

impl Batches {
    pub fn new() -> Batches {
        Batches { predictions: vec![], percentiles: vec![], responses: vec![], fewest: u64::MAX }
    }

    pub fn add(&mut self, batch: Batch) {
        self.fewest = self.fewest.min(batch.finished);
        let responses = sorted(batch.responses);
        let mean = responses.iter().sum::<f64>() / responses.len().max(1) as f64;
        self.percentiles.push(SHARES.map(|share| quantile(&responses, share).unwrap_or(0.0)));
        self.predictions.push(SteadyState {
            throughput: batch.finished as f64 / batch.time,
            response_s: mean,
            ..batch.prediction
        });
        self.responses.extend(responses);
    }

    /// The figures; `None` if too few interactions ended.
    pub fn simulated(self, events: u64) -> Option<Simulated> {
        if self.fewest < 10 {
            return None;
        }
        let all = sorted(self.responses);
        let mut percentiles = [0, 1, 2, 3].map(|index| {
            let parts: Vec<f64> = self.percentiles.iter().map(|each| each[index]).collect();
            let value = quantile(&all, SHARES[index]).unwrap_or(0.0);
            let half = half(&parts);
            Figure { value, interval: Some(((value - half).max(0.0), value + half)) }
        });
        let [p50, p90, p95, p99] = &mut percentiles;
        let percentiles = Percentiles { p50: *p50, p90: *p90, p95: *p95, p99: *p99 };
        let mut prediction = figures(&self.predictions);
        let p95 = percentiles.p95.interval();
        prediction.value.response_p95_s = Some(p95.value);
        prediction.low.response_p95_s = Some(p95.low);
        prediction.high.response_p95_s = Some(p95.high);
        Some(Simulated { prediction, percentiles, events })
    }
}

fn figures(batches: &[SteadyState]) -> PredictionInterval {
    PredictionInterval::of(Method::Simulation, |figure| {
        let values: Vec<f64> = batches.iter().map(figure).collect();
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
