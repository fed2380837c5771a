//! One exit status for one kind of error, whatever the verb: 2 for names, options and places that make no sense, 1 for files that
//! cannot be read as what they are, and no failure where the reader of stdout has gone.

use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use tempfile::TempDir;

use crate::filter::{errno, filtered};
use crate::help::every_verb;
use crate::support::{EXAMPLE, folder, howslow};

/// Checks the status of each command line, and that stderr is one message without repetitions.
fn all_end_with(data: &TempDir, status: i32, lines: &[&str]) {
    for line in lines {
        let result = howslow(data).current_dir(data.path()).args(line.split(' ')).assert();
        let output = result.get_output();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{line}: {told}");
        assert!(output.stdout.is_empty(), "{line} prints in spite of it");
        let messages = told.lines().filter(|line| line.starts_with("howslow: ") || line.starts_with("error: ")).count();
        assert_eq!(messages, 1, "{line}: {told}");
        for part in told.split(": ").filter(|part| part.len() > 12) {
            assert_eq!(told.matches(part).count(), 1, "{line} says '{part}' twice: {told}");
        }
    }
}

#[test]
fn an_unknown_run_is_misuse_on_every_verb() {
    let data = folder();
    let verbs = [
        "show nope",
        "compare nope pdp-11-24",
        "compare pdp-11-24 nope --fail-on slower",
        "explain nope",
        "predict true --on nope",
        "predict --on nope true",
        "study rsx --run nope",
        "scaling --run nope",
        "bill --on nope -- true",
        "top --once --on nope",
        "export nope",
        "watch nope",
        "contribute nope -o book.toml",
        "report nope -o page.html",
        "report --gallery machines nope",
        "show pdp-11-24 --against nope",
        "fleet show nope",
    ];
    all_end_with(&data, 2, &verbs);
    all_end_with(&data, 2, &verbs.map(|verb| verb.replace("nope", "@7")).each_ref().map(String::as_str));
}

#[test]
fn a_damaged_run_is_a_failure_on_every_verb_and_said_once() {
    let data = folder();
    std::fs::write(data.path().join("bad.json"), "{").expect("written");
    let verbs = [
        "show bad.json",
        "compare bad.json pdp-11-24",
        "compare pdp-11-24 bad.json --fail-on slower",
        "explain bad.json",
        "predict true --on bad.json",
        "study rsx --run bad.json",
        "scaling --run bad.json",
        "bill --on bad.json -- true",
        "top --once --on bad.json",
        "export bad.json",
        "contribute bad.json -o book.toml",
        "report bad.json -o page.html",
        "show pdp-11-24 --against bad.json",
        "import bad.json",
    ];
    all_end_with(&data, 1, &verbs);
}

#[test]
fn an_unknown_pattern_file_or_option_is_misuse_on_every_verb() {
    let data = folder();
    let lines = [
        "list no.such.operation",
        "run no.such.operation",
        "run loop.empty no.such.operation",
        "crossover no.such.a no.such.b --axis size",
        "compare pdp-11-24 multics-645 --only no.such.operation",
        "explain pdp-11-24 no.such.operation",
        "predict no-such-mix --on pdp-11-24",
        "load no-such-plan",
        "model no-such-file",
        "time no-such-routine",
        "time -- no-such-program-anywhere",
        "interference no-such-work",
        "file evict no-such-file",
        "file resident no-such-file",
        "file sync no-such-file",
        "file advise no-such-file",
        "file tune no-such-file",
        "man no-such-folder",
        "study no-such-paper",
        "schema no-such-document",
        "completions no-such-shell",
        "fleet status no-such-fleet",
        "fleet cancel no-such-fleet",
        "import no-such-file",
        "noise --cpu 9999",
    ];
    all_end_with(&data, 2, &lines);
    let verbs = every_verb();
    assert!(verbs.len() > 35, "{verbs:?}");
    let options: Vec<String> = verbs.iter().map(|verb| format!("{} --no-such-option", verb.join(" "))).collect();
    all_end_with(&data, 2, &options.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn an_output_that_cannot_be_written_is_misuse_before_anything_is_measured() {
    let data = folder();
    let verbs = [
        "-o no/such/run.json",
        "run loop.empty -o no/such/run.json",
        "time -o no/such/run.json -- true",
        "study rsx -o no/such/run.json",
        "scaling -o no/such/run.json",
        "bill -o no/such/bill.json -- true",
        "load fortran --predict -o no/such/load.toml",
        "interference --svg no/such compute",
        "run loop.empty --tails --svg no/such",
    ];
    for line in verbs {
        let result = howslow(&data).current_dir(data.path()).args(line.split(' ')).assert().code(2);
        result.stdout(is_empty()).stderr(contains("no/such").or(contains("unexpected argument")));
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

#[test]
fn a_prediction_takes_its_mix_before_and_after_the_runs() {
    let data = folder();
    let page = |arguments: &[&str]| {
        let result = howslow(&data).arg("predict").args(arguments).assert().code(0).stderr(is_empty());
        String::from_utf8_lossy(&result.get_output().stdout).into_owned()
    };
    let before = page(&["call-save-return", "--on", "multics-645", "multics-6180"]);
    assert_eq!(before, page(&["--on", "multics-645", "multics-6180", "call-save-return"]));
    assert_eq!(before, page(&["--on", "multics-645", "--on", "multics-6180", "--", "call-save-return"]));
    howslow(&data).args(["predict", "--on", "@1"]).assert().code(2).stderr(contains("say what to predict"));
}

#[test]
fn a_cpu_that_is_not_there_is_refused_with_those_that_are() {
    let data = folder();
    howslow(&data).args(["--cpu", "4095"]).assert().code(2).stdout("").stderr(contains("may use the CPUs 0"));
}

#[test]
fn a_budget_that_cannot_be_kept_is_refused_before_measuring() {
    let data = folder();
    let result = howslow(&data).args(["run", "--full", "--budget", "2s"]).assert().code(2).stdout(is_empty());
    result.stderr(contains("one round of each of ").and(contains(" s; the budget is 2 s; raise it")));
    assert!(!data.path().join("runs").exists());
}

#[test]
fn what_a_run_lacks_is_measured_for_a_prediction() {
    let data = folder();
    let here = data.path().join("here.json");
    let short = ["--budget", "1s", "--rounds", "2"];
    howslow(&data).args(["run", "loop.empty"]).args(short).arg("-o").arg(&here).assert().code(0);
    let mix = data.path().join("mix.toml");
    let text = "name = \"m\"\nunit = \"request\"\n[[operation]]\noperation = \"syscall.getppid\"\ntimes = 10\n";
    std::fs::write(&mix, text).expect("written");
    let predict = |more: &[&str]| howslow(&data).arg("predict").arg(&mix).arg("--on").arg(&here).args(more).assert();
    predict(&[]).code(2).stderr(contains("lacks 1 of the 1 costs").and(contains("--measure")));
    let page = predict(&["--measure"]).code(0).stderr(contains("measuring 1 price of this kernel "));
    page.stdout(contains("syscall.getppid"));
    let mut elsewhere = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    elsewhere.costs.retain(|cost| cost.operation == "loop.empty");
    std::fs::write(&here, serde_json::to_vec(&elsewhere).expect("JSON")).expect("written");
    predict(&["--measure"]).code(2).stdout(is_empty()).stderr(contains("a run of another one"));
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
