//! The folder in which text cases run: the example run, runs made from it, and files beside it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use record::{Cost, Doubt, Nanoseconds, Point, Run, Skip, Term};
use tempfile::TempDir;

const EXAMPLE: &str = include_str!("../../../record/tests/data/example-run.json");

/// A new folder:
/// - `run.json`, the example, and `slower.json`, at half its speed
/// - `data`, which keeps the example with ten rounds (`@2`) and later, on another kernel, with calls that cost a quarter more (`@1`)
/// - `nights`, nine runs of one machine: from the seventh on its kernel is newer, and `syscall.getppid` costs a tenth more
/// - `fleet`, three runs of each of twelve nodes: `n4` is slow in system calls and pipes by a quarter
/// - `faster.json`, whose calls cost a fifth less; `single.json`, with one round a cost; `one.json` and `call.json`, with one
///   cost of one round
/// - `alone.json`, with one cost; `versioned.json`, with one cost of another version; `lacking.json`, with slower calls and without two
///   costs, one of them skipped; `parts.json`, where two costs name their parts, one of which is lacking
/// - `kin`, a store of four runs of one build, the third on another kernel; `levels.json` and `levels-after.json`, where `syscall.read`
///   is at either of two levels for other shares of the time; `upper.json`, where it is at the upper one alone
/// - `sleepy.json`, the costs of the reference `zen-4-kvm`, on a guest that wakes every task on another CPU seven times as slowly
/// - mixes, models, bills and results of other programs; `complete.bash`, which asks bash for completions
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for name in ["data/runs", "nights", "fleet", "kin/runs"] {
        fs::create_dir_all(path.join(name)).expect("a folder");
    }
    fs::write(path.join("run.json"), EXAMPLE).expect("written");
    keep(path, "slower.json", "slower", |run| run.costs.iter_mut().for_each(|cost| scale(cost, 2.0)));
    keep(path, "data/runs/20261121-033006-qxtz.json", "20261121-033006-qxtz", ten_rounds);
    keep(path, "data/runs/20261122-090000-abcd.json", "20261122-090000-abcd", |run| {
        ten_rounds(run);
        run.started = "2026-11-22T09:00:00Z".into();
        run.machine.kernel.release = "6.19.1".into();
        run.costs.iter_mut().filter(|cost| cost.family() == "syscall").for_each(|cost| scale(cost, 1.25));
    });
    keep(path, "faster.json", "faster", |run| {
        ten_rounds(run);
        run.costs.iter_mut().filter(|cost| cost.family() == "syscall").for_each(|cost| scale(cost, 0.8));
    });
    keep(path, "single.json", "single", |run| run.costs.iter_mut().for_each(|cost| cost.rounds.truncate(1)));
    for (name, operation) in [("one.json", "pipe.self"), ("call.json", "syscall.getppid")] {
        let is_meant = |cost: &&mut Cost| cost.operation == operation;
        keep(path, name, "one", |run| run.costs.iter_mut().filter(is_meant).for_each(one_round));
    }
    keep(path, "alone.json", "alone", |run| run.costs.retain(|cost| cost.operation == "file.sync"));
    keep(path, "versioned.json", "versioned", |run| {
        run.costs.retain(|cost| cost.operation == "syscall.read");
        run.costs[0].version = 2;
    });
    keep(path, "lacking.json", "lacking", lacking);
    keep(path, "parts.json", "parts", |run| {
        let term = |times, operation: &str| Term { times, operation: operation.into(), at: Point::default() };
        for cost in &mut run.costs {
            cost.explained_by = match cost.operation.as_str() {
                "syscall.read" => vec![term(2.0, "syscall.getppid")],
                "pipe.self" => vec![term(1.0, "syscall.read"), term(1.0, "syscall.write")],
                _ => Vec::new(),
            };
        }
    });
    fs::write(path.join("sleepy.json"), &*SLEEPY).expect("written");
    (1..5).for_each(|number| kin(path, number));
    for (name, changes) in [("levels", 0..10), ("levels-after", 6..11), ("upper", 10..11)] {
        keep(path, &format!("{name}.json"), name, |run| with_levels(run, changes));
    }
    (1..10).for_each(|number| night(path, number));
    (0..36).for_each(|number| node(path, number / 3, number % 3 + 1));
    for (name, text) in [
        ("system.toml", include_str!("data/system.toml")),
        ("measured.toml", include_str!("data/measured.toml")),
        ("mix.toml", include_str!("data/mix.toml")),
        ("before.json", include_str!("data/bill-before.json")),
        ("after.json", include_str!("data/bill-after.json")),
        ("complete.bash", include_str!("data/complete.bash")),
        ("hyperfine.json", include_str!("../../../store/tests/data/hyperfine.json")),
    ] {
        fs::write(path.join(name), text).expect("written");
    }
    folder
}

/// Writes the example with this id, changed.
fn keep(folder: &Path, name: &str, id: &str, change: impl FnOnce(&mut Run)) {
    let mut run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    run.id = id.into();
    change(&mut run);
    fs::write(folder.join(name), serde_json::to_vec(&run).expect("JSON")).expect("written");
}

pub fn scale(cost: &mut Cost, times: f64) {
    cost.net_ns = cost.net_ns.times(times);
    cost.cycles *= times;
}

