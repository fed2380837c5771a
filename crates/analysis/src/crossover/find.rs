//! From points to an answer: where the order of two costs is known and changes, and how closely that place is known.

use super::fit::{Polynomial, curve};
use super::form::{CostsAt, Crossing, CrossoverAnswer, LogRatio, Side, Trend, pooled};
use crate::statistics::Interval;

/// Standard errors by which costs must differ for their order to count as known at a point. At the usual 1.96 one of twenty
/// points is in the wrong order by chance, which would be two crossings more.
pub(super) const KNOWN: f64 = 3.0;
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
    let known: Vec<(&LogRatio, Side)> =
        ratios.iter().filter_map(|ratio| Some((ratio, ratio.cheaper(KNOWN)?))).collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return CrossoverAnswer::Undecided { cheaper: None };
    };
    let changes = known.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let mut crossings: Vec<Crossing> =
        changes.map(|pair| crossing(&ratios, (pair[0].0.at, pair[1].0.at), pair[0].1)).collect();
    match crossings.len() {
        0 => never(&ratios, first.1, [first.0.at, last.0.at]),
        1 => CrossoverAnswer::Once(crossings.remove(0)),
        _ => CrossoverAnswer::Several(crossings),
    }
}

/// One side is cheaper wherever the order is known, from the first of these numbers to the last.
fn never(ratios: &[LogRatio], cheaper: Side, known: [f64; 2]) -> CrossoverAnswer {
    let ends = ratios.first().zip(ratios.last()).map(|(first, last)| [first.at, last.at]);
    if ends != Some(known) || ratios.iter().any(|ratio| ratio.cheaper(KNOWN).is_none()) {
        return CrossoverAnswer::Undecided { cheaper: Some((cheaper, known)) };
    }
    let pairs = match ratios {
        [first, second, .., before, last] => vec![(second, first), (before, last)],
        _ => Vec::new(),
    };
    // The nearer one, where both ends approach a crossing.
    let beyond = pairs.into_iter().filter_map(|(inner, end)| Some((trend(inner, end)?, end.at)));
    let far = |(trend, end): &(Trend, f64)| (trend.near / end).ln().abs();
    CrossoverAnswer::Never {
        cheaper,
        trend: beyond.min_by(|one, other| far(one).total_cmp(&far(other))).map(|(trend, _)| trend),
    }
}

/// Where the costs would cross beyond an end, if they went on approaching each other as they do between the last two points:
/// an answer only where it is certain that they do.
fn trend(inner: &LogRatio, end: &LogRatio) -> Option<Trend> {
    let ((x0, y0, error0), (x1, y1, error1)) = (inner.point()?, end.point()?);
    let approaches = y1.abs() < y0.abs() && (y1 - y0).abs() > KNOWN * error0.hypot(error1);
    let near = x1 - y1 * (x1 - x0) / (y1 - y0);
    (approaches && (near - x1).abs() <= FARTHEST.ln()).then(|| Trend { near: near.exp() })
}

/// The crossing between two numbers at which the order is known and differs.
fn crossing(ratios: &[LogRatio], (left, right): (f64, f64), below: Side) -> Crossing {
    let rough = guess(ratios, left, right);
    let fitted = local(ratios, rough, (left, right)).and_then(|curve| curve.zero(left.ln(), right.ln()));
    // Without a curve the ends at which the order is known are all that is known.
    let at = fitted.map(|at| Interval { value: at.value.exp(), low: at.low.exp(), high: at.high.exp() });
    Crossing { at: at.unwrap_or(Interval { value: rough, low: left, high: right }), below, left, right }
}

/// Where a straight line between the two ends crosses.
fn guess(ratios: &[LogRatio], left: f64, right: f64) -> f64 {
    let at = |number: f64| ratios.iter().find(|ratio| ratio.at == number).and_then(LogRatio::point);
    match at(left).zip(at(right)) {
        Some((one, other)) if one.1 != other.1 => (one.0 + (other.0 - one.0) * one.1 / (one.1 - other.1)).exp(),
        _ => (left * right).sqrt(),
    }
}

/// The curve through the points near a crossing: those not much farther than a factor of two, the ends between which it lies,
/// and some more where they are few.
fn local(ratios: &[LogRatio], rough: f64, (left, right): (f64, f64)) -> Option<Polynomial> {
    let far = |at: f64| (at / rough).ln().abs();
    let mut points: Vec<&LogRatio> = ratios.iter().collect();
    points.sort_by(|one, other| far(one.at).total_cmp(&far(other.at)));
    let near = points.iter().filter(|ratio| far(ratio.at) <= NEAR.ln()).count();
    let ends =
        points.iter().skip(near.max(LEAST)).filter(|ratio| near < LEAST && (ratio.at == left || ratio.at == right));
    let chosen: Vec<_> = points.iter().take(near.max(LEAST)).chain(ends).filter_map(|ratio| ratio.point()).collect();
    curve(&chosen, rough.ln())
}
