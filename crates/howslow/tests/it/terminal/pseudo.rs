//! `howslow terminal --pty`: what it measures, what it reports where there are no pseudo-terminals, and that nothing stays behind.

use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

use super::json;
use crate::support::{comes, family, folder, howslow, is_gone, program, until};

/// Only programs that are not installed may be missing.
fn check_missing(document: &Value) {
    for missing in document["missing"].as_array().expect("a list") {
        let what = missing["what"].as_str().unwrap_or_default();
        assert!(["ssh", "script", "vim", "nano", "ed", "program, another CPU"].contains(&what), "{missing}");
        let reason = missing["reason"].as_str().unwrap_or_default();
        let absent = ["there is no", "sshd does not start", "only one CPU"];
        assert!(absent.iter().any(|absent| reason.starts_with(absent)), "{missing}");
        assert!(missing["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{missing}");
    }
}

#[test]
fn pseudo_terminals_are_measured_without_a_terminal() {
    let (data, pictures) = (folder(), folder());
    let mut command = howslow(&data);
    command.args(["terminal", "--pty", "--budget", "4s", "--json", "--svg"]).arg(pictures.path());
    command.env("TMPDIR", data.path());
    let result = command.assert();
    let output = result.get_output();
    let document = json(&String::from_utf8_lossy(&output.stdout));
    let missing = document["missing"].as_array().expect("a list").len();
    assert_eq!(output.status.code(), Some(if missing > 0 { 3 } else { 0 }), "{document}");
    check_missing(&document);
    let list = |name: &str| document[name].as_array().unwrap_or_else(|| panic!("{name}")).clone();
    for path in ["raw", "processed", "pipe", "file", "tcp"] {
        let flows: Vec<Value> = list("highest").into_iter().filter(|flow| flow["path"] == path).collect();
        assert_eq!(flows.len(), 6, "{path}");
        // 64 KiB take far less processor time by the byte than one: the paper's Figure 2-1 rises.
        let rate = |flow: &Value| flow["bytes_per_cpu_second"].as_f64().expect("a rate");
        assert!(rate(&flows[5]) > 5.0 * rate(&flows[0]), "{flows:?}");
    }
    for flow in list("paced") {
        let (requested, rate) =
            (flow["requested"].as_f64().expect("a rate"), flow["bytes_per_second"].as_f64().expect("one"));
        assert!(rate <= 1.5 * requested, "{flow}");
        assert!(flow["cpu_left"].as_f64().expect("a share") < 1.0, "{flow}");
    }
    assert!(list("keystrokes").len() >= 6);
    for stroke in list("keystrokes").iter().filter(|stroke| stroke["latency"]["samples"].as_u64() > Some(10)) {
        assert!(stroke["latency"]["quantiles"][0]["ns"].as_f64() > Some(100.0), "{stroke}");
    }
    assert_eq!(list("transfers").len(), 12);
    let left: Vec<_> =
        std::fs::read_dir(data.path()).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("howslow-scratch")), "{left:?}");
    for name in ["terminal-2-1.svg", "terminal-2-2.svg"] {
        let svg = std::fs::read_to_string(pictures.path().join(name)).expect("a picture");
        assert!(svg.starts_with("<svg"));
    }
}

pub fn a_killed_measurement_leaves_nothing_behind() {
    let place = folder();
    let mut command = program(&place);
    command.args(["terminal", "--pty", "--budget", "60s"]).env("TMPDIR", place.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = command.spawn().expect("it starts");
    let scratch = || {
        let names = std::fs::read_dir(place.path()).expect("a folder").flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with("howslow-scratch")).count()
    };
    // It measures in processes of its own, which start others.
    until("its processes", || scratch() == 1 && family(running.id()).len() > 2);
    let family = family(running.id());
    running.kill().expect("our child");
    running.wait().expect("our child");
    let living = || family.iter().filter(|pid| !is_gone(**pid)).count();
    assert!(comes(|| living() + scratch() == 0), "{} processes and {} folders are left", living(), scratch());
}

/// The devices that programs need, and no /dev/ptmx.
const WITHOUT_PTMX: &str = "mount -t tmpfs tmpfs \"$0\" && cd \"$0\" && touch null zero urandom && \
     for device in null zero urandom; do mount --bind /dev/$device $device || exit 9; done && \
     mount --rbind \"$0\" /dev && exec \"$@\"";

/// One pseudo-terminal at a time.
const ONE_ONLY: &str = "mount -t devpts -o newinstance,ptmxmode=666,max=1 devpts /dev/pts && exec \"$@\"";

/// Runs it where the mounts of the script are made, in namespaces of its own; `None` where there are none to be had.
fn mounted(script: &str) -> Option<Value> {
    let (place, data) = (folder(), folder());
    let unshared = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script]).arg(place.path()).args(words);
        command.env("HOWSLOW_DATA", data.path()).env("TMPDIR", data.path()).stdin(Stdio::null());
        command.output().expect("unshare runs")
    };
    if !unshared(&["true"]).status.success() {
        testing::not_tested!("no user and mount namespaces may be made here; allow them");
        return None;
    }
    let program = cargo_bin("howslow");
    let output = unshared(&[&program.to_string_lossy(), "terminal", "--pty", "--json", "--budget", "2s"]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    Some(json(&String::from_utf8_lossy(&output.stdout)))
}

/// Why this could not be measured.
fn reason<'a>(document: &'a Value, what: &str) -> &'a str {
    let missing = document["missing"].as_array().expect("a list");
    let named = missing.iter().find(|missing| missing["what"] == what).unwrap_or_else(|| panic!("{what}: {missing:?}"));
    named["reason"].as_str().expect("a reason")
}

fn measured(document: &Value) -> Vec<&str> {
    let mut paths: Vec<&str> =
        document["highest"].as_array().expect("a list").iter().filter_map(|flow| flow["path"].as_str()).collect();
    paths.dedup();
    paths
}

#[test]
fn where_pseudo_terminals_are_missing_each_is_reported_and_the_rest_is_measured() {
    let Some(document) = mounted(WITHOUT_PTMX) else { return };
    for path in ["raw", "processed", "script", "tcp"] {
        assert_eq!(reason(&document, path), "there is no /dev/ptmx here");
    }
    assert_eq!(measured(&document), ["pipe", "file"]);
    let document = mounted(ONE_ONLY).expect("as before");
    assert_eq!(reason(&document, "tcp"), "all pseudo-terminals are in use");
    assert_eq!(measured(&document), ["raw", "processed", "pipe", "file"]);
}
