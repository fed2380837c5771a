//! The JSON of google-benchmark (`--benchmark_format=json`). Repetitions are made in one process.

use std::collections::{HashMap, HashSet};
use std::fmt;

use analysis::by_key;
use analysis::statistics::median;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use record::{Machine, Run, Skip, printable};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::imported::{Found, Repetitions, Source, id, ns_in, run};
use super::importer::{ImportError, Importer, has_keys};

const NAME: &str = "google-benchmark";

pub(super) const GOOGLE: Importer = Importer {
    name: NAME,
    summary: "what a google-benchmark program writes with --benchmark_format=json",
    recognises: |text| has_keys(text, &["context", "benchmarks"]),
    read,
};

fn read(text: &str) -> Result<Run, ImportError> {
    let damaged = |why| ImportError::damaged(NAME, why);
    let document: GoogleResults = serde_json::from_slice(google_json(text).as_bytes()).map_err(damaged)?;
    let entries = document.benchmarks.into_iter().map(|FirstOfEach(map)| serde_json::from_value(map.into()));
    let mut entries: Vec<GoogleEntry> = entries.collect::<Result<_, _>>().map_err(damaged)?;
    name_aggregates(&mut entries);
    let mut source = Source { name: NAME, machine: machine(&document.context), ..Source::default() };
    source.tool = match &document.context.library_version {
        Some(version) => format!("{NAME} {version}"),
        None => NAME.into(),
    };
    source.started = document.context.date.map(rfc_3339).unwrap_or_default();
    let (failed, whole): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.why_not().is_some());
    let found = by_key(whole.into_iter().map(|entry| (entry.called(), entry)));
    let names: HashSet<&String> = found.iter().map(|(name, _)| name).collect();
    let skips = failed.iter().map(|entry| {
        let (name, why) = (entry.called(), entry.why_not().unwrap_or_default());
        let others = if names.contains(&name) { "one repetition is left out: " } else { "" };
        let reason = printable(&format!("{others}{why}"));
        Skip { operation: id(NAME, &name), at: Default::default(), reason, remedy: String::new() }
    });
    source.skipped.extend(skips);
    let found = found.into_iter().filter_map(|(name, entries)| cost(name, &entries));
    Ok(run(source, found.collect()))
}

/// What such a program wrote as JSON: it writes a number that it does not have otherwise.
pub fn google_json(text: &str) -> String {
    let none = [": NaN", ": -NaN", ": Infinity", ": -Infinity"];
    none.iter().fold(text.to_string(), |text, number| text.replace(number, ": null"))
}

/// Notes what versions before 1.5 state in the name alone: `BM_x_mean` is an aggregate if there are several of `BM_x`, or, where only
/// aggregates were printed, none of it and a `BM_x_stddev`.
fn name_aggregates(entries: &mut [GoogleEntry]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for entry in entries.iter() {
        *counts.entry(entry.name.clone()).or_default() += 1;
    }
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    for entry in entries.iter_mut().filter(|entry| entry.run_type.is_none()) {
        let Some((of, aggregate)) = entry.name.rsplit_once('_') else { continue };
        let alone = ["mean", "stddev"].iter().all(|other| count(&format!("{of}_{other}")) == 1);
        let is_one = ["mean", "median", "stddev"].contains(&aggregate);
        if is_one && (count(of) > 1 || (count(of) == 0 && alone)) {
            entry.run_type = Some("aggregate".into());
            (entry.run_name, entry.aggregate_name) = (Some(of.into()), Some(aggregate.into()));
        }
    }
}

/// A date as RFC 3339. Older versions write `2018-05-01 10:20:30` without the zone, which is read as UTC.
fn rfc_3339(date: String) -> String {
    let zoneless = date.parse::<DateTime>().ok().filter(|_| date.parse::<Timestamp>().is_err());
    zoneless.and_then(|time| time.to_zoned(TimeZone::UTC).ok()).map_or(date, |time| time.timestamp().to_string())
}

#[derive(Deserialize)]
struct GoogleResults {
    context: Context,
    benchmarks: Vec<FirstOfEach>,
}

/// An object of which the first value of each name counts: a user's counters stand behind, and may be called like what stands before.
struct FirstOfEach(Map<String, Value>);

impl<'de> Deserialize<'de> for FirstOfEach {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FirstOfEach, D::Error> {
        deserializer.deserialize_map(FirstOfEach(Map::new()))
    }
}

impl<'de> Visitor<'de> for FirstOfEach {
    type Value = FirstOfEach;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a benchmark")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut pairs: A) -> Result<FirstOfEach, A::Error> {
        while let Some((name, value)) = pairs.next_entry()? {
            self.0.entry::<String>(name).or_insert(value);
        }
        Ok(self)
    }
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
    #[serde(default, deserialize_with = "text")]
    aggregate_name: Option<String>,
    #[serde(default, deserialize_with = "text")]
    aggregate_unit: Option<String>,
    repetitions: Option<u32>,
    threads: Option<f64>,
    error_occurred: Option<Value>,
    #[serde(default, deserialize_with = "text")]
    error_message: Option<String>,
    skipped: Option<Value>,
    #[serde(default, deserialize_with = "text")]
    skip_message: Option<String>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    bytes_per_second: Option<f64>,
}

/// A text; nothing where a counter of that name is a number.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().map(String::from))
}

impl GoogleEntry {
    /// The name of its benchmark.
    fn called(&self) -> String {
        self.run_name.as_ref().unwrap_or(&self.name).clone()
    }

    /// Why it has no figure, if it says so.
    fn why_not(&self) -> Option<String> {
        let why = |message: &Option<String>, otherwise: &str| message.clone().unwrap_or_else(|| otherwise.into());
        // A counter of that name is a number.
        let is = |flag: &Option<Value>| flag.as_ref().and_then(Value::as_bool).unwrap_or(false);
        match (is(&self.error_occurred), is(&self.skipped)) {
            (true, _) => Some(why(&self.error_message, "it failed")),
            (false, true) => Some(why(&self.skip_message, "it was skipped")),
            (false, false) => None,
        }
    }

    fn ns(&self, time: Option<f64>) -> Option<f64> {
        Some(time? * ns_in(self.time_unit.as_deref())?)
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
    let single = entries.iter().filter(|entry| entry.run_type.as_deref() != Some("aggregate"));
    let single: Vec<&GoogleEntry> = single.collect();
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
    let repeated = single.iter().filter_map(|entry| entry.ns(entry.cpu_time));
    let cpu = median(repeated).or_else(|| shown.ns(shown.cpu_time));
    Some(Found {
        cpu: cpu.map(|cpu| (cpu, 0.0)),
        bytes: if bytes.is_finite() { bytes.round() as u64 } else { 0 },
        cpus: shown.threads.map_or(1, |threads| threads as u32),
        ..Found::new(name, reported)
    })
}
