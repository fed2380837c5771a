//! Where the kernel, the file system or a sandbox lacks or refuses a call.

use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use record::Run;

use super::{done, measured, run_in, run_of, skipped};
use crate::filter::{errno, filtered_where};
use crate::on_disk::{folder, written};
use crate::support;

/// Measures these operations under a filter, readers on a small file.
fn under(filter: impl Fn(Command) -> Command, ids: &[&str]) -> Option<Run> {
    let place = folder()?;
    let small = |id: &&str| match id.starts_with("read") {
        true => format!("{id}@file=16777216,record=131072"),
        false => format!("{id}@file=1048576,record=131072"),
    };
    let patterns: Vec<String> = ids.iter().map(small).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let mut command = run_in(place.path(), &patterns);
    command.args(["--rounds", "1"]);
    Some(done(filter(command), place.path()))
}

/// The advice for a file under a filter.
fn advised(filter: impl Fn(Command) -> Command) -> Option<serde_json::Value> {
    let place = folder()?;
    let path = written(place.path(), 1 << 20);
    let mut command = Command::new(cargo_bin!("howslow"));
    command.args(["file", "advise", "--budget", "1s", "--json"]).arg(path);
    let output = filter(command).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// The candidates that were left out, with their reasons, and the number of the others.
fn left_out(advice: &serde_json::Value) -> (Vec<(String, String)>, usize) {
    let states = advice["states"].as_array().expect("states");
    let all = states.iter().flat_map(|state| state["candidates"].as_array().expect("candidates"));
    let (out, tried): (Vec<_>, Vec<_>) = all.partition(|candidate| candidate["skipped"].is_string());
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_string();
    (out.iter().map(|candidate| (text(&candidate["method"]), text(&candidate["skipped"]))).collect(), tried.len())
}

/// A call that fails with an error; with a flag in an argument, only where that is set.
type Failing = (libc::c_long, i32, Option<(u32, u32)>);

/// The command without these calls.
fn without(calls: &[Failing], command: Command) -> Command {
    calls.iter().fold(command, |command, (call, error, flag)| filtered_where(command, *call, *flag, errno(*error)))
}

/// Checks that these are skipped, each for its reason, and that the rest is measured and advised on. Returns the advice.
fn rest_is_measured(filter: impl Fn(Command) -> Command, skips: &[(&str, &str)]) -> Option<serde_json::Value> {
    let ids: Vec<&str> = skips.iter().map(|(id, _)| *id).chain(["read.pread"]).collect();
    let run = under(&filter, &ids)?;
    skips.iter().for_each(|(id, expected)| skipped(&run, id, expected));
    measured(&run, "read.pread");
    let advice = advised(&filter).expect("a folder");
    let (out, tried) = left_out(&advice);
    assert!(!out.is_empty() && tried >= 3, "{out:?}");
    // Each is left out for the reason of the call that it needs.
    let why_of = |name: &str| skips.iter().find(|(id, _)| id.contains(name)).map(|(_, expected)| *expected);
    for (method, why) in &out {
        let needs = ["io_uring", "O_DIRECT"].iter().find(|name| method.contains(**name)).copied().unwrap_or_default();
        let is_expected = match needs {
            "io_uring" => why_of("uring").is_some_and(|expected| why.contains(expected)) || why.contains("no direct"),
            "O_DIRECT" => why.contains("no direct"),
            _ => why.contains("refused") || why.contains("does not support mapped files"),
        };
        assert!(is_expected, "{method}: {why}");
    }
    Some(advice)
}

#[test]
fn without_a_call_the_rest_is_measured() {
    a_small_stack_and_a_refused_wait_are_no_hindrance();
    let direct = Some((2, libc::O_DIRECT as u32));
    let first = [
        (libc::SYS_io_uring_setup, libc::EPERM, None),
        (libc::SYS_openat, libc::EINVAL, direct),
        // The older call, which newer architectures do not have.
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, libc::EINVAL, Some((1, libc::O_DIRECT as u32))),
        (libc::SYS_madvise, libc::EPERM, None),
        (libc::SYS_readahead, libc::EPERM, None),
    ];
    let (uring, none) = ("io_uring is switched off", "this file system has no direct");
    let skips = [
        ("read.uring", uring),
        ("write.uring", uring),
        ("read.direct", none),
        ("write.direct", none),
        ("read.mmap.sequential", "refused"),
        ("read.mmap.random", "refused"),
        ("read.mmap.ahead", "refused"),
        ("read.readahead", "refused"),
    ];
    let Some(advice) = rest_is_measured(|command| without(&first, command), &skips) else { return };
    assert_eq!(advice["latency"]["direct"], false);
    let states = |advice: &serde_json::Value| advice["states"].to_string().contains("\"cold\"");
    assert!(states(&advice) && !advice["notes"].to_string().contains("cannot be cold"), "{advice}");
    let second = [
        (libc::SYS_io_uring_setup, libc::ENOSYS, None),
        (libc::SYS_mmap, libc::ENODEV, Some((3, libc::MAP_SHARED as u32))),
        (libc::SYS_fadvise64, libc::EPERM, None),
    ];
    let skips = [
        ("read.uring", "no such call"),
        ("write.uring", "no such call"),
        ("read.mmap", "does not support mapped files"),
        ("read.fadvise.sequential", "refused"),
        ("read.fadvise.ahead", "refused"),
    ];
    let advice = rest_is_measured(|command| without(&second, command), &skips).expect("as before");
    // Without the call that evicts a file from memory, there are no cold passes.
    assert!(!states(&advice), "{advice}");
    let notes = advice["notes"].to_string();
    assert!(notes.contains("cannot be cold") && notes.contains("posix_fadvise is refused"), "{notes}");
}

/// A limit of the stack that other programs live with, and a sandbox that refuses a call.
fn a_small_stack_and_a_refused_wait_are_no_hindrance() {
    let data = support::folder();
    for words in ["list loop.empty", "run loop.empty --rounds 1 --budget 1s --json"] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -s 64; exec \"$0\" {words}")]).arg(cargo_bin!("howslow"));
        command.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_STORE", "files");
        let ended = command.output().expect("sh starts");
        assert!(ended.status.success(), "{words}: {ended:?}");
    }
    let mut command = Command::new(cargo_bin!("howslow"));
    command.args(["run", "loop.empty", "--rounds", "2", "--budget", "1s", "--json"]);
    command.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_STORE", "files");
    let output = filtered_where(command, libc::SYS_ppoll, None, errno(libc::EPERM)).output().expect("it starts");
    let run = run_of(&output);
    // A round whose report nobody sees is ended when its patience is over, and counts as hung.
    assert!(
        run.costs.iter().all(|cost| cost.doubts.iter().all(|doubt| !doubt.to_string().contains("hung"))),
        "{run:?}"
    );
}
