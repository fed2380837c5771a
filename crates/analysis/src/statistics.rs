//! Order statistics: medians, quantiles, intervals for a median, two-group samples, intervals of sums.

use std::sync::OnceLock;

use serde::Serialize;

/// Half of the 95 % interval of a normal error, in its standard deviations.
pub const NORMAL_95: f64 = 1.96;

/// The values in ascending order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The quantile `share` (0 to 1) of ascending values, interpolated between neighbours (Hyndman and Fan's type 7).
/// `None` for no values.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = share.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    Some(sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64))
}

/// The median; `None` for no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// The mean; not a number for no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of the squares of the differences from the mean.
pub fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// The variance of what these values are a sample of; not a number for fewer than two.
pub fn variance(values: &[f64]) -> f64 {
    squares(values) / (values.len() as f64 - 1.0)
}

/// Half of the 95 % interval of the mean of independent values; infinite for fewer than two.
pub fn half_of_mean(values: &[f64]) -> f64 {
    let count = values.len();
    if count < 2 {
        return f64::INFINITY;
    }
    student_95(count as u32 - 1) * (variance(values) / count as f64).sqrt()
}

/// A number of the standard normal distribution (Box and Muller, Ann. Math. Statist. 29:610, 1958).
pub fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// The quantile at `share` (0 to 1) of (value, weight): each value stands at the middle of its own weight, and between two
/// of them it is linear. `None` for no weight.
pub fn weighted_quantile(values: &[(f64, f64)], share: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = share * values.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut below = 0.0;
    let mut last: Option<(f64, f64)> = None;
    for (value, weight) in values.into_iter().filter(|(_, weight)| *weight > 0.0) {
        let at = below + weight / 2.0;
        if at >= wanted {
            return Some(
                last.map_or(value, |(before, from)| before + (value - before) * (wanted - from) / (at - from)),
            );
        }
        (below, last) = (below + weight, Some((value, at)));
    }
    last.map(|(value, _)| value)
}

/// The most that another sample of the same size may show, of what this one shows so often: more of them come less often than once in
/// 20. The beta-binomial distribution with Jeffreys' prior (Gelman et al., Bayesian Data Analysis, 2013, section 2.4).
pub fn most_in_another(shown: usize, of: usize) -> usize {
    const RARE: f64 = 0.05;
    let (yes, no, all) = (shown as f64 + 0.5, (of - shown) as f64 + 0.5, of as f64);
    // Logarithms, because single probabilities may be too small for a number.
    let mut log: f64 = (0..of).map(|one| ((no + one as f64) / (yes + no + one as f64)).ln()).sum();
    let mut more = 1.0;
    for (count, number) in (0..of).map(|count| (count, count as f64)) {
        more -= log.exp();
        if more <= RARE {
            return count;
        }
        log += ((all - number) / (number + 1.0) * (yes + number) / (no + all - number - 1.0)).ln();
    }
    of
}

/// The probability of at least this many successes in so many tries, each with this probability between 0 and 1.
pub fn binomial_tail(least: usize, tries: usize, share: f64) -> f64 {
    // Logarithms, because single probabilities may be too small for a number.
    let mut log = tries as f64 * (1.0 - share).ln();
    let mut sum = if least == 0 { log.exp() } else { 0.0 };
    for count in 1..=tries {
        log += ((tries + 1 - count) as f64 / count as f64).ln() + (share / (1.0 - share)).ln();
        if count >= least {
            sum += log.exp();
        }
    }
    sum
}

/// The probability of at least so many hits among those `drawn` from `all`, of which `hits` are such (Fisher's exact test, one side).
pub fn hypergeometric_tail(least: usize, drawn: usize, hits: usize, all: usize) -> f64 {
    let log_ways = |of: usize, taken: usize| -> f64 {
        (0..taken).map(|count| ((of - count) as f64 / (count + 1) as f64).ln()).sum()
    };
    let fewest = (drawn + hits).saturating_sub(all).max(least);
    if fewest > drawn.min(hits) {
        return 0.0;
    }
    let mut log = log_ways(hits, fewest) + log_ways(all - hits, drawn - fewest) - log_ways(all, drawn);
    let mut sum = log.exp();
    for count in fewest..drawn.min(hits) {
        let (left, others) = ((hits - count) * (drawn - count), (count + 1) * (all + count + 1 - hits - drawn));
        log += (left as f64 / others as f64).ln();
        sum += log.exp();
    }
    sum
}

