//! `howslow bill`: what it counts, what is unchanged for the command, and where it stops.

mod changes;
mod containers;
mod counts;
mod descriptors;
mod lives;
mod mixes;
mod names;
mod prices;
mod programs;
mod rare;
mod rights;
mod savings;
mod stacks;
mod stressed;
mod tasks;
mod timed;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use predicates::prelude::*;
use predicates::str::contains;
use record::{CallCount, Observation, ProcessCounts, Requests};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{count, folder, howslow};

/// Calls by name: how often, and how often they failed.
type Calls = BTreeMap<String, (u64, u64)>;

/// A data folder, if calls can be counted in this way here; otherwise reports what is missing.
fn counting(source: &str) -> Option<TempDir> {
    static TRIED: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());
    let data = folder();
    let try_it = || {
        let output = howslow(&data).args(["bill", "--source", source, "--", "true"]).output().expect("howslow runs");
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    };
    match TRIED.lock().expect("no panic holds it").entry(source.into()).or_insert_with(try_it) {
        Some(why) => testing::not_tested!("calls cannot be counted: {why}"),
        None => return Some(data),
    }
    None
}

/// The ways of counting calls that are possible here.
fn possible() -> Vec<&'static str> {
    ["ebpf", "ptrace"].into_iter().filter(|source| counting(source).is_some()).collect()
}

/// A folder with files to work on.
fn files() -> TempDir {
    let place = folder();
    fs::create_dir(place.path().join("d")).expect("a folder");
    let words: Vec<String> = (0..5000_u64).map(|number| (number * 7919 % 10_007).to_string()).collect();
    fs::write(place.path().join("words"), words.join("\n")).expect("a file");
    for number in 0..40 {
        fs::write(place.path().join(format!("d/f{number}")), format!("{number}\n")).expect("a file");
        fs::create_dir(place.path().join(format!("d/s{number}"))).expect("a folder");
    }
    place
}

/// The document of a bill.
struct Bill {
    document: Value,
    seen: Observation,
}

impl Bill {
    fn read(path: &Path) -> Bill {
        Bill::from_bytes(&fs::read(path).expect("the document"))
    }

    fn from_bytes(bytes: &[u8]) -> Bill {
        let document: Value =
            serde_json::from_slice(bytes).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(bytes)));
        Bill { seen: serde_json::from_value(document["seen"].clone()).expect("what was seen"), document }
    }

    /// How often each call was made and failed.
    fn calls(&self) -> Calls {
        self.seen.together.calls.iter().map(|call| (call.call.clone(), (call.count, call.failed()))).collect()
    }

    /// How often a call was made.
    fn count(&self, call: &str) -> u64 {
        self.calls().get(call).map_or(0, |(count, _)| *count)
    }

    fn process(&self, name: &str) -> &ProcessCounts {
        let found = self.seen.processes.iter().find(|process| process.name == name);
        found.unwrap_or_else(|| panic!("{name} is not among {:?}", self.seen.processes))
    }
}

/// A call of a process, or of all.
fn call<'a>(requests: &'a Requests, name: &str) -> &'a CallCount {
    let found = requests.calls.iter().find(|call| call.call == name);
    found.unwrap_or_else(|| panic!("{name} is not among {:?}", requests.calls))
}

/// The bill of this command, in the kernel.
fn billed(data: &TempDir, place: &Path, words: &[&str]) -> Bill {
    billed_by(data, place, &["--source", "ebpf"], words)
}

/// The same with options of `howslow bill`.
fn billed_by(data: &TempDir, place: &Path, options: &[&str], words: &[&str]) -> Bill {
    let file = data.path().join("bill.json");
    // Commands request what their input and output are, so they get the same as under strace.
    let mut command = unvaried(data, place, assert_cmd::cargo::cargo_bin!("howslow"));
    command.arg("bill").args(options).arg("-o").arg(&file).arg("--").args(words);
    let output = command.output().expect("howslow runs");
    assert!(output.status.success(), "{words:?}: {output:?}");
    Bill::read(&file)
}

