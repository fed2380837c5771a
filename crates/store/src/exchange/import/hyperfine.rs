//! The JSON of `hyperfine --export-json`. Each of its times is a process of its own, as a round is.

use std::collections::BTreeMap;

use record::{Point, Run, Value};
use serde::Deserialize;

use super::imported::{Found, Repetitions, Source, run};
use super::importer::{ImportError, Importer, has_keys};

const NAME: &str = "hyperfine";
const SECOND: f64 = 1e9;

pub(super) const HYPERFINE: Importer = Importer {
    name: NAME,
    summary: "what hyperfine --export-json writes",
    recognises: |text| has_keys(text, &["results", "command"]),
    read,
};

fn read(text: &str) -> Result<Run, ImportError> {
    let document: HyperfineResults =
        serde_json::from_slice(text.as_bytes()).map_err(|why| ImportError::damaged(NAME, why))?;
    let source = Source { name: NAME, tool: NAME.into(), ..Source::default() };
    Ok(run(source, document.results.into_iter().map(Timed::found).collect()))
}

#[derive(Deserialize)]
struct HyperfineResults {
    results: Vec<Timed>,
}

#[derive(Deserialize)]
struct Timed {
    command: String,
    mean: f64,
    median: Option<f64>,
    user: Option<f64>,
    system: Option<f64>,
    times: Option<Vec<f64>>,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
}

impl Timed {
    fn found(self) -> Found {
        let times = self.times.filter(|times| !times.is_empty());
        // Without the times nothing shows how many there were, so that the deviation shows nothing of the median's.
        let times = times.unwrap_or_else(|| vec![self.median.unwrap_or(self.mean)]);
        let reported = Repetitions::Processes(times.iter().map(|time| time * SECOND).collect());
        let parameter = |value: serde_json::Value| match value {
            serde_json::Value::String(word) => word.parse().map_or(Value::Word(word), Value::Number),
            other => other.as_u64().map_or_else(|| Value::Word(other.to_string()), Value::Number),
        };
        Found {
            summary: self.command.clone(),
            at: Point(self.parameters.into_iter().map(|(name, value)| (name, parameter(value))).collect()),
            per: "command".into(),
            cpu: self.user.zip(self.system).map(|(user, system)| (user * SECOND, system * SECOND)),
            ..Found::new(self.command, reported)
        }
    }
}
