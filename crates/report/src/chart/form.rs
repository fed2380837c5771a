//! What a chart is: axes, series, cells. Pure data; the files beside this one draw it.

use record::units::{Amount, percent, significant};
use record::{Bytes, Nanoseconds};

/// Curves over one horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What it shows, in one line.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in the order of the legend.
    pub series: Vec<Series>,
}

/// An axis of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it counts: `size`, `CPU left`.
    pub label: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// True for a logarithmic axis. It does not show numbers of zero or below, and notes how many it left out.
    pub log: bool,
    /// Numbers that a line across the chart marks, each with its name: the size of a cache. Only of the horizontal axis.
    pub marks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis whose equal steps are equal differences.
    pub fn linear(label: &str, unit: Unit) -> Axis {
        Axis { label: label.into(), unit, ..Axis::default() }
    }

    /// An axis whose equal steps are equal ratios.
    pub fn log(label: &str, unit: Unit) -> Axis {
        Axis { label: label.into(), unit, log: true, marks: Vec::new() }
    }

    /// The same axis with these numbers marked.
    #[must_use]
    pub fn marked(self, marks: Vec<(f64, String)>) -> Axis {
        Axis { marks, ..self }
    }
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, joined in this order. A point that is not finite interrupts the line.
    pub points: Vec<(f64, f64)>,
    /// The interval (low, high) of each point's y; empty if there are none.
    pub intervals: Vec<(f64, f64)>,
}

impl Series {
    /// A curve without intervals.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), points, intervals: Vec::new() }
    }

    /// The same curve with the interval (low, high) of each point's y.
    pub fn with_intervals(self, intervals: Vec<(f64, f64)>) -> Series {
        Series { intervals, ..self }
    }
}

/// A matrix of numbers, shaded by their size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// What it shows, in one line.
    pub title: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The numbers, row by row. `None`, a missing cell and a number that is not finite are shown as `-`.
    pub cells: Vec<Vec<Option<f64>>>,
    /// What `-` means.
    pub absent: &'static str,
    /// The unit of the numbers.
    pub unit: Unit,
}

impl Heat {
    /// The number in this cell, if there is one.
    pub(crate) fn cell(&self, row: usize, column: usize) -> Option<f64> {
        self.cells.get(row)?.get(column).copied().flatten().filter(|value| value.is_finite())
    }

    /// The least and the greatest of all numbers shown; `None` if there are none.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let places = (0..self.rows.len()).flat_map(|row| (0..self.columns.len()).map(move |column| (row, column)));
        let shown = places.filter_map(|(row, column)| self.cell(row, column));
        shown.fold(None, |range, value| {
            let (low, high) = range.unwrap_or((value, value));
            Some((value.min(low), value.max(high)))
        })
    }
}

/// What the numbers of an axis or of a matrix are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Counts, and every number without a unit.
    #[default]
    Count,
    /// Durations in nanoseconds.
    Nanoseconds,
    Bytes,
    BytesPerSecond,
    /// How often per second.
    PerSecond,
    /// Shares: 0.2 is 20 %.
    Share,
}

impl Unit {
    /// A number in this unit, as text.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Nanoseconds => Nanoseconds(value).to_string(),
            // Beyond 2^53 not every whole number is exact.
            Unit::Bytes if value >= 1.0 && value.fract() == 0.0 && value < 9e15 => Bytes(value as u64).to_string(),
            Unit::Bytes => format!("{} B", significant(value)),
            Unit::BytesPerSecond => Amount(value).of("B/s"),
            Unit::PerSecond => Amount(value).of("/s"),
            Unit::Share if value == 0.0 => "0 %".into(),
            Unit::Share => percent(value),
            Unit::Count if value.abs() < 1000.0 && value.fract() == 0.0 => format!("{value}"),
            Unit::Count => Amount(value).of(""),
        }
    }
}
