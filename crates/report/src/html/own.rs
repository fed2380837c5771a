//! What a run holds besides its costs: tails, scaling, memory, what was not measured.

use analysis::memory::memory;
use analysis::scalability::scalings;
use record::units::grouped;
use record::{Nanoseconds, Percentile, Run, Tail};

use super::form::{Block, BlockTable, Section};
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
    let mut table = BlockTable::new(
        "<>>>>>>>",
        &["single iterations", "samples", "p50", "p90", "p99", "p99.9", "p99.99", "longest"],
    );
    for (cost, tails) in run.costs.iter().filter_map(|cost| Some((cost, cost.tails.as_ref()?))) {
        let mut add = |name: String, tail: &Tail| {
            table.rows.push([vec![name, grouped(tail.samples as f64)], percentiles(tail)].concat());
        };
        if tails.left_out.is_none() {
            add(cost.typed(), &tails.service);
        }
        if let Some(response) = &tails.response {
            add(format!("{}, response", cost.typed()), response);
        }
    }
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
    let mut table = BlockTable::new("<>>>>", &["level", "from", "to", "a load", "cycles"]);
    for level in &found.levels.found {
        let bytes = |bytes: u64| record::Bytes(bytes).to_string();
        let load = crate::interval::value_or_bound(&level.latency);
        table.rows.push(vec![level.name.clone(), bytes(level.from), bytes(level.to), load, grouped(level.cycles)]);
    }
    section.with(Block::Table(table)).with(Block::List(found.levels.disagreements))
}

fn skipped(run: &Run) -> Section {
    let mut table = BlockTable::new("<<<", &["not measured", "reason", "remedy"]);
    for skip in run.skipped.iter().take(MOST) {
        let name = format!("{} {}", skip.operation, skip.at.values());
        table.rows.push(vec![name.trim_end().into(), skip.reason.clone(), skip.remedy.clone()]);
    }
    let more = run.skipped.len().saturating_sub(MOST);
    let rest = if more > 0 { format!("{more} more were not measured.") } else { String::new() };
    Section::new("skipped", "Not measured").with(Block::Table(table)).with(Block::Text(rest))
}
