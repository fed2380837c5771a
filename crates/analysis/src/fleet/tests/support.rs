//! Fleets of the generator as tables.

use testing::fleet::{Fleet, Score};

use record::Machine;

use crate::fleet::{CLOCK, FleetOptions, Found, Parts, RunFacts, RunFigure, Table, found};

/// A factor by node and family.
pub(super) type Factor<'a> = dyn Fn(usize, &str) -> f64 + 'a;

/// How rows become a table.
#[derive(Clone, Copy, Default)]
pub(super) struct How<'a> {
    /// The clock of a node, in GHz. By default all have the same.
    pub clock: Option<fn(usize) -> f64>,
    /// A doubt for figures of this node and run.
    pub doubt: Option<fn(usize, usize) -> Option<&'static str>>,
    /// What a figure is multiplied by, by node and family.
    pub times: Option<&'a Factor<'a>>,
    /// What a node is, and the share of its batches in which its core was undisturbed.
    pub machine: Option<&'a dyn Fn(usize) -> (Machine, f64)>,
}

pub(super) fn table(fleet: &Fleet, how: How<'_>) -> Table {
    let mut table = Table::default();
    let costs: Vec<_> = (0..fleet.costs)
        .map(|cost| {
            let (operation, at) = fleet.cost(cost);
            (operation, table.cost(operation, &at, 1))
        })
        .collect();
    for node in 0..fleet.nodes {
        for (number, rows) in fleet.rows(node).into_iter().enumerate() {
            let clock = how.clock.map_or(3.7, |clock| clock(node));
            let (machine, undisturbed) = how.machine.map_or_else(|| (Machine::default(), 0.8), |machine| machine(node));
            let facts = RunFacts {
                node: fleet.node(node),
                id: format!("{node}-{number}"),
                started: format!("2026-11-{:02}T00:00:00Z", number + 1),
                clock_ghz: Some(clock * (1.0 + 0.0005 * (((node * 7 + number * 3) % 11) as f64 - 5.0) / 5.0)),
                undisturbed: Some(undisturbed),
                parts: Parts::of(&machine),
            };
            let run = table.run(facts).expect("a new run");
            for row in rows {
                let (operation, key) = costs[row.cost];
                let family = operation.split('.').next().expect("a family");
                let times = how.times.map_or(1.0, |times| times(node, family));
                let doubt = how.doubt.and_then(|doubt| doubt(node, number));
                let figure =
                    RunFigure { value: row.value * times, low: row.low * times, high: row.high * times, doubt };
                assert!(table.figure(run, key, figure));
            }
        }
    }
    table
}

pub(super) fn found_in(fleet: &Fleet, how: How<'_>) -> Found {
    found(&table(fleet, how), &FleetOptions::default())
}

pub(super) fn score(fleet: &Fleet, found: &Found) -> Score {
    let families = |node: &crate::fleet::SlowNode| {
        node.families.iter().map(|family| family.family.clone()).filter(|family| family != CLOCK).collect()
    };
    let called: Vec<(String, Vec<String>)> =
        found.slow.iter().map(|node| (node.node.clone(), families(node))).collect();
    fleet.score(&called)
}
