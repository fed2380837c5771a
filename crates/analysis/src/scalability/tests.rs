//! The law, its intervals and its refusals, on made-up data.

use proptest::prelude::*;
use record::{Point, Value};

use super::*;
use crate::example;
use crate::statistics::normal;

/// The time of a unit on each of n CPUs by the law.
fn by_law(one: f64, contention: f64, coherence: f64, cpus: u32) -> f64 {
    let n = f64::from(cpus);
    one * (1.0 + contention * (n - 1.0) + coherence * n * (n - 1.0))
}

fn within(value: f64, share: f64) -> Interval {
    Interval::around(value, value * share)
}

const CPUS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

proptest! {
    // Each case takes a thousand fits.
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Exact data give the parameters back, whatever they are.
    #[test]
    fn the_law_is_found_again(one in 1.0..1e9_f64, contention in 0.0..1.0_f64, coherence in 0.0..0.1_f64) {
        let times: Vec<_> = CPUS.iter().map(|&n| (n, within(by_law(one, contention, coherence, n), 0.01))).collect();
        let fit = fit(&times).expect("enough points");
        prop_assert!((fit.contention.value - contention).abs() < 1e-6, "{:?}", fit);
        prop_assert!((fit.coherence.value - coherence).abs() < 1e-6, "{:?}", fit);
        prop_assert!(fit.off < 1e-6);
        prop_assert!(fit.contention.low <= contention + 1e-6 && contention <= fit.contention.high + 1e-6);
    }

    /// Whatever the data, no parameter is negative, and intervals hold their values.
    #[test]
    fn no_parameter_is_negative(times in proptest::collection::vec(0.1..10.0_f64, 3..7)) {
        let times: Vec<_> = CPUS.iter().zip(&times).map(|(&n, &time)| (n, within(time, 0.05))).collect();
        let fit = fit(&times).expect("enough points");
        for interval in [fit.contention, fit.coherence] {
            let holds = interval.low <= interval.value && interval.value <= interval.high;
            prop_assert!(interval.low >= 0.0 && holds, "{:?}", interval);
        }
        for interval in [fit.peak, fit.limit].into_iter().flatten() {
            let holds = interval.low <= interval.value && interval.value <= interval.high;
            prop_assert!(holds && interval.value >= 1.0 - 1e-9, "{:?}", interval);
        }
    }
}

/// Of many data sets with errors as given, the interval of 95 % holds the truth in about 95 of a hundred.
#[test]
fn intervals_hold_the_truth_as_often_as_they_promise() {
    let mut random = fastrand::Rng::with_seed(4);
    let (mut held, mut near_peak) = (0, 0);
    for _ in 0..40 {
        let times = CPUS.map(|n| {
            let truth = by_law(1000.0, 0.05, 0.002, n);
            (n, within(truth * (1.0 + 0.01 * normal(&mut random)), 0.0196))
        });
        let fit = fit(&times).expect("enough points");
        held += i32::from(fit.contention.low <= 0.05 && 0.05 <= fit.contention.high);
        held += i32::from(fit.coherence.low <= 0.002 && 0.002 <= fit.coherence.high);
        near_peak += i32::from(fit.peak.is_some_and(|peak| (15.0..35.0).contains(&peak.value)));
    }
    assert!((70..=80).contains(&held), "{held} of 80");
    // The root of 0.95 / 0.002 is 21.8.
    assert!(near_peak > 36, "{near_peak} of 40 find the peak");
}

#[test]
fn too_few_points_are_refused_with_a_reason() {
    let two = [(1, within(1.0, 0.01)), (2, within(1.1, 0.01)), (2, within(1.1, 0.01))];
    let why = fit(&two).expect_err("two numbers of CPUs");
    assert!(why.contains("from 2 numbers of CPUs; 3 are needed"), "{why}");
    let open = [(1, within(1.0, 0.01)), (2, Interval::unbounded(1.1)), (4, within(1.3, 0.01))];
    assert!(fit(&open).expect_err("no interval").contains("no interval"));
    assert!(fit(&[(0, within(1.0, 0.1)), (1, within(1.0, 0.1)), (2, within(1.0, 0.1))]).is_err());
}

