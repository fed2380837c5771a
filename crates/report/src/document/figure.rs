//! Figures with their intervals, as documents write them.

pub use analysis::form::{TimeFigure, finite};
use analysis::statistics::Interval;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// A ratio, share or rate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RatioFigure {
    /// The value.
    pub value: Option<f64>,
    /// Its lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

impl From<&Interval> for RatioFigure {
    fn from(it: &Interval) -> RatioFigure {
        RatioFigure { value: finite(it.value), low: finite(it.low), high: finite(it.high) }
    }
}

pub(crate) fn time(it: Option<&Interval>) -> Option<TimeFigure> {
    it.map(TimeFigure::from)
}

pub(crate) fn ratio(it: Option<&Interval>) -> Option<RatioFigure> {
    it.map(RatioFigure::from)
}

pub(crate) fn all<'a, T: 'a, D: From<&'a T>>(of: &'a [T]) -> Vec<D> {
    of.iter().map(D::from).collect()
}
