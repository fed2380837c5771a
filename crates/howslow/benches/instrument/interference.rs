//! How far the cells of the interference matrix repeat from run to run.

use std::collections::BTreeMap;

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
    let mut cells: BTreeMap<(String, String), Vec<(f64, bool)>> = BTreeMap::new();
    for _ in 0..times {
        let mut command = howslow.command();
        let output =
            command.args(["interference", "--json", "--budget", &format!("{}s", budget.as_secs())]).output()?;
        ensure!(output.status.success(), "howslow failed: {}", said(&output));
        let document: Value = serde_json::from_slice(&output.stdout).context("no document")?;
        for cell in document["cells"].as_array().context("no cells")? {
            let loads = cell["beside"].as_array().context("no loads")?;
            let [load] = loads.as_slice() else { continue };
            let Some(value) = cell["elapsed"]["value"].as_f64().filter(|_| load["dose"] == 1.0) else { continue };
            let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
            let key = (text(&load["place"]), format!("{} beside {}", text(&cell["victim"]), text(&load["kind"])));
            cells.entry(key).or_default().push((value * 100.0, cell["told"] == true));
        }
    }
    for place in ["sibling", "other", "same"] {
        let here = cells.iter().filter(|((at, _), runs)| at == place && runs.len() as u32 == times);
        let here: Vec<(&String, f64, bool)> = here.map(|((_, name), runs)| (name, range(runs), told(runs))).collect();
        if here.is_empty() {
            continue;
        }
        for (what, only_told) in [("all cells", false), ("cells that every run tells", true)] {
            let ranges = sorted(here.iter().filter(|(_, _, told)| *told || !only_told).map(|(_, range, _)| *range));
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

/// How far the runs of a cell lie apart, in points.
fn range(runs: &[(f64, bool)]) -> f64 {
    let values = sorted(runs.iter().map(|(value, _)| *value));
    values.last().zip(values.first()).map_or(f64::NAN, |(high, low)| high - low)
}

fn told(runs: &[(f64, bool)]) -> bool {
    runs.iter().all(|(_, told)| *told)
}
