//! The file changes while it is read, it belongs to another user, or all processes are killed at once.

use std::fs;
use std::io::{Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use predicates::str::contains;
use record::Doubt;
use rustix::process::Signal;

use super::{measured, names, run_in, run_of, run_within};
use crate::on_disk::{file, folder, written};
use crate::support::{comes, family, is_gone, kill, state, until};

/// Starts the command with its output in a file, because a pipe that is not read would block it.
fn started(mut command: Command) -> (Child, fs::File) {
    let output = tempfile::tempfile().expect("a file");
    let running = command.stdout(output.try_clone().expect("a descriptor")).stderr(Stdio::null()).spawn();
    (running.expect("it starts"), output)
}

/// The run's scratch file, once it exists.
fn scratch_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let inside = names(folder).into_iter().filter(|name| name.starts_with("howslow-scratch-"));
    inside.flat_map(|scratch| walk(&folder.join(scratch))).find(|path| path.ends_with(name))
}

/// All files of a folder and its subfolders. Files that are deleted meanwhile are omitted.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn a_scratch_file_that_is_cut_costs_the_rounds_that_meet_it() {
    let Some(place) = folder() else { return };
    // Three losses in a row end an operation; the rest is measured afterwards.
    const CUTS: usize = 2;
    for (pattern, name) in [
        ("read.mmap.sequential@state=warm,file=16777216,record=131072", "file-16777216"),
        ("write.mmap@sync=msync,file=1048576,record=131072", "written"),
    ] {
        let mut command = run_within("6s", place.path(), &[pattern]);
        command.args(["--rounds", "40", "--precision", "0.001%"]);
        let (mut running, mut output) = started(command);
        let mut cut = 0;
        while running.try_wait().expect("our child").is_none() {
            // Between two rounds no reader would notice it.
            let found = scratch_file(place.path(), name).filter(|_| cut < CUTS && is_mapped(running.id(), name));
            let opened = found.and_then(|path| fs::File::options().write(true).open(path).ok());
            let is_cut = opened.is_some_and(|file| file.set_len(4096).is_ok());
            cut += usize::from(is_cut);
            std::thread::sleep(Duration::from_millis(if is_cut { 100 } else { 1 }));
        }
        let mut stdout = Vec::new();
        output.rewind().and_then(|()| output.read_to_end(&mut stdout)).expect("read");
        let status = running.wait().expect("our child");
        let run = run_of(&Output { status, stdout, stderr: Vec::new() });
        assert!(cut > 0, "no file was found to be cut");
        measured(&run, pattern.split('@').next().expect("an id"));
        let doubts = run.costs.iter().flat_map(|cost| &cost.doubts);
        let lost = doubts.filter(|doubt| matches!(doubt, Doubt::RoundLost { .. }));
        let lost: Vec<String> = lost.map(ToString::to_string).collect();
        let is_known = |lost: &String| {
            ["truncated", "bytes, not", "not the one that was written"].iter().any(|reason| lost.contains(reason))
        };
        assert!(!lost.is_empty() && lost.iter().all(is_known), "{lost:?}");
        assert_eq!(names(place.path()), ["data"], "left behind");
    }
}

/// True if a process or one of its descendants has a file of this name mapped.
fn is_mapped(pid: u32, name: &str) -> bool {
    let maps = family(pid).into_iter().filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).ok());
    maps.into_iter().any(|maps| maps.lines().any(|line| line.ends_with(&format!("/{name}"))))
}

/// A run that has created its file.
fn reading(place: &Path) -> Child {
    let mut command = run_within("60s", place, &["read.pread@file=16777216,record=131072,state=cold"]);
    command.args(["--rounds", "1000", "--precision", "0.001%"]);
    let (running, _) = started(command);
    until("a file", || scratch_file(place, "file-16777216").is_some());
    running
}

