//! What findings predict that a change saves, beside what the change saves: the same work with a habit and without it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::WaitReason;
use serde_json::Value;
use tempfile::TempDir;

use super::programs::program;
use super::{Bill, billed, counting};
use crate::support::{cc, folder};

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
/// How many bills, and runs with the habit and without it, are made by turns.
fn turns() -> usize {
    if testing::is_for_later("savings") { 3 } else { 5 }
}

/// Threads meet at a lock at other moments while their calls are counted, and may use half the time. What doing without a habit saves is
/// then seen in what is watched.
const CHANGED_BY_COUNTING: &str = "waiting-threads";
/// Those of which other work on the machine makes some runs shorter: a lock may be free, and a CPU that works is woken at once.
const BY_LUCK: [&str; 2] = [CHANGED_BY_COUNTING, "far-wakes"];
/// How often a program runs with the habit and without it in each turn, where no bill is made of it: a run takes a tenth of a second, and up
/// to half more while the host works for others.
const RUNS: usize = 4;
/// By how much two runs of one program on a shared host may differ.
const HOST: f64 = 1.5;

/// A program in C of this folder; `None` without a compiler.
pub fn compiled(place: &TempDir, name: &str) -> Option<PathBuf> {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/bill/{name}.c"));
    let program = place.path().join(name);
    cc(program, [OsStr::new("-O1"), OsStr::new("-pthread"), text.as_os_str()])
}

pub fn has_huge_pages() -> bool {
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let has = !setting.is_empty() && !setting.contains("[never]");
    if !has {
        testing::not_tested!("this kernel gives no huge pages; /sys/kernel/mm/transparent_hugepage/enabled does");
    }
    has
}

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
        Some(Habits { program: compiled(&place, "habits")?, place, data })
    }

    /// The processor time that a program used, in ns.
    fn used(&self, habit: &str, which: &str) -> f64 {
        if habit == CHANGED_BY_COUNTING {
            // What counting takes is charged too, and no saving.
            let seen = self.billed(habit, which).seen;
            return seen.usage.cpu_ns.expect("a charge") - seen.counting.expect("it was determined").together_ns;
        }
        let output = Command::new(&self.program).args([habit, which]).current_dir(self.place.path()).output();
        String::from_utf8_lossy(&output.expect("it runs").stdout).trim().parse().expect("ns")
    }

    fn billed(&self, habit: &str, which: &str) -> Bill {
        billed(&self.data, self.place.path(), &[self.program.to_str().expect("text"), habit, which])
    }

    /// What a bill of this habit was charged, and the least and the most that the finding with these words saves.
    fn predicted(&self, habit: &str, words: &str) -> (f64, [f64; 2]) {
        let bill = self.billed(habit, "before");
        let findings = bill.document["findings"].as_array().expect("findings");
        let is_it = |finding: &&Value| finding["text"].as_str().is_some_and(|text| text.contains(words));
        let found = findings.iter().find(is_it).unwrap_or_else(|| panic!("{habit}: {findings:?}"));
        let ends = [0, 1].map(|end| found["saves_ns"][end].as_f64().expect("a saving"));
        let charged = bill.seen.usage.cpu_ns.expect("a charge");
        assert!(ends[0] <= ends[1] && ends[1] <= charged, "{habit}: {ends:?} of {charged}");
        (charged, ends)
    }

    /// Checks what a change saves against what a bill before it predicts. The host's other work makes runs longer and none shorter, so the
    /// least of each kind of run is taken, and of the bills the one with the least charge; where some are shorter by luck, the middle of
    /// each figure. `timed` is the program that is run for the times.
    fn check(&self, (habit, words): (&str, &str), timed: &str) {
        let (mut predicted, mut used) = (Vec::new(), [Vec::new(), Vec::new()]);
        for _ in 0..turns() {
            predicted.push(self.predicted(habit, words));
            for _ in 0..if habit == CHANGED_BY_COUNTING { 1 } else { RUNS } {
                for (used, which) in used.iter_mut().zip(["before", "after"]) {
                    used.push(self.used(timed, which));
                }
            }
        }
        let by_luck = BY_LUCK.contains(&habit);
        let ranked = |mut figures: Vec<f64>| {
            figures.sort_by(f64::total_cmp);
            figures[if by_luck { figures.len() / 2 } else { 0 }]
        };
        predicted.sort_by(|one, other| one.0.total_cmp(&other.0));
        let middle = || [0, 1].map(|end| ranked(predicted.iter().map(|(_, ends)| ends[end]).collect()));
        let ends = if by_luck { middle() } else { predicted[0].1 };
        let [before, after] = used.map(ranked);
        let saved = before - after;
        let is_expected = saved > ends[0] / HOST && saved < ends[1] * HOST;
        assert!(is_expected, "{habit} saves {saved}, and was predicted to save {predicted:?}");
    }
}

#[test]
fn a_change_saves_what_was_predicted() {
    doing_without_a_habit_saves_what_was_predicted();
    waiting_less_saves_what_was_predicted();
}

