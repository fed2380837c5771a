//! The JSON of `hyperfine --export-json`, which its scripts read: the runs of a command, or the rounds of another cost, stand as
//! its times, in seconds.

use std::collections::BTreeMap;
use std::io::Write;

use analysis::statistics::median;
use record::{COMMAND, Cost, EXIT_STATUS, Run};
use serde::Serialize;

use super::exporter::{Exporter, Written, json};
use crate::exchange::rounds::round_ns;

pub(super) const HYPERFINE: Exporter = Exporter {
    name: "hyperfine",
    summary: "JSON of hyperfine, one time a round: its scripts, dashboards",
    ending: "",
    is_text: true,
    write,
};

fn write(runs: &[Run], out: &mut dyn Write) -> Written {
    let several = runs.len() > 1;
    let results =
        runs.iter().flat_map(|run| run.costs.iter().filter_map(move |cost| ExportedTiming::of(cost, run, several)));
    json(&ExportedResults { results: results.collect() }, out)
}

/// The times of all runs of a command, with its start, as hyperfine has them without a shell; of anything else one figure a round.
fn runs_ns(cost: &Cost) -> Vec<f64> {
    let runs: Vec<f64> = cost.rounds.iter().flat_map(|round| round.ns.iter().copied()).collect();
    if cost.is_command() && !runs.is_empty() { runs } else { round_ns(cost) }
}

#[derive(Serialize)]
struct ExportedResults {
    results: Vec<ExportedTiming>,
}

#[derive(Serialize)]
struct ExportedTiming {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    /// One for each time, where it is known of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_codes: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
}

impl ExportedTiming {
    fn of(cost: &Cost, run: &Run, several: bool) -> Option<ExportedTiming> {
        let times: Vec<f64> = runs_ns(cost).iter().map(|ns| ns / 1e9).collect();
        let count = times.len() as f64;
        let mut prefixes = [COMMAND, "imported.hyperfine."].iter();
        let command = prefixes.find_map(|prefix| cost.operation.strip_prefix(prefix));
        let mean = times.iter().sum::<f64>() / count;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        let mut parameters: BTreeMap<String, String> =
            cost.at.0.iter().map(|(axis, value)| (axis.clone(), value.to_string())).collect();
        if several {
            parameters.insert("run".into(), run.id.clone());
        }
        Some(ExportedTiming {
            command: command.map_or_else(|| cost.name(), String::from),
            mean,
            stddev: (times.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            median: median(times.iter().copied())?,
            user: cost.cpu_ns.user.0 / 1e9,
            system: cost.cpu_ns.system.0 / 1e9,
            min: times.iter().copied().fold(f64::INFINITY, f64::min),
            max: times.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            // The mean of statuses is 0 only if each is.
            exit_codes: (cost.tallies.get(EXIT_STATUS) == Some(&0.0)).then(|| vec![0; times.len()]),
            times,
            parameters,
        })
    }
}
