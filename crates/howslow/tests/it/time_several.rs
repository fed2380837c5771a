//! `howslow time` of several commands: which takes longer, parameters, and what happens around a run.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::{self, cost, folder, howslow, prints_nothing};

/// `howslow time` in a folder. Its log lists what the steps did.
fn time(folder: &TempDir, arguments: &[&str]) -> Assert {
    let mut command = howslow(folder);
    command.env("HOWSLOW_DATA", folder.path().join("data")).current_dir(folder.path());
    command.arg("time").args(arguments).assert()
}

/// How often each line stands in the log.
fn logged(folder: &TempDir) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        *counts.entry(line.to_string()).or_default() += 1;
    }
    counts
}

const SHORT: [&str; 4] = ["--budget", "2s", "--rounds", "3"];

#[test]
fn the_page_begins_with_which_takes_longer() {
    let data = folder();
    // Both take much longer than starting a program does, and one five times as long as the other; a busy host needs more time to tell.
    let page = |arguments: &[&str], answer: &str| {
        let pages = ["3s", "12s", "48s", "128s"].into_iter().map(|budget| {
            let page = time(&data, &[arguments, &["--budget", budget, "--rounds", "8"]].concat()).code(0);
            String::from_utf8_lossy(&page.get_output().stdout).into_owned()
        });
        pages.into_iter().find(|page| page.starts_with(answer)).expect("an answer")
    };
    let both = ["-c", "sleep 0.15", "-c", "sleep 0.03", "-o", "run.json"];
    let compared = page(&both, "'sleep 0.15' is slower than 'sleep 0.03': it takes ");
    let why = "why: howslow bill --repeat 9 --against 'sleep 0.03' -- sleep";
    let parts = ["a run on average: user ", why, "memory  exit\n"];
    assert!(parts.iter().all(|part| compared.contains(part)), "{compared}");
    let run = record::read_run(&data.path().join("run.json")).expect("a run");
    let [ratio] = run.ratios.as_slice() else { panic!("{:?}", run.ratios) };
    assert_eq!((ratio.operation.as_str(), ratio.base.as_str()), ("command: sleep 0.15", "command: sleep 0.03"));
    // It is that of the runs themselves, whatever they took here.
    let rounds = [&ratio.operation, &ratio.base].map(|name| cost(&run, name).rounds.iter().flat_map(|round| &round.ns));
    let [slow, fast] = rounds.map(|ns| ns.copied().collect::<Vec<f64>>());
    let least = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    assert!(least(&slow) >= 0.15e9 && least(&fast) >= 0.03e9, "{slow:?} {fast:?}");
    let times = ratio.ratio.expect("a ratio");
    assert!((least(&slow) / most(&fast)..=most(&slow) / least(&fast)).contains(&times), "{ratio:?}: {slow:?} {fast:?}");
    assert!(ratio.low < ratio.ratio && ratio.ratio < ratio.high, "{ratio:?}");
    assert!(ratio.pairs >= 2 && ratio.verdict.as_deref() == Some("slower"), "{ratio:?}");
    // A reference that is not among them is timed as well.
    let reference = ["--reference", "sleep 0.15", "-c", "sleep 0.03"];
    let compared = page(&reference, "'sleep 0.03' is faster than 'sleep 0.15': it takes 0.");
    assert!(compared.contains("command: sleep 0.15 "), "{compared}");
    let alone = time(&data, &[&["-c", "true a | wc -c > none 2>&1"][..], &SHORT].concat()).code(0);
    alone.stdout(contains("times as long").not()).stderr(
        "howslow: hint: there is no shell, so true gets '|' as an argument; with a shell: -- sh -c 'true a | wc -c > none 2>&1'\n",
    );
    assert!(!data.path().join("none").exists());
}

#[test]
fn runs_alternate_with_their_parameters_and_steps() {
    parameters_are_the_points_of_the_costs_and_steps_happen_around_every_run();
    runs_alternate_and_each_is_in_hyperfines_json();
}

