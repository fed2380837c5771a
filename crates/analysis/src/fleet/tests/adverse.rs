//! Fleets that tempt to accuse: few nodes, half of them slow, one run each, doubts everywhere, costs that are missing.

use testing::fleet::Fleet;

use super::support::{How, found_in, score};
use crate::fleet::{CLOCK, CauseKind};

fn fleet(nodes: usize, runs: usize) -> Fleet {
    let mut fleet = Fleet::new(nodes, 152, runs, 11);
    fleet.node_scatter = 0.005;
    fleet
}

#[test]
fn three_nodes_and_one_are_described_and_nobody_is_accused() {
    for nodes in [1, 3] {
        let fleet = fleet(nodes, 5);
        let slow = |node: usize, _: &str| if node == 0 { 1.3 } else { 1.0 };
        let found = found_in(&fleet, How { times: Some(&slow), ..How::default() });
        assert!(found.slow.is_empty() && found.classes[0].is_small());
        assert_eq!((found.tests, found.classes[0].nodes.len()), (0, nodes));
        assert_eq!(found.classes[0].families.is_empty(), nodes == 1);
    }
}

#[test]
fn a_slow_clock_is_the_cause_of_all_that_is_slow() {
    let fleet = fleet(40, 5);
    let slow = |node: usize, _: &str| if node == 7 { 1.08 } else { 1.0 };
    let clock = |node: usize| if node == 7 { 3.7 / 1.08 } else { 3.7 };
    let found = found_in(&fleet, How { times: Some(&slow), clock: Some(clock), ..How::default() });
    assert_eq!(found.slow.len(), 1);
    let node = &found.slow[0];
    assert_eq!(node.node, "node0007");
    assert!(node.families.len() > 10 && node.families.iter().any(|family| family.family == CLOCK));
    assert_eq!(node.causes[0].kind, CauseKind::Clock);
    assert!(node.causes[0].because.contains("3.43 GHz, the class 3.70 GHz: 8.0 % slower"), "{:?}", node.causes[0]);
    let clock = node.families.iter().find(|family| family.family == CLOCK).expect("the clock");
    assert!(clock.ratio.low > 1.07 && clock.ratio.high < 1.09, "{:?}", clock.ratio);
}

#[test]
fn half_of_the_nodes_are_a_population_and_not_slow() {
    let fleet = fleet(60, 3);
    let slow = |node: usize, family: &str| if node.is_multiple_of(2) && family == "syscall" { 1.12 } else { 1.0 };
    let found = found_in(&fleet, How { times: Some(&slow), ..How::default() });
    assert!(found.slow.is_empty(), "{:?}", found.slow);
    assert_eq!(found.populations.len(), 1);
    let two = &found.populations[0];
    assert_eq!((two.family.as_str(), two.slower.len(), two.faster), ("syscall", 30, 30));
    assert!((two.ratio - 1.12).abs() < 0.02, "{two:?}");
}

#[test]
fn missing_costs_accuse_nobody_and_are_reported() {
    let mut fleet = fleet(80, 5);
    fleet.missing = 0.4;
    fleet.plant(2, &[0.10]);
    let found = found_in(&fleet, How::default());
    let score = score(&fleet, &found);
    assert_eq!((score.called, score.wrong), (2, 0), "{:?}", found.slow);
    assert!(!found.classes[0].lacking.is_empty());
}

#[test]
fn one_run_of_each_node_leaves_what_runs_differ_by_unknown() {
    let mut fleet = fleet(80, 1);
    fleet.plant(2, &[0.10]);
    let found = found_in(&fleet, How::default());
    assert!(found.classes[0].has_single_runs());
    assert!(found.classes[0].costs.iter().all(|cost| cost.spread.between_run.is_none()));
    let score = score(&fleet, &found);
    assert_eq!((score.called, score.wrong), (2, 0), "{:?}", found.slow);
}

#[test]
fn a_node_whose_figures_are_in_doubt_is_named_apart() {
    let fleet = fleet(50, 5);
    let slow = |node: usize, family: &str| if node < 2 && family == "pipe" { 1.15 } else { 1.0 };
    let doubt = |node: usize, run: usize| (node == 1 && run < 4).then_some("other tasks took the CPU");
    let found = found_in(&fleet, How { times: Some(&slow), doubt: Some(doubt), ..How::default() });
    assert_eq!(found.slow.iter().map(|slow| slow.node.as_str()).collect::<Vec<_>>(), ["node0000"]);
    assert_eq!(found.doubted.len(), 1, "{:?}", found.doubted);
    let doubted = &found.doubted[0];
    assert_eq!((doubted.node.as_str(), doubted.family.as_str()), ("node0001", "pipe"));
    assert_eq!(doubted.doubt, "other tasks took the CPU");
    assert!((doubted.share - 0.8).abs() < 0.01 && doubted.ratio.value > 1.1);
    let everywhere = |_: usize, _: usize| Some("the core was never undisturbed");
    let found = found_in(&fleet, How { times: Some(&slow), doubt: Some(everywhere), ..How::default() });
    assert!(found.slow.is_empty() && found.doubted.len() == 2, "{:?}", found.slow);
}

#[test]
fn a_node_that_is_slow_in_one_cost_of_a_family_is_found_by_it() {
    let fleet = fleet(100, 5);
    let mut table = super::support::table(&fleet, How::default());
    let cost = table.costs.iter_mut().find(|cost| cost.name.starts_with("process.fork")).expect("fork");
    for entry in cost.entries.iter_mut().filter(|entry| entry.run / 5 == 42) {
        entry.log += 0.2;
    }
    let name = cost.name.clone();
    let found = crate::fleet::found(&table, &crate::fleet::FleetOptions::default());
    assert_eq!(found.slow.len(), 1, "{:?}", found.slow);
    let family = &found.slow[0].families[0];
    assert_eq!((found.slow[0].node.as_str(), family.family.as_str()), ("node0042", "process"));
    assert_eq!(family.costs.iter().map(|cost| &cost.name).collect::<Vec<_>>(), [&name]);
}

#[test]
fn a_run_that_is_given_twice_counts_once() {
    let mut table = crate::fleet::Table::default();
    let facts = crate::fleet::RunFacts { id: "one".into(), node: "a".into(), ..Default::default() };
    assert!(table.run(facts.clone()).is_some());
    assert_eq!(table.run(facts), None);
}

#[test]
fn an_empty_table_is_nothing() {
    let found = crate::fleet::found(&crate::fleet::Table::default(), &crate::fleet::FleetOptions::default());
    assert!(found.classes.is_empty() && found.slow.is_empty() && found.tests == 0);
}
