//! What differs between runs in addition to their costs. It walks over machine and settings, so that no field is
//! forgotten.

use std::collections::BTreeMap;

use record::Run;
use serde::Serialize;
use serde_json::{Value, json};

/// A fact of machine or settings that is not the same in all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ComparedFact")]
pub struct DifferingFact {
    /// Its field in the run document.
    pub field: String,
    /// Its value in each run.
    pub values: Vec<Value>,
}

impl DifferingFact {
    /// True if it says that the runs come from several builds of howslow.
    pub fn is_of_builds(&self) -> bool {
        self.field == BUILD
    }
}

/// Fields that differ between any two runs and mean nothing.
const VOLATILE: [&str; 2] = ["settings.seed", "settings.label"];
/// Measured fields, which differ a little between any two runs.
const MEASURED: [&str; 2] = ["noise.cycle_ns", "machine.cpu.frequency.nominal_mhz"];
/// The difference that is allowed for them.
const MEASURED_APART: f64 = 0.01;
/// Fields that older runs lack, which is no difference.
const ONLY_WHERE_RECORDED: [&str; 2] = [BUILD, "machine.host"];
/// The fingerprint of the program that measured.
const BUILD: &str = "build";
/// Fields that explain most come first, then all others in the order of the document.
const FIRST: [&str; 10] = [
    "machine.architecture", "counted_in", "noise.cycle_ns", "machine.cpu.model", "machine.cpu.microarchitecture",
    "machine.virtualization", "machine.kernel", "machine.cpu", "machine.memory", "machine",
];

/// Every fact of machine and settings that differs between the runs, the most likely causes first.
pub fn differences(runs: &[Run]) -> Vec<DifferingFact> {
    let facts: Vec<BTreeMap<String, Value>> = runs.iter().map(facts).collect();
    let fields: std::collections::BTreeSet<&String> = facts.iter().flat_map(BTreeMap::keys).collect();
    let mut found = Vec::new();
    let counts = |field: &&String| {
        let recorded_by_all = || facts.iter().all(|facts| facts.contains_key(*field));
        !VOLATILE.contains(&field.as_str()) && (!ONLY_WHERE_RECORDED.contains(&field.as_str()) || recorded_by_all())
    };
    for field in fields.into_iter().filter(counts) {
        let given: Vec<Option<&Value>> =
            facts.iter().zip(runs).map(|(facts, run)| recorded(run, facts.get(field))).collect();
        let mut values = given.iter().flatten();
        let first = values.next();
        if values.any(|value| first.is_some_and(|first| !alike(field, first, value))) {
            let values = given.into_iter().map(|value| value.cloned().unwrap_or(Value::Null)).collect();
            found.push(DifferingFact { field: field.clone(), values });
        }
    }
    let rank = |field: &str| {
        let under =
            |first: &str| field.strip_prefix(first).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        FIRST.iter().position(|first| under(first)).unwrap_or(FIRST.len())
    };
    found.sort_by_key(|difference| rank(&difference.field));
    found
}

fn facts(run: &Run) -> BTreeMap<String, Value> {
    let mut whole = json!({ "machine": run.machine, "counted_in": run.counted_in, "noise": {} });
    if run.noise.cycle_ns > 0.0 {
        whole["noise"] = json!({ "cycle_ns": run.noise.cycle_ns });
    }
    // Nobody asked howslow for the costs of a book.
    if !run.is_book() {
        whole["settings"] = json!(run.settings);
        whole["howslow"] = json!(run.howslow);
    }
    if !run.build.is_empty() {
        whole[BUILD] = json!(run.build);
    }
    let mut facts = BTreeMap::new();
    walk(String::new(), whole, &mut facts);
    facts
}

fn walk(path: String, value: Value, facts: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                walk(path, value, facts);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.into_iter().enumerate() {
                walk(format!("{path}[{index}]"), item, facts);
            }
        }
        value => {
            facts.insert(path, value);
        }
    }
}

/// The value that a run states. A fact that a measured run lacks is absent; one that a book leaves empty is not stated.
fn recorded<'v>(run: &Run, value: Option<&'v Value>) -> Option<&'v Value> {
    let empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if run.is_book() { value.filter(|value| !empty(value)) } else { value.or(Some(&Value::Null)) }
}

fn alike(field: &str, one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) if MEASURED.contains(&field) => {
            (one - other).abs() <= MEASURED_APART * one.abs().max(other.abs())
        }
        _ => one == other,
    }
}
