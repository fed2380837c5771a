//! `howslow terminal` at a terminal whose emulator is the test's own.

mod emulator;

use std::process::Command;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

use crate::support::folder;
use emulator::{Behaviour, Shown, Terminal, ended, until};

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

/// The emulator is back at the user's screen, with nothing of the payloads on it.
fn assert_left(shown: &Shown) {
    let screen = shown.parser.screen();
    assert!(!screen.alternate_screen(), "the alternate screen is left");
    assert!(!screen.hide_cursor());
    assert_eq!(screen.contents().trim(), "");
}

#[test]
fn the_rate_is_that_of_the_parser_and_not_of_the_buffer() {
    // A busy machine can only make the emulator slower.
    let mut best: f64 = 0.0;
    for _ in 0..3 {
        let mut terminal = Terminal::new();
        let running = terminal.start(howslow(&["--json", "--budget", "4s"]));
        let emulator = terminal.emulate(Behaviour::GOOD);
        let (status, stdout, stderr) = ended(running);
        assert_eq!((status, stderr.as_str()), (Some(0), ""));
        assert!(terminal.is_as_before());
        assert_left(&emulator.join().expect("the emulator"));
        let document = json(&stdout);
        assert_eq!((&document["rows"], &document["columns"]), (&24.into(), &80.into()));
        assert_eq!(document["between"], Value::Array(vec![]));
        assert_eq!(document["resized"], false);
        let payloads = document["payloads"].as_array().expect("payloads");
        assert_eq!(payloads.len(), 5);
        let speed = Behaviour::GOOD.speed;
        for payload in payloads {
            let (parsed, written) = (rate(payload, "parsed"), rate(payload, "written"));
            assert!(parsed <= 1.02 * speed, "{payload}");
            assert!(written > 2.0 * parsed, "the writer alone sees the buffer: {payload}");
        }
        let lowest = payloads.iter().map(|payload| rate(payload, "parsed")).fold(f64::MAX, f64::min);
        best = best.max(lowest / speed);
        if best > 0.9 {
            break;
        }
    }
    assert!(best > 0.6, "{best} of the parser's speed");
}

#[test]
fn a_page_is_printed_after_the_users_screen_is_back() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&["--budget", "1s"]));
    let emulator = terminal.emulate(Behaviour { speed: 2e6, ..Behaviour::GOOD });
    let (status, stdout, stderr) = ended(running);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    for word in ["this terminal: xterm, 24 rows, 80 columns", "scrolling", "unicode", "p50", "samples"] {
        assert!(stdout.contains(word), "{word}: {stdout}");
    }
    assert_left(&emulator.join().expect("the emulator"));
}

#[test]
fn a_terminal_that_never_answers_is_told_and_restored() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&[]));
    let emulator = terminal.emulate(Behaviour { answers: false, ..Behaviour::GOOD });
    let (status, stdout, stderr) = ended(running);
    assert_eq!((status, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("did not answer ESC[6n within 3 s"), "{stderr}");
    assert!(terminal.is_as_before());
    assert_left(&emulator.join().expect("the emulator"));
}

#[test]
fn a_terminal_that_nobody_drains_holds_nothing_up() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&[]));
    let (status, _, stderr) = ended(running);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(terminal.is_as_before());
}

#[test]
fn a_terminal_that_stops_taking_output_is_told_and_restored() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&["--budget", "60s"]));
    let emulator = terminal.emulate(Behaviour { speed: 20e6, reads: 1_000_000, ..Behaviour::GOOD });
    let (status, _, stderr) = ended(running);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("took no output for 3 s"), "{stderr}");
    assert!(terminal.is_as_before());
    drop(emulator.join());
}

#[test]
fn a_terminal_that_is_closed_ends_it() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&["--budget", "60s"]));
    assert!(until(|| terminal.is_raw()));
    drop(terminal);
    let (status, stdout, _) = ended(running);
    assert_eq!((status, stdout.as_str()), (Some(129), ""));
}

