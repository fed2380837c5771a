//! Where another run of the same build on this machine would land, 95 times in 100: the interval of the figures of a cost. Means,
//! such as processor time, have that of a mean (`statistics::half_of_mean`). Knows nothing of how rounds were taken.

use crate::statistics::{Interval, median, student_95, weighted_quantile};

/// The resolution of the clock and the speed check, as a share of any figure. No interval is narrower.
pub const FLOOR: f64 = 0.002;
/// The standard error of a median divided by that of a mean: the square root of pi / 2, for normal scatter.
const MEDIAN_OVER_MEAN: f64 = 1.2533;

/// The figure of one round, and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundFigure {
    /// In ns or in cycles.
    pub figure: f64,
    /// Above 0. Rounds that are trusted equally have the same weight.
    pub weight: f64,
}

impl RoundFigure {
    /// How many quiet batches a round counts as: up to ten of them, times their share of its batches.
    pub fn trust(quiet: usize, share: f64) -> f64 {
        const MOST: usize = 10;
        quiet.min(MOST) as f64 * share
    }

    pub fn alike(figures: impl IntoIterator<Item = f64>) -> Vec<RoundFigure> {
        figures.into_iter().map(|figure| RoundFigure { figure, weight: 1.0 }).collect()
    }
}

/// How many rounds of equal weight tell as much as these (Kish, Survey Sampling, 1965, section 11.7).
pub fn effective(rounds: &[RoundFigure]) -> f64 {
    let sum: f64 = rounds.iter().map(|round| round.weight).sum();
    let squares: f64 = rounds.iter().map(|round| round.weight.powi(2)).sum();
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// From so many rounds on their ranks alone say where the median of another run may lie. With fewer, the ranks needed are the
/// least and the greatest, and a normal scatter is assumed.
const ENOUGH_FOR_RANKS: f64 = 12.0;

/// How far another run's figure may lie from this one's, on the log scale: both are medians over n rounds (the effective
/// number where they weigh unlike). From 12 rounds on, the distance to the quantiles at `1/2 -+ 1.8 sqrt(1 / 2n)`; with
/// fewer, `t x 1.253 x s x sqrt(2 / n)`, Student's t with n - 1 degrees of freedom. The floor joins by squares.
/// Infinite for what tells no more than one round, which shows no scatter.
pub fn reach(rounds: &[RoundFigure]) -> f64 {
    if rounds.iter().any(|round| round.figure <= 0.0) {
        // The clock resolves nothing here. The linear scale still shows the scatter.
        let middle = median(rounds.iter().map(|round| round.figure)).map_or(0.0, f64::abs);
        return joined(weighted_reach(rounds) / middle);
    }
    let log = |round: &RoundFigure| RoundFigure { figure: round.figure.ln(), ..*round };
    joined(weighted_reach(&rounds.iter().map(log).collect::<Vec<_>>()))
}

fn weighted_reach(rounds: &[RoundFigure]) -> f64 {
    /// One round and a little: its scatter is that of one with itself.
    const LEAST: f64 = 1.5;
    let count = effective(rounds);
    if count < LEAST {
        f64::INFINITY
    } else if count < ENOUGH_FOR_RANKS {
        reach_by_scatter(rounds, count)
    } else {
        reach_by_ranks(rounds, count)
    }
}

fn reach_by_scatter(rounds: &[RoundFigure], count: f64) -> f64 {
    let sum: f64 = rounds.iter().map(|round| round.weight).sum();
    let mean = rounds.iter().map(|round| round.weight * round.figure).sum::<f64>() / sum;
    let squares: f64 = rounds.iter().map(|round| round.weight * (round.figure - mean).powi(2)).sum();
    let deviation = (squares / sum * count / (count - 1.0)).sqrt();
    // Rounds of equal weight count exactly; the small number covers the rounding error of their sum.
    let freedom = ((count - 1.0 + 1e-6).floor() as u32).max(1);
    student_95(freedom) * MEDIAN_OVER_MEAN * deviation * (2.0 / count).sqrt()
}

/// The same without a word on how rounds scatter: a few of them that lie far off do not move a median. The share of a
/// distribution below the median of n rounds has the variance 1 / 4n, so the medians of two runs differ by a share with
/// the variance 1 / 2n. The farther of both sides holds 95 in 100 where 1.8 standard deviations are taken to either: tried
/// on normal, heavy-tailed and two-peaked scatter (lab/RULES.md).
fn reach_by_ranks(rounds: &[RoundFigure], count: f64) -> f64 {
    const DEVIATIONS: f64 = 1.8;
    let apart = DEVIATIONS * (0.5 / count).sqrt();
    let values: Vec<(f64, f64)> = rounds.iter().map(|round| (round.figure, round.weight)).collect();
    let at = |share: f64| weighted_quantile(&values, share.clamp(0.0, 1.0)).unwrap_or(f64::INFINITY);
    (at(0.5) - at(0.5 - apart)).max(at(0.5 + apart) - at(0.5))
}

fn joined(reach: f64) -> f64 {
    reach.hypot(FLOOR)
}

/// The interval with this reach on the log scale around a positive figure.
pub fn around(figure: f64, reach: f64) -> Interval {
    if !reach.is_finite() {
        return Interval::unbounded(figure);
    }
    let ends = (figure * (-reach).exp(), figure * reach.exp());
    Interval { value: figure, low: ends.0.min(ends.1), high: ends.0.max(ends.1) }
}

/// The number of rounds that reduces this reach to `wanted`; `None` if the floor alone is wider.
pub fn rounds_needed(rounds: f64, reach: f64, wanted: f64) -> Option<f64> {
    let above_floor = |width: f64| width * width - FLOOR * FLOOR;
    (above_floor(wanted) > 0.0).then(|| rounds * above_floor(reach).max(0.0) / above_floor(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    /// The share of pairs of runs in which the interval of one contains the figure of the other, and the median reach. Each
    /// round's figure is drawn anew.
    fn coverage(rounds: usize, mut drawn: impl FnMut(&mut fastrand::Rng) -> f64) -> (f64, f64) {
        const PAIRS: u32 = 4000;
        let mut random = fastrand::Rng::with_seed(rounds as u64);
        let mut run = || -> Vec<f64> { (0..rounds).map(|_| drawn(&mut random)).collect() };
        let mut reaches = Vec::new();
        let held = (0..PAIRS).filter(|_| {
            let (one, other) = (run(), run());
            let figure = |run: &[f64]| median(run.iter().copied()).unwrap_or(0.0);
            reaches.push(reach(&RoundFigure::alike(one.iter().copied())));
            let interval = around(figure(&one), *reaches.last().unwrap_or(&0.0));
            (interval.low..=interval.high).contains(&figure(&other))
        });
        (held.count() as f64 / f64::from(PAIRS), median(reaches.clone()).unwrap_or(0.0))
    }

    #[test]
    fn another_run_lands_within_as_often_as_is_reported() {
        for rounds in [2, 3, 4, 6, 10, 12, 15, 20, 30, 100] {
            let (held, _) = coverage(rounds, |random| 100.0 * (0.02 * normal(random)).exp());
            assert!((0.935..=0.985).contains(&held), "{rounds} rounds: {held}");
        }
    }

    #[test]
    fn rounds_far_off_widen_the_interval_only_where_they_move_the_figure() {
        let mixed = |share: f64| {
            move |random: &mut fastrand::Rng| {
                let far = if random.f64() < share { 0.3 } else { 0.0 };
                100.0 * (far + 0.003 * normal(random)).exp()
            }
        };
        for (share, rounds, most) in [(0.05, 15, 0.01), (0.1, 30, 0.01), (0.3, 30, 1.0), (0.5, 15, 1.0), (0.5, 31, 1.0)]
        {
            let (held, wide) = coverage(rounds, mixed(share));
            assert!(held > 0.93, "{share} of {rounds} rounds: {held}");
            assert!(wide < most, "{share} of {rounds} rounds: {wide}");
        }
    }

    #[test]
    fn the_number_of_rounds_never_closes_the_interval() {
        let many = RoundFigure::alike((0..100_000).map(|round| 100.0 + f64::from(round % 7)));
        assert!((FLOOR..1.1 * FLOOR).contains(&reach(&many)), "{}", reach(&many));
        assert!(reach(&RoundFigure::alike([5.0, 5.0])) == FLOOR);
    }

    #[test]
    fn one_round_tells_no_interval() {
        let interval = around(100.0, reach(&RoundFigure::alike([100.0])));
        assert_eq!((interval.low, interval.high), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(reach(&[]), f64::INFINITY);
    }

    #[test]
    fn a_round_that_is_hardly_trusted_tells_hardly_anything() {
        let round = |figure: f64, weight: f64| RoundFigure { figure, weight };
        let (good, bad) = (RoundFigure::alike([100.0, 101.0, 99.0, 100.5, 99.5, 100.2]), round(180.0, 0.01));
        let with: Vec<RoundFigure> = good.iter().copied().chain([bad]).collect();
        assert!(reach(&with) < 8.0 * reach(&good), "{} {}", reach(&with), reach(&good));
        assert!(reach(&RoundFigure::alike(with.iter().map(|round| round.figure))) > 15.0 * reach(&good));
        assert_eq!(reach(&[round(100.0, 10.0), round(150.0, 0.1)]), f64::INFINITY, "it is one round and a little");
        assert!((effective(&good) - 6.0).abs() < 1e-9);
    }

    #[test]
    fn more_rounds_are_needed_the_wider_it_is() {
        assert_eq!(rounds_needed(10.0, 0.02, 0.001), None, "finer than the floor");
        let needed = rounds_needed(10.0, 0.02, 0.01).expect("wider than the floor");
        assert!((41.0..42.0).contains(&needed), "{needed}");
    }

    #[test]
    fn figures_below_zero_scatter_too() {
        let interval = around(-1.0, reach(&RoundFigure::alike([-1.0, 1.0, -2.0])));
        assert!(interval.low <= -1.0 && interval.high >= -1.0 && interval.low.is_finite(), "{interval:?}");
    }
}