#[test]
fn data_that_the_law_does_not_describe_have_wide_intervals() {
    let exact = |n| within(by_law(100.0, 0.1, 0.0, n), 0.001);
    let smooth: Vec<_> = CPUS.iter().map(|&n| (n, exact(n))).collect();
    // From 16 CPUs on another socket is used: a step.
    let stepped: Vec<_> = smooth.iter().map(|&(n, time)| (n, if n > 8 { time.times(1.6) } else { time })).collect();
    let width =
        |times: &[(u32, Interval)]| fit(times).map(|law| law.contention.high - law.contention.low).expect("a fit");
    assert!(width(&stepped) > 10.0 * width(&smooth));
    assert!(fit(&stepped).expect("a fit").off > 0.1);
}

/// A run with these costs of one operation: CPUs, ns, half the interval.
fn run(operation: &str, at: &[(&str, Value)], costs: &[(u64, f64, f64)]) -> Run {
    example::with_costs(costs.iter().map(|&(cpus, value, half)| {
        let mut cost = example::cost(operation, value, half);
        cost.at = at.iter().fold(Point::default(), |point, (axis, value)| point.with(axis, value.clone()));
        cost.at = cost.at.with(AXIS, Value::Number(cpus));
        cost.bytes = Bytes(cpus * 65536);
        cost
    }))
}

#[test]
fn two_cpus_show_the_ratio_and_no_law() {
    let memory = [("set", Value::Number(128 << 20))];
    // The costs stand in any order.
    let run = run("memory.read.cpus", &memory, &[(2, 4000.0, 40.0), (1, 2500.0, 20.0)]);
    let scalings = scalings(&run);
    let [scaling] = scalings.as_slice() else { panic!("{scalings:?}") };
    assert_eq!(scaling.work.name, "read memory");
    assert!(scaling.law.as_ref().is_err_and(|why| why.contains("3 are needed")));
    let [one, two] = scaling.levels.as_slice() else { panic!("{scaling:?}") };
    assert_eq!(one.speed_up, Some(Interval::exactly(1.0)));
    let speed_up = two.speed_up.expect("a ratio");
    // Twice 2500 / 4000, and the errors of both.
    assert!((speed_up.value - 1.25).abs() < 1e-9 && speed_up.low < 1.25 && speed_up.high > 1.25, "{speed_up:?}");
    assert!((two.per_second.value - 5e5).abs() < 1e-6);
    assert!((two.bytes_per_second.expect("payload").value - 2.0 * 65536.0 / 4e-6).abs() < 1.0);
    // The second CPU adds a quarter of what the first does.
    assert_eq!(scaling.stops_at, Some(1));
}

#[test]
fn work_stops_where_another_cpu_certainly_adds_little() {
    let times = |times: &[f64]| -> Vec<(u64, f64, f64)> {
        [1, 2, 4, 8].into_iter().zip(times).map(|(cpus, time)| (cpus, *time, time * 0.01)).collect()
    };
    let stop = |list: &[f64]| scalings(&run("scaling.compute", &[], &times(list))).remove(0).stops_at;
    assert_eq!(stop(&[10.0, 10.0, 10.0, 10.0]), None);
    // Speed-ups of 1, 2, 3.6 and 3.6.
    assert_eq!(stop(&[10.0, 10.0, 11.1, 22.2]), Some(4));
    let open = run("scaling.compute", &[], &[(1, 10.0, 1.0), (2, 15.0, 9.0)]);
    assert_eq!(scalings(&open).remove(0).stops_at, None, "it may be anything");
}

#[test]
fn other_points_and_one_number_of_cpus_are_no_scaling() {
    let elsewhere = [("set", Value::Number(4 << 20))];
    assert!(scalings(&run("memory.read.cpus", &elsewhere, &[(1, 1.0, 0.1), (2, 1.0, 0.1)])).is_empty());
    assert!(scalings(&run("scaling.call", &[], &[(1, 1.0, 0.1)])).is_empty());
    assert!(scalings(&run("scaling.call", &[], &[(2, 1.0, 0.1), (4, 1.0, 0.1)])).is_empty(), "one CPU is missing");
}