/// The medians of the two groups of ascending values, the lower one first, if there are two: separated by an empty range
/// that is wider than 5 % of the median, has at least a fifth of the values on each side, and is two and a half times wider
/// than the wider middle half of either side.
pub fn two_groups(sorted: &[f64]) -> Option<[f64; 2]> {
    const LEAST: usize = 10;
    if sorted.len() < LEAST {
        return None;
    }
    let fifth = sorted.len() / 5;
    let split = (fifth..=sorted.len() - fifth)
        .max_by(|&a, &b| (sorted[a] - sorted[a - 1]).total_cmp(&(sorted[b] - sorted[b - 1])))?;
    let gap = sorted[split] - sorted[split - 1];
    let (lower, upper) = sorted.split_at(split);
    let spread = |group: &[f64]| quantile(group, 0.75).unwrap_or(0.0) - quantile(group, 0.25).unwrap_or(0.0);
    let apart = gap > 0.05 * quantile(sorted, 0.5)?.abs() && gap > 5.0 * spread(lower).max(spread(upper)) / 2.0;
    apart.then_some([quantile(lower, 0.5)?, quantile(upper, 0.5)?])
}

/// A value with its 95 % interval. What is not finite is written as null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// The value.
    #[schemars(with = "Option<f64>")]
    pub value: f64,
    /// Its lower end.
    #[schemars(with = "Option<f64>")]
    pub low: f64,
    /// Its upper end.
    #[schemars(with = "Option<f64>")]
    pub high: f64,
}

impl Interval {
    /// True if it is not distinguishable from zero: only its upper end is known.
    pub fn holds_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// As far to either side of this value.
    #[must_use]
    pub fn moved_to(&self, value: f64) -> Interval {
        Interval { value, low: value - (self.value - self.low), high: value + (self.high - self.value) }
    }

