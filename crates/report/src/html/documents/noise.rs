//! Noise: how long a computing program is taken away, and by whom.

use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{amount, items, number, share, text, time};
use crate::chart::Chart;
use crate::noise::{gaps_at_least, gaps_chart};

const CAUSES: usize = 12;
/// CPUs beyond these are left out of the tables, and of the chart.
const CPUS: usize = 64;
const CURVES: usize = 8;

pub(super) fn noise(document: &Value, id: String) -> Section {
    let all = items(document, "cpus");
    let cpus: Vec<&Value> = all.iter().take(CPUS).collect();
    let name = |cpu: &Value| number(cpu, "cpu").map_or_else(String::new, |cpu| format!("{cpu}"));
    let rows = cpus.iter().map(|cpu| {
        let percentile = |wanted: f64| {
            let found = items(cpu, "percentiles").iter().find(|entry| number(entry, "share") == Some(wanted));
            time(found.and_then(|entry| number(entry, "ns")))
        };
        vec![
            name(cpu),
            share(number(cpu, "lost")),
            share(number(cpu, "steal")),
            amount(number(cpu, "gaps_per_second")),
            percentile(0.5),
            percentile(0.99),
        ]
    });
    let titles = ["CPU", "lost", "steal", "gaps a second", "half within", "99 in 100 within"];
    let table = BlockTable::new("<>>>>>", &titles, rows);
    let causes = cpus.iter().flat_map(|cpu| items(cpu, "causes").iter().take(CAUSES).map(move |cause| (cpu, cause)));
    let causes = causes.map(|(cpu, cause)| {
        vec![
            name(cpu),
            text(cause, "name").into(),
            share(number(cause, "share")),
            amount(number(cause, "per_second")),
            time(number(cause, "each_ns")),
            time(number(cause, "longest_ns")),
        ]
    });
    let titles = ["CPU", "cause", "share of the time", "a second", "each", "longest"];
    let causes = BlockTable::new("<<>>>>", &titles, causes);
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
