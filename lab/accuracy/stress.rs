//! Beside stress-ng's `--syscall` stressor: how many system calls each covers, in what time, and how steadily.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::ensure;
use assert_cmd::Command;
use record::Run;
use record::units::percent;

use crate::Extent;
use crate::figures::{spread, variation};
use crate::tool::{self, Howslow};

const ROUNDS: u32 = 5;
const BUDGET: u32 = 60;
/// A stressor that is still there so long after its time hangs.
const HANGS: Duration = Duration::from_secs(60);

/// What one run of either says.
#[derive(Default)]
struct StressResult {
    seconds: f64,
    /// Calls it got to work, or at least got an answer from.
    covered: usize,
    /// Time of each call it prints, in ns, by the kernel's name.
    times: BTreeMap<String, f64>,
}

pub(crate) fn stress(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    if Command::new("stress-ng").arg("--version").output().is_err() {
        tool::skip("stress-ng is not installed", "`apt-get install stress-ng` (Debian) installs it");
        return Ok(());
    }
    let patterns: Vec<&str> = catalogue::all()
        .filter(|operation| operation.system_calls().next().is_some())
        .map(|operation| operation.id)
        .collect();
    if patterns.is_empty() {
        tool::skip("no operation says which system calls it times", "add `calls` to operations");
        return Ok(());
    }
    let (times, budget) = (extent.times(ROUNDS).max(2), extent.budget(BUDGET));
    let table: &[&str] = if has_table() { &["--syscall-top", "0"] } else { &[] };
    println!(
        "{times} rounds, stress-ng and howslow in turns, as much time to each, and one of stress-ng alone; about {:.0} s",
        (times as f32 * 2.0 + 1.0) * budget.as_secs_f32()
    );
    if table.is_empty() {
        println!("this stress-ng prints only its ten fastest calls; newer ones print all (--syscall-top 0)");
    }
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    // Its own choice leaves out the slowest quarter of the calls, which gives the others more time: what it covers is
    // determined by a run with all of them. That needs a time limit, for one of its tests waits until a signal comes.
    let everything = ask_stress_ng(budget, &["--syscall-method", "all"])?;
    println!("stress-ng covers {} calls when all are selected", everything.covered);
    for _ in 0..times {
        theirs.push(ask_stress_ng(budget, table)?);
        let start = Instant::now();
        let run = howslow.run(&patterns, Some(budget))?;
        ours.push(result_of(&run, start.elapsed()));
    }
    conclude(&theirs, &ours);
    Ok(())
}

/// Whether this stress-ng can print the time of every call.
fn has_table() -> bool {
    let help = Command::new("stress-ng").arg("--help").output();
    help.is_ok_and(|output| tool::said(&output).contains("--syscall-top"))
}

/// One run of the stressor with these options. What fails on this machine it leaves out by itself.
fn ask_stress_ng(budget: Duration, options: &[&str]) -> anyhow::Result<StressResult> {
    // It leaves files behind where it is killed.
    let folder = tempfile::tempdir()?;
    let mut command = Command::new("stress-ng");
    let seconds = format!("{}s", budget.as_secs().max(1));
    command.current_dir(&folder).args(["--syscall", "1", "--metrics", "--timeout", &seconds]).args(options);
    let start = Instant::now();
    let output = command.timeout(budget + HANGS).output()?;
    let text = tool::said(&output);
    ensure!(output.status.success(), "stress-ng failed: {text}");
    let mut result = StressResult { seconds: start.elapsed().as_secs_f64(), ..StressResult::default() };
    for line in text.lines().filter_map(|line| line.split_once("syscall:").map(|(_, rest)| rest)) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            // "293 system call tests, 284 (96.9%) fastest non-failing tests exercised"
            [_, "system", "call", "tests,", covered, ..] => result.covered = covered.parse()?,
            // "getpid    184.0    152": name, mean and least, and the greatest in newer versions
            [name, mean, least, ..] if least.parse::<f64>().is_ok() => {
                result.times.extend(mean.parse().ok().map(|ns: f64| (name.to_string(), ns)));
            }
            _ => {}
        }
    }
    ensure!(result.covered > 0 && !result.times.is_empty(), "stress-ng's table cannot be read: {text}");
    Ok(result)
}

fn result_of(run: &Run, took: Duration) -> StressResult {
    let mut result = StressResult { seconds: took.as_secs_f64(), ..StressResult::default() };
    let mut covered: BTreeSet<&str> = BTreeSet::new();
    for cost in &run.costs {
        let calls: Vec<&str> =
            catalogue::find(&cost.operation).into_iter().flat_map(|operation| operation.system_calls()).collect();
        covered.extend(&calls);
        // An operation of one call is that call's time; of several points, the first one's.
        if let [call] = calls[..] {
            result.times.entry(call.into()).or_insert(cost.quoted().0);
        }
    }
    result.covered = covered.len();
    result
}

fn conclude(theirs: &[StressResult], ours: &[StressResult]) {
    for (title, results) in [("stress-ng", theirs), ("howslow", ours)] {
        let seconds = results.iter().map(|result| result.seconds).sum::<f64>() / results.len() as f64;
        let covered = results.iter().map(|result| result.covered).min().unwrap_or(0);
        let printed = results.iter().map(|result| result.times.len()).min().unwrap_or(0);
        println!(
            "{title:<10} {covered:4} calls covered, of which the time of {printed} is printed; {seconds:.1} s a run"
        );
    }
    let (their_scatter, our_scatter) = (scatter(theirs), scatter(ours));
    println!("coefficient of variation over {} runs", ours.len());
    println!("  stress-ng, all it tells   {}", spread(their_scatter.values().copied()));
    println!("  howslow, all it tells     {}", spread(our_scatter.values().copied()));
    let both: Vec<&String> = their_scatter.keys().filter(|call| our_scatter.contains_key(*call)).collect();
    println!("  stress-ng, on both        {}", spread(both.iter().map(|call| their_scatter[*call])));
    println!("  howslow, on both          {}", spread(both.iter().map(|call| our_scatter[*call])));
    for call in both {
        println!(
            "    {call:<28} stress-ng {:>8}  howslow {:>8}",
            percent(their_scatter[call]),
            percent(our_scatter[call])
        );
    }
}

/// The scatter of each call that at least two runs tell.
fn scatter(results: &[StressResult]) -> BTreeMap<String, f64> {
    let mut figures: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (call, ns) in results.iter().flat_map(|result| &result.times) {
        figures.entry(call.clone()).or_default().push(*ns);
    }
    figures.into_iter().filter_map(|(call, values)| Some((call, variation(&values)?))).collect()
}