    /// The same of a positive value with an error besides, which reaches so far to either side on the log scale: by squares.
    #[must_use]
    pub fn with_error(self, reach: f64) -> Interval {
        if reach == 0.0 {
            return self;
        }
        let reach = |end: f64| (end / self.value).ln().hypot(reach);
        let (low, high) = (self.value * (-reach(self.low)).exp(), self.value * reach(self.high).exp());
        Interval { low, high, ..self }
    }

    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// The ratio of two independent positive values with its interval, by the same method as [`weighted_sum`] (Donner and
/// Zou, Statistical Methods in Medical Research 21:347, 2012). `None` if either is not distinguishable from zero.
pub fn ratio(over: Interval, under: Interval) -> Option<Interval> {
    if over.low <= 0.0 || under.low <= 0.0 {
        return None;
    }
    let product = over.value * under.value;
    let end = |over_end: f64, under_end: f64, side: f64| {
        let under_rest = 2.0 * under.value - under_end;
        let inside = product.powi(2) - over_end * under_end * (2.0 * over.value - over_end) * under_rest;
        let end = (product + side * inside.max(0.0).sqrt()) / (under_end * under_rest);
        // If an interval is wider than its value, there is no such end. The quotient of the ends is safe.
        if under_rest > 0.0 && end.is_finite() { end } else { over_end / under_end }
    };
    Some(Interval {
        value: over.value / under.value,
        low: end(over.low, under.high, -1.0),
        high: end(over.high, under.low, 1.0),
    })
}

/// The sum of `factor` x value with its interval, from the intervals of independent parts, which need not be
/// symmetric: the method of variance estimates recovery (Zou and Donner, Statistics in Medicine 27:1693, 2008).
pub fn weighted_sum(parts: &[(f64, Interval)]) -> Interval {
    let value = parts.iter().map(|(factor, part)| factor * part.value).sum();
    let reach = |down: bool| {
        // A part with the factor zero adds nothing, however wide its interval is.
        let squares = parts.iter().filter(|(factor, _)| *factor != 0.0).map(|(factor, part)| {
            // A negative factor turns the part's upper end into the sum's lower one.
            let end = if (*factor >= 0.0) == down { part.low } else { part.high };
            (factor * (part.value - end)).powi(2)
        });
        squares.sum::<f64>().sqrt()
    };
    Interval { value, low: value - reach(true), high: value + reach(false) }
}

/// The probability that Student's t with this many degrees of freedom exceeds `t`, which is not negative (Abramowitz
/// and Stegun, 26.7.3 and 26.7.4: finite sums, exact).
pub fn student_tail(t: f64, freedom: u32) -> f64 {
    let angle = (t / f64::from(freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    // From each power of the cosine to the one after the next. The series begins with the first or the zeroth.
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = u32::from(odd);
    while power + 2 <= freedom {
        sum += term;
        power += 2;
        term *= cosine * cosine * f64::from(power - 1) / f64::from(power);
    }
    let inside = if odd { std::f64::consts::FRAC_2_PI * (angle + sine * sum) } else { sine * sum };
    ((1.0 - inside) / 2.0).max(0.0)
}

/// The value that Student's t with this many degrees of freedom stays below with probability `share`, which is at least
/// a half and less than one.
pub fn student_quantile(share: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_tail(high, freedom) > 1.0 - share && high < 1e12 {
        high *= 2.0;
    }
    // Halving a double until nothing is left between the ends takes no more steps than this.
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if student_tail(middle, freedom) > 1.0 - share { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The two-sided 95 % point of Student's t. Each is computed once: every estimate needs some of them.
pub fn student_95(freedom: u32) -> f64 {
    /// Beyond this it equals the normal distribution to four digits, and its series only costs time.
    const MOST: usize = 1000;
    static KNOWN: [OnceLock<f64>; MOST + 1] = [const { OnceLock::new() }; MOST + 1];
    let freedom = freedom.min(MOST as u32);
    *KNOWN[freedom as usize].get_or_init(|| student_quantile(0.975, freedom))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let values = sorted([4.0, 1.0, 3.0, 2.0]);
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(median([7.0]), Some(7.0));
    }

    #[test]
    fn student_is_that_of_the_tables() {
        for (freedom, t) in [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (30, 2.042)] {
            assert!((student_quantile(0.975, freedom) - t).abs() < 5e-4, "{freedom}");
            assert!((student_tail(t, freedom) - 0.025).abs() < 2e-5, "{freedom}");
        }
        assert!((student_tail(6.869, 5) - 0.0005).abs() < 1e-6);
        assert!((student_quantile(0.75, 1) - 1.0).abs() < 1e-9);
        assert_eq!(student_tail(0.0, 7), 0.5);
        assert_eq!(student_tail(f64::INFINITY, 6), 0.0);
        assert!(student_tail(f64::INFINITY, 5) < 1e-15);
    }

    #[test]
    fn the_most_in_another_sample_by_hand() {
        // Shares are drawn from the posterior, and samples by them.
        assert_eq!((most_in_another(0, 1), most_in_another(1, 1), most_in_another(0, 20)), (1, 1, 2));
        assert!((14..=16).contains(&most_in_another(10, 20)), "{}", most_in_another(10, 20));
        assert!((2070..=2080).contains(&most_in_another(2000, 4000)), "{}", most_in_another(2000, 4000));
    }

    #[test]
    fn a_binomial_tail_by_hand() {
        assert!((binomial_tail(2, 3, 0.5) - 0.5).abs() < 1e-12 && (binomial_tail(0, 5, 0.3) - 1.0).abs() < 1e-12);
        assert!((binomial_tail(3, 3, 0.2) - 0.008).abs() < 1e-12 && binomial_tail(4, 3, 0.2) == 0.0);
    }

    #[test]
    fn a_hypergeometric_tail_is_that_of_the_tea_tasting() {
        // Fisher, The Design of Experiments, 1935: all four of four cups by chance 1 in 70 times, three or more 17 times.
        assert!((hypergeometric_tail(4, 4, 4, 8) - 1.0 / 70.0).abs() < 1e-12);
        assert!((hypergeometric_tail(3, 4, 4, 8) - 17.0 / 70.0).abs() < 1e-12);
        assert!((hypergeometric_tail(0, 3, 9, 10) - 1.0).abs() < 1e-12 && hypergeometric_tail(4, 3, 9, 10) == 0.0);
        assert!(hypergeometric_tail(60_000, 100_000, 100_000, 200_000) < 1e-9);
    }

    #[test]
    fn two_groups_are_distinguished_from_one() {
        let one: Vec<f64> = (0..40).map(|i| 100.0 + i as f64 * 0.1).collect();
        assert_eq!(two_groups(&one), None);
        let two: Vec<f64> = (0..40).map(|i| if i < 20 { 100.0 } else { 130.0 } + i as f64 * 0.05).collect();
        let [low, high] = two_groups(&two).expect("two groups");
        assert!((low - 100.475).abs() < 1e-9 && (high - 131.475).abs() < 1e-9);
        let few = |low: usize| (0..10).map(|i| if i < low { 100.0 } else { 130.0 }).collect::<Vec<f64>>();
        assert!(two_groups(&few(2)).is_some() && two_groups(&few(8)).is_some() && two_groups(&few(9)).is_none());
        let outlier: Vec<f64> = (0..40).map(|i| if i < 39 { 100.0 } else { 200.0 }).collect();
        assert_eq!(two_groups(&outlier), None);
    }

    #[test]
    fn a_difference_carries_both_intervals() {
        let net = weighted_sum(&[(1.0, Interval::around(10.0, 3.0)), (-2.0, Interval::around(1.0, 2.0))]);
        assert_eq!(net, Interval { value: 8.0, low: 3.0, high: 13.0 });
        let skew = weighted_sum(&[(-1.0, Interval { value: 5.0, low: 4.0, high: 9.0 })]);
        assert_eq!(skew, Interval { value: -5.0, low: -9.0, high: -4.0 });
    }

    #[test]
    fn a_ratio_carries_both_intervals() {
        let exact = ratio(Interval::around(10.0, 1.0), Interval::around(2.0, 0.0)).expect("distinguished from zero");
        assert!((exact.low - 4.5).abs() < 1e-12 && (exact.high - 5.5).abs() < 1e-12 && exact.value == 5.0);
        let both = ratio(Interval::around(10.0, 0.3), Interval::around(2.0, 0.08)).expect("distinguished from zero");
        // Relative half-widths of 3 and 4 % give about 5 %.
        assert!((both.high / 5.0 - 1.05).abs() < 2e-3 && (1.0 - both.low / 5.0 - 0.05).abs() < 2e-3, "{both:?}");
        assert_eq!(ratio(Interval::around(10.0, 11.0), Interval::around(2.0, 0.1)), None);
        let wide = ratio(Interval::around(10.0, 1.0), Interval { value: 2.0, low: 1.0, high: 9.0 })
            .expect("distinguished from zero");
        assert!(wide.low <= wide.value && wide.value <= wide.high, "{wide:?}");
    }

    #[test]
    fn a_weighted_quantile_lies_between_the_middles_of_weights() {
        let values = [(3.0, 1.0), (1.0, 1.0), (2.0, 2.0)];
        let at = |share| weighted_quantile(&values, share).expect("weights");
        assert_eq!([0.0, 0.125, 0.5, 0.875, 1.0].map(at), [1.0, 1.0, 2.0, 3.0, 3.0]);
        assert!((at(0.3125) - 1.5).abs() < 1e-12);
        assert_eq!(weighted_quantile(&[(1.0, 0.0)], 0.5), None);
    }
}
