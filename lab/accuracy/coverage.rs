//! Whether intervals and verdicts keep their promise: whole headline runs one after another, of which each run's interval
//! is held against every other run's figure, and each pair is compared by the command itself.

mod histories;
mod pairs;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use analysis::statistics::{median, quantile, sorted};
use anyhow::{Context, ensure};
use howslow_lab::components::deviation;
use record::Run;
use record::units::percent;

use crate::Extent;
use crate::compilation::Compilation;
use crate::figures::{share, variation};
use crate::tool::Howslow;
pub(crate) use pairs::{Row, compare};

use histories::{History, KINDS, Kind, gather};

const RUNS: u32 = 10;
/// The shares of covered figures that are promised, of costs on one CPU and of all others.
const PROMISED: [f64; 2] = [0.90, 0.85];
/// How many of the worst are listed.
const LISTED: usize = 15;

pub(crate) fn coverage(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let (runs, files) = match &extent.from {
        Some(folder) => stored(folder)?,
        None => take(howslow, extent, extent.keep.as_deref().unwrap_or(temporary.path()))?,
    };
    ensure!(runs.len() > 1, "one run covers nothing: at least two are needed");
    let histories = gather(&runs);
    println!("{} runs, {} costs in at least two of them", runs.len(), histories.len());
    conditions(&runs);
    for kind in KINDS {
        let of_kind: Vec<&History> = histories.iter().filter(|history| history.kind == kind).collect();
        if !of_kind.is_empty() {
            println!("\n{} ({} costs)", kind.title(), of_kind.len());
            covered(&of_kind);
            scattered(&of_kind);
            composed(&of_kind);
        }
    }
    worst(&histories);
    pairs::compare_all(howslow, &files)
}

/// The runs of a folder, in the order of their names.
fn stored(folder: &Path) -> anyhow::Result<(Vec<Run>, Vec<PathBuf>)> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    println!("{} runs of {}", files.len(), folder.display());
    let read = |file: &PathBuf| record::read_run(file).with_context(|| file.display().to_string());
    Ok((files.iter().map(read).collect::<anyhow::Result<_>>()?, files))
}

/// Takes runs and writes them to a folder, each as soon as it is there.
fn take(howslow: &Howslow, extent: &Extent, folder: &Path) -> anyhow::Result<(Vec<Run>, Vec<PathBuf>)> {
    let times = extent.times(RUNS).max(2);
    let beside = if extent.busy { ", beside a compilation" } else { "" };
    println!("{times} headline runs{beside}; about {} s", times * extent.budget.unwrap_or(16));
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let budget = extent.budget.map(|seconds| Duration::from_secs(seconds.into()));
    let compilation = extent.busy.then(Compilation::start).transpose()?;
    let (mut runs, mut files) = (Vec::new(), Vec::new());
    for number in 0..times {
        let run = howslow.run(&[], budget)?;
        let file = folder.join(format!("{number:03}.json"));
        fs::write(&file, serde_json::to_vec(&run)?).with_context(|| format!("cannot write {}", file.display()))?;
        runs.push(run);
        files.push(file);
    }
    if let Some(compilation) = compilation {
        println!("{} compilations were finished meanwhile", compilation.finish()?);
    }
    Ok((runs, files))
}

/// How the machine was: what the figures have to be judged by.
fn conditions(runs: &[Run]) {
    let over = |of: fn(&Run) -> f64| sorted(runs.iter().map(of));
    let middle = |values: &[f64], part| quantile(values, part).unwrap_or(f64::NAN);
    let clock = over(|run| 1.0 / run.noise.cycle_ns);
    println!(
        "clock {:.3} GHz, from {:.3} to {:.3}; other programs used {} of the CPU time; undisturbed {} of the time",
        middle(&clock, 0.5),
        middle(&clock, 0.0),
        middle(&clock, 1.0),
        share(median(over(|run| run.noise.others))),
        share(median(runs.iter().flat_map(|run| run.noise.cpus.iter().map(|cpu| cpu.quiet)))),
    );
    let seconds = runs.iter().filter_map(|run| {
        let [start, end] = [&run.started, &run.finished].map(|time| time.parse::<jiff::Timestamp>());
        Some(end.ok()?.duration_since(start.ok()?).as_secs_f64())
    });
    println!("a run took {:.1} s (median)", median(seconds).unwrap_or(f64::NAN));
}

