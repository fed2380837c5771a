//! Bench programs of other harnesses: which one it is, how it is run for a short time, and what it prints. They time themselves, so
//! whole runs of two builds alternate.

mod printed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use analysis::lockstep::Block;
use instruments::bench::{Race, RacedBenchmark};
use measure::{Moments, Progress, Signals};
use record::printable;
use system::guard::apart;

use super::PATIENCE;
use crate::cli::TimeArgs;
use crate::output::Misuse;
use crate::scratch;

/// Who wrote the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harness {
    /// A program that speaks howslow's protocol.
    Own,
    Criterion,
    Divan,
    Google,
    Go,
}

/// A text that every program of a harness contains.
const MARKS: [(&str, Harness); 5] = [
    ("HOWSLOW_BENCH", Harness::Own),
    ("CRITERION_HOME", Harness::Criterion),
    ("DIVAN_MIN_TIME", Harness::Divan),
    ("benchmark_min_time", Harness::Google),
    ("test.benchtime", Harness::Go),
];

/// Seconds of one benchmark in one run.
const SHORT: f64 = 0.1;
/// Fewer blocks say nothing, whatever the budget.
const LEAST_BLOCKS: usize = 4;

impl Harness {
    /// The harness of a program. A script is taken for one that speaks the protocol.
    pub fn of(program: &Path) -> Option<Harness> {
        let bytes = fs::read(program).ok()?;
        if !bytes.starts_with(b"\x7fELF") {
            return Some(Harness::Own);
        }
        MARKS.iter().find(|(mark, _)| contains(&bytes, mark.as_bytes())).map(|(_, harness)| *harness)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Harness::Own => "howslow-bench",
            Harness::Criterion => "criterion",
            Harness::Divan => "divan",
            Harness::Google => "Google Benchmark",
            Harness::Go => "go test",
        }
    }

    /// One short run of the benchmarks that these filters name.
    fn command(self, program: &Path, filters: &[String], folder: &Path) -> Command {
        let mut command = Command::new(program);
        let pattern = if filters.is_empty() { ".".to_owned() } else { filters.join("|") };
        let seconds = SHORT.to_string();
        match self {
            Harness::Own => {}
            Harness::Criterion => {
                command.args([
                    "--bench",
                    "--noplot",
                    "--discard-baseline",
                    "--warm-up-time",
                    "0.02",
                    "--sample-size",
                    "10",
                ]);
                command.args(["--nresamples", "1000", "--measurement-time", &seconds, &pattern]);
                command.env("CRITERION_HOME", folder);
            }
            Harness::Divan => {
                command.args(["--bench", "--color", "never", "--min-time", &seconds, "--max-time", &seconds]);
                command.args(filters);
            }
            Harness::Google => {
                command.args(["--benchmark_format=json", &format!("--benchmark_min_time={seconds}s")]);
                command.arg(format!("--benchmark_filter={pattern}"));
            }
            Harness::Go => {
                command.args(["-test.run=^$", &format!("-test.benchtime={seconds}s"), "-test.count=1"]);
                command.arg(format!("-test.bench={pattern}"));
            }
        }
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

fn contains(bytes: &[u8], mark: &[u8]) -> bool {
    bytes.windows(mark.len()).any(|window| window == mark)
}

/// Runs both in the order A B B A until `total_s` seconds are over.
///
/// # Errors
/// If a run of either fails, or if both have no benchmark in common.
pub(super) fn alternate(
    harness: Harness,
    programs: [&PathBuf; 2],
    args: &TimeArgs,
    total_s: f64,
    on_progress: &mut dyn FnMut(&Progress),
) -> anyhow::Result<Race> {
    let signals = Signals::watch();
    let mut moments = Moments::learn(args.measure.cpu, None)?;
    let mut random = fastrand::Rng::with_seed(args.measure.seed.unwrap_or_else(|| fastrand::u64(..)));
    let scratch = measure::Scratch::make(&scratch::folder()?)?;
    // The runtime of Go collects garbage on other CPUs.
    let pins = harness != Harness::Go && !args.all_cpus;
    let mut pinned = true;
    let mut run = |side: usize, random: &mut fastrand::Rng| -> anyhow::Result<BTreeMap<String, f64>> {
        let mut command = harness.command(programs[side], &args.bench.filter, scratch.path());
        let seed = random.u64(..);
        let once = || {
            let settled = !pins || moments.settle(&mut fastrand::Rng::with_seed(seed));
            printed_by(&mut command).map(|text| (text, settled))
        };
        let patience = Duration::from_secs_f64(args.patience.unwrap_or(PATIENCE * 20.0));
        let shown = printable(&programs[side].display().to_string());
        let taken = apart(patience, once).unwrap_or_else(|lost| Err(lost.to_string()));
        let (text, settled) = taken.map_err(|why| anyhow::anyhow!("{shown}: {why}"))?;
        pinned &= settled;
        let times = printed::times(harness, &text);
        if times.is_empty() {
            anyhow::bail!(Misuse(format!("{shown} printed no time of a benchmark; is one selected?")));
        }
        Ok(times)
    };
    let (start, mut blocks) = (Instant::now(), Vec::<[BTreeMap<String, f64>; 4]>::new());
    let mut interrupted = None;
    while interrupted.is_none() && (blocks.len() < LEAST_BLOCKS || start.elapsed().as_secs_f64() < total_s) {
        let order = if blocks.len() % 2 == 0 { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
        let mut legs = [const { BTreeMap::new() }; 4];
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
    Ok(Race { benchmarks: raced(&blocks), interrupted, pinned })
}

/// The blocks of every benchmark that all runs have.
fn raced(blocks: &[[BTreeMap<String, f64>; 4]]) -> Vec<RacedBenchmark> {
    let Some([first, ..]) = blocks.first() else { return Vec::new() };
    let of = |name: &String| -> RacedBenchmark {
        let block = |legs: &[BTreeMap<String, f64>; 4]| {
            let [Some(a), Some(b), Some(c), Some(d)] = legs.each_ref().map(|leg| leg.get(name).copied()) else {
                return None;
            };
            Some(Block::abba([a, b, c, d]))
        };
        let rounds = vec![blocks.iter().filter_map(block).collect()];
        RacedBenchmark { name: name.clone(), rounds, ..RacedBenchmark::default() }
    };
    let all = first.keys().map(of);
    all.filter(|benchmark| benchmark.rounds.iter().any(|round| !round.is_empty())).collect()
}

/// What a program prints, if it ends well.
fn printed_by(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("it cannot be started: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).map(|line| format!(": {}", printable(line)));
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("it ended with {}{}", output.status, last.unwrap_or_default())),
    }
}
