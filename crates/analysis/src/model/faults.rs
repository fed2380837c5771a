//! How often an interaction faults, as a function of the memory that it has. Times are seconds of execution between faults, without the
//! time of handling them.

use serde::{Deserialize, Serialize};

use super::error::ModelError;
use super::figure::Figure;

/// Faults as a function of memory. `share` is the memory of one interaction: that of the system, divided by the interactions that are
/// eligible ([`super::System::share`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultCurve {
    /// No faults.
    #[default]
    None,
    /// As many in each interaction, whatever memory there is.
    PerInteraction(Figure),
    /// Mean time between faults, whatever memory there is, in seconds.
    Every(Figure),
    /// The mean time between faults of the interaction at depth 1, 2, ... : the first one whose page is there while 0, 1, ... before it
    /// wait. In seconds of CPU time with the handling of the fault inside, as Multics measured it.
    ByDepth(Vec<Figure>),
    /// The mean time between faults grows in proportion to memory (Saltzer, CACM 17:4, 1974).
    Saltzer {
        /// Seconds of execution between faults for each byte of the share.
        s_per_byte: Figure,
    },
    /// The mean time between faults grows with a power of memory (Belady and Kuehner, CACM 12:5, 1969).
    Power {
        /// A share in bytes at which the time is known.
        at_bytes: u64,
        /// Seconds of execution between faults at that share.
        every_s: Figure,
        exponent: Figure,
    },
    /// Measured: faults for each second of execution, by memory. Between two points the rate is interpolated on logarithms; below
    /// the first it grows as in Saltzer's model, above the last it stays.
    Points(Vec<CurvePoint>),
}

/// A measured point of a fault curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// The memory of one interaction in bytes.
    pub share_bytes: u64,
    /// Faults for each second of execution, handling not counted.
    pub per_s: Figure,
}

impl FaultCurve {
    /// The curve through these points, whose faults fall with memory but for rounding.
    pub fn falling(mut points: Vec<CurvePoint>) -> FaultCurve {
        let mut most = f64::INFINITY;
        for point in &mut points {
            most = most.min(point.per_s.value);
            let interval = point.per_s.interval.map(|(low, high)| (low.min(most), high));
            point.per_s = Figure { value: most, interval };
        }
        FaultCurve::Points(points)
    }

    /// True if the faults depend on memory, so that a system must state how much it has.
    pub fn is_over_memory(&self) -> bool {
        matches!(self, FaultCurve::Saltzer { .. } | FaultCurve::Power { .. } | FaultCurve::Points(_))
    }

    /// Faults for each second of execution of an interaction that has this share of memory in bytes. `work_s` is its execution in
    /// seconds, `handling_s` the CPU time for one fault, `waiting` how many wait for their pages.
    pub fn per_s(&self, share: f64, work_s: f64, handling_s: f64, waiting: u32) -> f64 {
        match self {
            FaultCurve::None => 0.0,
            FaultCurve::PerInteraction(faults) => faults.value / work_s,
            FaultCurve::Every(every) => 1.0 / every.value,
            FaultCurve::ByDepth(between) => {
                let depth = (waiting as usize).min(between.len().saturating_sub(1));
                between.get(depth).map_or(0.0, |between| 1.0 / (between.value - handling_s))
            }
            FaultCurve::Saltzer { s_per_byte } => 1.0 / (s_per_byte.value * share),
            FaultCurve::Power { at_bytes, every_s, exponent } => {
                1.0 / (every_s.value * (share / *at_bytes as f64).powf(exponent.value))
            }
            FaultCurve::Points(points) => interpolated(points, share),
        }
    }

    /// The same faults for each interaction on a CPU that is faster by this factor: they are closer together in time.
    pub(super) fn on_faster_cpu(&self, factor: f64) -> FaultCurve {
        let mut faster = self.clone();
        let factor = match self {
            FaultCurve::PerInteraction(_) => 1.0,
            FaultCurve::Points(_) => factor,
            _ => 1.0 / factor,
        };
        match &mut faster {
            FaultCurve::Power { every_s, .. } => *every_s = every_s.times(factor),
            _ => faster.figures_mut().into_iter().for_each(|figure| *figure = figure.times(factor)),
        }
        faster
    }

    /// Every parameter of the curve.
    pub(super) fn figures(&self) -> Vec<Figure> {
        self.clone().figures_mut().into_iter().map(|figure| *figure).collect()
    }

    /// The same, to be changed.
    pub(super) fn figures_mut(&mut self) -> Vec<&mut Figure> {
        match self {
            FaultCurve::None => vec![],
            FaultCurve::PerInteraction(figure)
            | FaultCurve::Every(figure)
            | FaultCurve::Saltzer { s_per_byte: figure } => vec![figure],
            FaultCurve::ByDepth(figures) => figures.iter_mut().collect(),
            FaultCurve::Power { every_s, exponent, .. } => vec![every_s, exponent],
            FaultCurve::Points(points) => points.iter_mut().map(|point| &mut point.per_s).collect(),
        }
    }

