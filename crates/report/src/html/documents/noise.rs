//! Noise: how long a computing program is taken away, and by whom.

use record::units::significant;
use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{items, number, share, text, time};
use crate::chart::Chart;
use crate::noise::{gaps_at_least, gaps_chart};

const CAUSES: usize = 12;
/// CPUs beyond these are left out of the tables, and of the chart.
const CPUS: usize = 64;
const CURVES: usize = 8;

pub(super) fn noise(document: &Value, id: String) -> Section {
    let all = items(document, "cpus");
    let cpus: Vec<&Value> = all.iter().take(CPUS).collect();
    let mut table =
        BlockTable::new("<>>>>>", &["CPU", "lost", "steal", "gaps a second", "half within", "99 in 100 within"]);
    let mut causes = BlockTable::new("<<>>>>", &["CPU", "cause", "share of the time", "a second", "each", "longest"]);
    for cpu in &cpus {
        let percentile = |wanted: f64| {
            let found = items(cpu, "percentiles").iter().find(|entry| number(entry, "share") == Some(wanted));
            time(found.and_then(|entry| number(entry, "ns")))
        };
        let name = number(cpu, "cpu").map_or_else(String::new, |cpu| format!("{cpu}"));
        table.rows.push(vec![
            name.clone(),
            share(number(cpu, "lost")),
            share(number(cpu, "steal")),
            number(cpu, "gaps_per_second").map_or_else(|| "-".into(), significant),
            percentile(0.5),
            percentile(0.99),
        ]);
        for cause in items(cpu, "causes").iter().take(CAUSES) {
            causes.rows.push(vec![
                name.clone(),
                text(cause, "name").into(),
                share(number(cause, "share")),
                number(cause, "per_second").map_or_else(|| "-".into(), significant),
                time(number(cause, "each_ns")),
                time(number(cause, "longest_ns")),
            ]);
        }
    }
    Section::new(id, "Noise")
        .with(Block::Text(about(all.len())))
        .with(Block::Table(table))
        .with(Block::Chart(chart(&cpus)))
        .with_titled("By whom", Block::Table(causes))
}

/// What is shown, and of how many CPUs, if that is not all.
fn about(cpus: usize) -> String {
    let about = "How long a program that only computes was taken away from each CPU.";
    if cpus <= CURVES {
        return about.into();
    }
    format!("{about} Of {cpus} CPUs the tables have the first {}, the chart the first {CURVES}.", cpus.min(CPUS))
}

/// Gaps a second by the least length.
fn chart(cpus: &[&Value]) -> Chart {
    let series = cpus.iter().take(CURVES).map(|cpu| {
        let pairs = items(cpu, "histogram").iter();
        let buckets = pairs.filter_map(|pair| Some((pair.get(0)?.as_f64()?, pair.get(1)?.as_f64()?))).collect();
        let name = number(cpu, "cpu").unwrap_or(0.0).to_string();
        gaps_at_least(&name, buckets, number(cpu, "gaps_per_second").unwrap_or(0.0))
    });
    gaps_chart(series.collect())
}

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn cpus_that_are_left_out_are_counted() {
        assert!(about(8).ends_with("each CPU."));
        assert!(about(20).ends_with("Of 20 CPUs the tables have the first 20, the chart the first 8."));
        assert!(about(100).ends_with("Of 100 CPUs the tables have the first 64, the chart the first 8."));
    }
}
