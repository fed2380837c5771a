//! The programs of `mode` under an emulator: howslow starts itself under qemu-user, or reports what is missing.

use assert_cmd::Command;
use record::Run;
use tempfile::TempDir;

use crate::support::{self, count, folder, is_installed, run_of};

fn howslow(data: &TempDir) -> Command {
    let mut command = support::howslow(data);
    command.env("HOWSLOW_DATA", data.path().join("data")).env("TMPDIR", data.path().join("scratch"));
    std::fs::create_dir_all(data.path().join("scratch")).expect("a folder");
    command
}

const EMULATED: &str = "run mode.host.call@mode=emulated mode.read@mode=emulated mode.keyed@mode=emulated \
    mode.convert@mode=emulated --full --json --budget 8s";

/// The run that was printed, after a check of the exit status.
fn run(command: &mut Command) -> Run {
    run_of(&command.output().expect("it starts"))
}

fn installed() -> bool {
    let names = ["", "-static"].map(|kind| format!("qemu-{}{kind}", std::env::consts::ARCH));
    names.iter().any(|name| is_installed(name))
}

#[test]
fn every_program_is_measured_emulated_or_skipped_with_what_it_needs() {
    every_program_is_measured_emulated();
    let data = folder();
    let skips = |reason: &str, remedy: &str| {
        let run = run(howslow(&data).args(EMULATED.split(' ')).env("PATH", data.path()));
        assert_eq!(run.skipped.len(), 6, "{:?}", run.skipped);
        let is_expected = |skip: &record::Skip| skip.reason.ends_with(reason) && skip.remedy.contains(remedy);
        assert!(run.skipped.iter().all(is_expected), "{:?}", run.skipped);
    };
    skips("is not installed", "apt-get install qemu-user");
    let pretended = data.path().join(format!("qemu-{}", std::env::consts::ARCH));
    testing::executable(&pretended, &b"#!/bin/sh\nexit 1\n"[..]);
    skips("cannot run this howslow", "--version");
}

fn every_program_is_measured_emulated() {
    if !installed() {
        testing::not_tested!("no emulator of this processor is installed; apt-get install qemu-user");
        return;
    }
    let data = folder();
    let run = run(howslow(&data).args(EMULATED.split(' ')).args(["--rounds", "2", "--precision", "50%"]));
    assert!(run.skipped.is_empty(), "{:?}", run.skipped);
    let emulated = run.costs.iter().filter(|cost| cost.at.word("mode") == Some("emulated"));
    let mut emulated: Vec<&str> = emulated.map(|cost| cost.operation.as_str()).collect();
    emulated.dedup();
    assert_eq!(emulated.len(), 4, "{emulated:?}");
    for cost in run.costs.iter().filter(|cost| cost.at.word("mode").is_some()) {
        assert!(cost.quoted().0 > 0.0, "{} costs {}", cost.name(), cost.quoted());
        assert!(cost.rounds.iter().all(|round| round.lost.is_none()), "{}: {:?}", cost.name(), cost.doubts);
        // The server waits for the request of every batch. This wait is not part of the batch, which does not wait.
        let operations = cost.rounds.iter().map(|round| round.times).min().unwrap_or(0) as f64;
        assert!(cost.switches.voluntary * operations < 0.5, "{}: {:?}", cost.name(), cost.switches);
    }
    assert_eq!(count(data.path().join("scratch")), 0, "files left behind");
}
