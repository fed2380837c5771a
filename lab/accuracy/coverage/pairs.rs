//! What `howslow compare` tells of runs that differ in nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use record::Point;
use record::units::percent;
use serde_json::Value;

use crate::tool::{Howslow, said};

/// One row of a comparison.
pub(crate) struct Row {
    /// Operation and point, or whatever the row calls itself.
    pub name: String,
    /// `faster`, `slower`, `same`, `inconclusive`; empty where none is told.
    pub verdict: String,
    /// The other run's cost over the base's.
    pub ratio: Option<f64>,
    /// Half the width of the ratio's interval.
    pub half_width: Option<f64>,
}

impl Row {
    pub(crate) fn is_change(&self) -> bool {
        matches!(self.verdict.as_str(), "faster" | "slower")
    }
}

/// Compares two stored runs by the command.
///
/// # Errors
/// When the command fails, or prints something else.
pub(crate) fn compare(howslow: &Howslow, base: &Path, other: &Path) -> anyhow::Result<Vec<Row>> {
    let output = howslow.command().arg("compare").args([base, other]).arg("--json").output()?;
    ensure!(output.status.success(), "howslow compare failed: {}", said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).context("howslow compare printed no JSON")?;
    let rows = document["rows"].as_array().context("a comparison without rows")?;
    rows.iter().map(row).collect()
}

fn row(value: &Value) -> anyhow::Result<Row> {
    let operation = value["operation"].as_str().context("a row without an operation")?;
    let at: Point = serde_json::from_value(value["at"].clone()).unwrap_or_default();
    let against = value["against"].get(0).context("a row that is compared with nothing")?;
    let end = |name: &str| against["ratio"][name].as_f64();
    Ok(Row {
        name: format!("{operation}{at}"),
        verdict: against["verdict"].as_str().unwrap_or_default().into(),
        ratio: end("value"),
        half_width: end("high").zip(end("low")).map(|(high, low)| (high - low) / 2.0),
    })
}

/// All unordered pairs, the earlier run as the base.
pub(super) fn compare_all(howslow: &Howslow, files: &[PathBuf]) -> anyhow::Result<()> {
    let (mut pairs, mut pairs_with, mut rows_all) = (0_u32, 0_u32, 0_u32);
    let mut verdicts: BTreeMap<String, u32> = BTreeMap::new();
    let mut changes: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (place, base) in files.iter().enumerate() {
        for other in &files[place + 1..] {
            let rows = compare(howslow, base, other)?;
            pairs += 1;
            rows_all += rows.len() as u32;
            pairs_with += u32::from(rows.iter().any(Row::is_change));
            for row in rows {
                if row.is_change() {
                    changes.entry(row.name).or_default().extend(row.ratio);
                }
                *verdicts.entry(row.verdict).or_default() += 1;
            }
        }
    }
    let told: usize = changes.values().map(Vec::len).sum();
    println!(
        "\nfalse changes: {told} in {pairs} pairs of {rows_all} rows; {} of the pairs tell any",
        percent(f64::from(pairs_with) / f64::from(pairs.max(1)))
    );
    let name = |verdict: &str| if verdict.is_empty() { "untold".into() } else { verdict.to_string() };
    let counts = verdicts.iter().map(|(verdict, rows)| format!("{} {rows}", name(verdict)));
    println!("  rows by verdict: {}", counts.collect::<Vec<_>>().join(", "));
    let mut changes: Vec<_> = changes.into_iter().collect();
    changes.sort_by_key(|(_, ratios)| std::cmp::Reverse(ratios.len()));
    for (name, ratios) in changes {
        let ratios: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.3}")).collect();
        println!("  {name:<40} {}", ratios.join(" "));
    }
    Ok(())
}
