//! The fault curve: a point for each share of memory, and formulas through them.

use super::found::{CurveFit, Fit};
use super::means::mean;
use crate::model::error::ModelError;
use crate::model::faults::{CurvePoint, FaultCurve};
use crate::model::figure::Figure;
use crate::model::hierarchy::work_by_eligible;
use crate::model::measured::MeasuredMeans;
use crate::model::rates::Rates;
use crate::squares::least_squares;
use crate::statistics::sorted;

/// Shares closer than this are one point.
const SAME: f64 = 1.02;
/// Steps towards the curve, and after how many of them the shares of work are computed again.
const STEPS: usize = 120;
const AGAIN: usize = 6;
/// Of a configuration without limit on the eligible, so many at once are distinguished.
const MOST_ELIGIBLE: u32 = 64;

/// A measured configuration: over its shares of memory its faults spread.
struct Limited<'a> {
    means: &'a MeasuredMeans,
    bytes: f64,
    /// Faults for each second of execution.
    per_s: f64,
    weight: f64,
    /// The share of its work at each point of the curve.
    work: Vec<f64>,
}

/// Fits the curve of a fit that has its other demands.
pub(super) fn fit(measured: &[&MeasuredMeans], fit: &mut Fit) -> Result<(), ModelError> {
    let work_s = fit.user_s.value + fit.system_s.value;
    let limited = measured.iter().copied().filter_map(|means| {
        let bytes = means.configuration.memory_bytes.filter(|&bytes| bytes > 0)? as f64;
        let weight = means.interactions as f64;
        Some(Limited { means, bytes, per_s: means.faults.value / work_s, weight, work: Vec::new() })
    });
    let mut limited: Vec<Limited<'_>> = limited.collect();
    if limited.is_empty() || measured.iter().all(|means| means.faults.value == 0.0) {
        let faults = mean(measured.iter().map(|means| (means.faults, means.interactions as f64)));
        fit.faults = if faults.value > 0.0 { FaultCurve::PerInteraction(faults) } else { FaultCurve::None };
        return Ok(());
    }
    let shares = shares(&limited);
    let mut rates = first(&limited, &shares);
    for step in 0..STEPS {
        if step % AGAIN == 0 {
            fit.faults = points(&shares, &rates, &limited);
            spread_work(&mut limited, &shares, fit);
        }
        improve(&limited, &mut rates);
    }
    fit.faults = points(&shares, &rates, &limited);
    fit.faults.check(0.0)?;
    fit.formulas = formulas(&shares, &rates, &limited);
    Ok(())
}

/// Over how many the memory of a configuration is divided, at the most and at the least.
fn among(means: &MeasuredMeans) -> (u32, u32) {
    let configuration = &means.configuration;
    if configuration.pages_stay {
        return (configuration.users, configuration.users);
    }
    (configuration.eligible.unwrap_or(MOST_ELIGIBLE).min(configuration.users).clamp(1, MOST_ELIGIBLE), 1)
}

