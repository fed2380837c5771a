//! How far the figures of one configuration are certain: from the scatter between the parts of the time measured (batch means).

use super::figures::{Idle, idle, idle_of};
use super::measured::{Depth, Measured};
use crate::statistics::{Interval, half_of_mean};

/// The share of time of one kind of idle, with its interval. Without parts the interval has no ends.
pub fn idle_interval(measured: &Measured, kind: fn(&Idle) -> f64) -> Interval {
    let value = kind(&idle(measured));
    let parts: Vec<f64> = measured.parts.iter().map(|part| kind(&idle_of(measured, part))).collect();
    Interval::around(value, half_of_mean(&parts))
}

/// Processor time between two page faults while this many are eligible, in seconds, with its interval; `None` if none occurred.
/// The interval is that of a ratio of sums (Cochran, Sampling Techniques, 6.4).
pub fn between_faults(measured: &Measured, eligible: usize) -> Option<Interval> {
    let whole = measured.depths.get(eligible)?;
    let value = whole.between_faults_s()?;
    let parts: Vec<&Depth> = measured.parts.iter().filter_map(|part| part.get(eligible)).collect();
    let each = whole.major_faults / parts.len().max(1) as f64;
    let residuals: Vec<f64> = parts.iter().map(|part| (part.busy_s - value * part.major_faults) / each).collect();
    Some(Interval::around(value, half_of_mean(&residuals)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One process at most; in each part it runs for this share of a second and faults so often.
    fn measured(parts: &[(f64, f64)]) -> Measured {
        let part = |&(busy_s, major_faults): &(f64, f64)| {
            vec![Depth::default(), Depth { elapsed_s: 1.0, busy_s, major_faults }]
        };
        let sum = |of: fn(&(f64, f64)) -> f64| parts.iter().map(of).sum::<f64>();
        let whole =
            Depth { elapsed_s: parts.len() as f64, busy_s: sum(|part| part.0), major_faults: sum(|part| part.1) };
        Measured {
            elapsed_s: parts.len() as f64,
            depths: vec![Depth::default(), whole],
            parts: parts.iter().map(part).collect(),
            ..Measured::default()
        }
    }

    #[test]
    fn the_scatter_between_parts_is_the_interval() {
        let even = measured(&[(0.4, 40.0), (0.6, 60.0), (0.5, 50.0), (0.5, 50.0)]);
        let idle = idle_interval(&even, |idle| idle.multiprogramming);
        // Standard deviation 0.0816, four parts, Student's t for three 3.182.
        assert!((idle.value - 0.5).abs() < 1e-12 && (idle.half() - 3.182 * 0.0816 / 2.0).abs() < 1e-3, "{idle:?}");
        let between = between_faults(&even, 1).expect("faults");
        let same = (between.value - 0.01).abs() < 1e-12 && between.half() < 1e-12;
        assert!(same, "each part has the same ratio: {between:?}");
        let scattered = between_faults(&measured(&[(0.5, 40.0), (0.5, 60.0), (0.5, 50.0)]), 1).expect("faults");
        assert!(scattered.low < 0.008 && scattered.high > 0.012, "{scattered:?}");
        assert!(between_faults(&even, 0).is_none() && between_faults(&even, 7).is_none());
        assert!(idle_interval(&Measured { parts: Vec::new(), ..even }, |idle| idle.zero).high.is_infinite());
    }
}
