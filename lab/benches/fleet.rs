//! How well and how fast slow nodes are found among many, by seeds: the table of docs/FLEET.md.
//!
//! `cargo bench --manifest-path lab/Cargo.toml --bench fleet -- [NODES [COSTS [RUNS [SEEDS]]]]`

use std::time::Instant;

use analysis::fleet::{CLOCK, FleetOptions, RunFacts, RunFigure, Table, found};
use testing::fleet::{Fleet, Noise};

fn table(fleet: &Fleet) -> Table {
    let mut table = Table::default();
    let costs: Vec<_> = (0..fleet.costs)
        .map(|cost| {
            let (operation, at) = fleet.cost(cost);
            table.cost(operation, &at, 1)
        })
        .collect();
    for node in 0..fleet.nodes {
        for (number, rows) in fleet.rows(node).into_iter().enumerate() {
            let facts = RunFacts {
                node: fleet.node(node),
                id: format!("{node}-{number}"),
                started: format!("2026-11-{:02}T00:00:00Z", number + 1),
                clock_ghz: Some(3.7),
                ..RunFacts::default()
            };
            let Some(run) = table.run(facts) else { continue };
            for row in rows {
                table.figure(
                    run,
                    costs[row.cost],
                    RunFigure { value: row.value, low: row.low, high: row.high, doubt: None },
                );
            }
        }
    }
    table
}

/// The greatest memory that this process has had, in MiB.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|it| it.trim().to_string());
    line.unwrap_or_else(|| "unknown".into())
}

/// Sums over seeds.
#[derive(Default)]
struct Sums {
    called: usize,
    wrong: usize,
    pairs: usize,
    wrong_pairs: usize,
    fast: usize,
    shares: [[usize; 4]; 3],
    seconds: f64,
}

const SHARES: [f64; 3] = [0.03, 0.05, 0.10];

fn one(fleet: &Fleet, sums: &mut Sums) {
    let table = table(fleet);
    let start = Instant::now();
    let found = found(&table, &FleetOptions::default());
    sums.seconds = sums.seconds.max(start.elapsed().as_secs_f64());
    let mut called = Vec::new();
    for slow in &found.slow {
        let names = slow.families.iter().map(|family| family.family.clone()).filter(|family| family != CLOCK);
        called.push((slow.node.clone(), names.collect::<Vec<_>>()));
    }
    let score = fleet.score(&called);
    sums.called += score.called;
    sums.wrong += score.wrong;
    sums.pairs += score.pairs;
    sums.wrong_pairs += score.wrong_pairs;
    sums.fast += found.fast;
    for (share, counts) in &score.by_share {
        if let Some(place) = SHARES.iter().position(|it| it == share) {
            sums.shares[place].iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let number = |place: usize, default: usize| numbers.get(place).copied().unwrap_or(default);
    let (nodes, costs, runs, seeds) = (number(0, 1000), number(1, 1000), number(2, 5), number(3, 3));
    let planted = (nodes / 50).max(3);
    println!("{nodes} nodes, {costs} costs, {runs} runs, {planted} slow by 3, 5 and 10 %, {seeds} seeds");
    println!(
        "noise scatter | called wrong | pairs wrong fast | found of slow nodes by 3 % 5 % 10 % | pairs by 3 % 5 % 10 % | s"
    );
    let noises = [(Noise::Normal, Noise::Normal), (Noise::Heavy, Noise::Normal), (Noise::Heavy, Noise::Heavy)];
    for (noise, node_noise) in noises {
        for node_scatter in [0.005, 0.01, 0.02] {
            let mut sums = Sums::default();
            for seed in 0..seeds as u64 {
                let mut fleet =
                    Fleet { noise, node_noise, node_scatter, ..Fleet::new(nodes, costs, runs, 2000 + seed) };
                fleet.plant(planted, &SHARES);
                one(&fleet, &mut sums);
            }
            let of = |place: usize| sums.shares.map(|it| format!("{}/{}", it[place], it[place + 1])).join(" ");
            println!(
                "{noise:?}/{node_noise:?} {:.2} % | {} {} | {} {} {} | {} | {} | {:.2}",
                node_scatter * 100.0,
                sums.called,
                sums.wrong,
                sums.pairs,
                sums.wrong_pairs,
                sums.fast,
                of(0),
                of(2),
                sums.seconds
            );
        }
    }
    println!("peak memory {}", peak());
}
