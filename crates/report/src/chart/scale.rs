//! Where a number lies on an axis, and which numbers the axis names.

use super::form::{Axis, Chart, Series, Unit};

/// Beyond this the difference of two numbers may overflow, and below its inverse numbers lose their digits.
const MOST: f64 = 1e300;

/// One axis with its ends and ticks.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    unit: Unit,
    /// The numbers to name, ascending.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// The horizontal scale of a chart, which holds all points.
    pub fn across(chart: &Chart, most_ticks: usize) -> Scale {
        let points = chart.series.iter().flat_map(|series| &series.points);
        Scale::of(points.map(|point| point.0), &chart.x, most_ticks)
    }

    /// The vertical scale of a chart, which holds all points and the ends of their intervals.
    pub fn up(chart: &Chart, most_ticks: usize) -> Scale {
        let points = chart.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        let ends = chart.series.iter().flat_map(|series| &series.intervals).flat_map(|&(low, high)| [low, high]);
        Scale::of(points.chain(ends), &chart.y, most_ticks)
    }

    /// The scale that holds all of these numbers. Numbers that the axis cannot show have no influence.
    fn of(numbers: impl Iterator<Item = f64>, axis: &Axis, most_ticks: usize) -> Scale {
        let shown = numbers.filter(|&number| shows(axis, number)).map(|number| tame(number, axis.log));
        let range = shown.fold(None, |range, number| {
            let (low, high): (f64, f64) = range.unwrap_or((number, number));
            Some((low.min(number), high.max(number)))
        });
        let (low, high) = range.unwrap_or(if axis.log { (1.0, 10.0) } else { (0.0, 1.0) });
        let most = most_ticks.max(2);
        let (low, high, ticks) = if axis.log {
            logarithmic(low, high, axis.unit == Unit::Bytes, most)
        } else {
            linear(low, high, axis.unit == Unit::Bytes, most)
        };
        Scale { low, high, log: axis.log, unit: axis.unit, ticks }
    }

    /// Where a number lies: 0 at the low end, 1 at the high end. `None` if the axis cannot show it.
    pub fn place(&self, number: f64) -> Option<f64> {
        if !number.is_finite() || (self.log && number <= 0.0) {
            return None;
        }
        let number = tame(number, self.log);
        let (number, low, high) = match self.log {
            true => (number.ln(), self.low.ln(), self.high.ln()),
            false => (number, self.low, self.high),
        };
        Some(((number - low) / (high - low)).clamp(0.0, 1.0))
    }

    /// As [`Scale::place`]; `None` also for a number beyond the ends.
    pub fn place_inside(&self, number: f64) -> Option<f64> {
        self.place(number).filter(|_| (self.low..=self.high).contains(&number))
    }

    /// As [`Scale::place`]; the end of the axis for an end of an interval that lies beyond it.
    pub fn place_of_end(&self, number: f64) -> Option<f64> {
        match self.place(number) {
            None if number.is_nan() => None,
            None => Some(if number > 0.0 { 1.0 } else { 0.0 }),
            place => place,
        }
    }

    /// A tick as text.
    pub fn label(&self, tick: f64) -> String {
        self.unit.text(tick)
    }
}

/// The number itself, or the nearest that arithmetic on it keeps finite.
fn tame(number: f64, log: bool) -> f64 {
    match log {
        true => number.clamp(1.0 / MOST, MOST),
        false if number.abs() < 1.0 / MOST => 0.0,
        false => number.clamp(-MOST, MOST),
    }
}

/// True if an axis can show this number.
fn shows(axis: &Axis, number: f64) -> bool {
    number.is_finite() && (!axis.log || number > 0.0)
}

/// Both axes of a chart.
pub(super) struct Scales {
    pub x: Scale,
    pub y: Scale,
}

impl Scales {
    /// The places of a series' points; `None` for one that an axis cannot show.
    pub fn points(&self, series: &Series) -> impl Iterator<Item = Option<(f64, f64)>> {
        series.points.iter().map(|&(x, y)| self.x.place(x).zip(self.y.place(y)))
    }

    /// The places of a series' intervals: across, and of the lower and the upper end.
    pub fn intervals(&self, series: &Series) -> impl Iterator<Item = (f64, f64, f64)> {
        let pairs = series.points.iter().zip(&series.intervals);
        pairs.filter_map(|(&(x, _), &(low, high))| {
            Some((self.x.place(x)?, self.y.place_of_end(low)?, self.y.place_of_end(high)?))
        })
    }
}

/// How many points a chart cannot show: not finite, or zero and below on a logarithmic axis.
pub(super) fn left_out(chart: &Chart) -> usize {
    let points = chart.series.iter().flat_map(|series| &series.points);
    points.filter(|point| !shows(&chart.x, point.0) || !shows(&chart.y, point.1)).count()
}

