//! `howslow terminal` at a terminal whose emulator is the test's own.

pub mod emulator;
mod pseudo;

use std::process::Command;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{QUICK, TRIES, comes, folder, is_installed, kill, run_of, until};
use crate::widths::widest;
use emulator::{Behaviour, Seat, Terminal, ended};

/// The command, in a terminal without anything in between.
fn howslow(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("howslow"));
    command.arg("terminal").args(arguments).env("TERM", "xterm");
    for name in ["TMUX", "STY", "SSH_CONNECTION", "SSH_TTY"] {
        command.env_remove(name);
    }
    command
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn rate(payload: &Value, kind: &str) -> f64 {
    payload[kind]["bytes_per_second"].as_f64().unwrap_or_else(|| panic!("{payload}"))
}

/// The command at a terminal that an emulator reads.
fn at(arguments: &[&str], behaviour: Behaviour) -> Seat {
    Seat::piped(howslow(arguments), 80, behaviour)
}

#[test]
fn rates_are_those_of_the_terminal_in_a_document_and_on_a_page() {
    the_rate_is_that_of_the_parser_and_not_of_the_buffer();
    a_page_that_fits_is_printed_after_the_users_screen_is_back();
    tmux_answers_itself_and_is_named();
}

fn the_rate_is_that_of_the_parser_and_not_of_the_buffer() {
    // On a busy machine the emulator is slower than it should, and this or that payload is disturbed: one of a few times none is.
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let ((status, stdout, stderr), shown) = at(&["--json", "--budget", "4s"], Behaviour::GOOD).ended();
        assert_eq!((status, stderr.as_str()), (Some(0), ""));
        let document = json(&stdout);
        assert_eq!((&document["rows"], &document["columns"]), (&24.into(), &80.into()));
        assert_eq!(document["between"], Value::Array(vec![]));
        assert_eq!(document["resized"], false);
        let payloads = document["payloads"].as_array().expect("payloads");
        assert_eq!(payloads.len(), 5);
        let shares = payloads.iter().map(|payload| {
            let (parsed, written) = (rate(payload, "parsed"), rate(payload, "written"));
            // The writer alone sees the buffer.
            (parsed / shown.speed, parsed / Behaviour::GOOD.speed, written / parsed)
        });
        seen.push(shares.collect::<Vec<_>>());
        let is_right = |&(own, parsed, written): &(f64, f64, f64)| own >= 0.6 && parsed <= 1.02 && written > 2.0;
        if seen.last().is_some_and(|shares| shares.iter().all(is_right)) {
            return a_window_that_changes_its_size_is_reported();
        }
    }
    panic!("parsed by the parser's speed, written by parsed: {seen:?}");
}

fn a_window_that_changes_its_size_is_reported() {
    let seat = at(&["--json", "--budget", "2s"], Behaviour::GOOD);
    until("raw mode", || seat.terminal.is_raw());
    seat.terminal.resize(30, 100);
    let ((status, stdout, stderr), _) = seat.last();
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert_eq!(json(&stdout)["resized"], true);
}

/// As wide as the terminal.
fn a_page_that_fits_is_printed_after_the_users_screen_is_back() {
    for columns in [60, 80, 120] {
        let mut command = howslow(&["--budget", "1s"]);
        command.env("COLUMNS", columns.to_string());
        let fast = Behaviour { speed: 2e6, ..Behaviour::GOOD };
        let ((status, stdout, stderr), _) = Seat::piped(command, columns, fast).ended();
        assert_eq!((status, stderr.as_str()), (Some(0), ""));
        let size = format!("this terminal: xterm, 24 rows, {columns} columns");
        for word in [&size, "scrolling", "unicode", "p50", "samples"] {
            assert!(stdout.contains(word), "{word}: {stdout}");
        }
        let (width, line) = widest(&stdout).expect("a page");
        assert!(width <= usize::from(columns) && width > 30, "{columns}: {line}");
    }
}

#[test]
fn a_terminal_that_fails_is_reported_and_whatever_ends_it_the_terminal_is_restored() {
    ctrl_c_and_sigterm_end_it_cleanly();
    one_that_is_killed_leaves_the_terminal_as_it_was();
    // Each of these waits for three seconds.
    std::thread::scope(|scope| {
        for fails in [one_that_never_answers, one_that_nobody_drains, one_that_stops_taking_output] {
            scope.spawn(fails);
        }
    });
    one_that_is_closed();
    one_in_the_background_is_a_misuse();
}

fn one_that_never_answers() {
    let ((status, stdout, stderr), _) = at(&[], Behaviour { answers: false, ..Behaviour::GOOD }).ended();
    assert_eq!((status, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("did not answer ESC[6n within 3 s"), "{stderr}");
}

fn one_that_nobody_drains() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&[]));
    let (status, _, stderr) = ended(running);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(terminal.is_as_before());
}