/// Enough rounds for a verdict.
fn ten_rounds(run: &mut Run) {
    for cost in &mut run.costs {
        let mut round = cost.rounds[0].clone();
        round.quiet = vec![true; round.ns.len()];
        cost.rounds = vec![round; 10];
    }
}

/// A cost that has no interval.
fn one_round(cost: &mut Cost) {
    for figures in [&mut cost.net_ns, &mut cost.gross_ns] {
        (figures.low, figures.high) = (Nanoseconds(f64::NEG_INFINITY), Nanoseconds(f64::INFINITY));
    }
    cost.doubts = vec![Doubt::FewRounds { rounds: 1 }];
}

fn lacking(run: &mut Run) {
    ten_rounds(run);
    run.costs.iter_mut().filter(|cost| cost.family() == "syscall").for_each(|cost| scale(cost, 1.25));
    run.costs.retain(|cost| cost.operation != "syscall.read" && cost.operation != "pipe.self");
    let skip = |operation: &str, reason: &str| Skip {
        operation: operation.into(),
        at: Point::default(),
        reason: reason.into(),
        remedy: String::new(),
    };
    run.skipped.push(skip("syscall.read", "seccomp refuses it"));
}

/// A run with the costs of a shipped reference, as if this machine had measured them.
pub fn like(reference: &str) -> Run {
    let mut run = store::Store::open_any(reference).expect("a reference");
    run.origin = record::Origin::Measured;
    run.id = "20261122-203855-rncs".into();
    run.settings.patterns.clear();
    run
}

static SLEEPY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut run = like("zen-4-kvm");
    run.machine.host = Some("web07".into());
    run.machine.kernel.release = "6.18.44-web07.example.net".into();
    (run.machine.kernel.command_line, run.machine.kernel.idle) = (None, None);
    run.costs.iter_mut().filter(|cost| cost.at.word("distance") == Some("other")).for_each(|cost| scale(cost, 7.0));
    serde_json::to_vec(&run).expect("JSON")
});

/// A run of one cost, with four rounds of its own.
fn kin(folder: &Path, number: u64) {
    let id = format!("2026020{number}-000000-kinn");
    keep(folder, &format!("kin/runs/{id}.json"), &id, |run| {
        run.started = format!("2026-02-0{number}T00:00:00Z");
        run.build = "0123456789abcdef".into();
        if number == 3 {
            run.machine.kernel.release = "6.19.1".into();
        }
        let mut random = fastrand::Rng::with_seed(number);
        measured_as(run, "syscall.getppid", 4, |_, _| 0.3 * (310.0 + 4.0 * random.f64()));
    });
}

/// Rounds that begin at 200 ns and go to 140 ns at a batch of this range, each at another one.
fn with_levels(run: &mut Run, changes: std::ops::Range<usize>) {
    let (mut random, count) = (fastrand::Rng::with_seed(changes.len() as u64), changes.len());
    measured_as(run, "syscall.read", 12, |round, batch| {
        let level = if batch < changes.start + round % count { 200.0 } else { 140.0 };
        level * (1.0 + 0.004 * random.f64())
    });
}

/// Leaves this cost alone, with rounds of ten undisturbed batches, and computes its figures.
fn measured_as(run: &mut Run, operation: &str, rounds: usize, mut ns: impl FnMut(usize, usize) -> f64) {
    run.costs.retain(|cost| cost.operation == operation);
    let (cost, cycle) = (&mut run.costs[0], run.noise.cycle_ns);
    cost.terms.clear();
    let base = cost.rounds[0].clone();
    let mut one = |round: usize| record::Round {
        ns: (0..10).map(|batch| ns(round, batch)).collect(),
        cycle_ns: vec![cycle; 10],
        width: vec![1.0; 10],
        quiet: vec![true; 10],
        ..base.clone()
    };
    cost.rounds = (0..rounds).map(&mut one).collect();
    analysis::again::recompute(run, &|_| analysis::prior::Prior::DEFAULT);
}

fn night(folder: &Path, number: usize) {
    keep(folder, &format!("nights/{number}.json"), &format!("2026010{number}-000000-aaaa"), |run| {
        run.started = format!("2026-01-0{number}T00:00:00Z");
        run.machine.host = Some("ci".into());
        let is_new = number >= 7;
        if is_new {
            run.machine.kernel.release = "6.19.0".into();
        }
        for (place, cost) in run.costs.iter_mut().enumerate() {
            let scatter = 0.998 + 0.001 * ((number * 7 + place * 3) % 5) as f64;
            scale(cost, if is_new && cost.operation == "syscall.getppid" { 1.1 * scatter } else { scatter });
        }
    });
}

fn node(folder: &Path, node: usize, number: usize) {
    keep(folder, &format!("fleet/n{node:02}.r{number}.json"), &format!("run-{node:02}-{number}"), |run| {
        run.machine.host = Some(format!("n{node:02}"));
        let meltdown = if node == 4 { "Mitigation: PTI" } else { "Not affected" };
        run.machine.kernel.mitigations.insert("meltdown".into(), meltdown.into());
        let mut random = fastrand::Rng::with_seed((node * 10 + number) as u64);
        for cost in &mut run.costs {
            let is_slow = node == 4 && ["syscall", "pipe"].contains(&cost.family());
            scale(cost, if is_slow { 1.25 } else { 1.0 } * (1.0 + 0.01 * (random.f64() + random.f64() - 1.0)));
            cost.doubts.clear();
        }
    });
}