/// Every share of memory that an interaction has in any of the configurations, ascending.
fn shares(limited: &[Limited<'_>]) -> Vec<f64> {
    let all = limited.iter().flat_map(|each| {
        let (most, least) = among(each.means);
        (least..=most).map(|number| each.bytes / f64::from(number))
    });
    let mut shares = sorted(all);
    shares.dedup_by(|next, before| *next < *before * SAME);
    shares
}

/// Rates to begin with: a power of memory through the configurations, each at its smallest share.
fn first(limited: &[Limited<'_>], shares: &[f64]) -> Vec<f64> {
    let rows = limited.iter().filter(|each| each.per_s > 0.0).map(|each| {
        let share = each.bytes / f64::from(among(each.means).0);
        (vec![1.0, share.ln()], each.per_s.ln(), each.weight)
    });
    let rows: Vec<(Vec<f64>, f64, f64)> = rows.collect();
    let line = least_squares(&rows).map(|line| line.coefficients).filter(|line| line[1] < 0.0);
    // Of one share only: as in Saltzer's model.
    let line = line.or_else(|| {
        let (factors, rate, _) = rows.first()?;
        Some(vec![rate + factors[1], -1.0])
    });
    let line = line.unwrap_or_else(|| vec![0.0, 0.0]);
    shares.iter().map(|share| (line[0] + line[1] * share.ln()).exp()).collect()
}

/// How the work of each configuration spreads over the shares, by the model with the curve so far.
fn spread_work(limited: &mut [Limited<'_>], shares: &[f64], fit: &Fit) {
    for each in limited {
        each.work = vec![0.0; shares.len()];
        if each.means.configuration.pages_stay {
            each.work[nearest(shares, each.bytes / f64::from(among(each.means).0))] = 1.0;
            continue;
        }
        let system = fit.system(&each.means.configuration);
        let parts = system.and_then(|system| Rates::new(&system)).map(|rates| work_by_eligible(&rates));
        for (part, eligible) in parts.unwrap_or_else(|_| vec![1.0]).iter().zip(1_u32..) {
            each.work[nearest(shares, each.bytes / f64::from(eligible))] += part;
        }
    }
}

fn nearest(shares: &[f64], share: f64) -> usize {
    let apart = |index: &usize| (shares[*index] / share).ln().abs();
    (0..shares.len()).min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap_or(0)
}

/// One step of expectation and maximization for counts that are sums over hidden parts (Richardson, 1972; Lucy, 1974): each rate is
/// multiplied by the mean of measured over predicted faults of the configurations that work at its share. Then the curve is made falling.
fn improve(limited: &[Limited<'_>], rates: &mut [f64]) {
    let ratios = limited.iter().map(|each| {
        let predicted: f64 = each.work.iter().zip(&*rates).map(|(work, rate)| work * rate).sum();
        if predicted > 0.0 { each.per_s / predicted } else { 1.0 }
    });
    let ratios: Vec<f64> = ratios.collect();
    let mut weights = vec![0.0; rates.len()];
    for (index, rate) in rates.iter_mut().enumerate() {
        let (mut factor, mut weight) = (0.0, 0.0);
        for (each, ratio) in limited.iter().zip(&ratios) {
            factor += each.work[index] * each.weight * ratio;
            weight += each.work[index] * each.weight;
        }
        if weight > 0.0 {
            *rate *= factor / weight;
        }
        weights[index] = weight.max(1e-9);
    }
    fall(rates, &weights);
}

/// Makes rates fall by joining neighbours that rise to their mean (pool adjacent violators).
fn fall(rates: &mut [f64], weights: &[f64]) {
    let mut groups: Vec<(f64, f64, usize)> = Vec::new();
    for (&rate, &weight) in rates.iter().zip(weights) {
        groups.push((rate, weight, 1));
        while let [.., before, last] = groups.as_slice() {
            if before.0 >= last.0 {
                break;
            }
            let weight = before.1 + last.1;
            let joined = ((before.0 * before.1 + last.0 * last.1) / weight, weight, before.2 + last.2);
            groups.truncate(groups.len() - 2);
            groups.push(joined);
        }
    }
    let all = groups.iter().flat_map(|&(rate, _, count)| std::iter::repeat_n(rate, count));
    rates.iter_mut().zip(all).for_each(|(rate, fallen)| *rate = fallen);
}

/// The curve, with the intervals of the faults that it comes from.
fn points(shares: &[f64], rates: &[f64], limited: &[Limited<'_>]) -> FaultCurve {
    let points = shares.iter().zip(rates).enumerate().map(|(index, (share, &rate))| {
        let (mut low, mut high, mut weights) = (0.0, 0.0, 0.0);
        for each in limited.iter().filter(|each| each.means.faults.value > 0.0) {
            let weight = each.work.get(index).copied().unwrap_or(0.0) * each.weight;
            let faults = each.means.faults.interval();
            low += weight * faults.low / faults.value;
            high += weight * faults.high / faults.value;
            weights += weight;
        }
        let interval = (weights > 0.0 && low < high).then(|| (rate * low / weights, rate * high / weights));
        CurvePoint { share_bytes: share.round().max(1.0) as u64, per_s: Figure { value: rate, interval } }
    });
    let mut points: Vec<CurvePoint> = points.collect();
    points.dedup_by_key(|point| point.share_bytes);
    FaultCurve::Points(points)
}

/// Saltzer's line and a power of memory through the points, by least squares on logarithms.
fn formulas(shares: &[f64], rates: &[f64], limited: &[Limited<'_>]) -> Vec<CurveFit> {
    let points = shares.iter().zip(rates).enumerate().map(|(index, (share, rate))| {
        let weight: f64 = limited.iter().map(|each| each.work[index] * each.weight).sum();
        (*share, *rate, weight)
    });
    let points: Vec<(f64, f64, f64)> = points.filter(|(_, rate, weight)| *rate > 0.0 && *weight > 0.0).collect();
    let weights: f64 = points.iter().map(|point| point.2).sum();
    if points.is_empty() {
        return Vec::new();
    }
    let mean =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|point| of(point.0, point.1) * point.2).sum::<f64>() / weights;
    let (x, y) = (mean(&|share, _| share.ln()), mean(&|_, rate| -rate.ln()));
    let saltzer = FaultCurve::Saltzer { s_per_byte: (y - x).exp().into() };
    let mut curves = vec![saltzer];
    let spread = mean(&|share, _| (share.ln() - x).powi(2));
    if spread > 1e-6 {
        let slope = mean(&|share, rate| (share.ln() - x) * (-rate.ln() - y)) / spread;
        curves.push(FaultCurve::Power {
            at_bytes: x.exp().round() as u64,
            every_s: y.exp().into(),
            exponent: slope.max(0.0).into(),
        });
    }
    let misfit =
        |curve: &FaultCurve| mean(&|share, rate| (curve.per_s(share, 1.0, 0.0, 0) / rate).ln().powi(2)).sqrt().exp();
    curves.into_iter().map(|curve| CurveFit { misfit: misfit(&curve), curve }).collect()
}
