//! From the intervals of parameters to those of answers: the answer is computed for many draws of the parameters.

use fastrand::Rng;

use super::error::ModelError;
use super::faults::FaultCurve;
use super::figure::Figure;
use super::prediction::PredictionInterval;
use super::rates::crowded;
use super::solve::predict;
use super::system::System;
use crate::parallel::answers;
use crate::statistics::{Interval, NORMAL_95, normal, quantile, sorted};

/// Draws of the parameters. The ends of an interval scatter by a tenth of its width.
const DRAWS: usize = 120;

/// The steady state of a system, with intervals from those of its parameters. Without those, both ends are the value.
///
/// # Errors
/// If a parameter is outside its range, or the system is larger than the model takes.
pub fn predict_interval(system: &System) -> Result<PredictionInterval, ModelError> {
    let value = predict(system)?;
    let drawn = answers(&draws(system), |system| predict(system).ok());
    Ok(PredictionInterval::of(value.method, |figure| {
        let interval = about(figure(&value), drawn.iter().map(figure));
        [interval.value, interval.low, interval.high]
    }))
}

/// The interval that holds 95 % of the draws, and the value.
pub(super) fn about(value: f64, draws: impl Iterator<Item = f64>) -> Interval {
    let draws = sorted(draws.filter(|draw| !draw.is_nan()));
    let end = |share| quantile(&draws, share).filter(|end| !end.is_nan()).unwrap_or(value);
    Interval { value, low: end(0.025).min(value), high: end(0.975).max(value) }
}

/// Systems whose parameters are drawn from their intervals; none if no parameter has one. Equal systems give equal draws.
pub fn draws(system: &System) -> Vec<System> {
    let mut copy = system.clone();
    let uncertain = copy.figures_mut().any(|(_, figure)| figure.interval.is_some())
        || copy.faults.figures().iter().any(|figure| figure.interval.is_some());
    if !uncertain {
        return Vec::new();
    }
    let mut random = Rng::with_seed(20);
    (0..DRAWS).map(|_| draw(system, &mut random)).collect()
}

fn draw(system: &System, random: &mut Rng) -> System {
    let mut drawn = system.clone();
    for (_, figure) in drawn.figures_mut() {
        *figure = drawn_from(figure, normal(random)).into();
    }
    // What makes one point of a fault curve too high, such as pages that others evict, makes all of them too high.
    let same = normal(random);
    for figure in drawn.faults.figures_mut() {
        *figure = drawn_from(figure, same).into();
    }
    let handling = drawn.fault_cpu_s() * crowded(drawn.most_eligible(), drawn.handling_crowding.value);
    match &mut drawn.faults {
        FaultCurve::Points(points) => drawn.faults = FaultCurve::falling(std::mem::take(points)),
        FaultCurve::ByDepth(between) => {
            for figure in between {
                *figure = figure.value.max(handling * 1.001).into();
            }
        }
        _ => {}
    }
    drawn
}

/// The figure at this normal deviate: on a logarithmic scale where its interval does not reach zero.
fn drawn_from(figure: &Figure, deviate: f64) -> f64 {
    let Some((low, high)) = figure.interval else { return figure.value };
    if low > 0.0 {
        // Either side has its own width.
        let side = if deviate > 0.0 { high / figure.value } else { figure.value / low };
        figure.value * (side.ln() / NORMAL_95 * deviate).exp()
    } else {
        let side = if deviate > 0.0 { high - figure.value } else { figure.value - low };
        (figure.value + side / NORMAL_95 * deviate).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_parameter_becomes_that_of_the_prediction() {
        let alone = System {
            think_s: 1.0.into(),
            user_s: Figure { value: 0.1, interval: Some((0.09, 0.111)) },
            ..System::default()
        };
        let found = predict_interval(&alone).expect("a system");
        let (value, low, high) = (found.value.response_s, found.low.response_s, found.high.response_s);
        assert!((value - 0.1).abs() < 1e-9);
        assert!((0.086..0.094).contains(&low) && (0.107..0.116).contains(&high), "{low} {high}");
        let exact = predict_interval(&System { user_s: 0.1.into(), ..alone }).expect("a system");
        assert_eq!((exact.low.throughput, exact.high.throughput), (exact.value.throughput, exact.value.throughput));
    }
}
