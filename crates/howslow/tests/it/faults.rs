//! Readers and writers of files when something is missing: space, a device, a call, a permission, a stable file, their parent. What
//! cannot be measured is reported with a reason and a remedy, the rest is measured, and nothing is left behind.

mod calls;
mod databases;
mod ended;
mod pipes;
mod room;

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use record::{Run, Skip};

use crate::support::{measured, run_of, skip};

/// `howslow run` of these operations in a folder, with a short budget.
fn run_in(folder: &Path, patterns: &[&str]) -> Command {
    run_within("2s", folder, patterns)
}

/// The same with the caller's budget.
fn run_within(budget: &str, folder: &Path, patterns: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("howslow"));
    command.arg("run").args(patterns).args(["--budget", budget, "--json"]);
    command.env("HOWSLOW_DATA", folder.join("data")).env("TMPDIR", folder);
    command
}

/// Returns the run. Checks that the exit status shows whether everything was measured, and that nothing is left in the folder.
fn done(mut command: Command, folder: &Path) -> Run {
    let run = run_of(&command.output().expect("it starts"));
    assert_eq!(names(folder), ["data"], "left behind");
    run
}

/// The files in a folder, except data of runs and files of the test.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Checks that every point of the operation was skipped for this reason, with a remedy.
fn skipped(run: &Run, id: &str, expected: &str) {
    let Skip { reason, remedy, .. } = skip(run, id);
    assert!(reason.contains(expected) && !remedy.is_empty(), "{id}: {reason}; {remedy}");
    assert!(!run.costs.iter().any(|cost| cost.operation == id), "{id} was measured");
}