#[test]
fn a_killed_process_leaves_the_terminal_as_it_was() {
    for speed in [50e3, 5e6] {
        let mut terminal = Terminal::new();
        let mut running = terminal.start(howslow(&["--budget", "60s"]));
        let emulator = terminal.emulate(Behaviour { speed, ..Behaviour::GOOD });
        assert!(until(|| terminal.is_raw()));
        std::thread::sleep(Duration::from_millis(300));
        running.kill().expect("our child");
        running.wait().expect("our child");
        assert!(until(|| terminal.is_as_before()), "the guardian restores the settings");
        // It ends when nobody has the terminal open any more: the guardian is gone too.
        let shown = emulator.join().expect("the emulator");
        assert_left(&shown);
    }
}

#[test]
fn ctrl_c_and_sigterm_end_it_cleanly() {
    for (signal, status) in [(None, 130), (Some(libc::SIGTERM), 143), (Some(libc::SIGHUP), 129)] {
        let mut terminal = Terminal::new();
        let running = terminal.start(howslow(&["--budget", "60s"]));
        let emulator = terminal.emulate(Behaviour::GOOD);
        assert!(until(|| terminal.is_raw()));
        std::thread::sleep(Duration::from_millis(300));
        let began = Instant::now();
        match signal {
            None => terminal.press(b"x\x03"),
            // SAFETY: a process that this test started and has not waited for.
            Some(signal) => assert_eq!(unsafe { libc::kill(running.id() as libc::pid_t, signal) }, 0),
        }
        let (got, stdout, stderr) = ended(running);
        assert!(began.elapsed() < Duration::from_secs(30));
        assert_eq!((got, stdout.as_str(), stderr.as_str()), (Some(status), "", ""));
        assert!(terminal.is_as_before());
        assert_left(&emulator.join().expect("the emulator"));
    }
}

#[test]
fn a_window_that_changes_its_size_is_told() {
    let mut terminal = Terminal::new();
    let running = terminal.start(howslow(&["--json", "--budget", "2s"]));
    let emulator = terminal.emulate(Behaviour::GOOD);
    assert!(until(|| terminal.is_raw()));
    std::thread::sleep(Duration::from_millis(200));
    terminal.resize(30, 100);
    let (status, stdout, stderr) = ended(running);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert_eq!(json(&stdout)["resized"], true);
    drop(emulator.join());
}

