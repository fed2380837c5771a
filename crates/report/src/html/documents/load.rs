//! A load of scripted users: response, throughput and idle by users, the model's line beside them, the memory cliff.

use analysis::by_key;
use record::smallest_first;
use record::units::counted;
use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{amount, count, items, number, share, text, time, word};
use crate::chart::{Axis, Chart, Series, Unit};

const MOST: usize = 200;

pub(super) fn load(document: &Value, id: String) -> Section {
    let measured: Vec<&Value> = items(document, "configurations").iter().take(MOST).collect();
    let predicted: Vec<&Value> = items(document, "predicted_before").iter().take(MOST).collect();
    let mut section =
        Section::new(id, format!("Load: {}", text(document, "plan"))).with(Block::Table(table(&measured)));
    let response = |entry: &Value| number(entry.get("all")?.get("mean_s")?, "value").map(|seconds| seconds * 1e9);
    let of_model = |figures: &Value| number(figures, "response_s").map(|seconds| seconds * 1e9);
    let throughput = |entry: &Value| number(entry, "throughput");
    let charts: [(&str, &str, Unit, FigureOf, FigureOf); 3] = [
        ("Mean response by users", "response", Unit::Nanoseconds, response, of_model),
        ("Throughput by users", "interactions", Unit::PerSecond, throughput, throughput),
        ("Idle by users", "idle", Unit::Share, idle, idle),
    ];
    for (title, label, unit, of, of_model) in charts {
        let model = curves(&predicted, |forecast| of_model(forecast.get("predicted")?), "model: ");
        section = section.with(Block::Chart(Chart {
            title: title.into(),
            x: Axis::linear("users", Unit::Count),
            y: Axis::linear(label, unit),
            series: curves(&measured, of, "").into_iter().chain(model).collect(),
        }));
    }
    for cliff in items(document, "cliffs").iter().take(8) {
        section = section.with(Block::Chart(cliff_chart(cliff)));
    }
    section.with(Block::List(super::json::texts(document, "notes")))
}

/// The share of the processors' time in which nothing ran; `None` if none of its kinds is known.
fn idle(entry: &Value) -> Option<f64> {
    let kinds = ["idle_zero", "idle_non_multiprogramming", "idle_multiprogramming"];
    kinds.iter().filter_map(|key| number(entry, key)).reduce(|sum, kind| sum + kind)
}

/// Reads a figure of a configuration.
type FigureOf = fn(&Value) -> Option<f64>;

/// A curve by users for each set of configurations that are otherwise alike.
fn curves(of: &[&Value], read: impl Fn(&Value) -> Option<f64>, before: &str) -> Vec<Series> {
    let point = |entry: &&Value| {
        let configuration = entry.get("configuration")?;
        Some((curve_name(configuration), (number(configuration, "users")?, read(entry)?)))
    };
    let mut curves = by_key(of.iter().filter_map(point));
    curves.retain(|(_, points)| points.len() > 1);
    let series = curves.into_iter().take(8).map(|(name, mut points)| {
        smallest_first(&mut points, |one| one.0);
        Series::new(format!("{before}{name}"), points)
    });
    series.collect()
}

/// What configurations of one curve have in common.
fn curve_name(configuration: &Value) -> String {
    let memory = number(configuration, "memory")
        .map_or_else(|| "all memory".into(), |bytes| record::Bytes(bytes as u64).to_string());
    let eligible =
        number(configuration, "eligible").map_or_else(String::new, |eligible| format!(", {eligible} eligible"));
    let cpus = counted(number(configuration, "cpus").unwrap_or(0.0) as u64, "CPU");
    let relief = configuration.get("relief").and_then(Value::as_str).filter(|relief| *relief != "none");
    let relief = relief.map_or_else(String::new, |relief| format!(", {relief}"));
    format!("{memory}, {cpus}, {}{eligible}{relief}", word(configuration, "device"))
}

fn table(measured: &[&Value]) -> BlockTable {
    let rows = measured.iter().map(|row| {
        let configuration = &row["configuration"];
        let all = &row["all"];
        let seconds = |value: Option<f64>, at_least: Option<f64>| match (value, at_least) {
            (None, Some(seconds)) => format!("at least {}", time(Some(seconds * 1e9))),
            (seconds, _) => time(seconds.map(|seconds| seconds * 1e9)),
        };
        let p95 = items(all, "percentiles").iter().find(|percentile| number(percentile, "share") == Some(0.95));
        let p95_at_least = p95.and_then(|percentile| number(percentile, "at_least_s"));
        let p95 = p95
            .and_then(|percentile| percentile.get("response_s"))
            .and_then(|response| response.as_f64().or_else(|| number(response, "value")));
        vec![
            curve_name(configuration),
            count(number(configuration, "users")),
            amount(number(row, "throughput")),
            seconds(all.get("mean_s").and_then(|mean| number(mean, "value")), number(all, "mean_at_least_s")),
            seconds(p95, p95_at_least),
            share(idle(row)),
            count(number(all, "major_faults")),
        ]
    });
    let titles = ["configuration", "users", "a second", "mean response", "p95", "idle", "faults from the device"];
    BlockTable::new("<>>>>>>", &titles, rows)
}

fn cliff_chart(cliff: &Value) -> Chart {
    let points = items(cliff, "points").iter();
    let points = points.filter_map(|point| Some((number(point, "memory")?, number(point, "throughput")?)));
    Chart {
        title: format!("Throughput as memory shrinks: {}", text(cliff, "common")),
        x: Axis::log("memory", Unit::Bytes),
        y: Axis::linear("interactions", Unit::PerSecond),
        series: vec![Series::new("", points.collect())],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_idle_is_shown_and_unknown_idle_is_not() {
        let configuration = json!({"users": 1, "cpus": 1, "device": "zram"});
        let busy = json!({"configuration": configuration, "idle_zero": 0.0, "idle_multiprogramming": 0.0});
        let rows = table(&[&busy, &json!({"configuration": configuration})]).rows;
        assert_eq!([&rows[0][5], &rows[1][5]], ["0.00 %", "-"]);
        assert!(rows[0][0].contains("1 CPU,"), "{}", rows[0][0]);
    }

    #[test]
    fn a_bound_is_shown_as_one() {
        let configuration = json!({"users": 1, "cpus": 1, "device": "none"});
        let p95 = json!({"share": 0.95, "response_s": null, "at_least_s": 4.0});
        let all = json!({"mean_s": null, "mean_at_least_s": 1.5, "percentiles": [p95]});
        let rows = table(&[&json!({"configuration": configuration, "all": all})]).rows;
        assert_eq!([&rows[0][3], &rows[0][4]], ["at least 1.50 s", "at least 4.00 s"]);
    }
}