/// Once around all runs of each command with its parameters, around every run, and for each command its own.
fn parameters_are_the_points_of_the_costs_and_steps_happen_around_every_run() {
    let data = folder();
    let steps = ["setup", "prepare", "conclude", "cleanup"].map(|step| format!("echo {step} {{n}} >> log"));
    let [setup, prepare, conclude, cleanup] = steps.each_ref().map(String::as_str);
    let parameters = ["--parameter", "n=1,2", "--parameter", "word=a b,c", "--json"];
    let commands = ["-c", "sh -c 'echo run {n} >> log' {word}", "-c", "true {n}"];
    let around = ["--setup", setup, "--prepare", prepare, "--prepare", "echo other >> log"];
    let after = ["--conclude", conclude, "--cleanup", cleanup];
    let result =
        time(&data, &[&parameters[..], &commands, &around, &after, &SHORT].concat()).code(0).stderr(prints_nothing());
    let run = support::run_of(result.get_output());
    let names = run.costs.iter().filter(|cost| cost.group == "commands").map(|cost| cost.name());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let sh =
        |n: u32, word: &str, quoted: &str| format!("command: sh -c 'echo run {n} >> log' {quoted}@n={n},word={word}");
    let expected = [
        "command.nothing".to_owned(),
        sh(1, "a b", "'a b'"),
        sh(1, "c", "c"),
        sh(2, "a b", "'a b'"),
        sh(2, "c", "c"),
        "command: true 1@n=1".into(),
        "command: true 2@n=2".into(),
    ];
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(names, expected);
    let logged = logged(&data);
    let count = |line: &str| logged.get(line).copied().unwrap_or(0);
    for n in [1, 2] {
        let times = |step: &str| count(&format!("{step} {n}"));
        // More than the trial of each of two words.
        assert!(times("run") > 2 && times("prepare") == times("run"), "{logged:?}");
        assert_eq!((times("setup"), times("cleanup")), (3, 3), "{logged:?}");
    }
    // What is given once is for both commands, what is given for each is for its own.
    let [all, own] = [count("conclude 1") + count("conclude 2"), count("run 1") + count("run 2")];
    assert!(count("other") > 2 && all == own + count("other"), "{logged:?}");
}

/// The trial is a whole run, in which a signal may well come.
#[test]
fn what_was_set_up_is_cleaned_up_where_a_signal_ends_the_trial() {
    let data = folder();
    let mut command = support::program(&data);
    command.args(["time", "--setup", "echo made >> log", "--cleanup", "echo gone >> log"]);
    command.args(["-c", "sh -c 'touch begun; exec sleep 60'"]).current_dir(data.path());
    let mut running =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    support::until("the trial", || data.path().join("begun").exists());
    support::kill(running.id(), Signal::TERM);
    assert_eq!(running.wait().expect("our child").code(), Some(143));
    assert_eq!(fs::read_to_string(data.path().join("log")).expect("a log"), "made\ngone\n");
}

fn runs_alternate_and_each_is_in_hyperfines_json() {
    let data = folder();
    // Input, parameters in two words, and a shell: each command logs which it is, and how many bytes it read.
    fs::write(data.path().join("text"), "1234567").expect("written");
    let options = ["--shell", "--input", "text", "--cold", "text", "-L", "n", "1,2", "--export-json", "times.json"];
    // After the trials of both: A B, B A, B A, A B, and each round the mirror of the one before. A busy host needs more time for so many.
    let logs = ["2s", "8s", "32s"].into_iter().map(|budget| {
        let _ = fs::remove_file(data.path().join("log"));
        let commands = ["-c", "echo {n} $(wc -c) >> log", "--budget", budget, "--rounds", "3"];
        time(&data, &[&options[..], &commands].concat()).code(0).stderr(prints_nothing());
        fs::read_to_string(data.path().join("log")).expect("a log")
    });
    let text = { logs }.find(|text| text.lines().count() >= 10).expect("four turns");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.iter().all(|line| ["1 7", "2 7"].contains(line)), "{lines:?}");
    let timed = &lines[2..];
    let turns: Vec<bool> = timed.chunks_exact(2).map(|turn| turn[0] == "1 7").collect();
    assert!(timed.chunks_exact(2).all(|turn| turn[0] != turn[1]), "{lines:?}");
    assert!(turns.starts_with(&[true, false]), "{lines:?}");
    let begun = turns.iter().filter(|first| **first).count();
    assert!(4 * begun >= turns.len() && 4 * (turns.len() - begun) >= turns.len(), "{lines:?}");
    let json = fs::read_to_string(data.path().join("times.json")).expect("times");
    let document: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let results = document["results"].as_array().expect("results");
    let counts: Vec<usize> = results.iter().map(|one| one["times"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(counts, [timed.len() / 2; 2], "each run has its time");
    assert_eq!((&results[0]["parameters"]["n"], &results[0]["exit_codes"][0]), (&"1".into(), &0.into()));
    time(&data, &["--input", "text", "--prepare", "rm -f text", "-c", "cat"])
        .code(1)
        .stderr(contains("cat: --input text: No such file or directory"));
}