#[test]
fn without_a_terminal_it_is_a_misuse() {
    let mut command = Command::new("setsid");
    command.arg("--wait").arg(cargo_bin("howslow")).arg("terminal");
    let result = assert_cmd::Command::from_std(command).assert().code(2);
    let stderr = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
    assert!(stderr.contains("there is no terminal here to measure"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1);
}

#[test]
fn in_the_background_it_is_a_misuse() {
    let mut terminal = Terminal::new();
    // The shell stays the terminal's group, as one without job control that the user waits at does.
    let mut command = Command::new("sh");
    let program = cargo_bin("howslow");
    command.args(["-mc", "\"$0\" terminal & wait $!"]).arg(program);
    let running = terminal.start(command);
    let emulator = terminal.emulate(Behaviour::GOOD);
    let (status, _, stderr) = ended(running);
    assert_eq!(status, Some(2), "{stderr}");
    assert!(stderr.contains("bring howslow to the foreground"), "{stderr}");
    drop(emulator.join());
}

#[test]
fn tmux_answers_itself_and_is_named() {
    if Command::new("tmux").arg("-V").output().is_err() {
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
    let over = until(|| std::fs::read_to_string(&status).is_ok_and(|text| text.ends_with('\n')));
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

/// Only programs that are not installed may be missing.
fn check_missing(document: &Value) {
    for missing in document["missing"].as_array().expect("a list") {
        let what = missing["what"].as_str().unwrap_or_default();
        assert!(["ssh", "script", "vim", "nano", "ed", "program, another CPU"].contains(&what), "{missing}");
        assert!(missing["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{missing}");
    }
}

#[test]
fn pseudo_terminals_are_measured_without_a_terminal() {
    let (data, pictures) = (folder(), folder());
    let mut command = crate::support::howslow(&data);
    command.args(["terminal", "--pty", "--budget", "4s", "--json", "--svg"]).arg(pictures.path());
    command.env("TMPDIR", data.path());
    let result = command.assert();
    let output = result.get_output();
    let document = json(&String::from_utf8_lossy(&output.stdout));
    let missing = document["missing"].as_array().expect("a list").len();
    assert_eq!(output.status.code(), Some(if missing > 0 { 3 } else { 0 }), "{document}");
    check_missing(&document);
    let list = |name: &str| document[name].as_array().unwrap_or_else(|| panic!("{name}")).clone();
    for path in ["raw", "processed", "pipe", "file", "tcp"] {
        let flows: Vec<Value> = list("highest").into_iter().filter(|flow| flow["path"] == path).collect();
        assert_eq!(flows.len(), 6, "{path}");
        // 64 KiB take far less processor time by the byte than one: the paper's Figure 2-1 rises.
        let rate = |flow: &Value| flow["bytes_per_cpu_second"].as_f64().expect("a rate");
        assert!(rate(&flows[5]) > 5.0 * rate(&flows[0]), "{flows:?}");
    }
    for flow in list("paced") {
        let (asked, rate) = (flow["asked"].as_f64().expect("a rate"), flow["bytes_per_second"].as_f64().expect("one"));
        assert!(rate <= 1.5 * asked, "{flow}");
        assert!(flow["cpu_left"].as_f64().expect("a share") < 1.0, "{flow}");
    }
    assert!(list("keystrokes").len() >= 6);
    for stroke in list("keystrokes").iter().filter(|stroke| stroke["latency"]["samples"].as_u64() > Some(10)) {
        assert!(stroke["latency"]["quantiles"][0]["ns"].as_f64() > Some(100.0), "{stroke}");
    }
    assert_eq!(list("transfers").len(), 12);
    let left: Vec<_> =
        std::fs::read_dir(data.path()).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("howslow-scratch")), "{left:?}");
    for name in ["terminal-2-1.svg", "terminal-2-2.svg"] {
        let svg = std::fs::read_to_string(pictures.path().join(name)).expect("a picture");
        assert!(svg.starts_with("<svg"));
    }
}

#[test]
fn a_killed_measurement_of_pseudo_terminals_leaves_nothing_behind() {
    let place = folder();
    let mut command = Command::new(cargo_bin("howslow"));
    command.args(["terminal", "--pty", "--budget", "60s"]).env("TMPDIR", place.path());
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut running = command.spawn().expect("it starts");
    let scratch = || {
        let names = std::fs::read_dir(place.path()).expect("a folder").flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with("howslow-scratch")).count()
    };
    assert!(until(|| scratch() == 1));
    std::thread::sleep(Duration::from_millis(500));
    let family = family(running.id());
    assert!(!family.is_empty(), "it measures in processes of its own");
    running.kill().expect("our child");
    running.wait().expect("our child");
    let living = || family.iter().filter(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists()).count();
    assert!(until(|| living() == 0 && scratch() == 0), "{} processes and {} folders are left", living(), scratch());
}

/// All processes below one.
fn family(pid: u32) -> Vec<u32> {
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = listed.split_whitespace().filter_map(|child| child.parse().ok());
    children.flat_map(|child| [vec![child], family(child)].concat()).collect()
}

#[test]
fn what_belongs_to_pseudo_terminals_is_refused_without_them() {
    let data = folder();
    for arguments in
        [&["--svg", "."][..], &["--cpu", "0"], &["--pty", "--cpu", "99999"], &["--pty", "--svg", "/nowhere"]]
    {
        crate::support::howslow(&data).arg("terminal").args(arguments).assert().code(2);
    }
}
