//! Every verb that clap knows prints lines that fit on the terminal, at 60, 80 and 120 columns: pages, messages and progress.

use crate::help::every_verb;
use crate::support::{REPLAY, howslow};
use crate::terminal::emulator::printed;
use crate::widths::{PAGES, command, data, fit};
use crate::world;

/// A terminal that only prints gets neither colours nor a progress bar that is drawn over.
#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let data = data();
    for words in [&["run", "loop.empty", REPLAY[0], REPLAY[1]][..], &["show", "RUN"], &["nope"]] {
        let mut command = command(&data, words);
        command.env("TERM", "dumb");
        let (_, text) = printed(command, 80);
        let lone = text.replace("\r\n", "\n").contains('\r');
        assert!(!text.contains('\x1b') && !lone && !text.trim().is_empty(), "{words:?}: {text:?}");
    }
}

/// Commands that measure, as briefly as they can, and those that need files of their own.
const SHORT: [&[&str]; 32] = [
    &["run", "loop.empty", "pipe.roundtrip", "--rounds", "1", "--budget", "500ms"],
    &["run", "loop.empty", "--tails", "--rounds", "1", "--budget", "500ms"],
    &["time", "--rounds", "1", "--budget", "500ms", "-c", "true", "-c", "true and some words that it does not read"],
    &["noise", "--time", "20ms"],
    &["crossover", "file.read", "file.map.read.unmap", "--axis", "size", "--rounds", "1", "--budget", "500ms"],
    &["interference", "compute", "--budget", "500ms"],
    &["file", "advise", "FILE", "--budget", "500ms"],
    &["file", "tune", "FILE", "--budget", "500ms"],
    &["self-test", "--budget", "500ms"],
    &["top", "--once", "--every", "50ms"],
    &["bill", "--", "true"],
    &["prices", "--for", "echo", "--budget", "500ms"],
    &["model", "--users", "3", "--think", "27s", "--user", "395ms", "--handling", "8ms", "--events", "20000"],
    &["report", "--gallery", "gallery", "zen-4-kvm", "--force"],
    &["bill", "--system", "--for", "50ms"],
    &["model", "no-such-file-of-parameters-with-a-name-that-is-longer-than-a-narrow-terminal"],
    &["load", "developer", "--dry-run"],
    &["load", "cliff", "--dry-run"],
    &["watch"],
    &["watch", "20260103"],
    &["history"],
    &["history", "remove", "no-such-run-with-a-name-that-is-longer-than-a-narrow-terminal-is-wide"],
    &["contribute", "RUN", "-o", "a-book.toml"],
    &["report", "RUN", "-o", "page.html", "--force"],
    &["import", "HYPERFINE", "-o", "imported.json"],
    &["fleet", "show", "nodes"],
    &["fleet", "show", "nodes", "--all"],
    &["fleet", "run", "--kubernetes", "--image", "registry.example/howslow:1", "--count", "2", "-o", "manifests"],
    &["fleet", "status"],
    &["fleet", "attach"],
    &["fleet", "retry"],
    &["fleet", "cancel"],
];

/// Of those, the ones that take half a second each are at the narrowest width only. The tables of `run` and `time` are at all.
const MEASURED: std::ops::Range<usize> = 3..14;

/// Verbs whose output is for programs, with what reads it; and `terminal`, which has a test of its own.
const ELSEWHERE: [(&str, &str); 6] = [
    ("export", "CSV, metrics and what other tools read"),
    ("schema", "JSON"),
    ("completions", "a script of a shell"),
    ("man", "troff"),
    ("fleet", "its verbs are listed"),
    ("file", "its verbs are listed"),
];

#[test]
fn a_new_verb_has_a_case() {
    let cases: Vec<&[&str]> = PAGES.iter().chain(&SHORT).copied().chain([&["terminal"][..]]).collect();
    for verb in every_verb() {
        let words: Vec<&str> = verb.iter().map(String::as_str).collect();
        let elsewhere = ELSEWHERE.iter().any(|(name, _)| words == [*name]);
        let has_case = cases.iter().any(|case| case.starts_with(&words));
        assert!(elsewhere || has_case, "no case tells how wide the page of `howslow {}` is", verb.join(" "));
    }
}

#[test]
fn what_measures_computes_or_refuses_fits_too() {
    let data = data();
    let world = world::folder();
    howslow(&data).args(["history", "--take-in"]).arg(world.path().join("nights")).assert().success();
    for (from, to) in [("fleet", "nodes"), ("hyperfine.json", "HYPERFINE")] {
        std::fs::rename(world.path().join(from), data.path().join(to)).expect("moved");
    }
    std::fs::write(data.path().join("FILE"), vec![7; 4 << 20]).expect("written");
    let cases = SHORT.iter().enumerate().flat_map(|(place, words)| {
        let widths: &[u16] = if MEASURED.contains(&place) { &[60] } else { &[60, 80, 120] };
        widths.iter().map(|columns| (*words, *columns))
    });
    fit(&data, &[0, 2, 3, 4, 5], cases);
}
