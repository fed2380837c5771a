//! Response times: means and percentiles, each with an interval.

use serde::Serialize;

use super::measured::{Finished, Measured, Outcome};
use crate::form::{As, Form, OpenFigure};
use crate::statistics::{Interval, half_of_mean, mean, quantile, sorted};
use crate::tails::enclosing;

/// The shares that response times are reported by: the median, 90, 95 and 99 %.
pub const SHARES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// Means of a number of interactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Response {
    /// Interactions that ended.
    pub count: usize,
    /// Those that failed, were killed or hung: they count in `count` and nowhere else.
    pub failed: usize,
    /// Mean response time in seconds, with its interval; null for none.
    #[serde(rename = "mean_s", with = "As::<Option<OpenFigure>>")]
    pub mean: Option<Interval>,
    /// Response times in seconds at [`SHARES`]; without an interval's width where too few support one.
    #[serde(with = "As::<Vec<ResponsePercentile>>")]
    pub percentiles: [Option<Interval>; 4],
    /// Mean wait for eligibility, in seconds.
    pub wait_s: f64,
    /// Mean processor time in user mode, in seconds.
    pub user_s: f64,
    /// Mean processor time in the kernel, in seconds.
    pub system_s: f64,
    /// Mean number of page faults without a read.
    pub minor_faults: f64,
    /// Mean number of page faults that waited for a page.
    pub major_faults: f64,
}

/// A percentile of the response times.
#[derive(Serialize, JsonSchema)]
struct ResponsePercentile {
    /// From 0 to 1.
    share: f64,
    /// In seconds; null for no interaction.
    response_s: Option<OpenFigure>,
}

impl Form<[Option<Interval>; 4]> for Vec<ResponsePercentile> {
    fn of(percentiles: &[Option<Interval>; 4]) -> Vec<ResponsePercentile> {
        let each = SHARES.iter().zip(percentiles);
        each.map(|(&share, figure)| ResponsePercentile { share, response_s: Form::of(figure) }).collect()
    }
}

/// The figures of these interactions.
pub fn response<'a>(finished: impl IntoIterator<Item = &'a Finished>) -> Response {
    let all: Vec<&Finished> = finished.into_iter().collect();
    let done: Vec<&Finished> = all.iter().copied().filter(|finished| finished.outcome == Outcome::Done).collect();
    let times: Vec<f64> = done.iter().map(|finished| finished.response_s).collect();
    let mean =
        |of: fn(&Finished) -> f64| done.iter().fold(0.0, |sum, finished| sum + of(finished)) / done.len().max(1) as f64;
    let ascending = sorted(times.iter().copied());
    Response {
        count: all.len(),
        failed: all.len() - done.len(),
        mean: batch_mean(&times),
        percentiles: SHARES.map(|share| percentile(&ascending, share)),
        wait_s: mean(|finished| finished.wait_s),
        user_s: mean(|finished| finished.user_s),
        system_s: mean(|finished| finished.system_s),
        minor_faults: mean(|finished| finished.minor_faults),
        major_faults: mean(|finished| finished.major_faults),
    }
}

/// The figures of each interaction of the script.
pub fn per_interaction(measured: &Measured, interactions: usize) -> Vec<Response> {
    (0..interactions)
        .map(|place| response(measured.finished.iter().filter(|finished| finished.interaction == place)))
        .collect()
}

/// The mean of values in the order in which they came, with its interval by batch means: neighbours in time are not
/// independent, so Student's t is taken over the means of ten batches (Law, Simulation Modeling and Analysis, 9.5.3).
fn batch_mean(values: &[f64]) -> Option<Interval> {
    const BATCHES: usize = 10;
    let value = values.first().map(|_| mean(values))?;
    let batches = BATCHES.min(values.len());
    let ends: Vec<usize> = (0..=batches).map(|batch| batch * values.len() / batches).collect();
    let means: Vec<f64> = ends.windows(2).map(|ends| mean(&values[ends[0]..ends[1]])).collect();
    let half = half_of_mean(&means);
    Some(Interval { value, low: (value - half).max(0.0), high: value + half })
}

/// The value at this share of ascending values, with its interval by order statistics.
fn percentile(ascending: &[f64], share: f64) -> Option<Interval> {
    let value = quantile(ascending, share)?;
    let (low, high) = enclosing(ascending, share).unwrap_or((0.0, f64::INFINITY));
    Some(Interval { value, low: low.min(value), high: high.max(value) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(response_s: f64, outcome: Outcome) -> Finished {
        Finished { wait_s: response_s / 4.0, response_s, major_faults: 2.0, outcome, ..Finished::default() }
    }

    #[test]
    fn means_and_percentiles_are_those_of_the_interactions_that_did_their_work() {
        let mut all: Vec<Finished> = (1..=200).map(|n| finished(f64::from(n), Outcome::Done)).collect();
        all.push(finished(1e6, Outcome::Hung));
        let found = response(&all);
        assert_eq!((found.count, found.failed), (201, 1));
        let mean = found.mean.expect("some");
        assert!((mean.value - 100.5).abs() < 1e-9 && mean.low < 100.5 && mean.high > 100.5, "{mean:?}");
        assert!((found.wait_s - 100.5 / 4.0).abs() < 1e-9 && (found.major_faults - 2.0).abs() < 1e-12);
        let p95 = found.percentiles[2].expect("enough");
        assert!((p95.value - 190.05).abs() < 1e-9 && p95.low < 190.0 && p95.high > 190.0 && p95.high <= 200.0);
        assert!(response(&[]).mean.is_none());
    }

    #[test]
    fn few_values_have_no_interval() {
        let few = [finished(1.0, Outcome::Done), finished(2.0, Outcome::Done)];
        let found = response(&few);
        assert!(found.percentiles[3].is_some_and(|interval| interval.high.is_infinite()));
        let one = response(&few[..1]).mean.expect("one");
        assert!(one.value == 1.0 && one.high.is_infinite());
    }

    #[test]
    fn the_interval_of_a_mean_holds_the_truth_nine_times_in_ten() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut held = 0;
        for _ in 0..400 {
            let all: Vec<Finished> = (0..300).map(|_| finished(-random.f64().ln(), Outcome::Done)).collect();
            let mean = response(&all).mean.expect("some");
            held += usize::from(mean.low < 1.0 && mean.high > 1.0);
        }
        assert!((360..=396).contains(&held), "{held} of 400");
    }
}