    /// Why it is no curve, if it is none. `handling_s` is the CPU time for one fault.
    pub(super) fn check(&self, handling_s: f64) -> Result<(), ModelError> {
        let wrong = |why: &str| Err(ModelError::parameter("faults", why));
        if self.figures().iter().any(|figure| !figure.is_sound()) {
            return wrong("numbers from 0 up, each within its interval");
        }
        let positive = |figure: &Figure| figure.value > 0.0 && figure.interval().low > 0.0;
        match self {
            FaultCurve::None | FaultCurve::PerInteraction(_) => Ok(()),
            FaultCurve::Every(every) if !positive(every) => wrong("a time between faults above 0"),
            FaultCurve::Saltzer { s_per_byte } if !positive(s_per_byte) => wrong("s_per_byte above 0"),
            FaultCurve::Power { at_bytes, every_s, .. } if *at_bytes == 0 || !positive(every_s) => {
                wrong("at_bytes and every_s above 0")
            }
            FaultCurve::ByDepth(between) if between.is_empty() => wrong("by_depth names at least one time"),
            FaultCurve::ByDepth(between) if between.iter().any(|figure| figure.interval().low <= handling_s) => {
                wrong("the times of by_depth contain the handling of a fault, so they are longer than handling_s")
            }
            FaultCurve::Points(points) if points.is_empty() => wrong("points has at least one point"),
            FaultCurve::Points(points) if points[0].share_bytes == 0 => wrong("share_bytes above 0"),
            FaultCurve::Points(points)
                if points.windows(2).any(|pair| {
                    pair[0].share_bytes >= pair[1].share_bytes || pair[0].per_s.value < pair[1].per_s.value
                }) =>
            {
                wrong("points with growing share_bytes and falling per_s")
            }
            _ => Ok(()),
        }
    }
}

/// Rates below this are shown and interpolated as if they were this: logarithms have no zero.
const LEAST_RATE: f64 = 1e-6;

/// The rate between the points: linear in the logarithms of both.
fn interpolated(points: &[CurvePoint], share: f64) -> f64 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0.0 };
    if share <= first.share_bytes as f64 {
        return first.per_s.value * first.share_bytes as f64 / share;
    }
    let above = points.iter().position(|point| point.share_bytes as f64 >= share);
    let Some(above) = above.filter(|&above| above > 0) else { return last.per_s.value };
    let (left, right) = (&points[above - 1], &points[above]);
    if left.per_s.value == right.per_s.value {
        return left.per_s.value;
    }
    let (from, to) = (left.per_s.value.max(LEAST_RATE).ln(), right.per_s.value.max(LEAST_RATE).ln());
    let way = (share / left.share_bytes as f64).ln() / (right.share_bytes as f64 / left.share_bytes as f64).ln();
    (from + (to - from) * way).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_met_and_joined_without_a_step() {
        let point = |share_bytes, per_s: f64| CurvePoint { share_bytes, per_s: per_s.into() };
        let curve = FaultCurve::Points(vec![point(100, 50.0), point(200, 5.0), point(400, 0.0)]);
        let at = |share| curve.per_s(share, 1.0, 0.0, 0);
        assert!((at(100.0) - 50.0).abs() < 1e-9 && (at(200.0) - 5.0).abs() < 1e-9);
        assert!((at(50.0) - 100.0).abs() < 1e-9, "below the first point as in Saltzer's model");
        assert_eq!(at(500.0), 0.0);
        assert!((at(2f64.sqrt() * 100.0) - 250f64.sqrt()).abs() < 1e-9);
        let mut before = f64::INFINITY;
        for share in 10..600 {
            assert!(at(f64::from(share)) <= before, "{share}");
            before = at(f64::from(share));
        }
    }

    #[test]
    fn a_curve_that_is_none_is_refused() {
        let point = |share_bytes, per_s: f64| CurvePoint { share_bytes, per_s: per_s.into() };
        for curve in [
            FaultCurve::Every(0.0.into()),
            FaultCurve::Every(f64::NAN.into()),
            FaultCurve::ByDepth(vec![]),
            FaultCurve::ByDepth(vec![0.008.into()]),
            FaultCurve::Points(vec![]),
            FaultCurve::Points(vec![point(0, 1.0)]),
            FaultCurve::Points(vec![point(2, 1.0), point(1, 0.5)]),
            FaultCurve::Points(vec![point(1, 1.0), point(2, 1.5)]),
            FaultCurve::Saltzer { s_per_byte: Figure { value: 1.0, interval: Some((2.0, 3.0)) } },
        ] {
            assert!(curve.check(0.008).is_err(), "{curve:?}");
        }
        assert!(FaultCurve::ByDepth(vec![0.016.into()]).check(0.008).is_ok());
    }

    #[test]
    fn rounding_between_points_of_equal_faults_is_no_rise() {
        let point = |share_bytes, per_s: f64| CurvePoint { share_bytes, per_s: per_s.into() };
        let curve = FaultCurve::falling(vec![point(1, 400.0), point(2, 400.0_f64.next_up()), point(3, 3.0)]);
        assert!(curve.check(0.0).is_ok(), "{curve:?}");
    }
}
