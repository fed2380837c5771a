//! The page of `howslow scaling`: a machine of many CPUs and one of two, on made-up costs.

use analysis::scalability::scalings;
use howslow_report::Style;
use record::{Bytes, Figures, Point, Run, Value};

use crate::support::example;

/// A run of one operation: CPUs and the time of a unit on each of them.
fn run(operation: &str, at: &[(&str, u64)], payload: u64, times: &[(u64, f64)]) -> Run {
    let mut run = example();
    let pattern = run.costs[0].clone();
    let cost = |&(cpus, time): &(u64, f64)| {
        let mut cost = pattern.clone();
        let other = at.iter().fold(Point::default(), |point, (axis, value)| point.with(axis, Value::Number(*value)));
        cost.operation = operation.into();
        cost.at = other.with("cpus", Value::Number(cpus));
        cost.net_ns = Figures::given(time, time * 0.99, time * 1.01);
        cost.bytes = Bytes(cpus * payload);
        cost.doubts.clear();
        cost.rounds.clear();
        cost
    };
    run.costs = times.iter().map(cost).collect();
    run
}

/// A bus that four CPUs use up, and computing that nothing stops.
fn many_cpus() -> Run {
    let memory = [(1, 2000.0), (2, 2100.0), (4, 2600.0), (8, 5100.0), (16, 10_200.0)];
    let mut run = run("memory.read.cpus", &[("set", 128 << 20)], 65536, &memory);
    let law = |n: f64| 4000.0 * (1.0 + 0.002 * (n - 1.0) + 0.0001 * n * (n - 1.0));
    let times: Vec<(u64, f64)> = [1_u32, 2, 4, 8, 16].map(|n| (u64::from(n), law(f64::from(n)))).to_vec();
    run.costs.extend(self::run("scaling.compute", &[], 0, &times).costs);
    run
}

#[test]
fn a_machine_of_many_cpus() {
    let run = many_cpus();
    insta::assert_snapshot!(howslow_report::scaling(&run, &scalings(&run), 80, Style::PLAIN));
}

#[test]
fn a_machine_of_two_cpus_has_ratios_alone() {
    let run = run("scaling.call", &[], 0, &[(1, 100.0), (2, 104.0)]);
    insta::assert_snapshot!(howslow_report::scaling(&run, &scalings(&run), 80, Style::PLAIN));
}

#[test]
fn the_document_has_what_the_page_shows() {
    let run = many_cpus();
    let scalings = scalings(&run);
    let document = howslow_report::document::ScalingDocument::of(&run, &scalings);
    let json = serde_json::to_value(&document).expect("JSON");
    let work = |index: usize| &json["works"][index];
    assert_eq!(work(1)["operation"], "memory.read.cpus");
    assert_eq!(work(1)["stops_at"], 4);
    assert_eq!(work(1)["levels"].as_array().map(Vec::len), Some(5));
    let contention = work(0)["law"]["contention"]["value"].as_f64().expect("a number");
    assert!((contention - 0.002).abs() < 1e-6, "{contention}");
}
