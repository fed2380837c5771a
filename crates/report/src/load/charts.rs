//! Curves of an experiment: response and throughput by users, idle by users, and the memory cliff.

use analysis::by_key;
use analysis::load::{CliffPoint, Configuration, Experiment, Forecast, Forecasts, Judged, PaperRow, cliffs, row};
use record::smallest_first;

use super::cliff::name;
use crate::chart::{Axis, Chart, Series, Unit};

/// Reads a figure of a row, with the ends of its interval.
type Read<'a> = &'a dyn Fn(&PaperRow) -> Option<(f64, f64, f64)>;

/// The charts of an experiment, each with its name. A curve that would have one point only is left out.
pub fn load_charts(experiment: &Experiment, forecasts: Option<&Forecasts>) -> Vec<(String, Chart)> {
    let rows: Vec<PaperRow> = experiment.measured.iter().map(row).collect();
    let by_users = |title: &str, label: &str, unit: Unit, of: Read| Chart {
        title: title.into(),
        x: Axis::linear("users", Unit::Count),
        y: Axis::linear(label, unit),
        series: curves(By::Users, "", rows.iter().map(|row| (&row.configuration, of(row)))),
    };
    let predicted = forecasts.map(|forecasts| forecasts.before.as_slice()).unwrap_or_default();
    let exact = |value: f64| Some((value, value, value));
    let mut response = by_users("Mean response by users", "response", Unit::Nanoseconds, &|row| {
        let mean = row.response.mean?;
        // An interval that is not known is drawn as a point.
        let [low, high] = if mean.high.is_finite() { [mean.low, mean.high] } else { [mean.value; 2] };
        Some((mean.value * 1e9, low * 1e9, high * 1e9))
    });
    let mut throughput = by_users("Throughput by users", "interactions", Unit::PerSecond, &|row| exact(row.throughput));
    let mut idle = by_users("Idle by users", "idle", Unit::Share, &|row| exact(row.idle.total()));
    response.series.extend(lines(predicted, By::Users, |judged| judged.response_s * 1e9));
    throughput.series.extend(lines(predicted, By::Users, |judged| judged.throughput));
    idle.series.extend(lines(predicted, By::Users, |judged| judged.idle.iter().sum()));
    let mut charts = vec![
        ("load-response".to_string(), response),
        ("load-throughput".to_string(), throughput),
        ("load-idle".to_string(), idle),
    ];
    charts.extend(cliff_charts(experiment, predicted));
    charts.retain(|(_, chart)| !chart.series.is_empty());
    charts
}

/// What the points of a curve differ in.
#[derive(Clone, Copy)]
enum By {
    Users,
    Memory,
}

impl By {
    /// What the points of a curve have in common.
    fn common(self, configuration: &Configuration) -> Configuration {
        match self {
            By::Users => Configuration { users: 0, repetition: 1, ..configuration.clone() },
            By::Memory => Configuration { memory: None, repetition: 1, ..configuration.clone() },
        }
    }

    /// Where a point stands; `None` for all the memory there is.
    fn at(self, configuration: &Configuration) -> Option<f64> {
        match self {
            By::Users => Some(f64::from(configuration.users)),
            By::Memory => configuration.memory.map(|bytes| bytes as f64),
        }
    }
}

/// The model's line, with its interval, for each set of configurations that differ in users or in memory alone.
fn lines(forecasts: &[Forecast], by: By, of: fn(&Judged) -> f64) -> Vec<Series> {
    let figure = |forecast: &Forecast| {
        let known = forecast.predicted.as_ref().ok().filter(|_| forecast.configuration.repetition == 1)?;
        Some((of(&known.value), of(&known.low), of(&known.high)))
    };
    curves(by, "model: ", forecasts.iter().map(|forecast| (&forecast.configuration, figure(forecast))))
}

/// One curve for each set of configurations that differ in users or in memory alone.
fn curves<'c>(
    by: By,
    before: &str,
    figures: impl Iterator<Item = (&'c Configuration, Option<(f64, f64, f64)>)>,
) -> Vec<Series> {
    let point = |(of, figure)| (by.common(of), by.at(of).zip(figure));
    let series = by_key(figures.map(point)).into_iter().map(|(kind, points)| {
        let mut points: Vec<(f64, (f64, f64, f64))> = points.into_iter().flatten().collect();
        smallest_first(&mut points, |one| one.0);
        let intervals = points.iter().map(|(_, (_, low, high))| (*low, *high)).collect();
        let values = points.iter().map(|(at, (value, ..))| (*at, *value)).collect();
        let name = kind.described();
        let name = name.strip_prefix("0 users, ").unwrap_or(&name);
        Series::new(format!("{before}{name}"), values).with_intervals(intervals)
    });
    series.filter(|series| series.points.len() > 1).collect()
}

