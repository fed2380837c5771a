//! The Universal Scalability Law, fitted by weighted least squares.
//!
//! In the time that n CPUs take to do one unit of work each, C(n), the law is linear: C(n) = a + b (n - 1) + d n (n - 1),
//! where a is the time of one CPU, b / a the contention and d / a the coherence. So the fit needs no search. Neither b nor d
//! can be negative; where the best fit has a negative one, it is zero.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::squares::least_squares;
use crate::statistics::{Interval, NORMAL_95, normal, quantile, sorted};

/// The fewest numbers of CPUs for a fit: the law has three parameters.
pub const LEAST: usize = 3;

/// Made-up data sets that the intervals are taken from, and their seed: the same run gives the same page.
const DRAWS: usize = 1000;
const SEED: u64 = 0x5ca1_ab1e;

/// The least error of a cost, as a share of it.
const LEAST_ERROR: f64 = 1e-3;

/// The law of one kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FittedLaw {
    /// The share of the work for which CPUs wait for each other.
    pub contention: Interval,
    /// What each pair of CPUs costs to agree on data, as a share of the work.
    pub coherence: Interval,
    /// The number of CPUs with the highest throughput; null if the coherence is not certainly above zero.
    #[serde(rename = "peak_cpus")]
    pub peak: Option<Interval>,
    /// The speed-up that no number of CPUs exceeds; null if the contention is not certainly above zero.
    pub limit: Option<Interval>,
    /// The largest difference between a cost and the law, as a share of the cost.
    #[schemars(with = "Option<f64>")]
    pub off: f64,
}

/// The parameters of the law.
#[derive(Clone, Copy)]
struct Law {
    one: f64,
    contention: f64,
    coherence: f64,
}

impl Law {
    fn time(&self, cpus: f64) -> f64 {
        self.one * (1.0 + self.contention * (cpus - 1.0) + self.coherence * cpus * (cpus - 1.0))
    }

    /// Where its derivative is zero: the root of (1 - s) / k.
    fn peak(&self) -> f64 {
        ((1.0 - self.contention).max(0.0) / self.coherence).sqrt().max(1.0)
    }

    /// Where it is for ever more CPUs without coherence. One CPU does the work of one.
    fn limit(&self) -> f64 {
        (1.0 / self.contention).max(1.0)
    }
}

/// Fits the law to the time of one unit of work on each CPU, by number of CPUs.
///
/// # Errors
/// Why there is no fit: too few numbers of CPUs, or a cost without an interval.
pub fn fit(times: &[(u32, Interval)]) -> Result<FittedLaw, String> {
    let numbers: BTreeSet<u32> = times.iter().map(|(cpus, _)| *cpus).collect();
    if numbers.len() < LEAST {
        return Err(format!(
            "contention and coherence cannot be distinguished from {} numbers of CPUs; {LEAST} are needed",
            numbers.len()
        ));
    }
    if numbers.contains(&0)
        || times.iter().any(|(_, time)| !time.is_bounded() || time.low <= 0.0 || !time.high.is_finite())
    {
        return Err("a cost has no interval, or cannot be distinguished from zero; raise --budget".into());
    }
    let points: Vec<Weighed> = times.iter().map(|(cpus, time)| Weighed::of(*cpus, time)).collect();
    let best = best_law(&points).ok_or("no law fits these costs")?;
    let off = |point: &Weighed| (best.time(point.cpus) / point.time - 1.0).abs();
    let draws = draws(&points, &best);
    let interval = |value: f64, of: &dyn Fn(&Law) -> f64| {
        let values = sorted(draws.iter().map(of));
        let end = |share| quantile(&values, share).unwrap_or(value);
        // The quantiles of made-up data may leave out the estimate, which lies on the edge of what is possible.
        Interval { value, low: end(0.025).min(value), high: end(0.975).max(value) }
    };
    let contention = interval(best.contention, &|law| law.contention);
    let coherence = interval(best.coherence, &|law| law.coherence);
    Ok(FittedLaw {
        contention,
        coherence,
        peak: Some(interval(best.peak(), &Law::peak)).filter(|peak| coherence.low > 0.0 && peak.high.is_finite()),
        limit: Some(interval(best.limit(), &Law::limit)).filter(|limit| contention.low > 0.0 && limit.high.is_finite()),
        off: points.iter().map(off).fold(0.0, f64::max),
    })
}

/// A time with its standard error.
#[derive(Clone, Copy)]
struct Weighed {
    cpus: f64,
    time: f64,
    error: f64,
}

impl Weighed {
    fn of(cpus: u32, time: &Interval) -> Weighed {
        let error = (time.high - time.low) / (2.0 * NORMAL_95);
        Weighed { cpus: f64::from(cpus), time: time.value, error: error.max(LEAST_ERROR * time.value) }
    }

    /// What the parameters are multiplied by.
    fn terms(&self) -> [f64; 3] {
        [1.0, self.cpus - 1.0, self.cpus * (self.cpus - 1.0)]
    }
}

/// Laws of data sets that differ from the measured one as another run would. Where the law fits worse than the costs'
/// errors allow, they differ by that much more.
fn draws(points: &[Weighed], best: &Law) -> Vec<Law> {
    let misfit: f64 = points.iter().map(|point| ((point.time - best.time(point.cpus)) / point.error).powi(2)).sum();
    let free = points.len().saturating_sub(LEAST);
    let scale = if free > 0 { (misfit / free as f64).sqrt().max(1.0) } else { 1.0 };
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut drawn = |point: &Weighed| Weighed {
        time: (point.time + scale * point.error * normal(&mut random)).max(point.time * 1e-3),
        ..*point
    };
    (0..DRAWS).filter_map(|_| best_law(&points.iter().map(&mut drawn).collect::<Vec<_>>())).collect()
}

/// The law with the least weighted squares among those without a negative parameter: the best of all choices of parameters
/// that are zero.
fn best_law(points: &[Weighed]) -> Option<Law> {
    const FREE: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];
    let squares = |[one, linear, square]: &[f64; 3]| -> f64 {
        let left = |point: &Weighed| {
            let [first, second, third] = point.terms();
            (point.time - one * first - linear * second - square * third) / point.error
        };
        points.iter().map(|point| left(point).powi(2)).sum()
    };
    let solved = FREE.iter().filter_map(|free| solve(points, free));
    let possible = solved.filter(|[one, linear, square]| *one > 0.0 && *linear >= 0.0 && *square >= 0.0);
    let [one, linear, square] = possible.min_by(|a, b| squares(a).total_cmp(&squares(b)))?;
    Some(Law { one, contention: linear / one, coherence: square / one })
}

/// The parameters, of which these are free and the others are zero.
fn solve(points: &[Weighed], free: &[usize]) -> Option<[f64; 3]> {
    let row = |point: &Weighed| {
        let terms = point.terms();
        (free.iter().map(|&index| terms[index]).collect(), point.time, point.error.powi(-2))
    };
    let found = least_squares(&points.iter().map(row).collect::<Vec<_>>())?.coefficients;
    let mut solution = [0.0; 3];
    free.iter().zip(found).for_each(|(&index, value)| solution[index] = value);
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}
