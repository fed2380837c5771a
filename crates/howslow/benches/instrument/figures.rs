//! What the benches say of many figures at once.

use analysis::statistics::{quantile, sorted};
use record::units::percent;

/// The coefficient of variation: the standard deviation (with n - 1) over the mean. `None` for fewer than two values,
/// and where the mean is not positive: a net cost that cannot be told from zero has no relative scatter.
pub(crate) fn variation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1 && mean > 0.0).then(|| (squares / (n - 1.0)).sqrt() / mean)
}

/// A share as text, or a dash.
pub(crate) fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), percent)
}

/// Median, 90 % quantile and largest of some shares, in one line.
pub(crate) fn spread(shares: impl IntoIterator<Item = f64>) -> String {
    let shares = sorted(shares);
    let at = |part| share(quantile(&shares, part));
    format!("median {}, 90 % quantile {}, largest {} ({} figures)", at(0.5), at(0.9), at(1.0), shares.len())
}

/// The part of some shares that lies under a limit.
pub(crate) fn part_under(limit: f64, shares: &[f64]) -> Option<f64> {
    let under = shares.iter().filter(|share| **share < limit).count();
    (!shares.is_empty()).then(|| under as f64 / shares.len() as f64)
}
