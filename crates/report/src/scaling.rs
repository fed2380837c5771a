//! How work scales with the number of CPUs, as a page: a table, the law of each kind of work, and the speed-ups as a chart.

use analysis::scalability::{CostAtCpus, FittedLaw, Scaling};
use analysis::statistics::Interval;
use record::Run;
use record::units::{Amount, percent, significant};

use crate::chart::{Axis, Chart, Series, Unit};
use crate::footnotes::Footnotes;
use crate::grid::Grid;
use crate::head::head_line;
use crate::interval::{half_share, with_ends};
use crate::text::Style;

/// The speed-up of every kind of work by the number of CPUs.
pub fn scaling_chart(scalings: &[Scaling]) -> Chart {
    let series = scalings.iter().map(|scaling| {
        let speed_ups = scaling.levels.iter().filter_map(|level| Some((f64::from(level.cpus), level.speed_up?)));
        let (points, intervals): (Vec<_>, Vec<_>) =
            speed_ups.map(|(cpus, speed_up)| ((cpus, speed_up.value), drawn(cpus, &speed_up))).unzip();
        Series::new(scaling.work.name, points).with_intervals(intervals)
    });
    Chart {
        title: "Speed-up by the number of CPUs".into(),
        x: Axis::linear("CPUs", Unit::Count),
        y: Axis::linear("speed-up", Unit::Count),
        series: series.collect(),
    }
}

/// The part of an interval that a chart has room for: between nothing and twice the number of CPUs. The page has all of it.
fn drawn(cpus: f64, speed_up: &Interval) -> (f64, f64) {
    (speed_up.low.clamp(0.0, speed_up.value), speed_up.high.clamp(speed_up.value, speed_up.value.max(2.0 * cpus)))
}

/// The page. The chart is `width` columns wide.
pub fn scaling(run: &Run, scalings: &[Scaling], width: usize, style: Style) -> String {
    let mut page = head_line(run) + "\n\n";
    if scalings.is_empty() {
        return page + "no work of this run was measured on one CPU and on several\n";
    }
    let mut notes = Footnotes::of(style);
    let mut grid = Grid::new("<>>>>>>", [vec![3], vec![5], vec![6]]);
    grid.heading(["work", "CPUs", "per second", "payload", "speed-up", "+-", "of each CPU"]);
    for scaling in scalings {
        let doubts = notes.doubts(&scaling.doubts);
        for (index, level) in scaling.levels.iter().enumerate() {
            let name =
                if index == 0 { format!("  {} {doubts}", scaling.work.name).trim_end().into() } else { String::new() };
            grid.row([vec![name], cells(level)].concat());
        }
    }
    page += &grid.render(style);
    page += &style.title("what the numbers of CPUs say");
    page +=
        &style.paragraphs("  ", scalings.iter().map(|scaling| format!("{}: {}", scaling.work.name, verdict(scaling))));
    page += &format!("\n{}", scaling_chart(scalings).text(width));
    page += &style.asides("  ", NOTES);
    page + &notes.render()
}

const NOTES: [&str; 4] = [
    "all figures are typical ones: what programs get on this machine, shared as it is",
    "per second, payload: of all CPUs together; speed-up: over one CPU; of each CPU: the speed-up over the number of CPUs",
    "contention: the share of the work for which CPUs wait for each other; coherence: what each pair of CPUs costs to agree on \
     data (Universal Scalability Law)",
    "stops: from that number on, another CPU certainly adds less than half of what the first one does",
];

fn cells(level: &CostAtCpus) -> Vec<String> {
    let payload = level.bytes_per_second.map_or_else(|| "-".into(), |rate| Amount(rate.value).of("B/s"));
    let (speed_up, width, each) = match level.speed_up {
        None => ("-".into(), "-".into(), "-".into()),
        Some(speed_up) => (
            significant(speed_up.value),
            if level.cpus == 1 { "-".into() } else { half_share(&speed_up) },
            percent(speed_up.value / f64::from(level.cpus)),
        ),
    };
    vec![level.cpus.to_string(), Amount(level.per_second.value).of("/s"), payload, speed_up, width, each]
}

/// The law of one kind of work, or what is known without it.
pub(crate) fn verdict(scaling: &Scaling) -> String {
    let law = match &scaling.law {
        Ok(fit) => law(fit),
        Err(why) => format!("no law is fitted: {why}{}", last_ratio(scaling)),
    };
    match scaling.stops_at {
        Some(1) => format!("{law}; {} stops it at one CPU", scaling.work.bound),
        Some(cpus) => format!("{law}; {} stops it at {cpus} CPUs", scaling.work.bound),
        None => law,
    }
}

/// The speed-up on the most CPUs, in words.
fn last_ratio(scaling: &Scaling) -> String {
    let Some((cpus, ratio)) = scaling.levels.last().and_then(|level| Some((level.cpus, level.speed_up?))) else {
        return String::new();
    };
    let [low, high] = [ratio.low, ratio.high].map(significant);
    let known = if ratio.is_bounded() { format!(" ({low} to {high})") } else { String::new() };
    format!("; {cpus} CPUs do {} times{known} the work of one", significant(ratio.value))
}

fn law(fit: &FittedLaw) -> String {
    let [contention, coherence] = [&fit.contention, &fit.coherence].map(|share| with_ends(share, percent));
    let mut text = format!("contention {contention}, coherence {coherence}");
    if let Some(peak) = &fit.peak {
        text += &format!("; the highest throughput is at {} CPUs", with_ends(peak, significant));
    } else if let Some(limit) = &fit.limit {
        let limit = with_ends(limit, significant);
        text += &format!("; no number of CPUs does more than {limit} times the work of one");
    }
    text + &format!("; the law is off by {} at most", percent(fit.off))
}
