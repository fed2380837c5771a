//! Shared by the tests: the command with its own data folder, the run that it prints, and an example run.

use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use record::Run;
use tempfile::TempDir;

pub const EXAMPLE: &str = include_str!("../../../record/tests/data/example-run.json");

/// Options of a run that is as short as a run can be.
pub const QUICK: [&str; 6] = ["--rounds", "1", "--precision", "100%", "--budget", "2s"];

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The command, with its data in this folder. It is killed after a time that only a hanging command takes.
pub fn howslow(data: &TempDir) -> Command {
    let mut command = Command::cargo_bin("howslow").expect("the binary is built");
    command
        .env("HOWSLOW_DATA", data.path())
        .env("HOWSLOW_STORE", "files")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("CI")
        .env("COLUMNS", "118")
        .timeout(Duration::from_secs(120));
    command
}

/// The run that a command printed as JSON. Checks that the exit status says whether all of it was measured.
pub fn run_of(output: &Output) -> Run {
    let run = record::run_from_bytes(&output.stdout);
    let run = run.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.status.code(), Some(if run.skipped.is_empty() { 0 } else { 3 }), "{:?}", run.skipped);
    run
}
