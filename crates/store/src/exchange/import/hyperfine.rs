//! The JSON of `hyperfine --export-json`. Each of its times is a process of its own, as a round is.

use std::collections::BTreeMap;

use record::units::counted;
use record::{Point, Run, Skip, Value};
use serde::Deserialize;

use super::imported::{Found, Repetitions, Source, id, run};
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
    let skipped = document.results.iter().filter_map(Timed::failures).collect();
    let source = Source { name: NAME, tool: NAME.into(), skipped, ..Source::default() };
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
    exit_codes: Vec<Option<i32>>,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
}

impl Timed {
    /// What is to be said of runs that failed, whose times are among the others.
    fn failures(&self) -> Option<Skip> {
        let failed = self.exit_codes.iter().filter(|code| **code != Some(0)).count();
        let runs = counted(self.exit_codes.len() as u64, "run");
        let reason = format!("{failed} of its {runs} failed, which are among its times");
        let operation = id(NAME, &self.command);
        (failed > 0).then(|| Skip { operation, at: self.point(), reason, remedy: String::new() })
    }

    /// The parameters. Only what a number is written as becomes one: `08` and `8` are two parameters of a command.
    fn point(&self) -> Point {
        let of_word = |word: &String| {
            let number = word.parse().ok().filter(|number: &u64| number.to_string() == *word);
            number.map_or_else(|| Value::Word(word.clone()), Value::Number)
        };
        let value = |value: &serde_json::Value| match value {
            serde_json::Value::String(word) => of_word(word),
            other => other.as_u64().map_or_else(|| Value::Word(other.to_string()), Value::Number),
        };
        Point(self.parameters.iter().map(|(name, parameter)| (name.clone(), value(parameter))).collect())
    }

    fn found(self) -> Found {
        let at = self.point();
        // The time of a shell is taken out, and what is below it is 0: such times show nothing of scatter.
        let times = self.times.filter(|times| !times.is_empty() && times.iter().all(|time| *time > 0.0));
        // Without the times nothing shows how many there were, so that the deviation shows nothing of the median's.
        let times = times.unwrap_or_else(|| vec![self.median.unwrap_or(self.mean)]);
        let reported = Repetitions::Processes(times.iter().map(|time| time * SECOND).collect());
        Found {
            summary: self.command.clone(),
            at,
            per: "command".into(),
            cpu: self.user.zip(self.system).map(|(user, system)| (user * SECOND, system * SECOND)),
            ..Found::new(self.command, reported)
        }
    }
}
