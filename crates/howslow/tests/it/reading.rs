//! The verbs that read: their output, and their behaviour with damaged, hostile and missing files.

use std::fs;
use std::path::{Path, PathBuf};

use predicates::str::contains;
use tempfile::TempDir;

use crate::support::{EXAMPLE, REPLAY, folder, howslow, json};

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(&path, text).expect("written");
    path
}

#[test]
fn too_many_costs_are_refused() {
    let run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    let cost = serde_json::to_string(&run.costs[0]).expect("JSON");
    let mut head = serde_json::to_value(&run).expect("JSON");
    head["costs"] = serde_json::json!([]);
    let many = vec![cost; 25_000].join(",");
    let text = head.to_string().replace("\"costs\":[]", &format!("\"costs\":[{many}]"));
    let refused = record::run_from_bytes(text.as_bytes()).expect_err("it is refused").to_string();
    assert!(refused.contains("25000 costs, at most 20000"), "{refused}");
}

#[test]
fn a_file_hides_neither_the_newest_run_nor_a_label() {
    let data = folder();
    howslow(&data).args(["run", "loop.empty", "--keep"]).args(REPLAY).assert().success();
    for (name, status) in [("@1", 0), ("label:plain", 2)] {
        file(&data, name, "no run");
        howslow(&data).current_dir(data.path()).args(["show", name]).assert().code(status);
    }
}

/// Checks objects and arrays against a schema: no field that it lacks, no required field missing.
fn follows(value: &serde_json::Value, schema: &serde_json::Value, root: &serde_json::Value) {
    if let Some(name) = schema["$ref"].as_str() {
        let place = name.strip_prefix('#').expect("a reference within the schema");
        return follows(value, root.pointer(place).expect("it is defined"), root);
    }
    if let Some(properties) = schema["properties"].as_object() {
        let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
        for (key, inner) in object {
            follows(inner, properties.get(key).unwrap_or_else(|| panic!("{key} is not in {schema}")), root);
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            assert!(object.contains_key(key.as_str().expect("a name")), "{key} is missing");
        }
    }
    for inner in value.as_array().into_iter().flatten().filter(|_| schema["items"].is_object()) {
        follows(inner, &schema["items"], root);
    }
    let reference = |options: &serde_json::Value| {
        options.as_array().into_iter().flatten().find(|option| option["$ref"].is_string()).cloned()
    };
    if let Some(some) = reference(&schema["anyOf"])
        .filter(|_| value.is_object() && schema["anyOf"].as_array().is_some_and(|options| options.len() == 2))
    {
        follows(value, &some, root);
    }
}

#[test]
fn what_is_printed_follows_its_schema() {
    let data = folder();
    let run = file(&data, "example.json", EXAMPLE);
    let run = run.to_str().expect("a path");
    for (document, verb) in [
        ("run", vec!["show", run]),
        ("list", vec!["list", "pipe"]),
        ("syscalls", vec!["list", "--syscalls", "openat2"]),
        ("history", vec!["history"]),
        ("doctor", vec!["doctor"]),
        ("compare", vec!["compare", "multics-645", "multics-6180", "--mix", "call-save-return"]),
        ("compare", vec!["compare", run, "pdp-11-24"]),
        ("explain", vec!["explain", run]),
        ("explain", vec!["explain", "golden-cove"]),
        ("explain-costs", vec!["explain", run, "syscall.*"]),
        ("predict", vec!["predict", "call-save-return", "--on", "multics-645", "--what-if", "*=x0.5"]),
        ("predict-several", vec!["predict", "call-save-return", "--on", "multics-645", "multics-6180"]),
        ("predict-factors", vec!["predict", "call-save-return", "--on", "multics-645", "multics-6180", "--factors"]),
        ("study", vec!["study", "6180", "--run", "multics-6180"]),
        ("study-all", vec!["study", "all", "--run", run]),
        ("file-resident", vec!["file", "resident", run]),
        ("file-sync", vec!["file", "sync", run]),
    ] {
        let schema = json(howslow(&data).args(["schema", document]));
        follows(&json(howslow(&data).args(&verb).arg("--json")), &schema, &schema);
    }
}

#[test]
fn the_example_of_the_overview_works() {
    let overview = include_str!("../../src/lib.rs").lines().filter_map(|line| line.strip_prefix("//! howslow "));
    let examples: Vec<&str> = overview.collect();
    assert_eq!(examples.len(), 1, "{examples:?}");
    howslow(&folder()).args(examples[0].split(' ')).assert().success().stdout(contains("ratio"));
}

#[test]
fn the_published_schema_is_the_one_that_is_printed() {
    let schema = howslow(&folder()).arg("schema").assert().success();
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/howslow-run-2.schema.json");
    assert_eq!(
        String::from_utf8_lossy(&schema.get_output().stdout),
        fs::read_to_string(published).expect("it is in docs")
    );
}
