//! The tail of scores that are no slow nodes, and the share of false ones among many tests.

use crate::statistics::{quantile, sorted, student_tail};

/// Student's t with a scale, fitted to the far part of the fast side, where no slow node is. Where scatter is heavy-tailed in
/// some families, it has few degrees of freedom, and its p values are larger than those of the normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TailFit {
    pub freedom: u32,
    pub scale: f64,
}

/// Beyond this, Student's t equals the normal distribution where it matters, and its series only costs time.
const MOST_FREEDOM: u32 = 200;

impl TailFit {
    /// The fit by likelihood. Of scores nearer to the median than the farthest few in a hundred only their number counts: families
    /// differ in their tails, and what matters is how far the farthest of all of them lie. Of the fits that are about as
    /// likely as the best one, it is the one with the heaviest tail. Scores are deviations from a median, positive for slow
    /// nodes; `most` is the number of degrees of freedom of the scale that they were divided by.
    pub fn fitted(scores: impl Iterator<Item = f64>, most: u32) -> TailFit {
        const FREEDOMS: [u32; 12] = [2, 3, 4, 5, 6, 8, 10, 15, 25, 50, 100, MOST_FREEDOM];
        const ENOUGH: usize = 100;
        /// How many of n scores are far: n to this power, but not so few that they show nothing. A fixed share of many scores
        /// would find scores that are far less rare than those that matter.
        const FAR: (f64, f64) = (0.6, 60.0);
        /// Fits whose logarithm of the likelihood is less by this, as one standard error is, are about as likely.
        const ABOUT: f64 = 0.5;
        /// Tails are compared at this multiple of where the far scores begin.
        const AT: f64 = 2.0;
        let most = most.clamp(1, MOST_FREEDOM);
        let fast = sorted(scores.filter(|score| *score < 0.0 && score.is_finite()).map(|score| -score));
        let count = fast.len() as f64;
        let beyond = quantile(&fast, 1.0 - (FAR.1.max(count.powf(FAR.0)) / count).min(0.5)).unwrap_or(0.0);
        if fast.len() < ENOUGH || beyond <= 0.0 {
            return TailFit { freedom: most, scale: 1.0 };
        }
        let (near, far) = fast.split_at(fast.partition_point(|score| *score <= beyond));
        let fit = &|freedom: u32, step: u32| {
            let tail = TailFit { freedom: freedom.min(most), scale: 0.3 + 0.03 * f64::from(step) };
            let inside = (1.0 - 2.0 * tail.p(beyond)).max(1e-300).ln();
            (near.len() as f64 * inside + tail.likelihood(far), tail)
        };
        let fits = FREEDOMS.into_iter().flat_map(|freedom| (0..=45).map(move |step| fit(freedom, step)));
        let fits: Vec<(f64, TailFit)> = fits.collect();
        let best = fits.iter().map(|fit| fit.0).fold(f64::NEG_INFINITY, f64::max);
        let about = fits.into_iter().filter(|fit| fit.0 >= best - ABOUT).map(|fit| fit.1);
        let heaviest = about.max_by(|one, other| one.p(AT * beyond).total_cmp(&other.p(AT * beyond)));
        heaviest.unwrap_or(TailFit { freedom: most, scale: 1.0 })
    }

    /// The probability of a score at least as large.
    pub fn p(&self, score: f64) -> f64 {
        if score <= 0.0 { 1.0 } else { student_tail(score / self.scale, self.freedom) }
    }

    /// The logarithm of the likelihood of these distances, but for what is the same for all fits.
    fn likelihood(&self, scores: &[f64]) -> f64 {
        let freedom = f64::from(self.freedom);
        let height = ln_gamma((freedom + 1.0) / 2.0) - ln_gamma(freedom / 2.0) - 0.5 * freedom.ln() - self.scale.ln();
        // Twice the density of one side, over the square root of pi.
        let height = height + std::f64::consts::LN_2 - 0.5 * std::f64::consts::PI.ln();
        let falls = scores.iter().map(|score| (score * score / (freedom * self.scale * self.scale)).ln_1p());
        scores.len() as f64 * height - (freedom + 1.0) / 2.0 * falls.sum::<f64>()
    }
}

/// The logarithm of the gamma function of a positive number: Stirling's series (Abramowitz and Stegun, 6.1.41) from 8 on.
fn ln_gamma(mut x: f64) -> f64 {
    let mut less = 0.0;
    while x < 8.0 {
        less += x.ln();
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - less
}

/// How many of these ascending p values can be called true with this expected share of false ones (Benjamini and Hochberg, J. R.
/// Stat. Soc. B 57:289, 1995). It holds for independent tests and for positively dependent ones (Benjamini and Yekutieli, Ann.
/// Statist. 29:1165, 2001).
pub(super) fn accepted(ascending: &[f64], share: f64) -> usize {
    let holds = |(place, p): (usize, &f64)| *p <= share * (place + 1) as f64 / ascending.len() as f64;
    ascending.iter().enumerate().rev().find(|place| holds(*place)).map_or(0, |(place, _)| place + 1)
}

/// The p value of several tests together: Simes, Biometrika 73:751, 1986.
pub(super) fn together(p: impl Iterator<Item = f64>) -> f64 {
    let p = sorted(p);
    p.iter().zip(1..).map(|(one, place)| one * p.len() as f64 / f64::from(place)).fold(1.0, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    #[test]
    fn the_gamma_function_is_that_of_the_tables() {
        for (x, gamma) in [(1.0, 1.0_f64), (0.5, std::f64::consts::PI.sqrt()), (5.0, 24.0), (11.0, 3_628_800.0)] {
            assert!((ln_gamma(x) - gamma.ln()).abs() < 1e-9, "{x}");
        }
    }

    #[test]
    fn normal_scores_keep_normal_p_values_and_heavy_ones_get_larger() {
        let mut random = fastrand::Rng::with_seed(11);
        let light = TailFit::fitted((0..20_000).map(|_| normal(&mut random)), 500);
        assert!(light.freedom >= 25 && (light.scale - 1.0).abs() < 0.05, "{light:?}");
        assert!((light.p(3.0) / 0.00135 - 1.0).abs() < 0.5, "{}", light.p(3.0));
        let mut heavy = || {
            let squares: f64 = (0..3).map(|_| normal(&mut random).powi(2)).sum();
            normal(&mut random) / (squares / 3.0).sqrt()
        };
        let fitted = TailFit::fitted((0..20_000).map(|_| heavy()), 500);
        assert!(fitted.freedom <= 4, "{fitted:?}");
        assert!(fitted.p(6.0) > 0.002, "{}", fitted.p(6.0));
        assert_eq!(TailFit::fitted([-1.0, 2.0].into_iter(), 7), TailFit { freedom: 7, scale: 1.0 });
    }

    #[test]
    fn the_share_of_false_ones_is_that_of_the_paper() {
        // The example of Benjamini and Hochberg, section 4: 15 p values, 4 of them accepted at 5 %.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        assert_eq!(accepted(&p, 0.05), 4);
        assert_eq!(accepted(&[], 0.05), 0);
        assert_eq!(accepted(&[0.02, 0.9, 0.9], 0.05), 0);
        assert!((together([0.5, 0.01, 0.02].into_iter()) - 0.03).abs() < 1e-12);
    }
}
