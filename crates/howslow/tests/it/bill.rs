//! `howslow bill`: counts beside those of strace, what is unchanged for the command, and misuse.

mod asks;
mod changes;
mod containers;
mod faults;
mod formats;
mod names;
mod objects;
mod prices;
mod programs;
mod savings;
mod sources;
mod stacks;
mod strace;
mod tasks;
mod waits;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{folder, howslow};

/// Calls by name: how often, and how often they failed.
type Calls = BTreeMap<String, (u64, u64)>;

/// A data folder, if calls can be counted in this way here; otherwise says what is missing.
fn counting(source: &str) -> Option<TempDir> {
    let data = folder();
    let output = howslow(&data).args(["bill", "--source", source, "--", "true"]).output().expect("howslow runs");
    if !output.status.success() {
        testing::not_tested!("calls cannot be counted: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success().then_some(data)
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

/// The document of a bill of this command.
fn billed(data: &TempDir, place: &Path, words: &[&str]) -> Value {
    billed_by(data, place, &["--source", "ebpf"], words)
}

/// The same with options of `howslow bill`.
fn billed_by(data: &TempDir, place: &Path, options: &[&str], words: &[&str]) -> Value {
    let file = data.path().join("bill.json");
    // Commands ask what their input and output are, so they get the same as under strace.
    let mut command = unvaried(data, place, assert_cmd::cargo::cargo_bin!("howslow"));
    command.arg("bill").args(options).arg("-o").arg(&file).arg("--").args(words);
    assert!(command.status().expect("howslow runs").success(), "{words:?}");
    let text = fs::read(&file).expect("the document");
    serde_json::from_slice(&text).expect("JSON")
}

/// The bill of a compiled program; `None` where calls cannot be counted.
fn billed_program(name: &str, text: &str) -> Option<Value> {
    let data = counting("ebpf")?;
    let program = programs::compiled(data.path(), name, text);
    Some(billed(&data, data.path(), &[program.to_str().expect("a path")]))
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

fn calls(document: &Value) -> Calls {
    let calls = document["seen"]["together"]["calls"].as_array().expect("calls");
    let failed = |call: &Value| {
        let errors = call["errors"].as_array().expect("errors");
        errors.iter().filter_map(|error| error["count"].as_u64()).sum()
    };
    calls
        .iter()
        .map(|call| {
            (call["call"].as_str().expect("a name").into(), (call["count"].as_u64().expect("a count"), failed(call)))
        })
        .collect()
}

#[test]
fn threads_processes_and_executed_programs_are_counted() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    // The shell of the tests may fork or not for its last command, so it gets another.
    let document =
        billed(&data, place.path(), &["sh", "-c", "i=0; while [ $i -lt 23 ]; do /bin/true; i=$((i+1)); done; :"]);
    let together = &document["seen"]["together"];
    assert_eq!((together["forks"].as_u64(), together["execs"].as_u64()), (Some(23), Some(24)));
    let calls = calls(&document);
    assert_eq!((calls["execve"].0, calls["exit_group"].0), (24, 24));
    let processes = document["seen"]["processes"].as_array().expect("processes");
    let named = |name: &str| processes.iter().filter(|process| process["name"] == name).count();
    assert_eq!((named("true"), named("sh")), (23, 1));
    let shell = processes.iter().find(|process| process["name"] == "sh").expect("the shell");
    assert!(processes.iter().all(|process| process["name"] == "sh" || process["parent"] == shell["pid"]));
    let signals = together["signals"].as_array().expect("signals");
    assert!(signals.iter().any(|signal| signal["name"] == "SIGCHLD" && signal["count"] == 23), "{signals:?}");
}

#[test]
fn many_processes_are_folded_and_none_is_lost() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let script = "i=0; while [ $i -lt 1000 ]; do (exit 0); i=$((i+1)); done; :";
    let document = billed(&data, place.path(), &["sh", "-c", script]);
    let seen = &document["seen"];
    let processes = seen["processes"].as_array().expect("processes");
    let all: u64 = processes.iter().filter_map(|process| process["processes"].as_u64()).sum();
    assert_eq!(all, 1001);
    assert!(processes.len() < 300, "{}", processes.len());
    assert_eq!(calls(&document)["exit_group"].0, 1001);
    let sum: u64 = processes
        .iter()
        .flat_map(|process| process["requests"]["calls"].as_array().expect("calls"))
        .filter_map(|call| call["count"].as_u64())
        .sum();
    assert_eq!(sum, calls(&document).values().map(|(count, _)| count).sum::<u64>());
}

#[test]
fn the_command_keeps_its_output_its_input_and_its_end() {
    let data = folder();
    for (words, status) in
        [("echo out; echo err >&2; exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143), (":", 0)]
    {
        let assert = howslow(&data).args(["bill", "--", "sh", "-c", words]).assert().code(status);
        let expected = if words.starts_with("echo") { "out\n" } else { "" };
        assert.stdout(expected).stderr(contains("bill of sh").and(contains("charged")));
    }
    howslow(&data).args(["bill", "--", "cat"]).write_stdin("through").assert().success().stdout("through");
    // What a sandbox looks at is as it was.
    let look = ["-c", "grep -e NoNewPrivs -e Seccomp: -e TracerPid -e SigIgn -e SigBlk /proc/self/status"];
    let bare = Command::new("sh").args(look).output().expect("sh runs");
    let watched = howslow(&data).args(["bill", "--", "sh"]).args(look).output().expect("howslow runs");
    assert_eq!(status_lines(&watched.stdout), status_lines(&bare.stdout));
}

/// Lines of a process's status. The C library has signals of its own above the standard ones, which are left out.
fn status_lines(text: &[u8]) -> Vec<(String, u64)> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().filter_map(|line| line.split_once(":\t"));
    let number = |digits: &str| u64::from_str_radix(digits, 16).expect("a number") & 0x7fff_ffff;
    lines.map(|(name, digits)| (name.into(), number(digits))).collect()
}

#[test]
fn a_process_that_runs_can_be_watched_for_a_time() {
    let Some(data) = counting("ebpf") else { return };
    let mut child = Command::new("sh").args(["-c", "while :; do /bin/true; done"]).spawn().expect("sh runs");
    let output = howslow(&data)
        .args(["bill", "--json", "--for", "500ms", "-p", &child.id().to_string()])
        .output()
        .expect("howslow runs");
    child.kill().expect("it can be ended");
    assert_eq!(child.wait().expect("it ended").signal(), Some(9), "it was not ended by being watched");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let calls = calls(&document);
    assert!(calls["execve"].0 > 0 && calls["wait4"].0 > 0, "{calls:?}");
    let processes = document["seen"]["processes"].as_array().expect("processes");
    assert!(processes.iter().any(|process| process["pid"] == child.id() && process["running"] == true));
}

#[test]
fn a_mix_is_written_and_two_bills_are_compared() {
    let data = folder();
    let place = folder();
    let path = |name: &str| place.path().join(name).display().to_string();
    for (script, file) in [(":", "a.json"), ("/bin/true; /bin/true", "b.json")] {
        let words = ["bill", "-o", &path(file), "-o", &path("mix.toml"), "--", "sh", "-c", script];
        howslow(&data).args(words).assert().success();
    }
    howslow(&data).args(["bill", &path("a.json"), &path("b.json")]).assert().success().stdout(contains("from sh"));
    let json =
        howslow(&data).args(["bill", "--json", &path("a.json"), &path("a.json")]).output().expect("howslow runs");
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["rows"], Value::Array(Vec::new()), "a bill is as itself");
    if counting("ebpf").is_some() {
        let mix = fs::read_to_string(place.path().join("mix.toml")).expect("the mix");
        assert!(mix.contains("process.exec"), "{mix}");
        howslow(&data)
            .args(["predict", &path("mix.toml"), "--on", "pdp-11-24"])
            .assert()
            .code(2)
            .stderr(contains("the mix"));
    }
}

#[test]
fn misuse_is_one_clear_sentence() {
    let data = folder();
    for (words, says) in [
        (&["bill", "--", "/no/such/program"][..], "cannot run /no/such/program"),
        (&["bill", "-p", "999999999"], "there is no process 999999999"),
        (&["bill", "--cgroup", "/tmp"], "is no cgroup"),
        (&["bill", "-o", "mix.txt", "--", "true"], "FILE.toml"),
        (&["bill", "-o", "x.json"], "say what to watch"),
        (&["bill", "Cargo.toml", "nothing.json"], "is no bill"),
        (&["bill", "--on", "no-such-run", "--", "true"], "no-such-run"),
    ] {
        howslow(&data).args(words).assert().code(2).stderr(contains(says));
    }
}

#[test]
fn without_counting_the_accounts_are_told() {
    let data = folder();
    let assert = howslow(&data).args(["bill", "--source", "accounts", "--", "sh", "-c", "exit 4"]).assert().code(4);
    assert.stderr(contains("counted by accounts").and(contains("minor faults")).and(contains("no call was counted")));
}

/// A run whose prices are written by hand: each look-up costs 1 µs on one file and 3 µs on many.
fn written_prices(data: &TempDir, place: &Path) -> std::path::PathBuf {
    let file = place.join("prices.json");
    howslow(data)
        .args(["run", "called.stat", "--full", "--budget", "2s", "--rounds", "2", "-o"])
        .arg(&file)
        .assert()
        .success();
    let mut run: Value = serde_json::from_slice(&fs::read(&file).expect("the run")).expect("JSON");
    for cost in run["costs"].as_array_mut().expect("costs") {
        if cost["operation"] != "called.stat" {
            continue;
        }
        let ns = if cost["at"]["files"] == 1 { 1e3 } else { 3e3 };
        for name in ["best", "quiet", "typical", "low", "high"] {
            cost["net_ns"][name] = ns.into();
            cost["gross_ns"][name] = ns.into();
        }
    }
    fs::write(&file, run.to_string()).expect("the run can be written");
    file
}

#[test]
fn look_ups_of_many_names_are_priced_by_many_files() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let prices = written_prices(&data, place.path());
    // A few names again and again, or each name once.
    let again = "i=0; while [ $i -lt 200 ]; do for f in few/*; do test -f $f; done; i=$((i+1)); done";
    for (name, files, words) in [("few", 10, ["sh", "-c", again]), ("many", 1500, ["find", "many", "-empty"])] {
        let home = place.path().join(name);
        fs::create_dir(&home).expect("a folder");
        (0..files).for_each(|file| fs::write(home.join(format!("f{file}")), "").expect("a file"));
        let bill = place.path().join("bill.json");
        let mut command = howslow(&data);
        command.current_dir(place.path()).args(["bill", "--source", "ebpf", "--on"]).arg(&prices).arg("-o").arg(&bill);
        command.arg("--").args(words).assert().success();
        let bill: Value = serde_json::from_slice(&fs::read(&bill).expect("the document")).expect("JSON");
        let rows = bill["rows"].as_array().expect("rows");
        let is_look =
            |row: &&Value| ["newfstatat", "stat", "faccessat2"].contains(&row["what"].as_str().expect("a name"));
        let looks = rows.iter().filter(is_look).max_by_key(|row| row["count"].as_u64()).expect("look-ups");
        let range = bill["explained_range_ns"].as_array().expect("a range");
        let [one, many] = [0, 1].map(|place| range[place].as_f64().expect("a figure"));
        let explained = bill["explained"]["ns"].as_f64().expect("a figure");
        assert!(many - one > 1e3 * f64::from(files), "{files} files, 2 µs more each: {one} to {many}; {looks}");
        if name == "many" {
            assert_eq!(explained, many, "{one} to {many}");
        } else {
            assert!(explained - one < 0.2 * (many - one), "{one} to {many}: {explained}; {looks}");
        }
    }
}
