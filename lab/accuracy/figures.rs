//! What the benches say of many figures at once.

use analysis::statistics::{quantile, sorted};
use analysis::tails::{SHARES, Tail};
use record::Nanoseconds;
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

/// The percentiles of two tools, each with its interval over all turns and the range of its turns: turns differ by more
/// than independent samples do.
pub(crate) fn beside((name, ours): (&str, &[Tail]), (other, theirs): (&str, &[Tail])) {
    println!("  {:<8} {:>44} {:>44}", "", name, other);
    for share in SHARES {
        let (one, two) = (Told::of(ours, share), Told::of(theirs, share));
        let verdict = match one.range.zip(two.range) {
            Some((one, two)) if one.0 <= two.1 && two.0 <= one.1 => "agree",
            Some(_) => "differ",
            None => "",
        };
        println!("  p{:<7} {:>44} {:>44}  {verdict}", share * 100.0, one.text, two.text);
    }
}

struct Told {
    text: String,
    /// From the least to the greatest that the interval or a turn tells.
    range: Option<(f64, f64)>,
}

impl Told {
    fn of(turns: &[Tail], share: f64) -> Told {
        let mut all = Tail::default();
        turns.iter().for_each(|turn| all.merge(turn));
        let Some(whole) = all.percentile(share) else { return Told { text: "-".into(), range: None } };
        let each = sorted(turns.iter().filter_map(|turn| turn.percentile(share)).map(|it| it.value));
        let ends = quantile(&each, 0.0).zip(quantile(&each, 1.0));
        let (low, high) = ends.unwrap_or((whole.low, whole.high));
        let [ns, from, to] = [whole.value, whole.low, whole.high].map(Nanoseconds);
        let turns =
            ends.map_or(String::new(), |(low, high)| format!(", turns {} to {}", Nanoseconds(low), Nanoseconds(high)));
        Told { text: format!("{ns} [{from}, {to}]{turns}"), range: Some((low.min(whole.low), high.max(whole.high))) }
    }
}
