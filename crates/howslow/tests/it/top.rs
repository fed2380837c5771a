//! `howslow top` on a terminal of the tests' own, and without one.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{folder, howslow};
use crate::terminal::emulator::{Behaviour, Shown, Terminal, ended, until};

/// The command on a screen. The accounts need no right, and most of what a screen does is the same.
fn top(data: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("howslow"));
    command.env("HOWSLOW_DATA", data.path()).env("TERM", "xterm");
    command.args(["top", "--source", "accounts", "--every", "100ms"]).args(arguments);
    command
}

/// Waits until it shows frames.
fn shown(terminal: &Terminal) {
    assert!(until(|| terminal.is_raw() && terminal.shows("howslow top")));
}

fn assert_left(terminal: &Terminal, emulated: &Shown) {
    assert!(terminal.is_as_before());
    let screen = emulated.parser.screen();
    assert!(!screen.alternate_screen() && !screen.hide_cursor());
    assert_eq!(screen.contents().trim(), "");
}

fn send(child: &Child, signal: i32) {
    // SAFETY: a process that this test started and has not waited for.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
}

/// The letter of a process's state in /proc.
fn state(child: &Child) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
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
    let ends: [(&[u8], i32, i32); 6] = [
        (b"q", 0, 0),
        (b"\x03", 0, 0),
        (b"", libc::SIGTERM, 143),
        (b"", libc::SIGHUP, 129),
        (b"", libc::SIGINT, 130),
        (b"?x/abc\x1b[Aq\rd9", 0, 0),
    ];
    for (keys, signal, status) in ends {
        let mut terminal = Terminal::new();
        let running = terminal.start_shown(top(&data, &[]));
        let emulator = terminal.emulate(Behaviour { speed: 10e6, ..Behaviour::GOOD });
        shown(&terminal);
        match signal {
            0 => terminal.press(keys),
            signal => send(&running, signal),
        }
        if keys.ends_with(b"d9") {
            // An Escape is one only after a pause: the next key is pressed when it has had its effect.
            let question = "seconds, from 0.1 to 3600: 9";
            assert!(until(|| terminal.shows(question)), "the filter took the q");
            terminal.press(b"\x1b");
            assert!(until(|| !terminal.shows(question)));
            terminal.press(b"q");
        }
        let (got, _, stderr) = ended(running);
        assert_eq!((got, stderr.as_str()), (Some(status), ""));
        assert_left(&terminal, &emulator.join().expect("the emulator"));
    }
}

#[test]
fn it_shows_processes_in_every_size_and_one_interval_as_a_table_or_a_document() {
    this_process_is_shown_in_every_size();
    one_interval_is_a_table_or_a_document();
}

