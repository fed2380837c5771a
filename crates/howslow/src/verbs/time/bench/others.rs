//! Bench programs of other harnesses: which one it is, how it is run for a short time, and what it prints. They time themselves, so
//! whole runs of two builds alternate.

mod harness;
mod printed;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use analysis::lockstep::Block;
use instruments::bench::{Race, RacedBenchmark};
use measure::{Progress, QuietCore, Signals};
use record::printable;
use system::guard::apart_until;

use super::selection::{PATIENCE, only_one_has};
use crate::output::{self, Misuse};
use crate::scratch;
use crate::verbs::time::args::TimeArgs;
pub(super) use harness::Harness;

/// What a run printed: the time of each benchmark in ns, if it has one.
type Times = BTreeMap<String, Option<f64>>;

/// Fewer blocks say nothing, whatever the budget.
const LEAST_BLOCKS: usize = 4;

/// Runs both in the order A B B A until `total_s` seconds are over. Returns notes of what only one of them has as well.
/// Fails if a run of either fails.
pub(super) fn alternate(
    harness: Harness,
    programs: [&PathBuf; 2],
    args: &TimeArgs,
    total_s: f64,
    on_progress: &mut dyn FnMut(&Progress),
) -> anyhow::Result<(Race, Vec<String>)> {
    let signals = Signals::watch();
    let mut moments = QuietCore::learn(args.measure.cpu, None)?;
    let mut random = fastrand::Rng::with_seed(args.measure.seed.unwrap_or_else(|| fastrand::u64(..)));
    let scratch = measure::Scratch::make(&scratch::folder()?)?;
    // The runtime of Go collects garbage on other CPUs.
    let pins = harness != Harness::Go && !args.all_cpus;
    let mut pinned = true;
    let mut run = |side: usize, random: &mut fastrand::Rng| -> anyhow::Result<Times> {
        let mut command = harness.command(programs[side], &args.bench.filter, scratch.path());
        let seed = random.u64(..);
        let once = || {
            let settled = !pins || moments.settle(&mut fastrand::Rng::with_seed(seed));
            printed_by(&mut command).map(|text| (text, settled))
        };
        let patience = Duration::from_secs_f64(args.patience.unwrap_or(PATIENCE * 20.0));
        let shown = output::shown(programs[side]);
        let taken =
            apart_until(&|| signals.come().is_some(), patience, once).unwrap_or_else(|lost| Err(lost.to_string()));
        let (text, settled) = taken.map_err(|why| anyhow::anyhow!("{shown}: {why}"))?;
        pinned &= settled;
        let times = printed::times(harness, &text);
        if times.is_empty() {
            anyhow::bail!(Misuse(format!("{shown} printed no time of a benchmark; is one selected?")));
        }
        Ok(times)
    };
    let (start, mut blocks) = (Instant::now(), Vec::<[Times; 4]>::new());
    let mut interrupted = None;
    while interrupted.is_none() && (blocks.len() < LEAST_BLOCKS || start.elapsed().as_secs_f64() < total_s) {
        let order = if blocks.len() % 2 == 0 { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
        let mut legs = [const { Times::new() }; 4];
        for (leg, side) in order.into_iter().enumerate() {
            match run(side, &mut random) {
                Ok(times) => legs[leg] = times,
                Err(_) if signals.come().is_some() => {
                    interrupted = signals.come();
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        interrupted = interrupted.or(signals.come());
        if interrupted.is_none() {
            // In the order of the sides.
            let [a, b, c, d] = legs;
            blocks.push(if order[0] == 0 { [a, b, c, d] } else { [b, a, d, c] });
        }
        let done = blocks.len() as u32;
        let left = Duration::from_secs_f64((total_s - start.elapsed().as_secs_f64()).max(0.0));
        on_progress(&Progress { item: harness.name().into(), done, total: done.max(LEAST_BLOCKS as u32), left });
    }
    let names = |leg: &Times| leg.keys().cloned().collect::<Vec<String>>();
    let notes = blocks.first().map(|[old, new, ..]| only_one_has(&names(old), &names(new))).unwrap_or_default();
    Ok((Race { benchmarks: raced(&blocks), interrupted, pinned }, notes))
}

/// The blocks of every benchmark that both builds have. One that a build has printed without a time has failed there.
fn raced(blocks: &[[Times; 4]]) -> Vec<RacedBenchmark> {
    let Some([first, other, ..]) = blocks.first() else { return Vec::new() };
    let benchmark = |name: &String| -> RacedBenchmark {
        let block = |legs: &[Times; 4]| {
            let [Some(a), Some(b), Some(c), Some(d)] = legs.each_ref().map(|leg| leg.get(name).copied().flatten())
            else {
                return None;
            };
            Some(Block::abba([a, b, c, d]))
        };
        let rounds = vec![[blocks.iter().filter_map(block).collect(), Vec::new()]];
        let failed =
            |legs: [usize; 2]| blocks.iter().any(|block| legs.iter().any(|leg| block[*leg].get(name) == Some(&None)));
        let sides = [("old", [0, 3]), ("new", [1, 2])];
        let failure = sides.into_iter().find(|(_, legs)| failed(*legs));
        let failure = failure.map(|(side, _)| format!("the {side} build printed no time of it: it failed"));
        RacedBenchmark { name: name.clone(), rounds, failure, ..RacedBenchmark::default() }
    };
    let all = first.keys().filter(|name| other.contains_key(*name)).map(benchmark);
    all.filter(|benchmark| benchmark.failure.is_some() || benchmark.blocks().next().is_some()).collect()
}

fn printed_by(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("it cannot be started: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).map(|line| format!(": {}", printable(line)));
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("it ended with {}{}", output.status, last.unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_in_one_build_is_in_both_and_not_compared() {
        let leg = |kept: f64, failing: Option<f64>| -> Times {
            [("kept", Some(kept)), ("failing", failing)].map(|(name, ns)| (name.to_owned(), ns)).into()
        };
        let [mut old, new] = [leg(2.0, Some(1.0)), leg(2.0, None)];
        old.insert("gone".into(), Some(1.0));
        let all = raced(&[[old.clone(), new.clone(), new, old]]);
        let failures: Vec<(&str, bool)> = all.iter().map(|one| (&*one.name, one.failure.is_some())).collect();
        assert_eq!(failures, [("failing", true), ("kept", false)]);
        assert!(all[0].failure.as_ref().is_some_and(|why| why.starts_with("the new build")), "{all:?}");
    }
}