/// The ends and ticks of a linear axis, in steps of 1, 2 or 5 times a power of ten; of two for bytes.
fn linear(low: f64, high: f64, bytes: bool, most: usize) -> (f64, f64, Vec<f64>) {
    let apart = high - low;
    let (low, high) = match () {
        () if apart <= high.abs().max(low.abs()) * 1e-9 => {
            let half = if high == 0.0 { 1.0 } else { high.abs() / 2.0 };
            (if high >= 0.0 { (low - half).max(0.0) } else { low - half }, high + half)
        }
        // A scale that begins at zero shows ratios as they are, where that leaves enough room for the curves.
        () if low > 0.0 && low <= high * 0.5 => (0.0, high),
        () => (low, high),
    };
    let rough = (high - low) / most as f64;
    let step = if bytes && rough >= 1.0 { 2_f64.powi(rough.log2().ceil() as i32) } else { next_of_125(rough) };
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    let count = (last - first).clamp(1.0, 100.0) as usize;
    let ticks = (0..=count).map(|index| (first + index as f64) * step).collect();
    (first * step, last * step, ticks)
}

/// The ends and ticks of a logarithmic axis: at powers of ten, or of two for bytes; at 1, 2 and 5 where powers are few.
fn logarithmic(low: f64, high: f64, bytes: bool, most: usize) -> (f64, f64, Vec<f64>) {
    // A factor of its own on either side where all numbers are the same.
    let (low, high) = if high / low < 1.0 + 1e-9 { (low / 2.0, high * 2.0) } else { (low, high) };
    if bytes {
        let (first, last) = (low.log2().floor() as i32, high.log2().ceil() as i32);
        let ticks = strided(first, last, most).map(|power| 2_f64.powi(power)).collect();
        return (2_f64.powi(first), 2_f64.powi(last), ticks);
    }
    let (low, high) = (previous_of_125(low), next_of_125(high));
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let fine = [1.0, 2.0, 5.0].len() * (last - first) as usize <= most + 2;
    let ticks: Vec<f64> = if fine {
        (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power))).collect()
    } else {
        strided(first, last, most).map(|power| 10_f64.powi(power)).collect()
    };
    let inside = |tick: &f64| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9);
    (low, high, ticks.into_iter().filter(inside).collect())
}

/// The exponents from `first` to `last`, at most about this many, evenly apart.
fn strided(first: i32, last: i32, most: usize) -> impl Iterator<Item = i32> {
    let stride = ((last - first) as usize).div_ceil(most).max(1);
    (first..=last).step_by(stride)
}

/// The least of 1, 2, 5 times a power of ten that is not below this number.
fn next_of_125(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor());
    let rounds = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    rounds.into_iter().find(|round| *round >= number * (1.0 - 1e-9)).unwrap_or(number)
}

/// The greatest of 1, 2, 5 times a power of ten that is not above this number.
fn previous_of_125(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor());
    let rounds = [5.0, 2.0, 1.0].map(|digit| digit * power);
    rounds.into_iter().find(|round| *round <= number * (1.0 + 1e-9)).unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(numbers: &[f64], axis: &Axis) -> (f64, f64, usize) {
        let scale = Scale::of(numbers.iter().copied(), axis, 6);
        (scale.low, scale.high, scale.ticks.len())
    }

    #[test]
    fn every_axis_has_ends_that_differ_and_ticks_between_them() {
        let numbers = [f64::NAN, f64::INFINITY, -1e308, -3.0, 0.0, 1e-320, 1e-9, 0.1, 1.0, 64.0, 4097.0, 1e18, 1e308];
        for unit in [Unit::Count, Unit::Bytes, Unit::Nanoseconds, Unit::Share] {
            for log in [false, true] {
                let axis = Axis { unit, log, ..Axis::default() };
                for &one in &numbers {
                    for &other in &numbers {
                        let scale = Scale::of([one, other].into_iter(), &axis, 6);
                        let why = format!("{one} {other} {unit:?} {log} {scale:?}");
                        assert!(scale.low < scale.high, "{why}");
                        assert!(!scale.ticks.is_empty() && scale.ticks.len() <= 30, "{why}");
                        assert!(scale.ticks.is_sorted(), "{why}");
                        for number in scale.ticks.iter().chain(&[one, other]) {
                            assert!(scale.place(*number).is_none_or(|place| (0.0..=1.0).contains(&place)), "{why}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(ends(&[3.0, 97.0], &Axis::linear("", Unit::Count)), (0.0, 100.0, 6));
        assert_eq!(ends(&[90.0, 97.0], &Axis::linear("", Unit::Count)), (90.0, 98.0, 5));
        assert_eq!(ends(&[64.0, 65536.0], &Axis::log("", Unit::Bytes)), (64.0, 65536.0, 6));
        assert_eq!(ends(&[150.0, 8e6], &Axis::log("", Unit::Nanoseconds)), (100.0, 1e7, 6));
        assert_eq!(ends(&[5.0, 5.0], &Axis::linear("", Unit::Count)).0, 2.0);
    }
}
