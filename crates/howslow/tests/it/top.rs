//! `howslow top` on a terminal of the tests' own, and without one.

use std::process::{Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{children, folder, howslow, is_gone, kill, state, until};
use crate::terminal::emulator::{Seat, Terminal, ended};

/// The command on a screen. The accounts need no right, and most of what a screen does is the same.
fn top(data: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("howslow"));
    command.env("HOWSLOW_DATA", data.path()).env("TERM", "xterm");
    command.args(["top", "--source", "accounts", "--every", "100ms"]).args(arguments);
    command
}

/// The command at a terminal, once it shows frames.
fn shown(command: Command) -> Seat {
    let seat = Seat::shown(command);
    until("frames", || seat.terminal.is_raw() && seat.terminal.shows("howslow top"));
    seat
}

#[test]
fn however_it_stops_or_ends_the_terminal_is_restored() {
    it_stops_and_continues_with_the_terminal_given_back();
    keys_and_signals_end_it();
    what_is_killed_leaves_the_terminal_as_it_was();
    a_hangup_that_is_ignored_ends_it_too();
    a_terminal_that_is_closed_or_takes_nothing_does_not_hold_it();
}

fn keys_and_signals_end_it() {
    let data = folder();
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let seat = shown(top(&data, &[]));
        kill(seat.running.id(), signal);
        ends(seat, status);
    }
    for keys in [&b"q"[..], b"\x03", b"?x/abc\x1b[Aq\rd9"] {
        let seat = shown(top(&data, &[]));
        let terminal = &seat.terminal;
        terminal.press(keys);
        if keys.ends_with(b"d9") {
            // An Escape is one only after a pause: the next key is pressed when it has had its effect.
            let question = "seconds, from 0.1 to 3600: 9";
            until("the filter to take the q", || terminal.shows(question));
            terminal.press(b"\x1b");
            until("the question to go", || !terminal.shows(question));
            terminal.press(b"q");
        }
        ends(seat, 0);
    }
}

fn ends(seat: Seat, status: i32) {
    let ((got, _, stderr), _) = seat.ended();
    assert_eq!((got, stderr.as_str()), (Some(status), ""));
}

#[test]
fn it_shows_processes_in_every_size_and_one_interval_as_a_table_or_a_document() {
    this_process_is_shown_in_every_size();
    one_interval_is_a_table_or_a_document();
}

fn this_process_is_shown_in_every_size() {
    let data = folder();
    for (rows, columns) in [(24, 80), (5, 20), (1, 1)] {
        let filter = std::process::id().to_string();
        let seat = shown(top(&data, &["--filter", &filter]));
        let terminal = &seat.terminal;
        let before = terminal.parsed();
        terminal.resize(rows, columns);
        // This process does something.
        let is_busy = || std::fs::read_dir("/proc").map_or(0, Iterator::count) > 0;
        let process = format!("process {filter}");
        until("a frame", || is_busy() && terminal.parsed() > before);
        if (rows, columns) == (24, 80) {
            until(&process, || is_busy() && terminal.shows(&process));
        }
        let pid = seat.running.id();
        assert!(!is_gone(pid), "it goes on");
        // What is killed after its guardian leaves its last frame.
        children(pid).into_iter().for_each(|guardian| kill(guardian, Signal::KILL));
        kill(pid, Signal::KILL);
        let emulated = seat.unrestored();
        let screen = emulated.parser.screen();
        assert!(screen.alternate_screen());
        if (rows, columns) == (24, 80) {
            let frame = screen.contents();
            assert!(frame.contains("counted by accounts") && frame.contains("No calls are counted"), "{frame}");
            assert!(frame.contains(&process), "{frame}");
        }
    }
}

fn what_is_killed_leaves_the_terminal_as_it_was() {
    let data = folder();
    for signal in [Signal::KILL, Signal::QUIT] {
        let mut command = Command::new("sh");
        command.env("HOWSLOW_DATA", data.path()).env("TERM", "xterm");
        command.args(["-c", "ulimit -c 0; exec \"$0\" top --source accounts --every 100ms"]);
        command.arg(cargo_bin("howslow"));
        shown(command).killed(signal);
    }
}

