//! The JSON of google-benchmark (`--benchmark_format=json`). Repetitions are made in one process.

use record::{Machine, Run, Skip, printable};
use serde::Deserialize;

use super::imported::{Found, Repetitions, Source, id, run};
use super::importer::{ImportError, Importer, has_keys};

const NAME: &str = "google-benchmark";

pub(super) const GOOGLE: Importer = Importer {
    name: NAME,
    summary: "what a google-benchmark program writes with --benchmark_format=json",
    recognises: |text| has_keys(text, &["context", "benchmarks"]),
    read,
};

fn read(text: &str) -> Result<Run, ImportError> {
    // It writes a number that it does not have as no JSON.
    let numbers = text.replace(": NaN", ": null").replace(": -NaN", ": null").replace(": Infinity", ": null");
    let document: GoogleResults =
        serde_json::from_slice(numbers.as_bytes()).map_err(|why| ImportError::damaged(NAME, why))?;
    let mut source = Source { name: NAME, machine: machine(&document.context), ..Source::default() };
    source.tool = match &document.context.library_version {
        Some(version) => format!("{NAME} {version}"),
        None => NAME.into(),
    };
    source.started = document.context.date.unwrap_or_default();
    let mut found: Vec<(String, Vec<GoogleEntry>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for entry in document.benchmarks {
        if entry.error_occurred {
            let reason = printable(&entry.error_message.unwrap_or_else(|| "it failed".into()));
            let skip = Skip { operation: id(NAME, &entry.name), at: Default::default(), reason, remedy: String::new() };
            source.skipped.push(skip);
            continue;
        }
        let name = entry.run_name.clone().unwrap_or_else(|| entry.name.clone());
        let place = *places.entry(name.clone()).or_insert_with(|| {
            found.push((name, Vec::new()));
            found.len() - 1
        });
        found[place].1.push(entry);
    }
    let found = found.into_iter().filter_map(|(name, entries)| cost(name, &entries));
    Ok(run(source, found.collect()))
}

#[derive(Deserialize)]
struct GoogleResults {
    context: Context,
    benchmarks: Vec<GoogleEntry>,
}

#[derive(Deserialize)]
struct Context {
    date: Option<String>,
    num_cpus: Option<u32>,
    mhz_per_cpu: Option<f64>,
    library_version: Option<String>,
}

#[derive(Deserialize)]
struct GoogleEntry {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    aggregate_name: Option<String>,
    aggregate_unit: Option<String>,
    repetitions: Option<u32>,
    threads: Option<u32>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    bytes_per_second: Option<f64>,
}

impl GoogleEntry {
    fn is_aggregate(&self) -> bool {
        self.run_type.as_deref() == Some("aggregate")
    }

    /// In ns; the unit is ns where it is missing.
    fn ns(&self, time: Option<f64>) -> Option<f64> {
        let unit = match self.time_unit.as_deref() {
            None | Some("ns") => 1.0,
            Some("us") => 1e3,
            Some("ms") => 1e6,
            Some("s") => 1e9,
            Some(_) => return None,
        };
        Some(time? * unit)
    }
}

fn machine(context: &Context) -> Machine {
    let mut machine = Machine::default();
    machine.cpu.online = context.num_cpus.unwrap_or(0);
    machine.cpu.frequency.nominal_mhz = context.mhz_per_cpu;
    machine
}

/// All repetitions of a benchmark, or, if the file has no single ones, its aggregates.
fn cost(name: String, entries: &[GoogleEntry]) -> Option<Found> {
    let single: Vec<&GoogleEntry> = entries.iter().filter(|entry| !entry.is_aggregate()).collect();
    let aggregate = |wanted: &str| {
        let is = |entry: &&GoogleEntry| entry.aggregate_name.as_deref() == Some(wanted);
        entries.iter().filter(|entry| entry.aggregate_unit.as_deref() != Some("percentage")).find(is)
    };
    let (shown, reported) = if single.is_empty() {
        let shown = aggregate("median").or_else(|| aggregate("mean"))?;
        let ns = |entry: &GoogleEntry| entry.ns(entry.real_time);
        let spread = aggregate("stddev").and_then(ns).zip(aggregate("mean").and_then(ns));
        let deviation = spread.map_or(f64::NAN, |(deviation, mean)| deviation / mean);
        let count = if deviation.is_finite() { shown.repetitions.unwrap_or(0) } else { 0 };
        (shown, Repetitions::Summary { median: ns(shown)?, deviation, count })
    } else {
        let times = single.iter().map(|entry| entry.ns(entry.real_time).unwrap_or(f64::NAN));
        (single[0], Repetitions::Process(times.collect()))
    };
    // Rates are those of the processor time, unless the benchmark requested another clock, which is then in its name.
    let other_clock = ["/real_time", "/manual_time"].iter().any(|clock| name.contains(clock));
    let time = shown.ns(if other_clock { shown.real_time } else { shown.cpu_time }).unwrap_or(0.0);
    let bytes = shown.bytes_per_second.map_or(0.0, |rate| rate * time / 1e9);
    Some(Found {
        cpu: shown.ns(shown.cpu_time).map(|cpu| (cpu, 0.0)),
        bytes: if bytes.is_finite() { bytes.round() as u64 } else { 0 },
        cpus: shown.threads.unwrap_or(1),
        ..Found::new(name, reported)
    })
}
