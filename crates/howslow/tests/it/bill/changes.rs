//! Repeated bills, two commands in turn, and the gate on what one changes.

use std::process::Output;

use serde_json::Value;

use super::counting;
use crate::support::{folder, howslow};

/// Copies so many blocks: two calls for each.
fn copies(blocks: u32) -> String {
    format!("dd if=/dev/zero of=/dev/null bs=512 count={blocks} status=none")
}

/// `bill` of the second command against the first, as a document.
fn against(first: &str, second: &str, options: &[&str]) -> Option<(Output, Value)> {
    let data = counting("ebpf")?;
    let mut command = howslow(&data);
    command.args(["bill", "--json", "--repeat", "3", "--against", first]).args(options).arg("--");
    let output = command.args(second.split(' ')).output().expect("howslow runs");
    let document = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Some((output, document))
}

fn figure<'a>(document: &'a Value, name: &str) -> &'a Value {
    let figures = document["figures"].as_array().expect("figures");
    figures.iter().find(|it| it["figure"] == name).expect("a figure")
}

#[test]
fn more_calls_fail_the_gate_and_as_many_pass_it() {
    let gate = ["--fail-on", "more-calls", "--at-least", "2%"];
    let Some((output, document)) = against(&copies(1000), &copies(1100), &gate) else { return };
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = figure(&document, "calls");
    assert_eq!(calls["verdict"], "more");
    let added = calls["after"].as_f64().expect("a count") - calls["before"].as_f64().expect("a count");
    assert!((199.0..=201.0).contains(&added), "a hundred reads and writes more: {calls}");
    assert_eq!(document["gate"]["failed"], serde_json::json!(["calls"]));
    let (output, document) = against(&copies(1000), &copies(1000), &gate).expect("calls can be counted");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(figure(&document, "calls")["verdict"], "same");
    let (output, _) = against(&copies(1000), &copies(1010), &gate).expect("calls can be counted");
    assert_eq!(output.status.code(), Some(0), "a hundredth more is less than the gate asks for");
}

#[test]
fn a_unit_of_work_is_a_call() {
    let Some((_, document)) = against(&copies(1000), &copies(2000), &["--per", "write"]) else { return };
    assert_eq!(document["units"], serde_json::json!([1000.0, 2000.0]));
    let calls = figure(&document, "calls")["after"].as_f64().expect("a count");
    assert!((2.0..2.3).contains(&calls), "a read and a write for each, and those of the start: {calls}");
    let (output, _) = against(&copies(10), &copies(10), &["--per", "accept"]).expect("calls can be counted");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no such call"), "{output:?}");
}

#[test]
fn every_run_of_a_repeated_command_is_in_its_bill() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let file = place.path().join("bill.json");
    let mut command = howslow(&data);
    command.args(["bill", "--repeat", "3", "-o"]).arg(&file).arg("--").args(copies(500).split(' '));
    assert!(command.output().expect("howslow runs").status.success());
    let document: Value = serde_json::from_slice(&std::fs::read(&file).expect("a bill")).expect("JSON");
    let runs = document["seen"]["repetitions"].as_array().expect("repetitions");
    let writes: Vec<_> = runs.iter().map(|run| run["calls"]["write"].as_u64()).collect();
    assert_eq!(writes, [Some(500); 3]);
    assert!(runs.iter().all(|run| run["counting_ns"].as_f64().is_some_and(|ns| ns > 0.0)), "{runs:?}");
}

#[test]
fn a_command_that_fails_is_not_compared() {
    let Some((output, _)) = against("false", &copies(1), &[]) else { return };
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("run 1 of --against ended with exit status: 1, so nothing is compared"), "{text}");
}
