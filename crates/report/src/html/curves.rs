//! Costs along their axes: latency by working set, bandwidth by CPUs, cost by size.

use std::collections::BTreeMap;

use analysis::by_key;
use maud::{Markup, html};
use record::{Bytes, Cost, Point, Run, Value, printable, smallest_first};

use super::blocks;
use super::form::PageDetail;
use crate::chart::{Axis, Chart, Series, Unit};

/// More curves than this are for `howslow show`.
const MOST_CHARTS: usize = 30;
/// The same of a brief page.
const FEW_CHARTS: usize = 8;
const MOST_SERIES: usize = 8;
/// A curve has so many points at least.
const FEWEST: usize = 3;

/// A chart of an operation along one of its axes.
pub(super) struct Curve {
    /// The anchor of the drawing.
    pub id: String,
    pub chart: Chart,
    operation: String,
    axis: String,
}

impl Curve {
    /// True if a cost is a point of it.
    pub fn holds(&self, cost: &Cost) -> bool {
        cost.operation == self.operation && cost.at.0.get(&self.axis).is_some_and(|value| value.number().is_some())
    }
}

pub(super) fn curves(run: &Run, detail: PageDetail) -> Vec<Curve> {
    let shown = run.costs.iter().filter(|cost| !cost.holds_zero() && cost.quoted().0 > 0.0);
    let along = shown.flat_map(|cost| {
        let axes = cost.at.0.iter().filter(|(_, value)| value.number().is_some());
        axes.map(move |(axis, _)| ((cost.operation.as_str(), axis.as_str()), cost))
    });
    let drawn = by_key(along).into_iter();
    let drawn =
        drawn.filter_map(|((operation, axis), costs)| Some((operation, axis, chart(run, operation, axis, &costs)?)));
    let curve = |(place, (operation, axis, chart)): (usize, (&str, &str, Chart))| Curve {
        id: format!("curve-{place}"),
        chart,
        operation: operation.into(),
        axis: axis.into(),
    };
    drawn.take(if detail == PageDetail::Rows { FEW_CHARTS } else { MOST_CHARTS }).enumerate().map(curve).collect()
}

/// The chart of an operation along this axis, a curve for each choice of the others; `None` if none has enough points.
fn chart(run: &Run, operation: &str, axis: &str, costs: &[&Cost]) -> Option<Chart> {
    let rates = axis == "cpus" && costs.iter().all(|cost| cost.bytes.0 > 0);
    let mut series: BTreeMap<Point, Vec<(f64, f64, f64, f64)>> = BTreeMap::new();
    for cost in costs {
        let Some(at) = cost.at.0.get(axis).and_then(Value::number) else { continue };
        let mut rest = cost.at.clone();
        rest.0.remove(axis);
        let (value, low, high) = (cost.quoted().0, cost.net_ns.low.0, cost.net_ns.high.0);
        let rate = |ns: f64| cost.bytes.0 as f64 / ns * 1e9;
        let figures = if rates { (rate(value), rate(high), rate(low)) } else { (value, low, high) };
        series.entry(rest).or_default().push((at as f64, figures.0, figures.1, figures.2));
    }
    series.retain(|_, points| points.len() >= FEWEST);
    let in_bytes = |value: &Value| matches!(value, Value::Bytes(_)) || value.typed(axis).contains("iB");
    let bytes = costs.iter().any(|cost| cost.at.0.get(axis).is_some_and(in_bytes));
    let numbers = || series.values().flatten().map(|point| point.0).filter(|at| *at > 0.0);
    let (least, most) = (numbers().reduce(f64::min)?, numbers().reduce(f64::max)?);
    let unit = if bytes { Unit::Bytes } else { Unit::Count };
    let x = if most >= 16.0 * least { Axis::log(axis, unit) } else { Axis::linear(axis, unit) };
    let y = if rates { Axis::linear("rate", Unit::BytesPerSecond) } else { Axis::log("time", Unit::Nanoseconds) };
    let of_memory = operation.starts_with("memory.") && bytes;
    let drawn = series.into_iter().take(MOST_SERIES).map(|(rest, mut points)| {
        smallest_first(&mut points, |one| one.0);
        let intervals = points.iter().map(|point| (point.2, point.3)).collect();
        Series::new(printable(&rest.values()), points.iter().map(|point| (point.0, point.1)).collect())
            .with_intervals(intervals)
    });
    Some(Chart {
        title: format!("{} by {axis}", printable(operation)),
        x: x.marked(if of_memory { caches(run) } else { Vec::new() }),
        y,
        series: drawn.collect(),
    })
}

/// The caches that hold data, as marks of an axis of working sets.
fn caches(run: &Run) -> Vec<(f64, String)> {
    let data = run.machine.cpu.caches.iter().filter(|cache| cache.kind != "instruction" && cache.size != Bytes(0));
    data.map(|cache| (cache.size.0 as f64, format!("L{}", cache.level))).collect()
}

pub(super) fn section(curves: &[Curve]) -> Markup {
    html! {
        @if !curves.is_empty() {
            section id="curves" {
                h2 { "Curves" }
                div.plots { @for curve in curves { (blocks::chart(&curve.chart, Some(&curve.id))) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_joins_the_points_of_an_axis_and_marks_the_caches() {
        let mut run =
            record::run_from_bytes(include_bytes!("../../../record/tests/data/example-run.json")).expect("a run");
        let mut cost = run.costs[0].clone();
        cost.operation = "memory.load".into();
        cost.net_ns = record::Figures::given(5.0, 4.0, 6.0);
        run.costs = (10..16)
            .map(|power| Cost { at: Point::default().with("set", Value::Bytes(1 << power)), ..cost.clone() })
            .collect();
        run.machine.cpu.caches =
            vec![record::Cache { level: 1, kind: "data".into(), size: Bytes(4096), ..record::Cache::default() }];
        let curves = curves(&run, PageDetail::Samples);
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].chart.series[0].points.len(), 6);
        assert_eq!(curves[0].chart.x.marks, [(4096.0, "L1".to_string())]);
        assert!(curves[0].chart.svg().contains(">L1<") && curves[0].chart.text(80).contains("dotted: L1"));
        for (cost, cpus) in run.costs.iter_mut().zip(1..) {
            cost.at = Point::default().with("set", Value::Bytes(64 << 20)).with("cpus", Value::Number(cpus));
        }
        let by_cpus = &super::curves(&run, PageDetail::Samples)[0].chart;
        assert!(by_cpus.x.unit == Unit::Count && by_cpus.x.marks.is_empty(), "the set is no number of CPUs");
    }
}