fn this_process_is_shown_in_every_size() {
    let data = folder();
    for (rows, columns) in [(24, 80), (5, 20), (1, 1)] {
        let mut terminal = Terminal::new();
        let filter = std::process::id().to_string();
        let mut running = terminal.start_shown(top(&data, &["--filter", &filter]));
        let emulator = terminal.emulate(Behaviour { speed: 10e6, ..Behaviour::GOOD });
        shown(&terminal);
        let before = terminal.parsed();
        terminal.resize(rows, columns);
        // This process does something.
        let is_busy = || std::fs::read_dir("/proc").map_or(0, Iterator::count) > 0;
        let process = format!("process {filter}");
        assert!(until(|| is_busy() && terminal.parsed() > before));
        assert!((rows, columns) != (24, 80) || until(|| is_busy() && terminal.shows(&process)), "{process}");
        assert_eq!(state(&running).filter(|state| *state != 'Z').map(|_| ()), Some(()), "it goes on");
        // What is killed after its guardian leaves its last frame.
        let children = format!("/proc/{0}/task/{0}/children", running.id());
        for guardian in std::fs::read_to_string(children).expect("children").split_whitespace() {
            // SAFETY: a child of a process that this test started and has not waited for.
            unsafe { libc::kill(guardian.parse().expect("a number"), libc::SIGKILL) };
        }
        running.kill().expect("our child");
        running.wait().expect("our child");
        let emulated = emulator.join().expect("the emulator");
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
    for signal in [libc::SIGKILL, libc::SIGQUIT] {
        let mut terminal = Terminal::new();
        let mut command = Command::new("sh");
        command.env("HOWSLOW_DATA", data.path()).env("TERM", "xterm");
        command.args(["-c", "ulimit -c 0; exec \"$0\" top --source accounts --every 100ms"]);
        command.arg(cargo_bin("howslow"));
        let mut running = terminal.start_shown(command);
        let emulator = terminal.emulate(Behaviour { speed: 10e6, ..Behaviour::GOOD });
        shown(&terminal);
        send(&running, signal);
        assert!(!running.wait().expect("our child").success());
        assert!(until(|| terminal.is_as_before()), "the guardian restores the settings");
        // The emulator ends when nobody has the terminal open any more: the guardian is gone too.
        assert_left(&terminal, &emulator.join().expect("the emulator"));
    }
}

fn it_stops_and_continues_with_the_terminal_given_back() {
    let data = folder();
    let mut terminal = Terminal::new();
    let running = terminal.start_shown(top(&data, &[]));
    let emulator = terminal.emulate(Behaviour { speed: 10e6, ..Behaviour::GOOD });
    shown(&terminal);
    let stops: [&dyn Fn(); 2] = [&|| send(&running, libc::SIGTSTP), &|| terminal.press(b"\x1a")];
    for stop in stops {
        stop();
        assert!(until(|| state(&running) == Some('T')));
        assert!(terminal.is_as_before());
        send(&running, libc::SIGCONT);
        assert!(until(|| terminal.is_raw()));
    }
    // This stop cannot be noticed, and the shell takes the terminal meanwhile.
    send(&running, libc::SIGSTOP);
    assert!(until(|| state(&running) == Some('T')));
    terminal.reset();
    send(&running, libc::SIGCONT);
    assert!(until(|| terminal.is_raw()));
    terminal.press(b"q");
    let (status, _, stderr) = ended(running);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert_left(&terminal, &emulator.join().expect("the emulator"));
}

fn a_terminal_that_is_closed_or_takes_nothing_does_not_hold_it() {
    let data = folder();
    let mut terminal = Terminal::new();
    let running = terminal.start_shown(top(&data, &[]));
    let emulator = terminal.emulate(Behaviour { speed: 10e6, ..Behaviour::GOOD });
    shown(&terminal);
    drop(terminal);
    // The emulator holds the other end as long as somebody writes.
    send(&running, libc::SIGHUP);
    assert_eq!(ended(running).0, Some(129));
    drop(emulator.join());
    let mut terminal = Terminal::new();
    let running = terminal.start_shown(top(&data, &[]));
    assert!(until(|| terminal.is_raw()));
    // Nobody reads: soon no frame fits.
    terminal.resize(100, 300);
    std::thread::sleep(Duration::from_millis(1500));
    send(&running, libc::SIGTERM);
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
    assert!(until(|| terminal.is_raw()));
    drop(terminal);
    assert_eq!(ended(running).0, Some(129));
}

/// The account of a process in the document of an interval.
fn account(document: &Value, pid: u32) -> Option<&Value> {
    document["accounts"].as_array().expect("accounts").iter().find(|account| account["pid"] == pid)
}

fn one_interval_is_a_table_or_a_document() {
    let data = folder();
    let mut busy =
        Command::new("sh").args(["-c", "while :; do kill -0 $$; done"]).stdout(Stdio::null()).spawn().expect("sh");
    let watched = |arguments: &[&str]| {
        let output =
            howslow(&data).args(["top", "--once", "--every", "300ms"]).args(arguments).output().expect("it runs");
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