/// A program without what makes two runs of a command differ: hashes and, where a sandbox allows it, addresses drawn at random, another
/// environment.
fn unvaried(data: &TempDir, place: &Path, program: impl AsRef<OsStr>) -> Command {
    let same_addresses = ["setarch", "--addr-no-randomize"];
    let is_possible = Command::new(same_addresses[0]).args([same_addresses[1], "true"]).output();
    let mut command = if is_possible.is_ok_and(|output| output.status.success()) {
        let mut command = Command::new(same_addresses[0]);
        command.arg(same_addresses[1]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.env("PYTHONHASHSEED", "0").env("HOWSLOW_DATA", data.path()).env("HOWSLOW_PRICES", "kept");
    command.current_dir(place).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// By any way of counting, and by the accounts alone.
#[test]
fn the_command_keeps_its_output_its_input_and_its_end() {
    let data = folder();
    let bill = |options: &[&str], words: &[&str]| {
        let mut command = howslow(&data);
        command.env_remove("HOWSLOW_PRICES").args(["bill", "--no-measure"]).args(options).arg("--").args(words);
        command
    };
    for (words, status) in [
        ("echo out; echo err >&2; exit 7", 7),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("kill -XFSZ $$", 153),
        (":", 0),
    ] {
        let assert = bill(&[], &["sh", "-c", words]).assert().code(status);
        let expected = if words.starts_with("echo") { "out\n" } else { "" };
        assert.stdout(expected).stderr(contains("bill of sh").and(contains("charged")));
    }
    bill(&[], &["cat"]).write_stdin("through").assert().success().stdout("through");
    // What a sandbox looks at is as it was.
    let look = ["sh", "-c", "grep -e NoNewPrivs -e Seccomp: -e TracerPid -e SigIgn -e SigBlk /proc/self/status"];
    let bare = Command::new(look[0]).args(&look[1..]).output().expect("sh runs");
    let watched = bill(&[], &look).output().expect("howslow runs");
    assert_eq!(status_lines(&watched.stdout), status_lines(&bare.stdout));
    // Without calls, without stacks, and without a price, since it may not measure.
    let accounts = bill(&["--stacks", "--source", "accounts"], &["sh", "-c", "exit 4"]).assert().code(4);
    let no_stack = "--stacks: no stack was found; that takes eBPF (as root)";
    let accounts =
        accounts.stderr(contains("counted by accounts").and(contains("minor faults")).and(contains(no_stack)));
    let accounts = accounts.stderr(contains("no call was counted").and(contains("measuring").not()));
    accounts.stderr(contains("to measure what is lacking: howslow prices"));
}

/// Lines of a process's status. The C library has signals of its own above the standard ones, which are left out.
fn status_lines(text: &[u8]) -> Vec<(String, u64)> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().filter_map(|line| line.split_once(":\t"));
    let number = |digits: &str| u64::from_str_radix(digits, 16).expect("a number") & 0x7fff_ffff;
    lines.map(|(name, digits)| (name.into(), number(digits))).collect()
}

/// By calls of its own, and by runs of the command without and with counting.
#[test]
fn every_bill_reports_what_counting_costs() {
    let place = folder();
    let counted = |source: &str, options: &[&str], script: &str| {
        let file = place.path().join("bill.json");
        let mut bill = howslow(&place);
        bill.current_dir(place.path()).args(["bill", "--source", source]).args(options).arg("-o").arg(&file);
        let ended = bill.args(["--", "sh", "-c", script]).assert().code(3);
        let page = String::from_utf8_lossy(&ended.get_output().stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        let seen = Bill::read(&file).seen;
        // What howslow calls itself is not in the bill; the shell requests its parent once.
        assert_eq!(call(&seen.together, "getppid").count, 1, "{source}");
        (page, seen.counting.expect("an account"))
    };
    for source in possible() {
        let (page, counting) = counted(source, &[], "exit 3");
        assert_eq!(counting.in_program_ns.is_none(), source == "ptrace", "{counting:?}");
        let probe = counting.probe.expect("calls of howslow's own");
        let times = format!("{} times each", probe.pairs);
        assert!(page.contains("alternately") && page.contains(&times), "{page}");
        // As few as an interval takes, where there is no free CPU.
        assert!((6..=12).contains(&probe.pairs) && probe.per_call_ns > 0.0, "{counting:?}");
        assert!(probe.low_ns <= probe.per_call_ns && probe.per_call_ns <= probe.high_ns, "{counting:?}");
        assert_eq!(counting.per_call_ns, probe.per_call_ns);
    }
    let Some(source) = possible().first().copied() else { return };
    let (page, counting) = counted(source, &["--alternate", "2"], "echo x >> runs; exit 3");
    assert!(page.contains("Alternated, 2 times each:"), "{page}");
    assert_eq!(fs::read_to_string(place.path().join("runs")).expect("its lines"), "x\n".repeat(5));
    let runs = counting.alternated.expect("runs");
    assert!(runs.pairs == 2 && runs.bare_cpu_ns > 0.0 && runs.counted_cpu_ns > 0.0, "{runs:?}");
    assert_eq!(counting.together_ns, runs.cost_ns().max(0.0));
    howslow(&place).args(["bill", "--alternate", "2", "--system", "--for", "1s"]).assert().code(2);
}

#[test]
fn openmetrics_are_printed_each_time_and_the_file_is_whole() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let file = place.path().join("bill.prom");
    let mut command = howslow(&data);
    command.args(["bill", "--format", "openmetrics", "--every", "200ms", "-o"]).arg(&file);
    // It goes on once there is a first exposition.
    let script = "while [ ! -s \"$0\" ]; do :; done; /bin/true; kill -TERM $$";
    let assert = command.args(["--", "sh", "-c", script]).arg(&file).assert().code(143);
    let output = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let expositions: Vec<&str> = output.split_inclusive("# EOF\n").collect();
    assert!(expositions.len() >= 2 && expositions.iter().all(|text| text.ends_with("# EOF\n")), "{output}");
    let execs = |text: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix("howslow_executed_programs_total "));
        line.and_then(|count| count.parse().ok()).expect("a counter")
    };
    // Counters never go back.
    let counts: Vec<u64> = expositions.iter().map(|text| execs(text)).collect();
    assert!(counts.is_sorted() && counts[0] < 2 && counts.last() == Some(&2), "{counts:?}");
    let written = fs::read_to_string(&file).expect("the file");
    // The node exporter's textfile collector cannot read OpenMetrics, so the file is in the Prometheus text format.
    let samples = |text: &str| text.lines().filter(|line| !line.starts_with('#')).map(String::from).collect::<Vec<_>>();
    assert_eq!(samples(&written), samples(expositions.last().expect("one")));
    assert!(!written.contains("# EOF") && !written.contains(" info"), "{written}");
    assert_eq!(count(&place), 1, "no part of a file is left");
}
