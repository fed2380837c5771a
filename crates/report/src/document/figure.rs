//! Figures with their intervals, as documents write them.

pub use analysis::form::{TimeFigure, finite};
use analysis::statistics::Interval;

pub(crate) fn time(interval: Option<&Interval>) -> Option<TimeFigure> {
    interval.map(TimeFigure::from)
}

pub(crate) fn all<'a, T: 'a, D: From<&'a T>>(of: &'a [T]) -> Vec<D> {
    of.iter().map(D::from).collect()
}