fn it_stops_and_continues_with_the_terminal_given_back() {
    let data = folder();
    let seat = shown(top(&data, &[]));
    let (terminal, pid) = (&seat.terminal, seat.running.id());
    let continues = || {
        kill(pid, Signal::CONT);
        until("raw mode", || terminal.is_raw());
    };
    let stops: [&dyn Fn(); 2] = [&|| kill(pid, Signal::TSTP), &|| terminal.press(b"\x1a")];
    for stop in stops {
        stop();
        until("the stop", || state(pid) == Some('T'));
        assert!(terminal.is_as_before());
        continues();
    }
    // This stop cannot be noticed, and the shell takes the terminal meanwhile.
    kill(pid, Signal::STOP);
    until("the stop", || state(pid) == Some('T'));
    terminal.reset();
    continues();
    terminal.press(b"q");
    ends(seat, 0);
}

fn a_terminal_that_is_closed_or_takes_nothing_does_not_hold_it() {
    let data = folder();
    // The emulator holds the other end as long as somebody writes.
    assert_eq!(shown(top(&data, &[])).closed(), Some(129));
    let mut terminal = Terminal::new();
    let running = terminal.start_shown(top(&data, &[]));
    until("raw mode", || terminal.is_raw());
    terminal.fill();
    // The next frame, which finds no room, is due within a tenth of a second.
    terminal.resize(100, 300);
    std::thread::sleep(Duration::from_millis(300));
    kill(running.id(), Signal::TERM);
    assert_eq!(ended(running).0, Some(143));
    assert!(terminal.is_as_before());
}

fn a_hangup_that_is_ignored_ends_it_too() {
    let data = folder();
    let mut terminal = Terminal::new();
    let mut command = Command::new("sh");
    command.env("HOWSLOW_DATA", data.path()).env("TERM", "xterm");
    command.args(["-c", "trap '' HUP; exec \"$0\" top --source accounts"]).arg(cargo_bin("howslow"));
    let running = terminal.start_shown(command);
    until("raw mode", || terminal.is_raw());
    drop(terminal);
    assert_eq!(ended(running).0, Some(129));
}

fn account(document: &Value, pid: u32) -> Option<&Value> {
    document["accounts"].as_array().expect("accounts").iter().find(|account| account["pid"] == pid)
}

fn one_interval_is_a_table_or_a_document() {
    let data = folder();
    let mut busy = Command::new("sh");
    busy.args(["-c", "while :; do kill -0 $$; done"]).stdout(Stdio::null());
    let mut busy = busy.spawn().expect("sh");
    let watched = |arguments: &[&str]| {
        let output = howslow(&data).args(["top", "--once", "--every", "300ms"]).args(arguments).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).expect("text"), String::from_utf8(output.stderr).expect("text"))
    };
    let (page, notes) = watched(&["--source", "accounts", "--sort", "user"]);
    assert!(page.contains("KERNEL %") && !page.contains("CALLS/s"), "{page}");
    assert!(page.contains(&format!("{} ", busy.id())), "{page}");
    assert!(notes.contains("No calls are counted") && notes.contains("No price of this kernel is known"), "{notes}");
    let (text, _) = watched(&["--json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let own = account(&document, busy.id()).expect("the loop of this test");
    if document["source"] == "accounts" {
        testing::not_tested!("calls cannot be counted: {}", document["passed_over"]);
    } else {
        let kill = own["lines"].as_array().expect("lines").iter().find(|line| line["what"] == "kill").expect("a line");
        assert!(kill["count"].as_u64() > Some(100), "{own}");
        assert_eq!(own["pairs"][0]["first"], "kill");
        assert_eq!(own["cost_ns"], Value::Null, "there is no run");
    }
    let (groups, _) = watched(&["--cgroups", "--source", "accounts"]);
    assert!(groups.contains("CGROUP"), "{groups}");
    busy.kill().expect("our child");
    busy.wait().expect("our child");
}
