//! The tails of a run's costs: a table of percentiles with their intervals, and percentile curves.

use analysis::tails::samples_needed;
use record::units::{Amount, grouped};
use record::{Cost, Nanoseconds, Percentile, Run, Tail, Tails, printable};

use crate::chart::{Axis, Chart, Series, Unit};
use crate::grid::{Grid, RowKind};
use crate::interval::time;
use crate::text::{Style, in_table};

/// The percentiles of every cost that has them; empty if none has.
pub(crate) fn tails(run: &Run, style: Style) -> String {
    let with_tails: Vec<(&Cost, &Tails)> =
        run.costs.iter().filter_map(|cost| Some((cost, cost.tails.as_ref()?))).collect();
    if with_tails.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<>>>>>>>", [vec![1], vec![3], vec![5], vec![6]]);
    let shares = with_tails.iter().flat_map(|(_, tails)| &tails.service.percentiles).take(5).map(name);
    let shares: Vec<String> = shares.collect();
    if !shares.is_empty() {
        let names = ["single iterations".into(), "samples".into()].into_iter();
        grid.heading(names.chain(shares).chain(["longest".into()]));
    }
    for (cost, tails) in &with_tails {
        let title = format!("  {} {}", in_table(&cost.operation), cost.at.values());
        if tails.left_out.is_none() {
            add(&mut grid, title.trim_end().into(), &tails.service);
        }
        if let Some(response) = tails.response.as_ref().filter(|response| !response.percentiles.is_empty()) {
            add(&mut grid, "    response, waiting included".into(), response);
        }
    }
    format!("\n{}{}", grid.render(style), style.asides("  ", notes(run, &with_tails)))
}

fn name(percentile: &Percentile) -> String {
    format!("p{}", (percentile.share * 1e6).round() / 1e4)
}

/// Two rows: the figures, and their intervals or how many samples would support them.
fn add(grid: &mut Grid, title: String, tail: &Tail) {
    let figures = tail.percentiles.iter().map(|percentile| time(percentile.ns));
    let row = [title, grouped(tail.samples as f64)].into_iter().chain(figures);
    grid.row(row.chain([Nanoseconds(tail.longest_ns).to_string()]));
    let interval = |percentile: &Percentile| match (percentile.low_ns, percentile.high_ns) {
        (Some(low), Some(high)) => format!("{} - {}", Nanoseconds(low), Nanoseconds(high)),
        _ if percentile.share > 0.0 && percentile.share < 1.0 => {
            format!("takes {}", grouped(samples_needed(percentile.share.min(0.999_999)) as f64))
        }
        _ => "-".into(),
    };
    let row = ["    95 % interval".into(), String::new()].into_iter().chain(tail.percentiles.iter().map(interval));
    grid.add(RowKind::Aside, row);
}

/// What the figures are, and what is missing and why.
fn notes(run: &Run, with_tails: &[(&Cost, &Tails)]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((_, tails)) = with_tails.iter().find(|(_, tails)| tails.left_out.is_none()) {
        let clock = Nanoseconds(tails.clock_ns);
        let arrivals = run.settings.tails.and_then(|tailing| tailing.arrivals).map_or(String::new(), |arrivals| {
            let moments = if arrivals.poisson { "at random (Poisson)" } else { "at equal distances" };
            let rate = Amount(arrivals.per_second).of("");
            format!(" Iterations were asked for {rate} times a second, {moments}; the response begins when one is asked for.")
        });
        notes.push(format!(
            "Each is one iteration between two readings of the clock, whose cost ({clock}) is subtracted; nothing else is. \
             Intervals hold for independent samples, whatever their distribution; disturbances that come in bursts make them \
             too narrow.{arrivals}"
        ));
    }
    for (cost, tails) in with_tails {
        if let Some(why) = &tails.left_out {
            notes.push(format!("{}: no single iterations: {}", printable(&cost.typed()), printable(why)));
        }
        if tails.unserved > 0 {
            let (unserved, name) = (grouped(tails.unserved as f64), printable(&cost.typed()));
            notes.push(format!(
                "{name}: {unserved} iterations that were asked for were not served: they come faster than it can be done, so \
                 that waiting grows without end; lower --arrivals"
            ));
        }
    }
    notes
}

/// For every cost with tails its name and a chart: the time that each share of the iterations exceeds.
pub fn tail_charts(run: &Run) -> Vec<(String, Chart)> {
    let with_tails = run.costs.iter().filter_map(|cost| Some((cost, cost.tails.as_ref()?)));
    let charts = with_tails.filter(|(_, tails)| tails.service.samples > 0).map(|(cost, tails)| {
        let curves = [("service", Some(&tails.service)), ("response", tails.response.as_ref())];
        let series = curves.into_iter().filter_map(|(name, tail)| Some(Series::new(name, curve(tail?))));
        let chart = Chart {
            title: format!("Share of the iterations that take longer: {}", printable(&cost.typed())),
            x: Axis::log("time", Unit::Nanoseconds),
            y: Axis::log("share", Unit::Share),
            series: series.collect(),
        };
        (format!("tails {}", cost.name()), chart)
    });
    charts.collect()
}

/// The share of the samples that are longer than each time, thinned to steps of 2 %.
fn curve(tail: &Tail) -> Vec<(f64, f64)> {
    const STEP: f64 = 1.02;
    let all = tail.histogram.iter().map(|(_, count)| *count as f64).sum::<f64>();
    let mut left = all;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (ns, count) in &tail.histogram {
        left -= *count as f64;
        let far = points.last().is_none_or(|last| *ns >= last.0 * STEP || left / all <= last.1 / 1.5);
        if far && left > 0.0 && *ns > 0.0 {
            points.push((*ns, left / all));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use record::{Arrivals, Tailing};

    use super::*;

    fn run() -> Run {
        let example = include_bytes!("../../record/tests/data/example-run.json");
        let mut run = record::run_from_bytes(example).expect("a run");
        let mut tail = analysis::tails::Tail::default();
        (0..10_000).for_each(|place| tail.record(1_000.0 + f64::from(place * place) / 1e4));
        let service = tail.recorded();
        let response = Some(Tail { longest_ns: 5e7, ..service.clone() });
        run.costs[0].tails = Some(Tails { service, response, clock_ns: 24.0, ..Tails::default() });
        let left_out = Some("one iteration does the operation 64 times".into());
        run.costs[1].tails = Some(Tails { left_out, ..Tails::default() });
        run.settings.tails = Some(Tailing { arrivals: Some(Arrivals { per_second: 1_000.0, poisson: true }) });
        run
    }

    #[test]
    fn percentiles_have_intervals_and_what_is_missing_has_a_reason() {
        insta::assert_snapshot!(tails(&run(), Style::PLAIN));
    }

    #[test]
    fn a_run_without_tails_has_no_such_table() {
        let mut run = run();
        run.costs.iter_mut().for_each(|cost| cost.tails = None);
        assert_eq!(tails(&run, Style::PLAIN), "");
        assert!(tail_charts(&run).is_empty());
    }

    #[test]
    fn a_curve_falls_from_all_to_the_last() {
        let charts = tail_charts(&run());
        let points = &charts[0].1.series[0].points;
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1), "{points:?}");
        assert!(points.last().is_some_and(|last| last.1 < 1e-3), "{points:?}");
    }
}
