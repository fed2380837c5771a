//! `howslow compare` as a gate: what fails, what has no verdict, the exit statuses, and the Markdown.

use std::path::PathBuf;

use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use record::{Run, Skip};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{EXAMPLE, folder, howslow};

/// The example with enough rounds for a verdict, whose calls cost this many times as much.
fn run(times: f64) -> Run {
    let mut run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    for cost in &mut run.costs {
        let mut round = cost.rounds[0].clone();
        round.quiet = vec![true; round.ns.len()];
        cost.rounds = vec![round; 10];
    }
    for cost in run.costs.iter_mut().filter(|cost| cost.family() == "syscall") {
        let net = &mut cost.net_ns;
        for figure in [&mut net.best, &mut net.quiet, &mut net.typical, &mut net.low, &mut net.high] {
            figure.0 *= times;
        }
        cost.cycles *= times;
    }
    run
}

fn write(data: &TempDir, name: &str, run: &Run) -> PathBuf {
    let path = data.path().join(name);
    std::fs::write(&path, serde_json::to_vec(run).expect("JSON")).expect("written");
    path
}

/// The gate over `before.json` and `after.json` of a folder.
fn gate(data: &TempDir, arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = howslow(data);
    command.arg("compare").args(["before.json", "after.json"].map(|name| data.path().join(name)));
    command.args(arguments).assert()
}

#[test]
fn what_is_slower_fails_with_a_status_of_its_own() {
    let data = folder();
    write(&data, "before.json", &run(1.0));
    write(&data, "after.json", &run(1.25));
    let told = starts_with("howslow: gate failed: 2 of ").and(contains("are slower: syscall.")).and(contains("1.250"));
    gate(&data, &["--fail-on", "slower"]).code(4).stdout(starts_with("2 slower")).stderr(told);
    gate(&data, &["--fail-on", "slower", "--only", "syscall.read"]).code(4).stderr(contains("1 of 1 costs is slower"));
    gate(&data, &["--fail-on", "slower", "--at-least", "30%"]).code(0).stderr(contains("gate passed: none of "));
    gate(&data, &["--fail-on", "slower", "--at-least", "20"]).code(4);
    gate(&data, &["--fail-on", "slower", "--only", "pipe.self"]).code(0);
    gate(&data, &[]).code(0).stderr(is_empty());
    // Faster is a change, but not slower.
    write(&data, "after.json", &run(0.8));
    gate(&data, &["--fail-on", "slower"]).code(0);
    gate(&data, &["--fail-on", "changed"]).code(4).stderr(contains("2 of ").and(contains("0.800 times")));
}

#[test]
fn a_cost_that_is_named_and_missing_never_passes() {
    let data = folder();
    write(&data, "before.json", &run(1.0));
    let mut after = run(1.25);
    after.costs.retain(|cost| cost.operation != "syscall.read" && cost.operation != "pipe.self");
    after.skipped.push(Skip {
        operation: "syscall.read".into(),
        at: record::Point::default(),
        reason: "seccomp refuses it".into(),
        remedy: String::new(),
    });
    write(&data, "after.json", &after);
    let incomplete = |only: &str, says: &str| {
        let result = gate(&data, &["--fail-on", "slower", "--only", only]).code(3);
        result.stderr(starts_with("howslow: gate incomplete: ").and(contains(says)));
    };
    incomplete("syscall.read", "syscall.read in after (skipped there: seccomp refuses it)");
    incomplete("pipe.self", "pipe.self@size=64 in after (the run lacks it)");
    // A failure counts more, and both are told.
    let both = gate(&data, &["--fail-on", "slower", "--only", "syscall"]).code(4);
    both.stderr(contains("syscall.getppid 1.250 times").and(contains("no verdict on syscall.read")));
    // What nobody named does not count, but is told.
    gate(&data, &["--fail-on", "slower", "--at-least", "90%"])
        .code(0)
        .stderr(contains("3 costs without a verdict (--only"));
    // Skipped in both runs, so that no cost has its name.
    let mut before = run(1.0);
    before.costs.retain(|cost| cost.operation != "syscall.read");
    write(&data, "before.json", &before);
    incomplete("syscall.read", "skipped there: seccomp");
    gate(&data, &["--only", "syscall.read"]).code(2).stderr(contains("no cost of these runs"));
    gate(&data, &["--fail-on", "slower", "--only", "file.nothing"]).code(2).stdout("");
}