fn covered(histories: &[&History]) {
    let (holds, pairs) = histories.iter().fold((0, 0), |(holds, pairs), history| {
        let (more, of) = history.covered();
        (holds + more, pairs + of)
    });
    let parts: Vec<f64> = histories.iter().filter_map(|history| history.coverage()).collect();
    let at_least = |limit: f64| parts.iter().filter(|part| **part >= limit).count() as f64 / parts.len() as f64;
    println!(
        "  coverage         {} of {pairs} pairs (cost, run, other run); {} of the costs reach {}, {} reach {}",
        share((pairs > 0).then(|| f64::from(holds) / f64::from(pairs))),
        share(Some(at_least(PROMISED[0]))),
        percent(PROMISED[0]),
        share(Some(at_least(PROMISED[1]))),
        percent(PROMISED[1]),
    );
    let without: usize = histories.iter().map(|history| history.without_interval).sum();
    if without > 0 {
        println!("  {without} figures have no interval and cover nothing here");
    }
}

fn scattered(histories: &[&History]) {
    let line = |title: &str, of: &dyn Fn(&History) -> Option<f64>| {
        let values = sorted(histories.iter().filter_map(|history| of(history)));
        let at = |part| share(quantile(&values, part));
        println!("  {title}  median {:>7}, 90 % quantile {:>7}, largest {:>7}", at(0.5), at(0.9), at(1.0));
    };
    line("CV in cycles   ", &|history| variation(&history.cycles));
    line("CV in ns       ", &|history| variation(&history.ns));
    line("half width     ", &|history| history.half_width());
}

fn composed(histories: &[&History]) {
    let components: Vec<_> = histories.iter().map(|history| history.components()).collect();
    let line = |title: &str, parts: Vec<f64>| {
        let none = parts.iter().filter(|part| **part <= 0.0).count();
        let parts = sorted(parts.into_iter().map(deviation));
        let at = |part| share(quantile(&parts, part));
        println!(
            "  {title}  median {:>7}, 90 % quantile {:>7}; of {} costs, {none} show none",
            at(0.5),
            at(0.9),
            parts.len()
        );
    };
    println!("  standard deviation of a round's median, gross, by where it comes from:");
    line("  of rounds    ", components.iter().filter_map(|it| it.between_rounds).collect());
    line("  of launchers ", components.iter().filter_map(|it| it.between_launchers).collect());
    line("  of runs      ", components.iter().filter_map(|it| it.between_runs).collect());
}

fn worst(histories: &[History]) {
    let mut worst: Vec<(&History, f64)> =
        histories.iter().filter_map(|history| Some((history, history.coverage()?))).collect();
    worst.sort_by(|a, b| a.1.total_cmp(&b.1));
    println!("\nthe {} that cover least", LISTED.min(worst.len()));
    for (history, coverage) in worst.iter().take(LISTED) {
        let figures = if history.kind == Kind::Clock { &history.cycles } else { &history.ns };
        let parts = history.components();
        let part = |variance: Option<f64>| share(variance.map(deviation));
        println!(
            "  {:<40} covers {:>6}  CV {:>7}  half width {:>7}  rounds {:>7}  launchers {:>7}  runs {:>7}  {}",
            history.name,
            percent(*coverage),
            share(variation(figures)),
            share(history.half_width()),
            part(parts.between_rounds),
            part(parts.between_launchers),
            part(parts.between_runs),
            history.doubted(),
        );
    }
}
