//! Curves of an experiment: response and throughput by users, idle by users, and the memory cliff.

use analysis::load::{Configuration, Experiment, Forecast, Forecasts, Judged, Predicted, Row, cliffs, row};

use super::cliff::name;
use crate::chart::{Axis, Chart, Series, Unit};

/// Reads a figure of a row, with the ends of its interval.
type Read<'a> = &'a dyn Fn(&Row) -> Option<(f64, f64, f64)>;

/// The charts of an experiment, each with its name. A curve that would have one point only is left out.
pub fn load_charts(it: &Experiment, forecasts: Option<&Forecasts>) -> Vec<(String, Chart)> {
    let rows: Vec<Row> = it.measured.iter().map(row).collect();
    let by_users = |title: &str, label: &str, unit: Unit, of: Read| Chart {
        title: title.into(),
        x: Axis::linear("users", Unit::Count),
        y: Axis::linear(label, unit),
        series: curves(&rows, of),
    };
    let predicted = forecasts.map(|it| it.before.as_slice()).unwrap_or_default();
    let exact = |value: f64| Some((value, value, value));
    let response = by_users("Mean response by users", "response", Unit::Nanoseconds, &|row| {
        let mean = row.response.mean?;
        // An interval that is not known is drawn as a point.
        let high = if mean.high.is_finite() { mean.high } else { mean.value };
        let low = if mean.high.is_finite() { mean.low } else { mean.value };
        Some((mean.value * 1e9, low * 1e9, high * 1e9))
    });
    let throughput = by_users("Throughput by users", "interactions", Unit::PerSecond, &|row| exact(row.throughput));
    let idle = by_users("Idle by users", "idle", Unit::Share, &|row| exact(row.idle.total()));
    let (mut response, mut throughput, mut idle) = (response, throughput, idle);
    response.series.extend(lines(predicted, |it| it.response_s * 1e9));
    throughput.series.extend(lines(predicted, |it| it.throughput));
    idle.series.extend(lines(predicted, |it| it.idle.iter().sum()));
    let mut charts = vec![
        ("load-response".to_string(), response),
        ("load-throughput".to_string(), throughput),
        ("load-idle".to_string(), idle),
    ];
    charts.extend(cliff_charts(it));
    charts.retain(|(_, chart)| !chart.series.is_empty());
    charts
}

/// The model's line for each set of configurations that differ in their users alone.
fn lines(forecasts: &[Forecast], of: fn(&Judged) -> f64) -> Vec<Series> {
    let common = |it: &Configuration| Configuration { users: 0, repetition: 1, ..it.clone() };
    let mut kinds: Vec<Configuration> = Vec::new();
    for it in forecasts {
        let kind = common(&it.configuration);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let series = kinds.into_iter().map(|kind| {
        let known = forecasts.iter().filter(|it| common(&it.configuration) == kind && it.configuration.repetition == 1);
        let mut points: Vec<(f64, &Predicted)> =
            known.filter_map(|it| Some((f64::from(it.configuration.users), it.predicted.as_ref().ok()?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let told = kind.told();
        let name = format!("model: {}", told.strip_prefix("0 users, ").unwrap_or(&told));
        let intervals = points.iter().map(|(_, it)| (of(&it.low), of(&it.high))).collect();
        Series::new(name, points.iter().map(|(users, it)| (*users, of(&it.value))).collect()).with_intervals(intervals)
    });
    series.filter(|series| series.points.len() > 1).collect()
}

/// One curve for each set of configurations that differ in their users alone.
fn curves(rows: &[Row], of: Read) -> Vec<Series> {
    let common = |it: &Configuration| Configuration { users: 0, repetition: 1, ..it.clone() };
    let mut kinds: Vec<Configuration> = Vec::new();
    for row in rows {
        let kind = common(&row.configuration);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let series = kinds.into_iter().map(|kind| {
        let mut points: Vec<(f64, (f64, f64, f64))> = rows
            .iter()
            .filter(|row| common(&row.configuration) == kind)
            .filter_map(|row| Some((f64::from(row.configuration.users), of(row)?)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let told = kind.told();
        let name = told.strip_prefix("0 users, ").unwrap_or(&told).to_string();
        let intervals = points.iter().map(|(_, (_, low, high))| (*low, *high)).collect();
        Series::new(name, points.iter().map(|(users, (value, ..))| (*users, *value)).collect())
            .with_intervals(intervals)
    });
    series.filter(|series| series.points.len() > 1).collect()
}

fn cliff_charts(it: &Experiment) -> Vec<(String, Chart)> {
    let cliffs = cliffs(&it.measured);
    let chart = |title: &str, label: &str, unit: Unit, of: &dyn Fn(&analysis::load::CliffPoint) -> Option<f64>| {
        let series = cliffs.iter().map(|cliff| {
            let points = cliff.points.iter().rev().filter(|point| point.memory.is_finite());
            Series::new(name(&cliff.common), points.filter_map(|point| Some((point.memory, of(point)?))).collect())
        });
        Chart {
            title: title.into(),
            x: Axis::log("memory", Unit::Bytes),
            y: Axis::linear(label, unit),
            series: series.filter(|series| series.points.len() > 1).collect(),
        }
    };
    vec![
        (
            "load-cliff-throughput".into(),
            chart("Throughput by memory", "interactions", Unit::PerSecond, &|point| Some(point.throughput)),
        ),
        (
            "load-cliff-response".into(),
            chart("Mean response by memory", "response", Unit::Nanoseconds, &|point| {
                point.response_s.map(|response| response * 1e9)
            }),
        ),
    ]
}
