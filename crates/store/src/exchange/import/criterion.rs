//! What criterion measured: its folder (`target/criterion`), or the lines of `cargo criterion --message-format=json`. All
//! samples of a benchmark come from one process.

use std::fmt::Write;
use std::path::Path;

use analysis::statistics::NORMAL_95;
use record::Run;
use serde::Deserialize;
use serde_json::Value;

use super::imported::{Found, Repetitions, Source, ns_in, run};
use super::importer::{ImportError, Importer, MOST_BYTES, has_keys};

const NAME: &str = "criterion";
/// Folders deeper than any group, function and value of criterion.
const DEEPEST: u32 = 8;

pub(super) const CRITERION: Importer = Importer {
    name: NAME,
    summary: "a folder target/criterion, or the lines of cargo criterion --message-format=json",
    recognises: |text| has_keys(text, &["reason", "measured_values"]) || has_keys(text, &["benchmark", "estimates"]),
    read,
};

fn read(text: &str) -> Result<Run, ImportError> {
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        let damaged = |why: serde_json::Error| ImportError::damaged(NAME, format!("line {number}: {why}"));
        let line: CriterionLine = serde_json::from_slice(line.as_bytes()).map_err(damaged)?;
        match line {
            CriterionLine::Folder { benchmark, estimates, sample } => {
                found.push(of_folder(benchmark, &estimates, sample))
            }
            CriterionLine::Message(message) if message.reason == "benchmark-complete" => {
                found.extend(of_message(message))
            }
            CriterionLine::Message(_) => {}
        }
    }
    Ok(run(Source { name: NAME, tool: NAME.into(), ..Source::default() }, found))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CriterionLine {
    /// What [`gather`] writes of one benchmark.
    Folder { benchmark: Benchmark, estimates: Estimates, sample: Option<Sample> },
    /// A message of cargo criterion.
    Message(Message),
}

#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
    title: Option<String>,
    throughput: Option<Value>,
}

#[derive(Deserialize)]
struct Estimates {
    mean: Estimate,
    slope: Option<Estimate>,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Confidence,
    standard_error: f64,
}

#[derive(Deserialize)]
struct Confidence {
    confidence_level: f64,
    lower_bound: f64,
    upper_bound: f64,
}

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    id: Option<String>,
    #[serde(default)]
    iteration_count: Vec<f64>,
    #[serde(default)]
    measured_values: Vec<f64>,
    unit: Option<String>,
    #[serde(default)]
    throughput: Vec<Value>,
    typical: Option<Bounds>,
}

#[derive(Deserialize)]
struct Bounds {
    estimate: f64,
    lower_bound: f64,
    upper_bound: f64,
    unit: Option<String>,
}

/// Criterion quotes the slope where it has one, else the mean.
fn of_folder(benchmark: Benchmark, estimates: &Estimates, sample: Option<Sample>) -> Found {
    let quoted = estimates.slope.as_ref().unwrap_or(&estimates.mean);
    let (low, high) = quoted.ends();
    let samples = sample.map_or_else(Vec::new, |sample| per_iteration(&sample.times, &sample.iters, 1.0));
    let reported = Repetitions::Interval { value: quoted.point_estimate, low, high, samples };
    Found {
        summary: benchmark.title.unwrap_or_default(),
        bytes: benchmark.throughput.as_ref().and_then(bytes).unwrap_or(0),
        ..Found::new(benchmark.full_id, reported)
    }
}

impl Estimate {
    /// The 95 % interval: as it stands there, or by the standard error where it stands there for another level.
    fn ends(&self) -> (f64, f64) {
        let found = &self.confidence_interval;
        if (found.confidence_level - 0.95).abs() < 1e-6 {
            return (found.lower_bound, found.upper_bound);
        }
        let reach = NORMAL_95 * self.standard_error;
        ((self.point_estimate - reach).max(0.0), self.point_estimate + reach)
    }
}

fn of_message(message: Message) -> Option<Found> {
    let (id, typical) = (message.id?, message.typical?);
    // What is not a time is no figure.
    let [scale, scale_of_samples] = [typical.unit, message.unit].map(|unit| ns_in(unit.as_deref()).unwrap_or(f64::NAN));
    let samples = per_iteration(&message.measured_values, &message.iteration_count, scale_of_samples);
    let [value, low, high] = [typical.estimate, typical.lower_bound, typical.upper_bound].map(|time| time * scale);
    let reported = Repetitions::Interval { value, low, high, samples };
    let bytes =
        |found: &Value| (found.get("unit")?.as_str()? == "bytes").then(|| found.get("per_iteration")?.as_u64())?;
    let bytes = message.throughput.iter().find_map(bytes);
    Some(Found { bytes: bytes.unwrap_or(0), ..Found::new(id, reported) })
}

fn per_iteration(times: &[f64], counts: &[f64], scale: f64) -> Vec<f64> {
    times.iter().zip(counts).map(|(time, count)| time * scale / count).collect()
}

/// `{"Bytes": 64}`, or with `BytesDecimal`.
fn bytes(throughput: &Value) -> Option<u64> {
    ["Bytes", "BytesDecimal"].iter().find_map(|key| throughput.get(key)?.as_u64())
}

/// The newest results in a folder of criterion, a line for each benchmark. Fails if the folder or a file cannot be read, or
/// holds too much.
pub fn gather(folder: &Path) -> Result<String, ImportError> {
    let mut text = String::new();
    walk(folder, DEEPEST, &mut text)?;
    if text.is_empty() {
        return Err(ImportError::Nothing { format: NAME });
    }
    Ok(text)
}

fn walk(folder: &Path, deeper: u32, text: &mut String) -> Result<(), ImportError> {
    let failed = |why| ImportError::Io { path: record::printable(&folder.display().to_string()), why };
    let new = folder.join("new");
    if new.join("estimates.json").is_file() && new.join("benchmark.json").is_file() {
        let part = |name: &str| part(&new.join(name));
        let sample = part("sample.json").unwrap_or_else(|_| "null".into());
        let (benchmark, estimates) = (part("benchmark.json")?, part("estimates.json")?);
        let _ = writeln!(text, "{{\"benchmark\":{benchmark},\"estimates\":{estimates},\"sample\":{sample}}}");
        if text.len() as u64 > MOST_BYTES {
            return Err(ImportError::TooLarge);
        }
    }
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Not a link: that could lead in a circle.
        if entry.file_type().map_err(failed)?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    for below in folders.iter().filter(|_| deeper > 0) {
        walk(below, deeper - 1, text)?;
    }
    Ok(())
}

/// A file of JSON on one line.
fn part(path: &Path) -> Result<String, ImportError> {
    let failed = |why| ImportError::Io { path: record::printable(&path.display().to_string()), why };
    let text = record::read_text(path, MOST_BYTES).map_err(failed)?;
    let whole: Value = serde_json::from_slice(text.as_bytes())
        .map_err(|why| ImportError::damaged(NAME, format!("{}: {why}", path.display())))?;
    Ok(whole.to_string())
}
