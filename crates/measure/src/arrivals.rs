//! When requests arrive: moments in ns since the begin, at equal distances or at random, and independent of how long they
//! take.

use record::Arrivals;

/// The moments, in order, without end.
pub(crate) struct Moments {
    /// The mean distance, in ns.
    mean: f64,
    poisson: bool,
    random: fastrand::Rng,
    next: f64,
    count: u64,
}

impl Moments {
    pub(crate) fn new(arrivals: Arrivals, seed: u64) -> Moments {
        let mean = 1e9 / arrivals.per_second;
        Moments { mean, poisson: arrivals.poisson, random: fastrand::Rng::with_seed(seed), next: 0.0, count: 0 }
    }
}

impl Iterator for Moments {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.count += 1;
        if self.poisson {
            // Distances of a Poisson process are exponential.
            self.next -= self.mean * (1.0 - self.random.f64()).ln();
        } else {
            // By multiplication: a sum of distances would drift.
            self.next = self.mean * self.count as f64;
        }
        Some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(per_second: f64, poisson: bool) -> Vec<f64> {
        Moments::new(Arrivals { per_second, poisson }, 3).take(100_000).collect()
    }

    #[test]
    fn they_come_at_the_rate_requested() {
        for poisson in [false, true] {
            let moments = moments(1_000.0, poisson);
            let rate = moments.len() as f64 / moments.last().expect("many") * 1e9;
            // The mean of 100 000 exponential distances is right to 0.3 % (one standard deviation).
            assert!((rate / 1_000.0 - 1.0).abs() < 0.015, "{poisson}: {rate}");
            assert!(moments.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    #[test]
    fn distances_are_equal_or_exponential() {
        let distances =
            |poisson| moments(2_000.0, poisson).windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
        assert!(distances(false).iter().all(|distance| (distance - 5e5).abs() < 1e-3));
        let random = distances(true);
        for times in [0.1, 1.0, 3.0_f64] {
            let longer = random.iter().filter(|&&distance| distance > times * 5e5).count() as f64 / random.len() as f64;
            assert!((longer - (-times).exp()).abs() < 0.01, "{times}: {longer}");
        }
    }
}
