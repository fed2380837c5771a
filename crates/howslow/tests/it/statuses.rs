//! One exit status for one kind of error, whatever the verb: what needs all verbs or a pipe. The others are in
//! tests/cases/statuses.txt.

use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;

use crate::help::every_verb;
use crate::support::{EXAMPLE, folder, howslow};

#[test]
fn an_unknown_option_is_misuse_on_every_verb_in_one_message() {
    let data = folder();
    for verb in every_verb() {
        let result = howslow(&data).args(verb).arg("--no-such-option").assert().code(2).stdout("");
        let errors = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert_eq!(errors.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{verb:?}: {errors}");
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
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), errors.as_ref()), (Some(0), ""), "{line:?}");
    }
}
