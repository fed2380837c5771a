//! Tails: the distribution of single iterations, its percentiles, and for each an interval that assumes no distribution.

use hdrhistogram::Histogram;

use crate::statistics::{Interval, quantile, sorted};

/// The shares that a tail is reported by: p50, p90, p99, p99.9, p99.99.
pub const SHARES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// How often an interval may miss.
const MISS: f64 = 0.05;

/// A tail's values are kept to three significant digits, so a figure is right to 0.1 %, or to 1 ns where that is more.
const DIGITS: u8 = 3;

/// Times of single iterations, kept as a histogram.
#[derive(Clone, Debug)]
pub struct Tail(Histogram<u64>);

impl Default for Tail {
    fn default() -> Tail {
        // It grows with the largest value, so that none is cut off at a bound.
        let mut histogram = Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!("three digits are allowed"));
        histogram.auto(true);
        Tail(histogram)
    }
}

impl Tail {
    /// The tail of these values and counts, as [`Tail::buckets`] gives them. Values that are no times are left out.
    pub fn of_buckets(buckets: &[(f64, u64)]) -> Tail {
        let mut tail = Tail::default();
        buckets.iter().for_each(|&(ns, count)| tail.add(ns, count));
        tail
    }

    /// Takes in one time in ns. A negative one, which subtracting the clock's cost may leave, counts as 0.
    pub fn record(&mut self, ns: f64) {
        self.add(ns, 1);
    }

    fn add(&mut self, ns: f64, count: u64) {
        /// A quarter of a year. Nothing that is timed takes longer; a damaged file may say so.
        const MOST: f64 = 8e15;
        if ns.is_finite() && ns <= MOST {
            // The histogram grows, so that no value is refused.
            let _ = self.0.record_n(ns.max(0.0).round() as u64, count);
        }
    }

    /// Takes in all values of another tail.
    pub fn merge(&mut self, other: &Tail) {
        let _ = self.0.add(&other.0);
    }

    /// As a run keeps it.
    pub fn recorded(&self) -> record::Tail {
        let figure = |share| {
            let percentile = self.percentile(share);
            let end = |of: fn(Interval) -> f64| percentile.map(of);
            record::Percentile { share, ns: end(|of| of.value), low_ns: end(|of| of.low), high_ns: end(|of| of.high) }
        };
        record::Tail {
            samples: self.samples(),
            percentiles: SHARES.into_iter().map(figure).collect(),
            longest_ns: self.longest(),
            histogram: self.buckets(),
        }
    }

    /// The number of values.
    pub fn samples(&self) -> u64 {
        self.0.len()
    }

    /// The largest value, in ns; 0 for none.
    pub fn longest(&self) -> f64 {
        self.0.lowest_equivalent(self.0.max()) as f64
    }

    /// The sum of all values, in ns.
    pub fn total(&self) -> f64 {
        self.buckets().iter().map(|(ns, count)| ns * *count as f64).sum()
    }

    /// The values that occurred, in ascending order, in ns, and how often.
    pub fn buckets(&self) -> Vec<(f64, u64)> {
        let value = |value| self.0.lowest_equivalent(value) as f64;
        self.0.iter_recorded().map(|step| (value(step.value_iterated_to()), step.count_at_value())).collect()
    }

    /// The value of this rank, from 1, in ns.
    fn at(&self, rank: u64) -> f64 {
        let (mut seen, mut value) = (0, 0);
        for step in self.0.iter_recorded() {
            seen += step.count_at_value();
            value = step.value_iterated_to();
            if seen >= rank {
                break;
            }
        }
        self.0.lowest_equivalent(value) as f64
    }

    /// The time in ns that this share of the iterations does not exceed, with its interval; `None` if there are too few values to
    /// support the interval.
    pub fn percentile(&self, share: f64) -> Option<Interval> {
        let (low, high) = ranks(self.samples(), share)?;
        let middle = ((self.samples() as f64 * share).ceil() as u64).clamp(low, high);
        Some(Interval { value: self.at(middle), low: self.at(low), high: self.at(high) })
    }
}

