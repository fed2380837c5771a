//! What is measured, what is answered, and the ratio of two costs at one point as a logarithm with its error.

use record::smallest_first;

use crate::statistics::{Interval, NORMAL_95, mean, ratio, student_quantile, variance};

/// Standard errors by which costs must differ for their order to count as known at a point. At the usual 1.96 one of twenty
/// points is in the wrong order by chance, which would be two crossings more.
pub(super) const KNOWN: f64 = 3.0;
/// The least relative error: the intervals of costs do not claim more either.
const FLOOR: f64 = 1e-3;

/// Two costs at one number of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostsAt {
    /// The number, above zero.
    pub at: f64,
    /// Both costs with their 95 % intervals.
    pub costs: [Interval; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first one named.
    First,
    /// The second one named.
    Second,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }

    /// Its place among two.
    pub fn index(self) -> usize {
        match self {
            Side::First => 0,
            Side::Second => 1,
        }
    }
}

/// Whether and where two costs cross.
#[derive(Clone, Debug, PartialEq)]
pub enum CrossoverAnswer {
    /// One is cheaper at every number measured.
    Never {
        cheaper: Side,
        /// About where they would cross outside, if they go on approaching each other as they do at an end.
        trend: Option<f64>,
    },
    /// They cross once.
    Once(Crossing),
    /// They cross several times; from the least number to the greatest.
    Several(Vec<Crossing>),
    /// Their intervals do not tell.
    Undecided {
        /// The one that is cheaper where the order is known, and the first and the last number where it is.
        cheaper: Option<(Side, [f64; 2])>,
    },
}

/// Where one cost overtakes the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The number with its 95 % interval.
    pub at: Interval,
    /// The method that is cheaper below it.
    pub below: Side,
    /// The nearest number below it at which the order is known.
    pub left: f64,
    /// The nearest number above it at which the order is known.
    pub right: f64,
}

/// The costs at one number, as the logarithm of their ratio: below zero where the first is cheaper.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogRatio {
    pub at: f64,
    /// The logarithm and its standard error; nothing where a cost cannot be distinguished from zero.
    log: Option<(f64, f64)>,
    /// What the ends of the intervals show where there is no ratio.
    apart: Option<Side>,
}

impl LogRatio {
    fn of(point: &CostsAt) -> LogRatio {
        let [one, other] = point.costs;
        let log = ratio(one, other).filter(|ratio| ratio.low > 0.0 && ratio.high.is_finite());
        let log = log.map(|ratio| (ratio.value.ln(), ((ratio.high / ratio.low).ln() / (2.0 * NORMAL_95)).max(FLOOR)));
        let apart =
            if one.high < other.low { Some(Side::First) } else { (other.high < one.low).then_some(Side::Second) };
        LogRatio { at: point.at, log: log.filter(|(value, error)| value.is_finite() && error.is_finite()), apart }
    }

    /// The cheaper one, if it is known.
    pub fn cheaper(&self) -> Option<Side> {
        match self.log {
            Some((value, error)) if value.abs() <= KNOWN * error => None,
            Some((value, _)) => Some(if value < 0.0 { Side::First } else { Side::Second }),
            None => self.apart,
        }
    }

    /// Logarithm of the number, logarithm of the ratio, standard error.
    pub fn point(&self) -> Option<(f64, f64, f64)> {
        self.log.map(|(value, error)| (self.at.ln(), value, error))
    }

    /// Both together, weighted by their precision.
    fn with(self, other: LogRatio) -> LogRatio {
        let log = match (self.log, other.log) {
            (Some((one, error)), Some((two, more))) => {
                let weights = (error.powi(-2), more.powi(-2));
                let sum = weights.0 + weights.1;
                Some(((one * weights.0 + two * weights.1) / sum, sum.sqrt().recip().max(FLOOR)))
            }
            (one, two) => one.or(two),
        };
        LogRatio { log, ..self }
    }
}

/// The points in the order of their numbers, those at one number taken together. Numbers of zero and below have no place on a
/// logarithmic axis, and points that show nothing are left out.
pub(super) fn pooled(points: &[CostsAt]) -> Vec<LogRatio> {
    let usable = points.iter().filter(|point| point.at > 0.0 && point.at.is_finite());
    let mut ratios: Vec<LogRatio> =
        usable.map(LogRatio::of).filter(|ratio| ratio.log.is_some() || ratio.apart.is_some()).collect();
    smallest_first(&mut ratios, |one| one.at);
    ratios.chunk_by(|one, other| one.at == other.at).filter_map(together).collect()
}

/// What several visits of one number show. Each visit has few rounds, so its own error is a cautious one. From three visits on
/// they also show how far they scatter, and the smaller error counts.
fn together(visits: &[LogRatio]) -> Option<LogRatio> {
    const FEWEST: usize = 3;
    let all = visits.iter().copied().reduce(LogRatio::with)?;
    let logs: Vec<f64> = visits.iter().filter_map(|visit| Some(visit.log?.0)).collect();
    let (Some((_, claimed)), true) = (all.log, logs.len() >= FEWEST) else { return Some(all) };
    let scattered = scattered(&logs);
    Some(if scattered.1 < claimed { LogRatio { log: Some(scattered), ..all } } else { all })
}

/// The mean of some logarithms and its error. Few values do not show their scatter well: the error is the one whose triple is
/// exceeded as seldom as that of a known deviation (Student's t).
fn scattered(logs: &[f64]) -> (f64, f64) {
    const TRIPLE: f64 = 3.0;
    const SELDOM: f64 = 0.998_65;
    let deviation = (variance(logs) / logs.len() as f64).sqrt();
    (mean(logs), (deviation * student_quantile(SELDOM, logs.len() as u32 - 1) / TRIPLE).max(FLOOR))
}
