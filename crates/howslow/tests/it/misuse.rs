//! Every misuse is reported before anything is measured: one sentence, exit status 2.

use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use crate::support::{folder, howslow};

#[test]
fn every_option_refuses_nonsense() {
    let data = folder();
    let bad = [
        ("--count", vec!["0", "-1", "1.5", "", "many", "99999999999999999999999", "NaN"]),
        ("--rounds", vec!["0", "-3", "x", "5000000000", ""]),
        ("--precision", vec!["0%", "-1%", "0", "101", "101%", "nan%", "", "%", "one"]),
        ("--budget", vec!["0s", "-5s", "60", "soon", "", "1e30s", "400000h", "nan"]),
        ("--cpu", vec!["-1", "x", "", "1.0", "99999999999"]),
        ("--seed", vec!["-1", "x", "", "99999999999999999999999"]),
    ];
    for (option, values) in bad {
        for value in values {
            for verb in [&[][..], &["run", "loop.empty"][..]] {
                let result = howslow(&data).args(verb).args([option, value]).assert().code(2);
                result.stdout("").stderr(contains(option).and(contains("give a")));
            }
        }
    }
    assert!(!data.path().join("runs").exists());
}

#[test]
fn a_cpu_that_is_not_there_is_refused_with_those_that_are() {
    let data = folder();
    howslow(&data).args(["--cpu", "4095"]).assert().code(2).stdout("").stderr(contains("may use the CPUs 0"));
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_measuring() {
    let data = folder();
    let missing = data.path().join("no/such/folder/run.json");
    let inside_file = data.path().join("file/run.json");
    std::fs::write(data.path().join("file"), "").expect("written");
    for path in [missing.as_path(), &inside_file, data.path(), Path::new("/dev/null"), Path::new("")] {
        let result = howslow(&data).args(["run", "loop.empty", "-o"]).arg(path).assert().code(2);
        result.stdout("").stderr(contains("-o").or(contains("--output")));
    }
    assert!(Path::new("/dev/null").exists() && !Path::new("/dev/null").is_file());
}

#[test]
fn a_scratch_folder_that_is_not_there_is_refused() {
    let data = folder();
    let missing = data.path().join("missing");
    howslow(&data).env("TMPDIR", missing).assert().code(2).stdout("").stderr(contains("TMPDIR"));
}

#[test]
fn a_pattern_that_means_nothing_lists_the_nearest() {
    let data = folder();
    for verb in ["run", "list"] {
        let mut command = howslow(&data);
        command.args([verb, "loop.emtpy"]).assert().code(2).stdout("").stderr(contains("did you mean loop.empty"));
        howslow(&data).args([verb, "zzz*"]).assert().code(2).stderr(contains("howslow list"));
        howslow(&data).args([verb, "loop["]).assert().code(2).stderr(contains("cannot read the pattern"));
        howslow(&data).args([verb, "loop.empty@size"]).assert().code(2).stderr(contains("AXIS=VALUE"));
        howslow(&data).args([verb, "loop.empty@size=3"]).assert().code(2).stderr(contains("without a point"));
        howslow(&data).args([verb, ""]).assert().code(2);
        let hostile = howslow(&data).args([verb, "\u{1b}[31m"]).assert().code(2);
        hostile.stderr(contains("\u{1b}").not());
        // A valid pattern does not excuse an invalid one.
        howslow(&data).args([verb, "loop.empty", "nothing.here"]).assert().code(2).stdout("");
    }
}

#[test]
fn unknown_verbs_options_and_shells_are_refused() {
    let data = folder();
    for arguments in [
        &["frobnicate"][..],
        &["--frobnicate"],
        &["run", "--jsn"],
        &["show"],
        &["show", "@1", "@2"],
        &["completions", "tcsh"],
        &["completions"],
        &["--count"],
        &["--full"],
        &["--count", "5", "list"],
    ] {
        howslow(&data).args(arguments).assert().code(2).stdout("");
    }
    howslow(&data).args(["man", "/no/such/folder"]).assert().code(2).stderr(contains("is not a folder"));
}
