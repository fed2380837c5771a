//! Robust estimates of location and scale, which a few odd values do not move.

use crate::statistics::{median, quantile, sorted, variance};

/// The standard deviation of normal values divided by their median absolute deviation.
const NORMAL_OVER_MAD: f64 = 1.4826;

/// The scale of values around their median: the square root of the biweight midvariance with c = 9 (Lax, J. Am. Stat. Assoc.
/// 80:736, 1985: of 17 scales, the most efficient over normal and heavy-tailed samples). With fewer than six values, or
/// where half of them are alike, the plain standard deviation. 0 for fewer than two values.
pub(super) fn scale(values: &[f64]) -> f64 {
    const TUNING: f64 = 9.0;
    const FEW: usize = 6;
    let Some(middle) = median(values.iter().copied()) else { return 0.0 };
    let mad = median(values.iter().map(|value| (value - middle).abs())).unwrap_or(0.0);
    if values.len() < FEW || mad <= 0.0 {
        return plain(values);
    }
    let (mut over, mut under) = (0.0, 0.0);
    for value in values {
        let u = (value - middle) / (TUNING * mad);
        if u.abs() < 1.0 {
            let rest = 1.0 - u * u;
            over += (value - middle).powi(2) * rest.powi(4);
            under += rest * (1.0 - 5.0 * u * u);
        }
    }
    // The last factor is what few values lack, as for the plain variance.
    let count = values.len() as f64;
    let variance = count * over / under.powi(2) * count / (count - 1.0);
    if variance.is_finite() { variance.sqrt() } else { NORMAL_OVER_MAD * mad }
}

/// The standard deviation.
fn plain(values: &[f64]) -> f64 {
    if values.len() < 2 { 0.0 } else { variance(values).sqrt() }
}

/// The middle of a few values whose scatter is known: one step of Huber's estimator from their median (Huber, Ann. Math.
/// Statist. 35:73, 1964). A single odd run moves it by less than half of the scatter.
pub(super) fn centre(values: &[f64], scatter: f64) -> f64 {
    const BEND: f64 = 1.5;
    let values = sorted(values.iter().copied());
    let middle = quantile(&values, 0.5).unwrap_or(f64::NAN);
    let most = BEND * scatter;
    middle + values.iter().map(|value| (value - middle).clamp(-most, most)).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    #[test]
    fn a_scale_is_that_of_normal_values_and_a_few_odd_ones_do_not_matter() {
        let mut random = fastrand::Rng::with_seed(7);
        for (count, tries) in [(8, 4000), (30, 1000), (1000, 30)] {
            let mut mean = 0.0;
            for _ in 0..tries {
                let values: Vec<f64> = (0..count).map(|_| 5.0 + 2.0 * normal(&mut random)).collect();
                mean += scale(&values).powi(2) / f64::from(tries);
            }
            assert!((mean / 4.0 - 1.0).abs() < 0.08, "{count}: {mean}");
        }
        let mut values: Vec<f64> = (0..1000).map(|_| normal(&mut random)).collect();
        let before = scale(&values);
        values.iter_mut().take(20).for_each(|value| *value += 50.0);
        assert!((scale(&values) / before - 1.0).abs() < 0.06);
    }

    #[test]
    fn values_that_are_alike_or_few_have_their_plain_deviation() {
        assert_eq!(scale(&[]), 0.0);
        assert_eq!(scale(&[3.0]), 0.0);
        assert_eq!(scale(&[1.0; 9]), 0.0);
        assert!((scale(&[0.0, 2.0]) - std::f64::consts::SQRT_2).abs() < 1e-12);
        assert!(scale(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]) > 0.0);
    }

    #[test]
    fn one_odd_run_hardly_moves_the_middle() {
        let usual = centre(&[0.0, 0.1, -0.1, 0.05, -0.05], 0.1);
        let odd = centre(&[0.0, 0.1, -0.1, 0.05, 9.0], 0.1);
        assert!(usual.abs() < 1e-12 && (odd - 0.05).abs() < 0.05, "{odd}");
        assert_eq!(centre(&[2.0], 0.1), 2.0);
        assert!((centre(&[1.0, 3.0], 0.1) - 2.0).abs() < 1e-12);
    }
}
