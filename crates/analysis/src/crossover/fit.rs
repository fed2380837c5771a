//! A smooth curve through points with errors, and where it is zero: the numbers at which the curve's confidence band holds zero
//! (Fieller's theorem, Journal of the Royal Statistical Society B 16:175, 1954, for more than a straight line).

use crate::squares::{LeastSquares, least_squares};
use crate::statistics::{Interval, NORMAL_95, student_95};

/// Points from which on the curve may bend: each coefficient takes one, and some must be left to show the errors.
const BENDS: usize = 6;
/// How many times their errors the points may scatter about the curve, squared. Beyond it the curve has another shape: a step,
/// or a kink.
const SHAPE: f64 = 4.0;

/// A polynomial about a centre, with the covariances of its coefficients.
#[derive(Clone, Debug)]
pub(super) struct Polynomial {
    centre: f64,
    coefficients: Vec<f64>,
    covariances: Vec<Vec<f64>>,
    /// How many standard errors the band reaches to either side.
    reach: f64,
}

/// The weighted least squares parabola, or line where points are few, through (x, y, standard error of y). Where the points
/// scatter more about it than their errors allow, its own errors grow by as much. `None` for fewer than three points, points at
/// one place, and points that lie on no such curve.
pub(super) fn curve(points: &[(f64, f64, f64)], centre: f64) -> Option<Polynomial> {
    let terms = if points.len() >= BENDS { 3 } else { 2 };
    let freedom = points.len().checked_sub(terms).filter(|freedom| *freedom > 0)?;
    let powers = |x: f64| (0..terms as i32).map(move |power| (x - centre).powi(power));
    let row = |&(x, y, error): &(f64, f64, f64)| (powers(x).collect(), y, error.powi(-2));
    let LeastSquares { coefficients, covariances } = least_squares(&points.iter().map(row).collect::<Vec<_>>())?;
    let off = |&(x, y, error): &(f64, f64, f64)| {
        let fitted: f64 = powers(x).zip(&coefficients).map(|(power, of)| power * of).sum();
        ((y - fitted) / error).powi(2)
    };
    let excess = points.iter().map(off).sum::<f64>() / freedom as f64;
    if !excess.is_finite() || excess > SHAPE {
        return None;
    }
    // With errors that are known, the normal distribution; with errors taken from the scatter, Student's.
    let reach = if excess > 1.0 { student_95(freedom as u32) * excess.sqrt() } else { NORMAL_95 };
    Some(Polynomial { centre, coefficients, covariances, reach })
}

impl Polynomial {
    fn at(&self, x: f64) -> f64 {
        self.coefficients.iter().rev().fold(0.0, |sum, of| sum * (x - self.centre) + of)
    }

    /// Whether zero is within the band at this x.
    fn holds_zero(&self, x: f64) -> bool {
        let x0 = x - self.centre;
        let sum = |row: &Vec<f64>| row.iter().rev().fold(0.0, |sum, of| sum * x0 + of);
        let variance = self.covariances.iter().rev().fold(0.0, |all, row| all * x0 + sum(row));
        self.at(x).abs() <= self.reach * variance.max(0.0).sqrt()
    }

    /// Where it is zero between two places, with its interval: as far as the band about that place holds zero, or up to the two
    /// places. `None` if it is zero at none or at several of them.
    pub fn zero(&self, from: f64, to: f64) -> Option<Interval> {
        const STEPS: usize = 64;
        let step = (to - from) / STEPS as f64;
        let place = |index: usize| from + step * index as f64;
        let sign = |index: usize| self.at(place(index)) < 0.0;
        let mut changes = (0..STEPS).filter(|&index| sign(index) != sign(index + 1));
        let (first, None) = (changes.next()?, changes.next()) else { return None };
        let value = halved(place(first), place(first + 1), |x| (self.at(x) < 0.0) == sign(first));
        // Outward from the zero, to the first place where the band no longer holds zero.
        let end = |outer: f64| {
            let part = |index: usize| value + (outer - value) * index as f64 / STEPS as f64;
            let beyond = (1..=STEPS).find(|&index| !self.holds_zero(part(index)));
            beyond.map_or(outer, |index| halved(part(index - 1), part(index), |x| self.holds_zero(x)))
        };
        Some(Interval { value, low: end(from), high: end(to) })
    }
}

/// The place between two at which `holds` ends, which it does once.
fn halved(mut inside: f64, mut outside: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..30 {
        let middle = (inside + outside) / 2.0;
        if holds(middle) { inside = middle } else { outside = middle }
    }
    (inside + outside) / 2.0
}
