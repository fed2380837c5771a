//! What findings say that a change saves, beside what the change saves: the same work with a habit and without it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::{billed, counting};
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
/// Bills, and runs with the habit and without it, by turns.
const TURNS: usize = 5;
/// By how much two runs of one program on a shared host may differ.
const HOST: f64 = 1.5;

/// The compiled programs, where they work, and where howslow keeps its data.
struct Habits {
    program: PathBuf,
    place: TempDir,
    data: TempDir,
}

impl Habits {
    /// `None` where they cannot be compiled or counted.
    fn new() -> Option<Habits> {
        let (data, place) = (counting("ebpf")?, folder());
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bill/habits.c");
        let program = place.path().join("habits");
        let compiled = Command::new("cc").args(["-O1", "-pthread", "-o"]).args([&program, &text]).status();
        if !compiled.is_ok_and(|status| status.success()) {
            testing::not_tested!("there is no C compiler; gcc or clang is one");
            return None;
        }
        Some(Habits { program, place, data })
    }

    /// The processor time that a program used, in ns.
    fn used(&self, habit: &str, which: &str) -> f64 {
        let output = Command::new(&self.program).args([habit, which]).current_dir(self.place.path()).output();
        String::from_utf8_lossy(&output.expect("it runs").stdout).trim().parse().expect("ns")
    }

    /// What a bill of this habit was charged, and the least and the most that the finding with these words saves.
    fn said(&self, habit: &str, words: &str) -> (f64, [f64; 2]) {
        let bill = billed(&self.data, self.place.path(), &[self.program.to_str().expect("text"), habit, "before"]);
        let findings = bill["findings"].as_array().expect("findings");
        let is_it = |finding: &&Value| finding["text"].as_str().is_some_and(|text| text.contains(words));
        let found = findings.iter().find(is_it).unwrap_or_else(|| panic!("{habit}: {findings:?}"));
        let ends = [0, 1].map(|end| found["saves_ns"][end].as_f64().expect("a saving"));
        let charged = bill["seen"]["usage"]["cpu_ns"].as_f64().expect("a charge");
        assert!(ends[0] <= ends[1] && ends[1] <= charged, "{habit}: {ends:?} of {charged}");
        (charged, ends)
    }

    /// Checks what a change saves against what a bill before it says. The host's other work makes runs longer and none shorter, so the least of
    /// each kind of run is taken, and of the bills the one with the least charge; threads may also find a lock free, so of theirs the middle
    /// one. `timed` is the program that is run for the times.
    fn check(&self, (habit, words): (&str, &str), timed: &str) {
        let (mut told, mut used) = (Vec::new(), [Vec::new(), Vec::new()]);
        for _ in 0..TURNS {
            told.push(self.said(habit, words));
            for (used, which) in used.iter_mut().zip(["before", "after"]) {
                used.push(self.used(timed, which));
            }
        }
        let rank = if habit == "waiting-threads" { TURNS / 2 } else { 0 };
        told.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (_, ends) = told[rank];
        let [before, after] = used.map(|mut used| {
            used.sort_by(f64::total_cmp);
            used[rank]
        });
        let saved = before - after;
        assert!(saved > ends[0] / HOST && saved < ends[1] * HOST, "{habit} saves {saved}, and was said {told:?}");
    }
}

#[test]
fn doing_without_a_habit_saves_what_was_said() {
    if testing::is_for_later("savings") {
        return;
    }
    let Some(habits) = Habits::new() else { return };
    for habit in HABITS {
        habits.check(*habit, habit.0);
    }
}

#[test]
fn huge_pages_save_what_was_said_once_the_memory_is_there() {
    let Some(habits) = Habits::new() else { return };
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if setting.is_empty() || setting.contains("[never]") {
        return testing::not_tested!(
            "this kernel gives no huge pages; /sys/kernel/mm/transparent_hugepage/enabled does"
        );
    }
    // One process touches the same memory by turns, so that the host of a virtual machine has given it before.
    habits.check(("small-pages", "in pages of 4 KiB"), "pages-by-turns");
}

#[test]
fn several_messages_at_once_save_what_was_said_of_wake_ups() {
    let Some(habits) = Habits::new() else { return };
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        return testing::not_tested!("a task of another CPU is woken on a machine with two CPUs");
    }
    habits.check(("far-wakes", "woke a task of another CPU"), "far-wakes");
}
