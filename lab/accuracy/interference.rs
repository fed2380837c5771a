//! How far the cells of the interference matrix repeat from run to run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use analysis::statistics::{quantile, sorted};
use anyhow::{Context, ensure};
use serde_json::Value;

use crate::Extent;
use crate::tool::{Howslow, said};

const TIMES: u32 = 5;
const BUDGET: u32 = 50;
/// How far apart two runs of a cell may lie, in points.
const GOAL: f64 = 5.0;

pub(crate) fn interference(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let (times, budget) = (extent.times(TIMES), extent.budget(BUDGET));
    let documents: Vec<Value> = match &extent.from {
        Some(folder) => kept(folder)?,
        None => (0..times).map(|_| taken(howslow, budget)).collect::<anyhow::Result<_>>()?,
    };
    let times = documents.len();
    let mut cells: BTreeMap<(String, String), Vec<Figure>> = BTreeMap::new();
    for document in &documents {
        for cell in document["cells"].as_array().context("no cells")? {
            let loads = cell["beside"].as_array().context("no loads")?;
            let [load] = loads.as_slice() else { continue };
            let Some(value) = cell["elapsed"]["value"].as_f64().filter(|_| load["dose"] == 1.0) else { continue };
            let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
            let key = (text(&load["place"]), format!("{} beside {}", text(&cell["victim"]), text(&load["kind"])));
            let figure =
                Figure { points: value * 100.0, told: cell["conclusive"] == true, wide: cell["wide"] != false };
            cells.entry(key).or_default().push(figure);
        }
    }
    println!("{times} runs of {:.0} s", documents.iter().filter_map(|it| it["seconds"].as_f64()).fold(0.0, f64::max));
    for place in ["sibling", "other", "same"] {
        let here = cells.iter().filter(|((at, _), runs)| at == place && runs.len() == times);
        let here: Vec<(&String, f64, &[Figure])> =
            here.map(|((_, name), runs)| (name, range(runs), runs.as_slice())).collect();
        if here.is_empty() {
            continue;
        }
        let kinds: [(&str, IsMeant); 3] = [
            ("all cells", |_| true),
            ("cells that every run tells", |figure| figure.told),
            ("cells that no run doubts", |figure| !figure.wide),
        ];
        for (what, is_meant) in kinds {
            let meant = here.iter().filter(|(_, _, runs)| runs.iter().all(is_meant));
            let ranges = sorted(meant.map(|(_, range, _)| *range));
            let within = ranges.iter().filter(|&&range| range <= GOAL).count();
            println!(
                "{place:<8} {what:<27} {within} of {} within {GOAL} points over {times} runs; median {:.1}, nine in ten {:.1} points",
                ranges.len(),
                quantile(&ranges, 0.5).unwrap_or(f64::NAN),
                quantile(&ranges, 0.9).unwrap_or(f64::NAN)
            );
        }
        let mut worst = here;
        worst.sort_by(|one, other| other.1.total_cmp(&one.1));
        for (name, range, _) in worst.iter().take(5) {
            println!("           {range:>6.1} points  {name}");
        }
    }
    Ok(())
}

/// Whether a cell counts.
type IsMeant = fn(&Figure) -> bool;

/// A cell in one run.
struct Figure {
    /// Elapsed time beside over alone, in percent.
    points: f64,
    told: bool,
    wide: bool,
}

/// The document of one run.
fn taken(howslow: &Howslow, budget: Duration) -> anyhow::Result<Value> {
    let seconds = format!("{}s", budget.as_secs());
    let output = howslow.command().args(["interference", "--json", "--budget", &seconds]).output()?;
    ensure!(output.status.success(), "howslow failed: {}", said(&output));
    serde_json::from_slice(&output.stdout).context("no document")
}

/// The documents of earlier runs.
fn kept(folder: &Path) -> anyhow::Result<Vec<Value>> {
    let paths = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths =
        paths.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "json"));
    let document = |path: PathBuf| {
        let bytes = std::fs::read(&path)?;
        serde_json::from_slice(&bytes).with_context(|| format!("{} is no document", path.display()))
    };
    paths.map(document).collect()
}

/// How far the runs of a cell lie apart, in points.
fn range(runs: &[Figure]) -> f64 {
    let values = sorted(runs.iter().map(|figure| figure.points));
    values.last().zip(values.first()).map_or(f64::NAN, |(high, low)| high - low)
}
