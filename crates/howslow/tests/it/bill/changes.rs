//! Repeated bills, two commands in turn, and the gate on what one changes. What is read of repeated bills is in tests/cases/bill.txt.

use super::*;

/// Copies so many blocks: two calls for each.
fn copies(blocks: u32) -> [String; 6] {
    let count = format!("count={blocks}");
    ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", &count, "status=none"].map(String::from)
}

#[test]
fn two_commands_in_turn_are_compared_and_gated_and_each_run_is_kept() {
    let Some(data) = counting("ebpf") else { return };
    let against = |first: &str, second: u32| {
        let mut command = howslow(&data);
        command.args(["bill", "--json", "--repeat", "3", "--against", first]);
        command.args(["--fail-on", "more-calls", "--at-least", "2%"]);
        command.arg("--").args(copies(second)).assert()
    };
    let gate = against(&copies(1000).join(" "), 1100).code(4);
    let document: Value = serde_json::from_slice(&gate.get_output().stdout).expect("JSON");
    let figures = document["figures"].as_array().expect("figures");
    let calls = figures.iter().find(|figure| figure["figure"] == "calls").expect("calls");
    assert_eq!(calls["verdict"], "more");
    let added = calls["after"].as_f64().expect("a count") - calls["before"].as_f64().expect("a count");
    assert!((199.0..=201.0).contains(&added), "a hundred reads and writes more: {calls}");
    assert_eq!(document["gate"]["failed"], serde_json::json!(["calls"]));
    // A hundredth more is less than the gate requires.
    against(&copies(1000).join(" "), 1010).code(0);
    let why = "run 1 of --against ended with exit status: 1, so nothing is compared";
    against("false", 1).code(1).stderr(contains(why));
    let words = copies(500);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runs = billed_by(&data, data.path(), &["--repeat", "3"], &words).seen.repetitions;
    let writes: Vec<_> = runs.iter().map(|run| run.calls["write"]).collect();
    assert!(writes == [500; 3] && runs.iter().all(|run| run.counting_ns > 0.0), "{runs:?}");
}
