//! `howslow model` on the command line: pages, documents, files, charts, and all kinds of misuse.

use std::fs;

use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use serde_json::Value;

use crate::support::{folder, howslow};

const SYSTEM: &str = r#"
[system]
users = 20
think_s = 10
eligible = 4
memory_bytes = 268435456
user_s = { value = 0.3, low = 0.27, high = 0.33 }
system_s = 0.1
handling_s = 0.001
faults = { saltzer = { s_per_byte = 3e-10 } }
[system.page_device]
name = "swap file"
service_s = 0.010
channels = 1
"#;

const MEASURED: &str = r#"
[configuration]
users = 8
eligible = 2
cpus = 1
memory_bytes = 67108864
think_s = 5.0
page_device = "zram"

[[measured]]
configuration = { users = 1, cpus = 1, memory_bytes = 33554432, think_s = 5.0, page_device = "zram" }
interactions = 50
user_s = 0.2
system_s = 0.05
handling_s = 0.02
faults = 1000
response_s = 0.28

[[measured]]
configuration = { users = 1, cpus = 1, memory_bytes = 67108864, think_s = 5.0, page_device = "zram" }
interactions = 50
user_s = 0.2
system_s = 0.05
handling_s = 0.002
faults = 100
response_s = 0.255
"#;

fn model(arguments: &[&str]) -> assert_cmd::assert::Assert {
    let data = folder();
    fs::write(data.path().join("system.toml"), SYSTEM).expect("written");
    fs::write(data.path().join("measured.toml"), MEASURED).expect("written");
    howslow(&data).current_dir(&data).arg("model").args(arguments).assert()
}

fn json(arguments: &[&str]) -> Value {
    let output = model(&[arguments, &["--json", "--events", "100000"]].concat()).success().get_output().stdout.clone();
    serde_json::from_slice(&output).expect("JSON")
}