#[test]
fn one_round_gives_no_verdict_and_passes_nothing() {
    let data = folder();
    let mut single = run(1.0);
    single.costs.iter_mut().for_each(|cost| cost.rounds.truncate(1));
    write(&data, "before.json", &single);
    write(&data, "after.json", &run(3.0));
    gate(&data, &["--fail-on", "slower"]).code(3).stderr(contains("gate incomplete: none of 0 costs"));
    gate(&data, &["--fail-on", "slower", "--only", "syscall.read"]).code(3).stderr(contains("a single round"));
}

/// The script of the guide, as it is, on one kernel: whatever the verdict, it is told and has its status.
#[test]
fn the_script_gates_a_pull_request() {
    let data = folder();
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks/gate.sh");
    let program = assert_cmd::cargo::cargo_bin!("howslow");
    let path = format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display());
    let mut command = assert_cmd::Command::new("sh");
    command.arg(script).current_dir(data.path()).env("PATH", path).env("HOWSLOW_DATA", data.path().join("data"));
    let output = command.env("CALLS", "syscall.getppid").env("BUDGET", "3s").output().expect("a shell");
    let (told, status) = (String::from_utf8_lossy(&output.stderr), output.status.code());
    let word = match status {
        Some(0) => "passed",
        Some(3) => "incomplete",
        Some(4) => "failed",
        _ => panic!("{status:?}: {told}"),
    };
    assert!(told.starts_with(&format!("howslow: gate {word}: ")), "{told}");
    let comment = std::fs::read_to_string(data.path().join("comment.md")).expect("a comment");
    assert!(
        comment.starts_with(&format!("### howslow: gate {word}\n")) && comment.contains("syscall.getppid"),
        "{comment}"
    );
    assert!(data.path().join("before.json").exists() && data.path().join("after.json").exists());
}

#[test]
fn a_gate_prints_markdown_and_json() {
    let data = folder();
    write(&data, "before.json", &run(1.0));
    write(&data, "after.json", &run(1.25));
    let page = gate(&data, &["--fail-on", "slower", "--markdown"]).code(4);
    page.stdout(starts_with("### howslow: gate failed\n").and(contains("| **slower** |")).and(contains("<details>")));
    let bare = gate(&data, &["--markdown"]).code(0).stderr(is_empty());
    bare.stdout(starts_with("### howslow: 2 slower, 0 faster"));
    let result = gate(&data, &["--fail-on", "slower", "--at-least", "5%", "--json"]).code(4);
    let document: Value = serde_json::from_slice(&result.get_output().stdout).expect("JSON");
    assert_eq!((&document["gate"]["fail_on"], document["gate"]["at_least"].as_f64()), (&"slower".into(), Some(0.05)));
    assert_eq!(document["gate"]["failed"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["gate"]["failed"][0]["verdict"], "slower");
    let without = gate(&data, &["--json"]).code(0);
    let document: Value = serde_json::from_slice(&without.get_output().stdout).expect("JSON");
    assert!(document.get("gate").is_none());
    for (arguments, says) in [
        (&["--at-least", "5%"][..], "--fail-on"),
        (&["--fail-on", "faster"], "--fail-on"),
        (&["--fail-on", "slower", "--at-least", "0.05"], "say 5% or 0.05%"),
        (&["--markdown", "--json"], "--json"),
        (&["--all", "--changed"], "--changed"),
    ] {
        gate(&data, arguments).code(2).stdout("").stderr(contains(says));
    }
}
