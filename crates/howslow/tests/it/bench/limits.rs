//! Comparisons where little is allowed, and one that is killed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{benchmark, git_in, text};
use crate::beside::usable_cpu;
use crate::filter::{errno, filtered};
use crate::support::{self, count, folder, found, is_gone, until};

const UNPINNED: &str = "this process may not be pinned to a CPU";

pub(super) fn one_cpu_is_enough_and_so_is_no_permission_to_pin(data: &TempDir, program: &Path) {
    let howslow = assert_cmd::cargo::cargo_bin!("howslow");
    let mut on_one = Command::new("taskset");
    on_one.args(["--cpu-list", &usable_cpu()]).arg(howslow);
    let unpinned = filtered(Command::new(howslow), libc::SYS_sched_setaffinity, errno(libc::EPERM));
    for (mut command, has_note) in [(on_one, false), (unpinned, true)] {
        command.args(["time", "--bench", text(program), text(program), "--filter", "chain", "--budget", "300ms"]);
        let output = command.arg("--json").env("HOWSLOW_DATA", data.path()).output().expect("it starts");
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert!(benchmark(&document, "chain")["ratio"].as_f64() > Some(0.0), "{document}");
        assert_eq!(document["notes"].to_string().contains(UNPINNED), has_note, "{document}");
    }
}

#[test]
fn killed_while_the_old_revision_is_built_it_leaves_nothing() {
    let data = folder();
    let place = data.path().join("package");
    let deps = place.join("target/release/deps");
    fs::create_dir_all(&deps).expect("folders");
    for name in ["target/CACHEDIR.TAG", "target/release/deps/sums-1", "Cargo.toml"] {
        fs::write(place.join(name), "").expect("written");
    }
    let git = git_in(&place);
    git(&["add", "Cargo.toml"]);
    git(&["commit", "-q", "-m", "work"]);
    let scratch = data.path().join("scratch");
    fs::create_dir(&scratch).expect("a folder");
    let began = data.path().join("began");
    let cargo = data.path().join("cargo");
    testing::executable(&cargo, format!("#!/bin/sh\necho $$ >'{}'\nexec sleep 1000\n", text(&began)).as_bytes());
    let mut howslow = support::program(&data);
    howslow.args(["time", "--bench", "target/release/deps/sums-1", "--against", "HEAD"]).current_dir(&place);
    howslow.env("CARGO", &cargo).env("TMPDIR", &scratch);
    let mut howslow = howslow.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let builder = found("the build", || fs::read_to_string(&began).ok()?.trim().parse().ok());
    assert_eq!(git(&["worktree", "list"]).lines().count(), 2);
    howslow.kill().expect("ours");
    howslow.wait().expect("ours");
    until("the build to end", || is_gone(builder));
    until("the work tree to go", || git(&["worktree", "list"]).lines().count() == 1);
    until("the folders to go", || count(&scratch) == 0);
}