fn figure<'a>(document: &'a Value, name: &str) -> &'a Value {
    let figures = document["figures"].as_array().expect("figures");
    figures.iter().find(|it| it["figure"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_system_by_options_is_the_closed_form() {
    // One user without faults: 10 s of thinking and 0.4 s of work.
    let document = json(&["--users", "1", "--think", "10s", "--user", "300ms", "--system", "100ms"]);
    let response = figure(&document, "mean response")["solved"]["value"].as_f64().expect("seconds");
    assert!((response - 0.4).abs() < 1e-9, "{response}");
    let rate = figure(&document, "interactions")["solved"]["value"].as_f64().expect("a rate");
    assert!((rate - 1.0 / 10.4).abs() < 1e-9, "{rate}");
    assert!((document["knee_users"].as_f64().expect("users") - 26.0).abs() < 1e-9);
}

#[test]
fn the_paper_s_run_has_its_idle_time() {
    // MPM97 never has fewer than three eligible: nobody thinks.
    let document = json(&[
        "--users",
        "3",
        "--eligible",
        "3",
        "--user",
        "395ms",
        "--handling",
        "8ms",
        "--between-faults",
        "22ms,21ms,16ms",
        "--page-wait",
        "28.4ms",
        "--think",
        "0s",
    ]);
    let idle = figure(&document, "idle, multiprogramming")["solved"]["value"].as_f64().expect("a share");
    assert!((idle - 0.14).abs() < 0.001, "{idle}");
    let simulated = &figure(&document, "idle, multiprogramming")["simulated"];
    assert!(simulated["low"].as_f64() < Some(idle) && simulated["high"].as_f64() > Some(idle), "{simulated}");
}

#[test]
fn a_page_answers_every_question() {
    let told =
        ["within 2.00 s", "95 % of their responses", "What limits the response", "64 MiB more memory", "another CPU"];
    let mut page =
        model(&["system.toml", "--mean", "2s", "--p95", "4s", "--events", "100000"]).success().stderr(is_empty());
    for text in told {
        page = page.stdout(contains(text));
    }
    page.stdout(contains("simulated").and(contains("Mean response by memory")));
}

#[test]
fn options_replace_what_the_file_says() {
    let users = |document: &Value| document["system"]["users"].clone();
    assert_eq!(users(&json(&["system.toml"])), 20);
    assert_eq!(users(&json(&["system.toml", "--users", "7"])), 7);
    let zram = json(&["system.toml", "--page-wait", "0s", "--page-cpu", "13us"]);
    assert_eq!(figure(&zram, "idle, multiprogramming")["solved"]["value"], 0.0);
    assert!(zram["told"].to_string().contains("costs CPU time and no waiting"));
    let exact = json(&["system.toml", "--user", "300ms"]);
    let solved = &figure(&exact, "mean response")["solved"];
    assert_eq!(solved["low"], solved["high"], "an option has no interval");
}

#[test]
fn measured_configurations_are_fitted_and_stand_beside() {
    let document = json(&["measured.toml"]);
    let faults = figure(&document, "faults of an interaction");
    let solved = faults["solved"]["value"].as_f64().expect("faults");
    assert!((100.0..1000.0).contains(&solved), "two users share 64 MiB: {solved}");
    assert_eq!(faults["measured"], Value::Null);
    assert!((document["fit"]["handling_s"].as_f64().expect("seconds") - 20e-6).abs() < 1e-9, "{}", document["fit"]);
    model(&["measured.toml", "--events", "50000"])
        .success()
        .stderr(is_empty())
        .stdout(contains("handling of a fault").and(contains("20.0 µs")).and(contains("(Saltzer)")));
    let alone = json(&["measured.toml", "--users", "1"]);
    assert_eq!(alone["system"]["users"], 1);
}

#[test]
fn charts_are_written() {
    let data = folder();
    let folder = folder();
    fs::write(data.path().join("system.toml"), SYSTEM).expect("written");
    let path = folder.path().to_str().expect("a path");
    howslow(&data)
        .current_dir(&data)
        .args(["model", "system.toml", "--events", "50000", "--svg", path])
        .assert()
        .success()
        .stderr(contains("wrote "));
    for name in ["response", "throughput", "cpu"] {
        for axis in ["users", "memory"] {
            let svg = fs::read_to_string(folder.path().join(format!("model-{name}-by-{axis}.svg"))).expect("a chart");
            assert!(svg.starts_with("<svg"));
        }
    }
}

#[test]
fn misuse_says_what_and_where() {
    let refused = |arguments: &[&str], why: &str| {
        model(arguments).code(2).stdout(is_empty()).stderr(contains(why));
    };
    refused(&["--users", "3"], "--users and --user");
    refused(&["--users", "0", "--user", "1s"], "at least 1");
    refused(&["--users", "3", "--user", "1"], "with its unit");
    refused(&["--users", "3", "--user", "1s", "--faults", "-1"], "number from 0");
    refused(
        &["--users", "3", "--user", "1s", "--between-faults", "5ms", "--handling", "8ms"],
        "longer than --handling",
    );
    refused(&["--users", "99999999", "--user", "1s"], "up to 10000");
    refused(&["absent.toml"], "cannot read absent.toml");
    refused(&["system.toml", "--svg", "absent"], "not a folder");
    for (text, why) in [
        ("[system]\nusers = 3\nthinking = 5\n", "bad.toml, line 3: unknown field"),
        ("[system]\nusers = -3\n", "line 2"),
        ("", "neither [system] nor [[measured]]"),
        ("[system]\nusers = 3\nuser_s = nan\n", "user_s"),
        ("[system]\nusers = 3\nuser_s = 0.1\nfaults = { saltzer = { s_per_byte = 1e-9 } }\n", "memory_bytes"),
    ] {
        let data = folder();
        fs::write(data.path().join("bad.toml"), text).expect("written");
        let run = howslow(&data).current_dir(&data).args(["model", "bad.toml"]).assert().code(2);
        run.stderr(starts_with("howslow: ").and(contains(why)));
    }
}
