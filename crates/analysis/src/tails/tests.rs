//! Percentiles and their intervals: known numbers, and how often the interval holds the true quantile.

use proptest::prelude::*;

use super::*;

#[test]
fn ranks_are_the_published_ones() {
    // RFC-style table: n -> one-based ranks, as in Hoefler and Belli and every table of the binomial.
    for (n, ranks) in
        [(6, (1, 6)), (10, (2, 9)), (15, (4, 12)), (20, (6, 15)), (30, (10, 21)), (50, (18, 33)), (100, (40, 61))]
    {
        assert_eq!(super::ranks(n, 0.5), Some(ranks), "n = {n}");
    }
    // Beyond what a power of a half can represent. The normal approximation gives n / 2 -+ 0.98 sqrt(n).
    for n in [1_074, 1_511, 100_000] {
        let (low, high) = ranks(n, 0.5).expect("enough");
        let half = 0.98 * (n as f64).sqrt();
        assert!((low as f64 - 1.0 - (n as f64 / 2.0 - half)).abs() < 2.5, "n = {n}: {low} to {high}");
        assert_eq!(low + high, n + 1);
    }
}

#[test]
fn the_interval_of_a_median_of_few_values_is_all_of_them() {
    assert_eq!(median_interval([]), None);
    assert_eq!(median_interval([7.0]), Some(Interval::exactly(7.0)));
    assert_eq!(median_interval([3.0, 1.0, 2.0]), Some(Interval::around(2.0, 1.0)));
}

#[test]
fn the_fewest_values_are_the_known_ones() {
    // ln 0.05 / ln 0.9999 = 29 955.8: this many are needed for one of them to lie beyond p99.99 in 95 of 100 cases.
    assert_eq!(samples_needed(0.9999), 29_956);
    assert_eq!(samples_needed(0.999), 2_995);
    assert_eq!(samples_needed(0.99), 299);
    assert_eq!(samples_needed(0.9), 29);
    // Both ends may miss: 2 / 2^6 = 0.03.
    assert_eq!(samples_needed(0.5), 6);
    assert_eq!(ranks(29_955, 0.9999), None);
    assert_eq!(ranks(0, 0.5), None);
}

#[test]
fn a_percentile_is_read_from_the_values() {
    let mut tail = Tail::default();
    (1..=1000).for_each(|value| tail.record(f64::from(value)));
    let median = tail.percentile(0.5).expect("a thousand are enough");
    assert_eq!((median.value, median.low, median.high), (500.0, 469.0, 532.0));
    assert_eq!(tail.percentile(0.9999), None);
    assert_eq!((tail.samples(), tail.longest(), tail.total()), (1000, 1000.0, 500_500.0));
    tail.record(-3.0);
    tail.record(f64::NAN);
    assert_eq!((tail.samples(), tail.buckets()[0]), (1001, (0.0, 1)));
}

#[test]
fn a_stall_of_hours_is_not_cut_off() {
    let mut tail = Tail::default();
    tail.record(100.0);
    tail.record(3.6e13);
    assert!((tail.longest() / 3.6e13 - 1.0).abs() < 1e-3, "{}", tail.longest());
}

#[test]
fn buckets_give_the_tail_back() {
    let mut tail = Tail::default();
    let mut random = fastrand::Rng::with_seed(7);
    (0..10_000).for_each(|_| tail.record(100.0 / random.f64().max(1e-6)));
    let again = Tail::of_buckets(&tail.buckets());
    assert_eq!(again.samples(), tail.samples());
    for share in SHARES {
        assert_eq!(again.percentile(share), tail.percentile(share));
    }
    let hostile = [(f64::NAN, 1), (f64::INFINITY, 1), (1e300, 3), (-1.0, 1)];
    assert_eq!(Tail::of_buckets(&hostile).samples(), 1);
}

/// How many of this many made-up samples have an interval that holds the true quantile.
fn covered(share: f64, samples: u64, trials: u64, value: fn(f64) -> f64) -> u64 {
    let mut random = fastrand::Rng::with_seed(samples ^ share.to_bits());
    let truth = value(share);
    let holds = |_: &u64| {
        let mut tail = Tail::default();
        (0..samples).for_each(|_| tail.record(value(random.f64())));
        // Half a bucket is the histogram's own rounding.
        tail.percentile(share)
            .is_some_and(|percentile| percentile.low * 0.999 <= truth && truth <= percentile.high * 1.001)
    };
    (0..trials).filter(holds).count() as u64
}

#[test]
fn intervals_hold_the_true_quantile_whatever_the_distribution() {
    let even = |share: f64| 1e6 * share + 1e3;
    let heavy = |share: f64| 1e4 / (1.0 - share).max(1e-9);
    for (share, samples) in [(0.5, 50), (0.9, 100), (0.99, 300), (0.99, 2_000), (0.999, 3_000)] {
        for value in [even as fn(f64) -> f64, heavy] {
            let held = covered(share, samples, 400, value);
            // 95 % of 400 is 380; a binomial number is 5 standard deviations below that once in a million.
            assert!(held >= 380 - 22, "{share} of {samples}: {held} of 400");
        }
    }
}

proptest! {
    #[test]
    fn ranks_enclose_the_quantile_and_widen_by_no_more_than_they_must(samples in 1_u64..200_000, share in 0.01_f64..0.9999) {
        if let Some((low, high)) = ranks(samples, share) {
            let middle = samples as f64 * share;
            prop_assert!(1 <= low && low <= high && high <= samples);
            prop_assert!(low as f64 <= middle + 1.0 && middle <= high as f64);
            let spread = (samples as f64 * share * (1.0 - share)).sqrt();
            prop_assert!((high - low) as f64 <= 5.0 * spread + 6.0, "{low} to {high}");
        }
    }
}