fn doing_without_a_habit_saves_what_was_predicted() {
    let Some(habits) = Habits::new() else { return };
    // One process touches the same memory by turns, so that the host of a virtual machine has given it before.
    if has_huge_pages() {
        habits.check(("small-pages", "in pages of 4 KiB"), "pages-by-turns");
    }
    // Several messages at once.
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        testing::not_tested!("a task of another CPU is woken on a machine with two CPUs");
    } else {
        habits.check(("far-wakes", "woke a task of another CPU"), "far-wakes");
    }
    if !testing::is_for_later("savings") {
        HABITS.iter().for_each(|habit| habits.check(*habit, habit.0));
    }
}

/// A program of another name, billed; and its only finding that saves waiting: its text, and the least and the most that it saves.
fn waiting(data: &TempDir, words: [&str; 2]) -> (Bill, Option<(String, [f64; 2])>) {
    let bill = billed(data, data.path(), &[&program(words[0]), words[1]]);
    let findings = bill.document["findings"].as_array().expect("findings").clone();
    let slow = findings.iter().find(|finding| finding["saves_elapsed_ns"].is_array()).map(|slow| {
        let ends = [0, 1].map(|end| slow["saves_elapsed_ns"][end].as_f64().expect("ns"));
        (slow["text"].as_str().expect("a sentence").to_owned(), ends)
    });
    (bill, slow)
}

/// How often and how long a call waited for this reason, in ns.
fn waits(bill: &Bill, call: &str, reason: WaitReason) -> (u64, f64) {
    let mut all = bill.seen.together.waits.iter();
    let found = all.find(|waits| waits.call.as_deref() == Some(call) && waits.reason == reason);
    found.map_or((0, 0.0), |waits| (waits.count, waits.total_ns))
}

fn waiting_less_saves_what_was_predicted() {
    let Some(data) = counting("ebpf") else { return };
    // The host's other work makes runs longer and none shorter: the shortest of a few.
    let shortest = |words: [&str; 2]| {
        let bills = (0..turns()).map(|_| waiting(&data, words));
        bills.min_by(|(one, _), (other, _)| one.seen.elapsed_ns.total_cmp(&other.seen.elapsed_ns)).expect("bills")
    };
    let (before, finding) = shortest(["client", "delay"]);
    let (text, [least, most]) = finding.expect("a finding");
    assert!(text.contains("TCP_NODELAY") && text.contains("acknowledgement"), "{text}");
    let (after, finding) = shortest(["client", "no-delay"]);
    // Client and server wait for each other all the time; what they wait for a CPU, on a busy host, is no part of it.
    let call = text.split_once(" waits in ").and_then(|(_, rest)| rest.split(' ').next()).expect("a call");
    let [waited, waits_still] = [&before, &after].map(|bill| waits(bill, call, WaitReason::Event).1 / 2.0);
    let saved = waited - waits_still;
    assert!(least <= saved && saved <= most, "saves {saved} ns, predicted {least} to {most}");
    assert!(finding.is_none_or(|(text, _)| !text.contains("TCP_NODELAY")));
    syncing_less_saves_what_was_predicted(&data);
}

/// A sync after each line of a log, and one after ten lines.
fn syncing_less_saves_what_was_predicted(data: &TempDir) {
    let device = |bill: &Bill| waits(bill, "fsync", WaitReason::Kernel);
    let (before, finding) = waiting(data, ["log", "1"]);
    let (count, total) = device(&before);
    if count < 200 {
        return testing::not_tested!("syncing waits {count} times here; a TMPDIR on a device is needed");
    }
    if total < before.seen.elapsed_ns * 0.05 {
        return testing::left_out!("syncing waits {total} ns here: too little for a finding");
    }
    let (text, [least, most]) = finding.expect("a finding");
    assert!(text.starts_with("fsync was waited for") && text.contains("lost in a crash"), "{text}");
    assert!(least < most && most < total, "{least} to {most} of {total} ns");
    // A sync also writes what others have written since the last one, on a device that they use: of both the turn that waited least counts.
    let turns: Vec<_> = (0..turns()).map(|_| [["log", "1"], ["log", "10"]].map(|words| waiting(data, words))).collect();
    let least_waited = |side: usize| {
        let bills = turns.iter().map(|turn| &turn[side]);
        bills.min_by(|(one, _), (other, _)| device(one).1.total_cmp(&device(other).1)).expect("bills")
    };
    let [(each, finding), (tenth, _)] = [0, 1].map(least_waited);
    let [waited, waits_still] = [each, tenth].map(|bill| device(bill).1);
    if waited < each.seen.elapsed_ns * 0.05 {
        return testing::left_out!("syncing waits {waited} ns in the turn that waited least: too little for a finding");
    }
    let (_, [least, most]) = finding.as_ref().expect("a finding");
    // On a device that others hardly use, this says something.
    assert!(*least > 0.05 * most, "{least} to {most} of {waited} ns");
    let saved = waited - waits_still;
    assert!(saved > least / HOST && saved < most * 1.2, "saves {saved} of {waited} ns, predicted {least} to {most}");
}
