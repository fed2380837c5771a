//! The curves of a modelled system: by users, and by memory.

use analysis::model::PredictionInterval;
use analysis::model::answer::ModelAnswer;

use super::row::Of;
use crate::chart::{Axis, Chart, Series, Unit};

/// The curves of a system, each with the name of its file.
pub fn model_charts(answer: &ModelAnswer) -> Vec<(String, Chart)> {
    let mut charts = Vec::new();
    let axes = [
        ("users", "users", Axis::linear("users", Unit::Count), &answer.by_users),
        ("memory", "memory", Axis::log("memory", Unit::Bytes), &answer.by_memory),
    ];
    for (name, by, x, points) in axes {
        if points.len() < 2 {
            continue;
        }
        let curve = |name: &str, of: Of, scale: f64| {
            let drawn = |point: &(f64, PredictionInterval)| (point.0, of(&point.1.value) * scale);
            let series = Series::new(name, points.iter().map(drawn).collect());
            let ends =
                points.iter().map(|point| (of(&point.1.low) * scale, of(&point.1.high) * scale)).collect::<Vec<_>>();
            let exact = ends.iter().all(|(low, high)| high - low <= 1e-9 * high.abs());
            if exact { series } else { series.with_intervals(ends) }
        };
        let chart = |title: String, y: Axis, series: Vec<Series>| Chart { title, x: x.clone(), y, series };
        charts.push((
            format!("model-response-by-{name}"),
            chart(
                format!("Mean response by {by}"),
                Axis::log("mean response", Unit::Nanoseconds),
                vec![curve("mean response", |state| state.response_s, 1e9)],
            ),
        ));
        charts.push((
            format!("model-throughput-by-{name}"),
            chart(
                format!("Interactions per second by {by}"),
                Axis::linear("interactions", Unit::PerSecond),
                vec![curve("interactions", |state| state.throughput, 1.0)],
            ),
        ));
        let shares: [(&str, Of); 5] = [
            ("work", |state| state.cpu.user + state.cpu.system),
            ("page faults", |state| state.cpu.faults),
            ("multiprogramming idle", |state| state.cpu.multiprogramming_idle),
            ("other idle with someone there", |state| state.cpu.non_multiprogramming_idle),
            ("nobody there", |state| state.cpu.zero_idle),
        ];
        let all = shares.map(|(name, of)| curve(name, of, 1.0));
        charts.push((
            format!("model-cpu-by-{name}"),
            chart(format!("What the CPUs do by {by}"), Axis::linear("share of the CPUs", Unit::Share), all.into()),
        ));
    }
    charts
}