fn one_that_stops_taking_output() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&["--budget", "60s"]));
    terminal.answer_until_full(5);
    let (status, _, stderr) = ended(running);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("took no output for 3 s"), "{stderr}");
    assert!(terminal.is_as_before());
}

fn one_that_is_closed() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&["--budget", "60s"]));
    until("raw mode", || terminal.is_raw());
    drop(terminal);
    let (status, stdout, _) = ended(running);
    assert_eq!((status, stdout.as_str()), (Some(129), ""));
}

/// The command in the middle of a long measurement.
fn measuring(behaviour: Behaviour) -> Seat {
    let seat = at(&["--budget", "60s"], behaviour);
    until("questions", || seat.terminal.is_raw() && seat.terminal.parsed() > 1 << 10);
    seat
}

fn one_that_is_killed_leaves_the_terminal_as_it_was() {
    for speed in [50e3, 5e6] {
        measuring(Behaviour { speed, ..Behaviour::GOOD }).killed(Signal::KILL);
    }
}

fn ctrl_c_and_sigterm_end_it_cleanly() {
    for (signal, status) in [(None, 130), (Some(Signal::TERM), 143), (Some(Signal::HUP), 129)] {
        let seat = measuring(Behaviour::GOOD);
        match signal {
            None => seat.terminal.press(b"x\x03"),
            Some(signal) => kill(seat.running.id(), signal),
        }
        let ((got, stdout, stderr), _) = seat.ended();
        assert_eq!((got, stdout.as_str(), stderr.as_str()), (Some(status), "", ""));
    }
}

fn one_in_the_background_is_a_misuse() {
    // The shell stays the terminal's group, as one without job control that the user waits at does.
    let mut command = Command::new("sh");
    let program = cargo_bin("howslow");
    command.args(["-mc", "\"$0\" terminal & wait $!"]).arg(program);
    let ((status, _, stderr), _) = Seat::piped(command, 80, Behaviour::GOOD).last();
    assert_eq!(status, Some(2), "{stderr}");
    assert!(stderr.contains("bring howslow to the foreground"), "{stderr}");
}

fn tmux_answers_itself_and_is_named() {
    if !is_installed("tmux") {
        testing::not_tested!("there is no tmux; apt-get install tmux");
        return;
    }
    let place = folder();
    let (socket, out) = (place.path().join("socket"), place.path().join("out"));
    let tmux = |arguments: &[&str]| {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").arg("-S").arg(&socket).args(["-f", "/dev/null"]);
        command.args(arguments).output().expect("tmux runs")
    };
    let line = format!(
        "{} terminal --json --budget 2s > {} 2>&1; echo $? > {}.status",
        cargo_bin("howslow").display(),
        out.display(),
        out.display()
    );
    let started = tmux(&["new-session", "-d", "-x", "80", "-y", "24", &line]);
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    let status = place.path().join("out.status");
    let over = comes(|| std::fs::read_to_string(&status).is_ok_and(|text| text.ends_with('\n')));
    tmux(&["kill-server"]);
    assert!(over, "it hung in tmux");
    let text = std::fs::read_to_string(&out).expect("the output");
    assert_eq!(std::fs::read_to_string(&status).expect("the status").trim(), "0", "{text}");
    let document = json(&text);
    assert_eq!(document["between"][0]["name"], "tmux");
    for payload in document["payloads"].as_array().expect("payloads") {
        assert!(rate(payload, "parsed") > 1000.0, "{payload}");
    }
}

#[test]
fn nothing_stays_behind_a_terminal() {
    pseudo::a_killed_measurement_leaves_nothing_behind();
    nothing_stays_where_hang_ups_are_ignored();
}

/// Programs that inherit that a hang-up is ignored (nohup) must still end with their terminal.
fn nothing_stays_where_hang_ups_are_ignored() {
    let data = folder();
    let mark = format!("HOWSLOW_TEST_MARK={}-nohup", std::process::id());
    let (name, value) = mark.split_once('=').expect("a name and a value");
    let left = || {
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        let has = |path: std::path::PathBuf| {
            let words = std::fs::read(path.join("environ")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
        };
        processes.filter(|entry| has(entry.path())).count()
    };
    let mut command = assert_cmd::Command::new("nohup");
    command.arg(cargo_bin("howslow")).args(["run", "terminal.through@path=script,size=64", "--json"]);
    command.args(QUICK).env("HOWSLOW_DATA", data.path()).env(name, value).timeout(Duration::from_secs(120));
    let output = command.output().expect("it ran");
    assert!(run_of(&output).costs.iter().any(|cost| cost.operation == "terminal.through"));
    until("the processes to end", || left() == 0);
}
