//! `howslow file advise` and `howslow file tune`: their output and their effect on the file. What they refuse is in tests/cases.

use std::fs;
use std::process::Stdio;

use crate::on_disk::{file, folder, written};
use crate::support::{children, count, json, program, until};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn rates(measured: &Value) -> Vec<f64> {
    measured["rates"].as_array().expect("rates").iter().map(|rate| rate.as_f64().expect("a rate")).collect()
}

#[test]
fn advice_is_on_a_file_on_disk_or_in_memory_that_stays_as_it_is() {
    advice_rests_on_figures_of_this_very_file_and_changes_nothing();
    in_memory_only_warm_is_advised_on();
    a_file_cut_short_meanwhile_ends_it_with_the_reason();
}

fn advice_rests_on_figures_of_this_very_file_and_changes_nothing() {
    let Some(folder) = folder() else { return };
    let path = written(folder.path(), 3 << 20 | 1000);
    let mut permissions = fs::metadata(&path).expect("the file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("ours");
    let time = || fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("a time");
    let before = (fs::read(&path).expect("read"), time());
    for order in ["sequential", "random"] {
        let advice = json(file("advise", &path).args(["--json", "--budget", "2s", "--order", order]));
        assert_eq!((&advice["order"], &advice["file_bytes"]), (&order.into(), &before.0.len().into()));
        let states = advice["states"].as_array().expect("states");
        let names: Vec<&Value> = states.iter().map(|state| &state["state"]).collect();
        assert_eq!(names, ["cold", "warm"]);
        for state in states {
            let candidates = state["candidates"].as_array().expect("candidates");
            let tried: Vec<&Value> = candidates.iter().filter(|candidate| candidate["skipped"].is_null()).collect();
            assert!(tried.len() >= 3, "{state}");
            for candidate in &tried {
                assert!(rates(candidate).len() >= 3 && rates(candidate).iter().all(|&rate| rate > 0.0), "{candidate}");
            }
            let median = |candidate: &Value| analysis::statistics::median(rates(candidate)).expect("a rate");
            let fastest = tried.iter().map(|candidate| median(candidate)).fold(0.0, f64::max);
            let chosen = tried.iter().find(|candidate| candidate["method"] == state["method"]).expect("one of them");
            assert!(median(chosen) >= 0.95 * fastest, "{state}");
            assert!(state["reason"].as_str().is_some_and(|reason| reason.contains("MB/s")));
        }
    }
    assert_eq!(before, (fs::read(&path).expect("read"), time()));
    assert_eq!(count(&folder), 1, "something is left");
    let options = ["--budget", "1s", "--rate", "500MB", "--record", "64KiB"];
    let page = file("advise", &path).args(options).assert().success();
    page.stdout(contains("read by ").and(contains("put out of memory")).and(contains("pread of 64 KiB")));
}

/// The surface is whole, cold and judged.
fn is_judged(tuning: &Value) {
    let length = |name: &str| tuning[name].as_array().expect(name).len();
    let windows = tuning["windows"].as_array().expect("windows");
    assert_eq!(windows.len(), length("distances") * length("quantities"));
    // On a busy host, the steps that fit the budget are so large that two are left, which is reported.
    let is_coarse = length("distances") == 2 && tuning["notes"].to_string().contains("to fit the budget");
    let are_few = windows.iter().all(|window| rates(window).len() <= 3);
    assert!((length("distances") >= 3 || is_coarse) && are_few, "{tuning}");
    let best = windows.iter().find(|window| window["of"] == tuning["best"]).expect("the best is on the surface");
    assert!(!rates(best).is_empty(), "{tuning}");
    let most = tuning["inputs"]["most"].as_u64().unwrap_or(u64::MAX);
    let columns = tuning["quantities"].as_array().expect("quantities");
    let beyond = columns.iter().filter(|quantity| quantity.as_u64().is_some_and(|bytes| bytes > most)).count();
    assert!(beyond <= 1, "the kernel cuts all of these alike: {tuning}");
    assert_eq!(tuning["not_cold"], 0);
    let (inputs, verdicts) = (&tuning["inputs"], tuning["verdicts"].as_array().expect("verdicts"));
    let number = |value: &Value| value.as_f64().expect("a number");
    let paper = number(&inputs["latency_ns"]) * number(&inputs["consumption"]) / 1e9;
    let distance = number(&verdicts[0]["window"]["distance"]);
    assert!((distance - paper).abs() <= 4096.0_f64.max(number(&inputs["page"])), "{distance} is not {paper}");
    for verdict in verdicts {
        let compared = |name: &str| number(&verdict["relative_to_best"][name]);
        let (low, high, pairs) = (compared("low"), compared("high"), compared("pairs"));
        let found = (pairs >= 6.0 && (low >= 0.95 || high < 0.95)).then_some(low >= 0.95);
        assert_eq!(verdict["found"].as_bool(), found, "{verdict}");
        assert!(pairs >= 3.0);
    }
    let good = verdicts.iter().rev().find(|verdict| number(&verdict["relative_to_best"]["ratio"]) >= 0.95);
    assert_eq!(tuning["recommended"], good.map_or(&tuning["best"], |verdict| &verdict["window"]).clone());
}

#[test]
fn a_file_is_tuned_by_its_verb_and_by_the_study_of_readers() {
    let Some(folder) = folder() else { return };
    let path = written(folder.path(), 2 << 20);
    is_judged(&json(file("tune", &path).args(["--json", "--budget", "3s"])));
    let study = || {
        let mut command = Command::cargo_bin("howslow").expect("the binary is built");
        command.args(["study", "mpe", "--budget", "2s", "--prefetch"]);
        command
    };
    let tuned = json(study().arg(&path).arg("--json"));
    assert_eq!(tuned["there"]["distance"], 93_330.0, "30 ms x 3,111 bytes/ms");
    assert_eq!(tuned["prefetch"]["file_bytes"], 2 << 20);
    let page = study().env("TMPDIR", folder.path()).assert().success();
    page.stdout(contains("a scratch file in").and(contains("did the arithmetic find the best point?")));
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder").flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, [path], "the study's own file has no name");
    let mut other = Command::cargo_bin("howslow").expect("the binary is built");
    other.args(["study", "rsx", "--prefetch"]).assert().code(2).stderr(contains("only mpe"));
    study().arg(folder.path()).assert().code(2).stderr(contains("a directory"));
    study().args(["--run", "@1"]).assert().code(2);
}

fn in_memory_only_warm_is_advised_on() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        testing::not_tested!("no /dev/shm; mount a tmpfs there");
        return;
    };
    let path = written(folder.path(), 1 << 20);
    let advice = json(file("advise", &path).args(["--json", "--budget", "1s"]));
    let states = advice["states"].as_array().expect("states");
    assert!(states.len() == 1 && states[0]["state"] == "warm" && advice["inputs"].is_null());
    assert!(advice["notes"].to_string().contains("cannot be cold"));
    file("tune", &path).assert().code(1).stderr(contains("lives in memory").and(contains("on a disk")));
    let mut study = Command::cargo_bin("howslow").expect("the binary is built");
    study.args(["study", "mpe", "--prefetch", "--budget", "1s"]);
    let refused = study.env("TMPDIR", folder.path()).assert().code(1).stdout("");
    refused.stderr(contains("is in memory").and(contains("set TMPDIR")));
    let missing = study.env("TMPDIR", folder.path().join("missing")).assert().code(2).stdout("");
    missing.stderr(contains("TMPDIR"));
}

fn a_file_cut_short_meanwhile_ends_it_with_the_reason() {
    let Some(folder) = folder() else { return };
    for verb in ["advise", "tune"] {
        let path = written(folder.path(), 8 << 20);
        let mut command = program(&folder);
        command.args(["file", verb, "--budget", "20s"]).arg(&path).stdout(Stdio::null()).stderr(Stdio::piped());
        let running = command.spawn().expect("it starts");
        // A pass is a process of its own; it knows the length of the file.
        until("a pass", || !children(running.id()).is_empty());
        fs::File::options().write(true).open(&path).and_then(|file| file.set_len(10_000)).expect("cut");
        let ended = running.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.code() == Some(1) && text.contains("truncated") && text.lines().count() == 1, "{text}");
    }
}
