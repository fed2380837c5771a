//! The curves of a modelled system: by users, and by memory.

use analysis::model::PredictionInterval;
use analysis::model::answer::ModelAnswer;

use super::row::Of;
use crate::chart::{Axis, Chart, Series, Unit};

/// The curves of a system, each with the name of its file.
pub fn model_charts(answer: &ModelAnswer) -> Vec<(String, Chart)> {
    let mut charts = Vec::new();
    let axes = [
        ("users", Axis::linear("users", Unit::Count), &answer.by_users),
        ("memory", Axis::log("memory", Unit::Bytes), &answer.by_memory),
    ];
    for (by, x, points) in axes {
        if points.len() < 2 {
            continue;
        }
        let curve = |name: &str, of: Of, scale: f64| {
            let drawn = |point: &(f64, PredictionInterval)| (point.0, of(&point.1.value) * scale);
            let series = Series::new(name, points.iter().map(drawn).collect());
            let ends = points.iter().map(|point| (of(&point.1.low) * scale, of(&point.1.high) * scale));
            let ends: Vec<(f64, f64)> = ends.collect();
            let exact = ends.iter().all(|(low, high)| high - low <= 1e-9 * high.abs());
            if exact { series } else { series.with_intervals(ends) }
        };
        let mut add = |name: &str, title: &str, y: Axis, series: Vec<Series>| {
            let chart = Chart { title: format!("{title} by {by}"), x: x.clone(), y, series };
            charts.push((format!("model-{name}-by-{by}"), chart));
        };
        let response = vec![curve("mean response", |state| state.response_s, 1e9)];
        add("response", "Mean response", Axis::log("mean response", Unit::Nanoseconds), response);
        let throughput = vec![curve("interactions", |state| state.throughput, 1.0)];
        add("throughput", "Interactions per second", Axis::linear("interactions", Unit::PerSecond), throughput);
        let shares: [(&str, Of); 5] = [
            ("work", |state| state.cpu.user + state.cpu.system),
            ("page faults", |state| state.cpu.faults),
            ("multiprogramming idle", |state| state.cpu.multiprogramming_idle),
            ("other idle with someone there", |state| state.cpu.non_multiprogramming_idle),
            ("nobody there", |state| state.cpu.zero_idle),
        ];
        let all = shares.map(|(name, of)| curve(name, of, 1.0)).into();
        add("cpu", "What the CPUs do", Axis::linear("share of the CPUs", Unit::Share), all);
    }
    charts
}
