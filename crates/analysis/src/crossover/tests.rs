//! Made-up curves with noise: what is found is what was put in, and intervals hold it as often as they promise.

use fastrand::Rng;

use super::*;
use crate::statistics::{Interval, normal};

type Curve = fn(f64) -> f64;

/// Both costs at a number, each off by an error of this relative size, with the interval of that error.
fn measured(curves: (Curve, Curve), at: f64, error: f64, random: &mut Rng) -> CostsAt {
    let mut one = |curve: Curve| {
        let value = curve(at) * (error * normal(random)).exp();
        Interval { value, low: value * (-1.96 * error).exp(), high: value * (1.96 * error).exp() }
    };
    CostsAt { at, costs: [one(curves.0), one(curves.1)] }
}

/// A coarse grid, then some steps of refinement, as the measuring part does it.
fn searched(curves: (Curve, Curve), error: f64, seed: u64) -> Vec<CostsAt> {
    let mut random = Rng::with_seed(3000 + seed);
    let (low, high) = (16.0, 65536.0);
    let mut points: Vec<CostsAt> =
        (0..7).map(|index| measured(curves, low * 4_f64.powi(index), error, &mut random)).collect();
    for _ in 0..4 {
        let more = next(&points, (low, high), 5);
        points.extend(more.into_iter().map(|at| measured(curves, at, error, &mut random)));
    }
    points
}

/// 200 + x / 10 against 300 + x / 50: they cross at 1250.
const LINEAR: (Curve, Curve) = (|x| 200.0 + x / 10.0, |x| 300.0 + x / 50.0);
const LINEAR_AT: f64 = 1250.0;
/// Pages are taken one by one.
const STEP: (Curve, Curve) = (|x| 500.0 + 150.0 * (x / 4096.0).ceil(), |x| 250.0 + x * 0.08);

#[test]
fn the_interval_holds_the_crossing_as_often_as_it_promises() {
    let curves: [((Curve, Curve), f64); 4] = [
        (LINEAR, LINEAR_AT),
        // A constant against a curve that bends.
        ((|_| 1000.0, |x| 100.0 + 20.0 * x.powf(0.6)), (900.0_f64 / 20.0).powf(1.0 / 0.6)),
        (STEP, step_crossing(STEP)),
        // Nearly parallel: the crossing is known badly.
        ((|x| 1000.0 + x * 0.05, |x| 1030.0 + x * 0.04), 3000.0),
    ];
    for (number, (pair, at)) in curves.into_iter().enumerate() {
        for error in [0.003, 0.02] {
            let (mut held, mut once) = (0, 0);
            const TRIALS: u64 = 150;
            for seed in 1..=TRIALS {
                if let CrossoverAnswer::Once(crossing) = found(&searched(pair, error, seed)) {
                    once += 1;
                    held += u64::from(crossing.at.low <= at && at <= crossing.at.high);
                }
            }
            if once < TRIALS / 20 {
                continue;
            }
            let share = held as f64 / once as f64;
            // Where most trials cannot show whether they cross, those that can are the lucky ones.
            let least = if once > TRIALS * 9 / 10 { 0.9 } else { 0.0 };
            let right = share >= least && (once - held) * 10 <= TRIALS;
            assert!(right, "curves {number}, error {error}: {held} of {once} hold {at}");
        }
    }
}

/// Where the step curve meets the other, found by trying.
fn step_crossing((one, other): (Curve, Curve)) -> f64 {
    (16..65536).map(f64::from).find(|&x| one(x) < other(x)).expect("it crosses")
}

#[test]
fn precise_costs_give_a_precise_crossing() {
    let CrossoverAnswer::Once(crossing) = found(&searched(LINEAR, 0.002, 7)) else { panic!("once") };
    assert_eq!(crossing.below, Side::First);
    assert!((crossing.at.high / crossing.at.low) < 1.05, "{crossing:?}");
}

#[test]
fn curves_that_do_not_cross_never_do() {
    for seed in 1..=100 {
        let points = searched((|x| 200.0 + x / 10.0, |x| 300.0 + x / 8.0), 0.02, seed);
        let answer = found(&points);
        assert!(matches!(answer, CrossoverAnswer::Never { cheaper: Side::First, .. }), "seed {seed}: {answer:?}");
    }
}

#[test]
fn curves_that_approach_each_other_would_cross_beyond() {
    let points = searched((|x| 2000.0 + x / 10.0, |x| 20_000.0 + x / 50.0), 0.005, 3);
    let CrossoverAnswer::Never { cheaper: Side::First, trend: Some(trend) } = found(&points) else {
        panic!("{:?}", found(&points))
    };
    assert!((65536.0..1e6).contains(&trend), "{trend}");
    let below = searched((|x| 3.0 * x.powf(0.9), |x| x), 0.005, 3);
    assert!(matches!(found(&below), CrossoverAnswer::Once(_)), "{:?}", found(&below));
}

