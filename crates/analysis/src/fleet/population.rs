//! Two populations among the nodes of a class: where a large part of them differs, it is not a few nodes that are slow.

use serde::Serialize;

use crate::statistics::{mean, sorted, squares};

/// Two groups of nodes that lie apart in a family of costs. Nobody is called slow in it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Population {
    /// The name of the class.
    pub class: String,
    /// The family.
    pub family: String,
    /// The slower nodes, by name.
    pub slower: Vec<String>,
    /// The number of the faster ones.
    pub faster: usize,
    /// The middle of the slower ones over that of the faster ones.
    pub ratio: f64,
}

/// The split of nodes into two groups, each of at least a fifth of all: the least value of the upper one, and the distance of
/// their means. `None` where they are one group: the distance must exceed what the best split of one population shows, in
/// standard deviations within groups. It is 2.65 for a normal one and 3.46 for a uniform one.
pub(super) fn split(values: &[f64]) -> Option<(f64, f64)> {
    const LEAST: usize = 10;
    const SMALLER: f64 = 0.2;
    let count = values.len();
    if count < LEAST {
        return None;
    }
    let sorted = sorted(values.iter().copied());
    let first = ((count as f64 * SMALLER).ceil() as usize).max(2);
    // The greatest gap, then the groups on both sides of it: a mixture that has no gap is not two populations.
    let gap = |place: usize| sorted[place] - sorted[place - 1];
    let place = (first..=count - first).max_by(|one, other| gap(*one).total_cmp(&gap(*other)))?;
    let (below, above) = sorted.split_at(place);
    let apart = mean(above) - mean(below);
    let within = ((squares(below) + squares(above)) / (count - 2) as f64).sqrt();
    // The best split of few values is better by chance.
    let wanted = 4.0 + 30.0 / count as f64;
    (apart > wanted * within).then_some((above[0], apart))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    #[test]
    fn halves_and_quarters_are_found_and_outliers_are_not() {
        let mut random = fastrand::Rng::with_seed(3);
        for (count, slow) in [(12, 6), (40, 10), (1000, 500), (1000, 250)] {
            let values: Vec<f64> =
                (0..count).map(|node| 0.01 * normal(&mut random) + if node < slow { 0.10 } else { 0.0 }).collect();
            let (least, apart) = split(&values).expect("two");
            assert_eq!(values.iter().filter(|value| **value >= least).count(), slow);
            assert!((apart - 0.1).abs() < 0.02, "{apart}");
        }
        let few: Vec<f64> = (0..50).map(|node| 0.01 * normal(&mut random) + if node < 5 { 0.3 } else { 0.0 }).collect();
        assert_eq!(split(&few), None);
        assert_eq!(split(&[1.0, 2.0]), None);
    }

    #[test]
    fn one_population_is_seldom_taken_for_two() {
        let mut random = fastrand::Rng::with_seed(4);
        for count in [10, 20, 100] {
            let two =
                (0..2000).filter(|_| split(&(0..count).map(|_| normal(&mut random)).collect::<Vec<_>>()).is_some());
            assert!(two.count() < 20, "{count}");
        }
        let uniform: Vec<f64> = (0..500).map(|_| random.f64()).collect();
        assert_eq!(split(&uniform), None);
    }
}
