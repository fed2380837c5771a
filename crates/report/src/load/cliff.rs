//! The memory cliff in words and as a table.

use analysis::load::{Cliff, CliffPoint, Configuration};
use record::Bytes;
use record::units::{Amount, percent, significant};

use super::tables::{figure_or_bound, time};
use crate::grid::{Grid, RowKind};
use crate::text::{Style, capitalized};

/// Throughput and response as memory shrinks, and where they break off.
pub(super) fn cliff(cliff: &Cliff, style: Style) -> String {
    let mut grid = Grid::new(">>>>>>", [vec![4], vec![3]]);
    grid.heading(["memory", "a second", "response", "from swap", "files again", "failed"]);
    for point in &cliff.points {
        let kind = if cliff.knee.is_some_and(|knee| knee.falls == *point) { RowKind::Slower } else { RowKind::Row };
        let response = figure_or_bound(point.response_s, point.response_at_least_s);
        let [swapped, again] = [point.swapped_in_per_s, point.refaulted_per_s].map(|rate| Amount(rate).of("/s"));
        let failed = if point.failed > 0.0 { percent(point.failed) } else { "0".into() };
        grid.add(kind, [memory(point), significant(point.throughput), response, swapped, again, failed]);
    }
    let common = name(&cliff.common);
    let verdict = match &cliff.knee {
        None if cliff.points.iter().all(|point| point.throughput == 0.0) => "no interaction did its work.".into(),
        None if cliff.holds_throughout() => "throughput holds down to the least memory that was measured.".into(),
        None => "throughput holds at the least memory that was measured, but not with all that is more.".into(),
        Some(knee) => format!(
            "the cliff lies between {} and {}: throughput falls from {} to {} a second, the mean response goes from {} to {}. \
             {}.",
            memory(&knee.falls),
            memory(&knee.holds),
            significant(knee.holds.throughput),
            significant(knee.falls.throughput),
            response(&knee.holds),
            response(&knee.falls),
            capitalized(knee.cause()),
        ),
    };
    grid.render(style) + &style.paragraph("", &format!("{common}: {verdict}"))
}

/// What the configurations of a cliff have in common.
pub(super) fn name(common: &Configuration) -> String {
    Configuration { memory: None, repetition: 1, ..common.clone() }.described()
}

fn response(point: &CliffPoint) -> String {
    match (point.response_s, point.response_at_least_s) {
        (Some(mean_s), _) => time(mean_s),
        (None, Some(bound_s)) => format!("at least {}", time(bound_s)),
        (None, None) => "none".into(),
    }
}

fn memory(point: &CliffPoint) -> String {
    if point.memory.is_finite() { Bytes(point.memory as u64).to_string() } else { "all".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_without_a_knee_is_no_more_than_was_measured() {
        let page = |throughputs: [f64; 3]| {
            let point = |(throughput, memory)| CliffPoint {
                memory,
                throughput,
                response_s: None,
                response_at_least_s: None,
                swapped_in_per_s: 0.0,
                refaulted_per_s: 0.0,
                failed: 0.0,
                killed_for_memory: 0.0,
            };
            let points = throughputs.into_iter().zip([3e9, 2e9, 1e9]).map(point).collect();
            cliff(&Cliff { common: Configuration::default(), points, knee: None }, Style::PLAIN)
        };
        assert!(page([100.0, 95.0, 98.0]).contains("holds down to the least"));
        assert!(page([100.0, 50.0, 95.0]).contains("holds at the least"));
        let none = page([0.0, 0.0, 0.0]);
        assert!(none.contains("no interaction did") && !none.contains("holds"), "{none}");
    }
}
