//! Levels are found where batches lie on them, and nowhere else.

use record::{Doubt, Estimate};

use super::*;
use crate::estimate::{Gross, Reading, gross};
use crate::example::round;
use crate::statistics::normal;

fn estimated(rounds: &[Round], cpus: u32) -> Gross {
    let reading = Reading { headline: Estimate::Quiet, cpus, clocking: Clocking::AsRead };
    gross(rounds, reading, &Prior::DEFAULT).expect("a figure")
}

/// Rounds that begin at one of these levels and go to another one once, with batches that were interrupted.
fn changing(levels: &[f64], count: usize, random: &mut fastrand::Rng) -> Vec<Round> {
    let one = |random: &mut fastrand::Rng| {
        let (first, then, at) = (random.usize(..levels.len()), random.usize(..levels.len()), random.usize(..12));
        let batch = |place: usize, random: &mut fastrand::Rng| {
            let level = levels[if place < at { first } else { then }];
            let interrupted = if random.f64() < 0.07 { 1.0 + 0.3 * random.f64() } else { 1.0 };
            level * interrupted * (0.003 * normal(random)).exp()
        };
        round(&std::array::from_fn::<f64, 10, _>(|place| batch(place, random)))
    };
    (0..count).map(|_| one(random)).collect()
}

#[test]
fn two_levels_are_reported_with_their_shares_and_the_figure_is_one_of_them() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut covered, tries) = (0, 20);
    for _ in 0..tries {
        let cost = estimated(&changing(&[600.0, 900.0], 12, &mut random), 1);
        let [low, high] = cost.levels.as_slice() else { panic!("{:?}", cost.levels) };
        assert_eq!(cost.figures.quiet, if low.share < 0.4 { high.ns } else { low.ns });
        assert!((low.ns.0 / 600.0 - 1.0).abs() < 0.01 && (high.ns.0 / 900.0 - 1.0).abs() < 0.01, "{:?}", cost.levels);
        assert!(low.interval_ns.low < low.ns.0 && low.ns.0 < low.interval_ns.high && low.interval_ns.high < 620.0);
        assert!((low.share + high.share - 1.0).abs() < 1e-9, "{:?}", cost.levels);
        covered += u32::from((low.share_interval.low..low.share_interval.high).contains(&0.5));
        assert!(!cost.doubts.iter().any(|doubt| matches!(doubt, Doubt::Bimodal { .. } | Doubt::Layout { .. })));
        let mean = Level::mean(&cost.levels).expect("levels").0;
        assert!((cost.figures.typical.0 / mean - 1.0).abs() < 0.2, "{} {mean}", cost.figures.typical);
    }
    assert!(covered >= tries - 3, "{covered} of {tries} intervals of the share hold it");
}

#[test]
fn a_level_that_is_seldom_visited_is_not_the_figure() {
    let mut random = fastrand::Rng::with_seed(7);
    let seldom = |random: &mut fastrand::Rng| [changing(&[600.0], 5, random), changing(&[900.0], 15, random)].concat();
    for _ in 0..20 {
        let cost = estimated(&seldom(&mut random), 1);
        assert!(cost.levels.len() == 2 && (cost.figures.quiet.0 / 900.0 - 1.0).abs() < 0.01, "{:?}", cost.figures);
    }
}

#[test]
fn three_levels_are_three_and_two_cpus_have_levels_without_a_quiet_batch() {
    let mut random = fastrand::Rng::with_seed(2);
    let three = estimated(&changing(&[490.0, 700.0, 820.0], 24, &mut random), 1);
    assert_eq!(three.levels.len(), 3, "{:?}", three.levels);
    let mut rounds = changing(&[33e3, 43e3], 16, &mut random);
    rounds.iter_mut().for_each(|round| round.quiet.fill(false));
    assert_eq!(estimated(&rounds, 2).levels.len(), 2);
    assert!(estimated(&rounds, 1).levels.is_empty(), "a neighbour may have made them");
}

#[test]
fn a_cost_with_a_continuous_scatter_has_no_levels() {
    let mut random = fastrand::Rng::with_seed(3);
    let exponential = |random: &mut fastrand::Rng, mean: f64| -mean * (1.0 - random.f64()).ln();
    let mut found = Vec::new();
    for kind in 0..8 {
        for count in [6, 12, 24] {
            let one = |random: &mut fastrand::Rng| {
                let base = match kind {
                    0 => 0.005 * normal(random),
                    1 => 0.03 * normal(random),
                    2 => 0.1 * normal(random),
                    3 => exponential(random, 0.05),
                    4 => exponential(random, 0.2),
                    5 => 0.3 * random.f64(),
                    // Some rounds alone are disturbed, by any amount.
                    6 if random.f64() < 0.4 => 0.25 * random.f64(),
                    _ => 0.0,
                };
                let batch = |random: &mut fastrand::Rng| {
                    let own = if kind == 7 { exponential(random, 0.1) } else { 0.001 * normal(random) };
                    100.0 * (base + own).exp()
                };
                LevelBatches { logs: (0..10).map(|_| batch(random).ln()).collect(), share: 1.0 }
            };
            for _ in 0..40 {
                let rounds: Vec<LevelBatches> = (0..count).map(|_| one(&mut random)).collect();
                found.extend((!middles(&rounds).is_empty()).then_some((kind, count)));
            }
        }
    }
    assert!(found.len() <= 2, "{found:?} of 960");
}

#[test]
fn two_rounds_that_agree_by_chance_are_no_level() {
    let rounds: Vec<Round> =
        [100.0, 100.2, 99.9, 100.1, 100.0, 130.0, 130.3].iter().map(|ns| round(&[*ns; 10])).collect();
    assert!(estimated(&rounds, 1).levels.is_empty());
}

#[test]
fn a_grid_has_the_weight_at_each_of_its_values() {
    let mut random = fastrand::Rng::with_seed(8);
    for step in [0.005, 0.013] {
        let of = |round: &Round| LevelBatches::of(round, Clocking::AsRead, 1);
        let rounds: Vec<LevelBatches> =
            changing(&[600.0, 640.0, 900.0], 20, &mut random).iter().filter_map(of).collect();
        let mut grid: Vec<(f64, f64)> =
            (0..150).map(|place| (0.0, 600_f64.ln() - 0.1 + f64::from(place) * step)).collect();
        rounds.iter().for_each(|round| add_weights(round, step, &mut grid));
        assert!(grid.iter().any(|(weight, _)| *weight > 5.0));
        for (weight, at) in grid {
            assert_eq!(weight, weight_at(&rounds, at), "{at}");
        }
    }
}
