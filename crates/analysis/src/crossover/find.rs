//! From points to an answer: where the order of two costs is known and changes, and how closely that place is known.

use record::smallest_first;

use super::fit::{Polynomial, curve};
use super::form::{CostsAt, Crossing, CrossoverAnswer, KNOWN, LogRatio, Side, pooled};
use crate::statistics::Interval;

/// How far from a crossing, as a ratio, points show where it lies: over short stretches the ratio of two costs is a parabola on
/// logarithmic axes.
const NEAR: f64 = 2.0;
/// Points that a line is drawn through, at least, where there are as many.
const LEAST: usize = 4;
/// How far beyond the points a trend is followed, as a ratio.
const FARTHEST: f64 = 64.0;

/// Whether and where the costs cross. The points may come in any order; several at one number count as one.
pub fn found(points: &[CostsAt]) -> CrossoverAnswer {
    let ratios = pooled(points);
    let known: Vec<(&LogRatio, Side)> = ratios.iter().filter_map(|ratio| Some((ratio, ratio.cheaper()?))).collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return CrossoverAnswer::Undecided { cheaper: None };
    };
    let changes = known.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let mut crossings: Vec<Crossing> =
        changes.map(|pair| crossing(&ratios, [pair[0].0, pair[1].0], pair[0].1)).collect();
    match crossings.len() {
        0 => never(&ratios, first.1, [first.0.at, last.0.at]),
        1 => CrossoverAnswer::Once(crossings.remove(0)),
        _ => CrossoverAnswer::Several(crossings),
    }
}

/// One side is cheaper wherever the order is known, from the first of these numbers to the last.
fn never(ratios: &[LogRatio], cheaper: Side, known: [f64; 2]) -> CrossoverAnswer {
    let ends = ratios.first().zip(ratios.last()).map(|(first, last)| [first.at, last.at]);
    if ends != Some(known) || ratios.iter().any(|ratio| ratio.cheaper().is_none()) {
        return CrossoverAnswer::Undecided { cheaper: Some((cheaper, known)) };
    }
    let pairs = match ratios {
        [first, second, .., before, last] => vec![(second, first), (before, last)],
        _ => Vec::new(),
    };
    // The nearer one, where both ends approach a crossing.
    let beyond = pairs.into_iter().filter_map(|(inner, end)| Some((trend(inner, end)?, end.at)));
    let far = |(trend, end): &(f64, f64)| (trend / end).ln().abs();
    CrossoverAnswer::Never {
        cheaper,
        trend: beyond.min_by(|one, other| far(one).total_cmp(&far(other))).map(|(trend, _)| trend),
    }
}

/// Where the costs would cross beyond an end, if they went on approaching each other as they do between the last two points:
/// an answer only where it is certain that they do.
fn trend(inner: &LogRatio, end: &LogRatio) -> Option<f64> {
    let ((x0, y0, error0), (x1, y1, error1)) = (inner.point()?, end.point()?);
    let approaches = y1.abs() < y0.abs() && (y1 - y0).abs() > KNOWN * error0.hypot(error1);
    let near = x1 - y1 * (x1 - x0) / (y1 - y0);
    (approaches && (near - x1).abs() <= FARTHEST.ln()).then(|| near.exp())
}

/// The crossing between two numbers at which the order is known and differs.
fn crossing(ratios: &[LogRatio], ends: [&LogRatio; 2], below: Side) -> Crossing {
    let ([left, right], rough) = (ends.map(|end| end.at), guess(ends));
    let fitted = local(ratios, rough, [left, right]).and_then(|curve| curve.zero(left.ln(), right.ln()));
    // Without a curve the ends at which the order is known are all that is known.
    let at = fitted.map(|at| at.map(f64::exp));
    Crossing { at: at.unwrap_or(Interval { value: rough, low: left, high: right }), below, left, right }
}

/// Where a straight line between the two ends crosses.
fn guess(ends: [&LogRatio; 2]) -> f64 {
    match ends.map(LogRatio::point) {
        [Some((x0, y0, _)), Some((x1, y1, _))] if y0 != y1 => (x0 + (x1 - x0) * y0 / (y0 - y1)).exp(),
        _ => (ends[0].at * ends[1].at).sqrt(),
    }
}

/// The curve through the points near a crossing: those not much farther than a factor of two, the ends between which it lies,
/// and some more where they are few.
fn local(ratios: &[LogRatio], rough: f64, ends: [f64; 2]) -> Option<Polynomial> {
    let far = |at: f64| (at / rough).ln().abs();
    let mut points: Vec<&LogRatio> = ratios.iter().collect();
    smallest_first(&mut points, |one| far(one.at));
    let near = points.iter().filter(|ratio| far(ratio.at) <= NEAR.ln()).count();
    let ends = points.iter().skip(near.max(LEAST)).filter(|ratio| near < LEAST && ends.contains(&ratio.at));
    let chosen: Vec<_> = points.iter().take(near.max(LEAST)).chain(ends).filter_map(|ratio| ratio.point()).collect();
    curve(&chosen, rough.ln())
}
