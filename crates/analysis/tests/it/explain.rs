//! Parts and residual make the whole, whatever the figures are.

use howslow_analysis::explain::{explain, explain_all};
use proptest::prelude::*;
use record::{Cost, Figures, Nanoseconds, Point, Run, Term};

use crate::support::example;

/// A cost in ns, and half its interval.
type Figure = (f64, f64);

fn run(whole: Figure, parts: &[(f64, Figure)]) -> Run {
    let mut run = example();
    let pattern = run.costs[0].clone();
    let cost = |operation: &str, (value, half): Figure| {
        let net_ns = Figures::given(value, value - half, value + half);
        Cost { operation: operation.into(), net_ns, explained_by: Vec::new(), ..pattern.clone() }
    };
    run.costs = vec![cost("x.whole", whole)];
    for (index, (times, figure)) in parts.iter().enumerate() {
        let operation = format!("x.part{index}");
        run.costs.push(cost(&operation, *figure));
        run.costs[0].explained_by.push(Term { times: *times, operation, at: Point::default() });
    }
    run
}

#[test]
fn the_residual_has_the_interval_of_the_whole_and_all_parts() {
    let run = run((1000.0, 12.0), &[(2.0, (300.0, 1.5)), (1.0, (150.0, 4.0))]);
    let explanation = explain(&run, &run.costs[0]).expect("it names parts");
    assert_eq!((explanation.sum.value, explanation.residual.value), (750.0, 250.0));
    // The root of 12^2 + 3^2 + 4^2 is 13; that of the sum is 5.
    assert_eq!((explanation.residual.low, explanation.residual.high), (237.0, 263.0));
    assert_eq!((explanation.sum.low, explanation.sum.high), (745.0, 755.0));
    assert_eq!(explanation.residual_share, Some(0.25));
    assert!(explain(&run, &run.costs[1]).is_none());
}

#[test]
fn a_negative_residual_is_reported_and_a_missing_part_stays_in_it() {
    let mut over = run((100.0, 1.0), &[(2.0, (60.0, 1.0)), (1.0, (30.0, 1.0))]);
    let explanation = explain(&over, &over.costs[0]).expect("it names parts");
    assert_eq!((explanation.residual.value, explanation.residual_share), (-50.0, Some(-0.5)));
    over.costs.remove(1);
    let explanation = explain(&over, &over.costs[0]).expect("it names parts");
    assert_eq!(explanation.residual.value, 70.0);
    assert_eq!((explanation.parts[0].total, explanation.parts[0].term.operation.as_str()), (None, "x.part0"));
}

#[test]
fn the_least_explained_comes_first() {
    let mut run = run((100.0, 1.0), &[(1.0, (90.0, 1.0))]);
    let mut other = run.costs[0].clone();
    other.operation = "x.other".into();
    other.net_ns.quiet = Nanoseconds(30.0);
    run.costs.push(other);
    let names: Vec<String> = explain_all(&run).into_iter().map(|explanation| explanation.name).collect();
    assert_eq!(names, ["x.other", "x.whole"]);
}

proptest! {
    #[test]
    fn parts_and_residual_are_the_whole(
        whole in (-1e9f64..1e9, 0f64..1e6),
        parts in prop::collection::vec((0.5f64..1000.0, (-1e6f64..1e6, 0f64..1e5)), 1..6),
    ) {
        let run = run(whole, &parts);
        let explanation = explain(&run, &run.costs[0]).expect("it names parts");
        let total: f64 = explanation.parts.iter().filter_map(|part| part.total).map(|total| total.value).sum();
        let size = parts.iter().map(|(times, (value, _))| (times * value).abs()).sum::<f64>() + whole.0.abs() + 1.0;
        let (residual, whole) = (&explanation.residual, &explanation.whole);
        prop_assert!((total + residual.value - whole.value).abs() <= 1e-12 * size);
        prop_assert!((explanation.sum.value + residual.value - whole.value).abs() <= 1e-12 * size);
        prop_assert!(residual.low <= residual.value && residual.value <= residual.high);
        // Never more certain than the whole itself.
        prop_assert!(residual.high - residual.low >= (whole.high - whole.low) * (1.0 - 1e-9) - 1e-6);
    }
}
