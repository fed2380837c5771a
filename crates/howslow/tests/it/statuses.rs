//! One exit status for one kind of error, whatever the verb: what needs all verbs, a pipe or a measurement. The others are in
//! tests/cases/statuses.txt.

use std::process::{Command, Stdio};

use crate::filter::{errno, filtered};
use crate::help::every_verb;
use crate::support::{EXAMPLE, folder, howslow};
use assert_cmd::cargo::cargo_bin;

#[test]
fn an_unknown_option_is_misuse_on_every_verb_in_one_message() {
    let data = folder();
    let verbs = every_verb();
    assert!(verbs.len() > 35, "{verbs:?}");
    for verb in verbs {
        let result = howslow(&data).args(&verb).arg("--no-such-option").assert().code(2).stdout("");
        let told = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert_eq!(told.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{verb:?}: {told}");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_failure_and_no_locale_is_needed() {
    let data = folder();
    let run = data.path().join("run.json");
    std::fs::write(&run, EXAMPLE).expect("written");
    let run = run.to_str().expect("text");
    let lines: [&[&str]; 10] = [
        &["list"],
        &["list", "--syscalls"],
        &["show", run],
        &["compare", run, "pdp-11-24", "--all"],
        &["compare", run, run, "--markdown"],
        &["compare", run, "pdp-11-24", "--json"],
        &["explain", run],
        &["predict", "call-save-return", "--on", "multics-645"],
        &["history"],
        &["doctor"],
    ];
    for line in lines {
        let mut command = Command::new(cargo_bin!("howslow"));
        command.args(line).env_clear().env("HOWSLOW_DATA", data.path()).env("TERM", "dumb").env("LC_ALL", "C");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        // Closed before the first byte is read.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), told.as_ref()), (Some(0), ""), "{line:?}");
    }
}

/// A limit of the stack that other programs live with, and a sandbox that refuses a call.
#[test]
fn a_small_stack_and_a_refused_wait_are_no_hindrance() {
    let data = folder();
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
    let output = filtered(command, libc::SYS_ppoll, errno(libc::EPERM)).output().expect("it starts");
    let run = crate::support::run_of(&output);
    // A round whose report nobody sees is ended when its patience is over, and counts as hung.
    assert!(
        run.costs.iter().all(|cost| cost.doubts.iter().all(|doubt| !doubt.to_string().contains("hung"))),
        "{run:?}"
    );
}
