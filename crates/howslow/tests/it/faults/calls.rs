//! Where the kernel, the file system or a sandbox lacks or refuses a call.

use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use record::Run;

use super::{done, measured, run_in, skipped};
use crate::filter::{errno, filtered, filtered_where};
use crate::on_disk::{folder, written};

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
    let (out, tried): (Vec<_>, Vec<_>) = all.partition(|it| it["skipped"].is_string());
    let text = |it: &serde_json::Value| it.as_str().expect("text").to_string();
    (out.iter().map(|it| (text(&it["method"]), text(&it["skipped"]))).collect(), tried.len())
}

#[test]
fn without_io_uring_the_other_methods_are_measured() {
    for (error, says) in [(libc::EPERM, "io_uring is switched off"), (libc::ENOSYS, "no such call")] {
        let filter = |command| filtered(command, libc::SYS_io_uring_setup, errno(error));
        let Some(run) = under(filter, &["read.uring", "write.uring", "read.pread"]) else { return };
        ["read.uring", "write.uring"].iter().for_each(|id| skipped(&run, id, says));
        measured(&run, "read.pread");
        let (out, tried) = left_out(&advised(filter).expect("a folder"));
        assert!(!out.is_empty() && tried > 3, "{out:?}");
        assert!(out.iter().all(|(method, why)| method.contains("io_uring") && why.contains(says)), "{out:?}");
    }
}

#[test]
fn without_direct_reads_the_other_methods_are_measured() {
    let refused = |command, call, argument| {
        filtered_where(command, call, Some((argument, libc::O_DIRECT as u32)), errno(libc::EINVAL))
    };
    let filter = |command| {
        let command = refused(command, libc::SYS_openat, 2);
        // The older call, which newer architectures do not have.
        #[cfg(target_arch = "x86_64")]
        let command = refused(command, libc::SYS_open, 1);
        command
    };
    let ids = ["read.direct", "read.uring.direct", "write.direct", "write.uring.direct"];
    let Some(run) = under(filter, &[&ids[..], &["read.pread"]].concat()) else { return };
    ids.iter().for_each(|id| skipped(&run, id, "this file system has no direct"));
    measured(&run, "read.pread");
    let advice = advised(filter).expect("a folder");
    let (out, tried) = left_out(&advice);
    assert!(!out.is_empty() && tried > 3, "{out:?}");
    assert!(out.iter().all(|(method, why)| method.contains("O_DIRECT") && why.contains("no direct")), "{out:?}");
    assert_eq!(advice["latency"]["direct"], false);
}

#[test]
fn a_file_system_that_maps_nothing_is_a_skip() {
    let shared = Some((3, libc::MAP_SHARED as u32));
    let filter = |command| filtered_where(command, libc::SYS_mmap, shared, errno(libc::ENODEV));
    let Some(run) = under(filter, &["read.mmap", "read.pread"]) else { return };
    skipped(&run, "read.mmap", "does not support mapped files");
    measured(&run, "read.pread");
}

#[test]
fn advice_that_is_refused_is_a_skip() {
    for (call, ids) in [
        (libc::SYS_madvise, &["read.mmap.sequential", "read.mmap.random", "read.mmap.ahead"][..]),
        (libc::SYS_readahead, &["read.readahead"]),
        (libc::SYS_fadvise64, &["read.fadvise.sequential", "read.fadvise.ahead"]),
    ] {
        let filter = |command| filtered(command, call, errno(libc::EPERM));
        let Some(run) = under(filter, &[ids, &["read.pread"]].concat()) else { return };
        ids.iter().for_each(|id| skipped(&run, id, "refused"));
        measured(&run, "read.pread");
        let advice = advised(filter).expect("a folder");
        let states: Vec<&str> =
            advice["states"].as_array().expect("states").iter().filter_map(|it| it["state"].as_str()).collect();
        // Without the call that evicts a file from memory, there are no cold passes.
        let cold = call != libc::SYS_fadvise64;
        assert_eq!(states.contains(&"cold"), cold, "{states:?}");
        assert_eq!(advice["notes"].to_string().contains("cannot be cold"), !cold, "{}", advice["notes"]);
        if !cold {
            assert!(advice["notes"].to_string().contains("posix_fadvise is refused"), "{}", advice["notes"]);
        }
    }
}
