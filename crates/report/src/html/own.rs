//! What a run holds besides its costs: tails, scaling, memory, what was not measured.

use analysis::memory::memory;
use analysis::scalability::scalings;
use record::units::grouped;
use record::{Bytes, Nanoseconds, Percentile, Run, Skip, Tail};

use super::form::{Block, BlockTable, Section};
use crate::interval::value_or_bound;
use crate::scaling::{scaling_chart, verdict};
use crate::tails::tail_charts;

/// Reasons that are shown.
const MOST: usize = 200;

pub(super) fn sections(run: &Run) -> Vec<Section> {
    let all = [tails(run), scaling(run), levels(run), skipped(run)];
    all.into_iter().filter(|section| !section.blocks.is_empty()).collect()
}

fn tails(run: &Run) -> Section {
    let percentiles = |tail: &Tail| -> Vec<String> {
        let text = |percentile: &Percentile| match (percentile.ns, percentile.low_ns, percentile.high_ns) {
            (Some(ns), Some(low), Some(high)) => {
                format!("{} ({} – {})", Nanoseconds(ns), Nanoseconds(low), Nanoseconds(high))
            }
            _ => "-".into(),
        };
        tail.percentiles.iter().take(5).map(text).chain([Nanoseconds(tail.longest_ns).to_string()]).collect()
    };
    let mut rows = Vec::new();
    for (cost, tails) in run.costs.iter().filter_map(|cost| Some((cost, cost.tails.as_ref()?))) {
        let mut add = |name: String, tail: &Tail| {
            rows.push([vec![name, grouped(tail.samples as f64)], percentiles(tail)].concat());
        };
        if tails.left_out.is_none() {
            add(cost.typed(), &tails.service);
        }
        if let Some(response) = &tails.response {
            add(format!("{}, response", cost.typed()), response);
        }
    }
    let titles = ["single iterations", "samples", "p50", "p90", "p99", "p99.9", "p99.99", "longest"];
    let table = BlockTable::new("<>>>>>>>", &titles, rows);
    let charts = tail_charts(run).into_iter().map(|(_, chart)| Block::Chart(chart));
    charts.fold(Section::new("tails", "Tails").with(Block::Table(table)), Section::with)
}

fn scaling(run: &Run) -> Section {
    let scalings = scalings(run);
    let section = Section::new("scaling", "Scaling");
    if scalings.is_empty() {
        return section;
    }
    let laws = scalings.iter().map(|scaling| format!("{}: {}", scaling.work.name, verdict(scaling))).collect();
    section.with(Block::Chart(scaling_chart(&scalings))).with(Block::List(laws))
}

/// The levels of memory that the curve of random loads shows.
fn levels(run: &Run) -> Section {
    let section = Section::new("memory", "Memory");
    let Some(found) = memory(run).filter(|found| !found.levels.found.is_empty()) else { return section };
    let rows = found.levels.found.iter().map(|level| {
        let [from, to] = [level.from, level.to].map(|bytes| Bytes(bytes).to_string());
        vec![level.name.clone(), from, to, value_or_bound(&level.latency), grouped(level.cycles)]
    });
    let table = BlockTable::new("<>>>>", &["level", "from", "to", "a load", "cycles"], rows);
    section.with(Block::Table(table)).with(Block::List(found.levels.disagreements))
}

fn skipped(run: &Run) -> Section {
    let row = |skip: &Skip| {
        let name = format!("{} {}", skip.operation, skip.at.values());
        vec![name.trim_end().into(), skip.reason.clone(), skip.remedy.clone()]
    };
    let rows = run.skipped.iter().take(MOST).map(row);
    let table = BlockTable::new("<<<", &["not measured", "reason", "remedy"], rows);
    let more = run.skipped.len().saturating_sub(MOST);
    let rest = if more > 0 { format!("{more} more were not measured.") } else { String::new() };
    Section::new("skipped", "Not measured").with(Block::Table(table)).with(Block::Text(rest))
}
