//! What findings say that a change saves, beside what the change saves: the same work with a habit and without it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::{billed, can_count};
use crate::support::folder;

/// A habit of `habits.c`, and words of the finding about it.
const HABITS: &[(&str, &str)] = &[
    ("small-reads", "with a buffer of 4 KiB"),
    ("nothing-yet", "found nothing (EAGAIN)"),
    ("written-anew", "which the kernel writes anew"),
    ("reopened", "a file that stays open"),
    ("missing", "what is known to fail"),
    ("clocks", "The clock was read"),
    ("same", "its answer can be kept"),
    ("polled", "poll came before"),
    ("sought", "pread does both"),
    ("short-lived", "starting and ending them"),
    ("waiting-threads", "several threads want one lock"),
    ("asked-first", "came right after a look-up of the same name"),
    ("given-back", "memory was given back"),
    ("looked-up", "look up a name without opening it"),
];
/// Pairs of runs of which the middle one counts.
const PAIRS: usize = 3;
/// By how much two runs of one program on a shared host may differ.
const HOST: f64 = 1.35;

/// The compiled programs; `None` where they cannot be compiled or counted.
fn habits(data: &TempDir, place: &TempDir) -> Option<PathBuf> {
    if !can_count(data) {
        return None;
    }
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bill/habits.c");
    let program = place.path().join("habits");
    let compiled = Command::new("cc").args(["-O1", "-pthread", "-o"]).args([&program, &text]).status();
    if !compiled.is_ok_and(|status| status.success()) {
        testing::not_tested!("there is no C compiler; gcc or clang is one");
        return None;
    }
    Some(program)
}

/// The processor time that the program used with the habit, or without it, in ns.
fn used(program: &Path, place: &TempDir, habit: &str, which: &str) -> f64 {
    let output = Command::new(program).args([habit, which]).current_dir(place.path()).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("ns")
}

/// The least and the most that the finding with these words saves.
fn said(bill: &Value, words: &str) -> Option<[f64; 2]> {
    let findings = bill["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["text"].as_str().is_some_and(|text| text.contains(words)))?;
    let end = |place: usize| found["saves_ns"][place].as_f64();
    Some([end(0)?, end(1)?])
}

/// The middle one.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Checks what a change saves against what a bill before it says. The two are of different runs, on a host that others use.
fn check(data: &TempDir, place: &TempDir, program: &Path, (habit, words): (&str, &str), saved: impl Fn() -> f64) {
    let pairs: Vec<([f64; 2], f64, f64)> = (0..PAIRS)
        .map(|_| {
            let bill = billed(data, place.path(), &[program.to_str().expect("a path of text"), habit, "before"]);
            let ends = said(&bill, words).unwrap_or_else(|| panic!("{habit}: {:?}", bill["findings"]));
            (ends, saved(), bill["seen"]["usage"]["cpu_ns"].as_f64().expect("a charge"))
        })
        .collect();
    assert!(pairs.iter().all(|(ends, _, charged)| ends[0] <= ends[1] && ends[1] <= *charged), "{habit}: {pairs:?}");
    let over_least = middle(pairs.iter().map(|(ends, saved, _)| saved / ends[0].max(1.0)).collect());
    let over_most = middle(pairs.iter().map(|(ends, saved, _)| saved / ends[1]).collect());
    assert!(over_least > 1.0 / HOST && over_most < HOST, "{habit} saves {pairs:?}");
}

#[test]
fn doing_without_a_habit_saves_what_was_said() {
    let (data, place) = (folder(), folder());
    let Some(program) = habits(&data, &place) else { return };
    for (habit, words) in HABITS {
        let used = |which| used(&program, &place, habit, which);
        check(&data, &place, &program, (habit, words), || used("before") - used("after"));
    }
}

#[test]
fn huge_pages_save_what_was_said_once_the_memory_is_there() {
    let (data, place) = (folder(), folder());
    let Some(program) = habits(&data, &place) else { return };
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if setting.is_empty() || setting.contains("[never]") {
        return testing::not_tested!(
            "this kernel gives no huge pages; /sys/kernel/mm/transparent_hugepage/enabled does"
        );
    }
    // One process touches the same memory by turns, so that the host of a virtual machine has given it before.
    check(&data, &place, &program, ("small-pages", "in pages of 4 KiB"), || {
        used(&program, &place, "pages-by-turns", "after")
    });
}

#[test]
fn several_messages_at_once_save_what_was_said_of_wake_ups() {
    let (data, place) = (folder(), folder());
    let Some(program) = habits(&data, &place) else { return };
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        return testing::not_tested!("a task of another CPU is woken on a machine with two CPUs");
    }
    check(&data, &place, &program, ("far-wakes", "woke a task of another CPU"), || {
        used(&program, &place, "far-wakes", "before") - used(&program, &place, "far-wakes", "after")
    });
}