/// The ranks, from 1, of the two values among `samples` independent ones that enclose the quantile `share` of their
/// parent distribution with 95 % probability, whatever the distribution is. The number of values below the quantile is
/// binomial, so the ends are its own quantiles (David and Nagaraja, Order Statistics, 7.1). Each end may miss in 2.5 of
/// 100 cases. Where even the largest value misses the quantile more often, but in less than 5 of 100 cases, the lower end
/// gets what is left. `None` if no two values are enough.
pub fn ranks(samples: u64, share: f64) -> Option<(u64, u64)> {
    let below = Binomial::new(samples, share)?;
    let highest_misses = share.powf(samples as f64);
    let lowest_misses = (1.0 - share).powf(samples as f64);
    let (for_low, for_high) = match (lowest_misses <= MISS / 2.0, highest_misses <= MISS / 2.0) {
        (true, true) => (MISS / 2.0, MISS / 2.0),
        (true, false) => (MISS - highest_misses, highest_misses),
        (false, true) => (lowest_misses, MISS - lowest_misses),
        (false, false) => return None,
    };
    if for_low < lowest_misses || for_high < highest_misses {
        return None;
    }
    Some((below.largest_with_at_most_below(for_low), below.smallest_with_at_most_from(for_high)))
}

/// The two of ascending values that enclose this quantile of their parent distribution, by [`ranks`].
pub fn enclosing(ascending: &[f64], share: f64) -> Option<(f64, f64)> {
    let (low, high) = ranks(ascending.len() as u64, share)?;
    Some((ascending[low as usize - 1], ascending[high as usize - 1]))
}

/// The median of values with its interval by order statistics (Hoefler and Belli, SC'15, rule 8 use the same), or the whole range
/// where there are fewer than six, which covers less.
pub fn median_interval(values: impl IntoIterator<Item = f64>) -> Option<Interval> {
    let values = sorted(values);
    let value = quantile(&values, 0.5)?;
    let (low, high) = enclosing(&values, 0.5).unwrap_or((values[0], values[values.len() - 1]));
    Some(Interval { value, low, high })
}

/// The fewest values that support a percentile.
pub fn samples_needed(share: f64) -> u64 {
    let mut samples = 1;
    while ranks(samples, share).is_none() {
        samples *= 2;
    }
    let (mut too_few, mut enough) = (samples / 2, samples);
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if ranks(middle, share).is_some() { enough = middle } else { too_few = middle }
    }
    enough
}

/// The probabilities of a binomial number where they count: around its mode.
struct Binomial {
    samples: u64,
    /// The number that the first probability belongs to.
    first: u64,
    probabilities: Vec<f64>,
}

impl Binomial {
    /// `None` for no values, or a share that is none.
    fn new(samples: u64, share: f64) -> Option<Binomial> {
        /// What is left out on either side is less than a rounding error of the sum.
        const NOTHING: f64 = 1e-18;
        if samples == 0 || !(share > 0.0 && share < 1.0) {
            return None;
        }
        let odds = share / (1.0 - share);
        let mode = (((samples + 1) as f64 * share).floor() as u64).min(samples);
        // Each is computed from its neighbour, in units of the largest.
        let down = std::iter::successors(Some((mode, 1.0_f64)), |&(number, weight)| {
            let next = weight * number as f64 / ((samples - number + 1) as f64 * odds);
            (number > 0 && next > NOTHING).then(|| (number - 1, next))
        });
        let up = std::iter::successors(Some((mode, 1.0_f64)), |&(number, weight)| {
            let next = weight * (samples - number) as f64 * odds / (number + 1) as f64;
            (number < samples && next > NOTHING).then_some((number + 1, next))
        });
        let mut weights: Vec<(u64, f64)> = down.collect();
        weights.reverse();
        weights.extend(up.skip(1));
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let probabilities = weights.iter().map(|(_, weight)| weight / total).collect();
        Some(Binomial { samples, first: weights[0].0, probabilities })
    }

    /// The largest rank r, at least 1, such that fewer than r occur with at most this probability.
    fn largest_with_at_most_below(&self, most: f64) -> u64 {
        let mut sum = 0.0;
        let fitting = self.probabilities.iter().take_while(|probability| {
            sum += **probability;
            sum <= most
        });
        (self.first + fitting.count() as u64).clamp(1, self.samples)
    }

    /// The smallest rank r, at most the number of values, such that r or more occur with at most this probability.
    fn smallest_with_at_most_from(&self, most: f64) -> u64 {
        let mut sum = 0.0;
        let fitting = self.probabilities.iter().rev().take_while(|probability| {
            sum += **probability;
            sum <= most
        });
        let last = self.first + self.probabilities.len() as u64 - 1;
        (last + 1 - fitting.count() as u64).clamp(1, self.samples)
    }
}

#[cfg(test)]
mod tests;