#[test]
fn two_crossings_are_both_found() {
    // A parabola on logarithmic axes, below the other between its two ends.
    let curves: (Curve, Curve) = (|x| 1000.0 * (0.3 * ((x / 1024.0).ln().powi(2) - 4.0)).exp(), |_| 1000.0);
    let (lower, upper) = (1024.0 * (-2.0_f64).exp(), 1024.0 * 2.0_f64.exp());
    let mut held = 0;
    for seed in 1..=50 {
        let CrossoverAnswer::Several(crossings) = found(&searched(curves, 0.01, seed)) else { panic!("seed {seed}") };
        assert_eq!(crossings.len(), 2, "seed {seed}");
        assert_eq!((crossings[0].below, crossings[1].below), (Side::Second, Side::First));
        let holds = |crossing: &Crossing, at: f64| u32::from(crossing.at.low <= at && at <= crossing.at.high);
        held += holds(&crossings[0], lower) + holds(&crossings[1], upper);
    }
    assert!(held >= 90, "{held} of 100");
}

#[test]
fn costs_that_are_the_same_are_undecided_nearly_always() {
    let undecided = (1..=100).filter(|&seed| {
        let points = searched((|x| 200.0 + x, |x| 200.0 + x), 0.02, seed);
        matches!(found(&points), CrossoverAnswer::Undecided { .. })
    });
    let undecided = undecided.count();
    assert!(undecided >= 95, "{undecided} of 100");
}

#[test]
fn a_part_that_is_undecided_is_reported() {
    // The same beyond 1024.
    let points = searched((|x| 100.0 + x.max(1024.0), |x| 100.0 + x), 0.02, 5);
    let CrossoverAnswer::Undecided { cheaper: Some((Side::Second, [first, last])) } = found(&points) else {
        panic!("{:?}", found(&points))
    };
    assert!(first == 16.0 && last < 1100.0, "{first} to {last}");
}

#[test]
fn they_may_cross_where_the_order_is_not_known() {
    let at = |at: f64, other: f64| CostsAt { at, costs: [Interval::around(100.0, 1.0), Interval::around(other, 1.0)] };
    let points = [at(1.0, 150.0), at(10.0, 100.5), at(100.0, 150.0)];
    assert_eq!(found(&points), CrossoverAnswer::Undecided { cheaper: Some((Side::First, [1.0, 100.0])) });
    assert_eq!(next(&points, (1.0, 100.0), 3), [10.0], "it is measured again");
}

#[test]
fn odd_points_give_no_answer_and_no_panic() {
    let interval = |value: f64| Interval::around(value, 1.0);
    let odd = [f64::NAN, f64::INFINITY, 0.0, -5.0, 1e308, 5e-324, 3.0];
    assert_eq!(found(&[]), CrossoverAnswer::Undecided { cheaper: None });
    for &at in &odd {
        for &one in &odd {
            for &other in &odd {
                let costs = [interval(one), interval(other)];
                let points = [CostsAt { at, costs }, CostsAt { at: 2.0, costs }, CostsAt { at, costs }];
                let _ = (found(&points), next(&points, (1.0, 10.0), 3));
            }
        }
    }
    // One end of an interval is open after a single round.
    let open = Interval::unbounded(5.0);
    assert_eq!(found(&[CostsAt { at: 2.0, costs: [open, open] }; 3]), CrossoverAnswer::Undecided { cheaper: None });
    // A cost that cannot be distinguished from zero is still less than one that can.
    let nothing = Interval { value: 0.1, low: -1.0, high: 1.0 };
    let points = [1.0, 2.0].map(|at| CostsAt { at, costs: [nothing, interval(50.0)] });
    assert_eq!(found(&points), CrossoverAnswer::Never { cheaper: Side::First, trend: None });
}

/// Each visit of a number has few rounds and therefore a wide interval. Visits that agree show the order all the same.
#[test]
fn visits_that_agree_show_more_than_their_own_intervals() {
    let wide = |value: f64| Interval { value, low: value * 0.6, high: value / 0.6 };
    let visit = |at: f64, scatter: f64| {
        let costs = [100.0 * (1.0 + scatter), if at < 2000.0 { 130.0 } else { 80.0 }];
        CostsAt { at, costs: costs.map(wide) }
    };
    let visits = |scatters: &[f64]| -> Vec<CostsAt> {
        [1000.0, 4000.0].into_iter().flat_map(|at| scatters.iter().map(move |scatter| visit(at, *scatter))).collect()
    };
    let CrossoverAnswer::Once(crossing) = found(&visits(&[0.0, 0.01, -0.01, 0.005])) else { panic!("they cross") };
    assert_eq!((crossing.left, crossing.right, crossing.below), (1000.0, 4000.0, Side::First));
    let undecided = CrossoverAnswer::Undecided { cheaper: None };
    assert_eq!(found(&visits(&[0.0, 0.01])), undecided, "two visits show no scatter");
    assert_eq!(found(&visits(&[0.0, 0.4, -0.4])), undecided, "they disagree");
}