#[test]
fn a_file_of_what_is_killed_is_removed_by_who_is_left_or_at_the_next_start() {
    let Some(place) = folder() else { return };
    the_tuner_s_own_file_has_no_name(place.path());
    let mut running = reading(place.path());
    kill(running.id(), Signal::KILL);
    running.wait().expect("our child");
    assert!(comes(|| names(place.path()).iter().all(|name| name == "data")), "{:?}", names(place.path()));
    let mut running = reading(place.path());
    let mut all = Vec::new();
    until("a moment with a file", || {
        // They are stopped first, so that none can clean up after another. A call that is under way ends before its task stops.
        all = family(running.id());
        all.iter().for_each(|&pid| kill(pid, Signal::STOP));
        until("the stop", || all.iter().all(|&pid| matches!(state(pid), None | Some('T' | 'Z'))));
        all.extend(family(running.id()));
        let has_file = scratch_file(place.path(), "file-16777216").is_some();
        // Each round has a file of its own.
        all.iter().filter(|_| !has_file).for_each(|&pid| kill(pid, Signal::CONT));
        has_file
    });
    all.iter().for_each(|&pid| kill(pid, Signal::KILL));
    running.wait().expect("our child");
    until("all to end", || all.iter().all(|pid| is_gone(*pid)));
    assert!(scratch_file(place.path(), "file-16777216").is_some(), "nobody was left to remove it");
    let other = run_in(place.path(), &["loop.empty"]).output().expect("it starts");
    measured(&run_of(&other), "loop.empty");
    assert!(names(place.path()).iter().all(|name| name == "data"), "{:?}", names(place.path()));
}

fn the_tuner_s_own_file_has_no_name(place: &Path) {
    let mut command = Command::new(cargo_bin!("howslow"));
    command.args(["study", "mpe", "--prefetch", "--budget", "30s"]).env("TMPDIR", place);
    let (mut running, _) = started(command);
    let has_file = |pid: u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.filter_map(|fd| fs::read_link(fd.path()).ok()).any(|file| file.starts_with(place))
    };
    until("a file", || has_file(running.id()));
    family(running.id()).into_iter().for_each(|pid| kill(pid, Signal::KILL));
    running.wait().expect("our child");
    assert!(names(place).is_empty(), "{:?}", names(place));
}

/// The command as a user who owns nothing here; `None`, with a message, if this process may not change to that user.
fn as_nobody(place: &Path, arguments: &[&str]) -> Option<Command> {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        testing::not_tested!("files of another user; run the tests as root");
        return None;
    }
    // Other users may have no access to the folder in which the command was built.
    let program = place.join("howslow");
    if !program.exists() {
        testing::executable(&program, fs::File::open(cargo_bin!("howslow")).expect("it is built"));
    }
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).expect("ours");
    let mut command = Command::new(program);
    command.args(arguments).uid(NOBODY).gid(NOBODY).env("HOWSLOW_DATA", place.join("data")).env("TMPDIR", place);
    Some(command)
}

#[test]
fn what_may_not_be_read_is_refused_and_of_another_s_file_is_reported_what_the_kernel_shows() {
    let Some(place) = folder() else { return };
    let path = written(place.path(), 1 << 20);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o200)).expect("ours");
    let shown = path.to_str().expect("text");
    for verb in ["resident", "evict", "sync", "advise", "tune"] {
        let command = match rustix::process::geteuid().is_root() {
            true => as_nobody(place.path(), &["file", verb, shown]).map(assert_cmd::Command::from_std),
            false => Some(file(verb, &path)),
        };
        let refused = command.expect("a user").assert().code(2).stdout("");
        let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(text.contains("data: Permission denied") && text.lines().count() == 1, "{text}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
    for verb in ["resident", "evict", "tune"] {
        let Some(command) = as_nobody(place.path(), &["file", verb, shown]) else { return };
        let refused = assert_cmd::Command::from_std(command).assert().code(1).stdout("");
        let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(text.contains("only to its owner") && text.contains("run as") && text.lines().count() == 1, "{text}");
    }
    let command = as_nobody(place.path(), &["file", "advise", "--budget", "1s", shown]).expect("a user");
    let advice = assert_cmd::Command::from_std(command).assert().success();
    advice.stdout(contains("warm alone").and(contains("\ncold").not()));
    let command = as_nobody(place.path(), &["run", "read.pread", "--budget", "1s"]).expect("a user");
    let refused = assert_cmd::Command::from_std(command).assert().code(1).stdout("");
    refused.stderr(contains("cannot make a scratch folder").and(contains("set TMPDIR")));
}