/// Reads a figure of an amount of memory.
type ReadPoint = fn(&CliffPoint) -> Option<f64>;

fn cliff_charts(experiment: &Experiment, predicted: &[Forecast]) -> Vec<(String, Chart)> {
    let cliffs = cliffs(&experiment.measured);
    let chart = |title: &str, y: Axis, of: ReadPoint, model: fn(&Judged) -> f64| {
        let measured = cliffs.iter().map(|cliff| {
            let points = cliff.points.iter().rev().filter(|point| point.memory.is_finite());
            Series::new(name(&cliff.common), points.filter_map(|point| Some((point.memory, of(point)?))).collect())
        });
        let mut series: Vec<Series> = measured.filter(|series| series.points.len() > 1).collect();
        if !series.is_empty() {
            series.extend(lines(predicted, By::Memory, model));
        }
        Chart { title: title.into(), x: Axis::log("memory", Unit::Bytes), y, series }
    };
    let axis = Axis::linear("interactions", Unit::PerSecond);
    let throughput = chart("Throughput by memory", axis, |point| Some(point.throughput), |judged| judged.throughput);
    let axis = Axis::linear("response", Unit::Nanoseconds);
    let of: ReadPoint = |point| point.response_s.map(|seconds| seconds * 1e9);
    let response = chart("Mean response by memory", axis, of, |judged| judged.response_s * 1e9);
    vec![("load-cliff-throughput".into(), throughput), ("load-cliff-response".into(), response)]
}

#[cfg(test)]
mod tests {
    use analysis::load::{Depth, Finished, Measured, PageDevice};
    use analysis::model::PredictionInterval;

    use super::*;

    fn configuration(users: u32, memory: u64) -> Configuration {
        Configuration {
            users,
            memory: Some(memory << 20),
            eligible: Some(3),
            device: PageDevice::Swap,
            ..Configuration::default()
        }
    }

    fn measured(users: u32, memory: u64) -> Measured {
        let response_s = f64::from(users) / memory as f64;
        let one = Finished { response_s, user_s: 0.01, major_faults: 1.0, ..Finished::default() };
        Measured {
            configuration: configuration(users, memory),
            elapsed_s: 20.0,
            finished: vec![one; 20],
            depths: vec![Depth { elapsed_s: 20.0, busy_s: 0.0, major_faults: 0.0 }],
            ..Measured::default()
        }
    }

    fn predicted(users: u32, memory: u64) -> Forecast {
        let judged = |factor: f64| Judged {
            throughput: factor,
            response_s: factor * f64::from(users),
            idle: [factor / 10.0; 3],
            ..Judged::default()
        };
        let predicted = Ok(PredictionInterval { value: judged(1.0), low: judged(0.9), high: judged(1.2) });
        Forecast { configuration: configuration(users, memory), predicted, steady: None }
    }

    #[test]
    fn every_curve_has_the_model_s_line_with_its_interval_beside_it() {
        let places = [(4, 16), (4, 32), (8, 16), (8, 32)];
        let experiment = Experiment {
            measured: places.iter().map(|&(users, memory)| measured(users, memory)).collect(),
            ..Experiment::default()
        };
        let before = places.iter().map(|&(users, memory)| predicted(users, memory)).collect();
        let charts = load_charts(&experiment, Some(&Forecasts { before, ..Forecasts::default() }));
        let names: Vec<&str> = charts.iter().map(|(name, _)| name.as_str()).collect();
        let wanted = ["load-response", "load-throughput", "load-idle", "load-cliff-throughput", "load-cliff-response"];
        assert_eq!(names, wanted);
        for (name, chart) in &charts {
            let models: Vec<&Series> =
                chart.series.iter().filter(|series| series.name.starts_with("model: ")).collect();
            assert_eq!((chart.series.len(), models.len()), (4, 2), "{name}");
            for series in models {
                assert!(
                    series.intervals.iter().zip(&series.points).all(|(ends, at)| ends.0 < at.1 && at.1 < ends.1),
                    "{name}"
                );
            }
            assert!(chart.svg().starts_with("<svg") && chart.text(80).contains("model: "), "{name}");
        }
        let without = load_charts(&experiment, None);
        assert!(without.iter().all(|(_, chart)| chart.series.len() == 2));
        assert!(load_charts(&Experiment { measured: vec![measured(4, 16)], ..Experiment::default() }, None).is_empty());
    }
}
