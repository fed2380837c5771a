//! No line is wider than the terminal, on any verb that prints a page.

use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

use crate::support::{EXAMPLE, REPLAY, at_once, folder, howslow};
use crate::terminal::emulator::printed;

/// Commands that read what is kept or measure for less than a second.
pub const PAGES: [&[&str]; 29] = [
    &["show", "RUN"],
    &["show", "multics-6180"],
    &["list"],
    &["list", "pipe"],
    &["list", "--syscalls"],
    &["history"],
    &["compare", "RUN", "OTHER"],
    &["compare", "RUN", "OTHER", "cascade-lake"],
    &["explain", "RUN"],
    &["explain", "RUN", "pipe"],
    &["study", "rsx", "--run", "RUN"],
    &["study", "6180", "--run", "RUN"],
    &["study", "mpe", "--run", "RUN"],
    &["study", "core", "--run", "RUN"],
    &["predict", "call-save-return", "--on", "multics-6180", "--what-if", "stpbp=x0.5"],
    &["show", "RUN", "--against", "zen-4-kvm"],
    &["list", "huge", "pages"],
    &["history", "-n", "1"],
    &["study", "vax", "--run", "RUN"],
    &["predict", "true", "--on", "RUN", "--partial"],
    &["predict", "call-save-return", "--on", "multics-645", "multics-6180", "--factors"],
    &["predict", "call-save-return", "--on", "multics-6180"],
    &["doctor"],
    &["file", "resident", "RUN"],
    &["file", "evict", "RUN"],
    &["file", "sync", "RUN"],
    &["scaling", "--run", "RUN"],
    &["--help"],
    &["run", "--help"],
];

/// A folder with kept runs and files of them.
pub fn data() -> TempDir {
    let data = folder();
    std::fs::write(data.path().join("a-run-with-a-name-that-is-longer-than-a-narrow-terminal.json"), EXAMPLE)
        .expect("written");
    let other = EXAMPLE.replace("2026-", "2025-");
    std::fs::write(data.path().join("other.json"), other).expect("written");
    let output =
        howslow(&data).args(["run", "loop.empty", "pipe.self@size=64"]).args(REPLAY).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    data
}

pub fn command(data: &TempDir, words: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("howslow"));
    command.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_STORE", "files").env("TERM", "xterm");
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(name);
    }
    command.current_dir(data.path()).args(words.iter().map(|word| match *word {
        "RUN" => "a-run-with-a-name-that-is-longer-than-a-narrow-terminal.json",
        "OTHER" => "other.json",
        word => word,
    }));
    command
}

/// The widest line, without its escape sequences.
pub fn widest(text: &str) -> Option<(usize, String)> {
    let bare = anstream::adapter::strip_str(text).to_string();
    let width = |line: &str| textwrap::core::display_width(line);
    bare.lines().map(|line| (width(line.trim_end_matches('\r')), line.to_string())).max_by_key(|(width, _)| *width)
}

#[test]
fn no_page_is_wider_than_its_terminal() {
    // At 3 a page shows what it lacks.
    fit(&data(), &[0, 3], PAGES.iter().flat_map(|words| [20, 60, 80, 120].map(|columns| (*words, columns))));
}

/// Checks that these commands end with one of these statuses, and print lines that fit on a terminal of these columns: pages, messages
/// and progress. Several run at a time, because most of them wait for something.
pub fn fit<'w>(data: &TempDir, statuses: &[i32], cases: impl Iterator<Item = (&'w [&'w str], u16)> + Send) {
    let wrong = at_once(4, cases, |(words, columns)| {
        let (status, text) = printed(command(data, words), columns);
        let is_right = status.is_some_and(|status| statuses.contains(&status));
        if !is_right || text.contains("panicked") || text.trim().is_empty() {
            return Some(format!("{words:?} at {columns}: {status:?}: {text}"));
        }
        // What a progress bar draws over has its own returns.
        let drawn = text.replace('\r', "\n").replace("\x1b[1A", "\n").replace("\x1b[2K", "\n");
        // The help is filled by a library, which breaks no word.
        let may_be_wide = columns == 20 && words.contains(&"--help");
        let found = widest(&drawn).filter(|(width, _)| *width > usize::from(columns) && !may_be_wide);
        found.map(|(width, line)| format!("{words:?} at {columns}: {width}: {line}"))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn colours_follow_the_option_the_environment_and_the_terminal() {
    let data = data();
    let is_coloured = |command: &mut Command| {
        let output = command.stderr(Stdio::null()).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        output.stdout.contains(&0x1b)
    };
    assert!(!is_coloured(&mut command(&data, &["list", "pipe"])), "a pipe has none");
    assert!(is_coloured(&mut command(&data, &["list", "pipe", "--color", "always"])));
    assert!(is_coloured(&mut command(&data, &["--color=always", "list", "pipe"])));
    assert!(is_coloured(command(&data, &["list", "pipe"]).env("CLICOLOR_FORCE", "1")));
    assert!(!is_coloured(command(&data, &["list", "pipe"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")));
    for (words, name, value) in [
        (&["list", "pipe", "--color", "never"][..], "TERM", "xterm"),
        (&["list", "pipe"], "NO_COLOR", "1"),
        (&["list", "pipe"], "TERM", "dumb"),
    ] {
        let mut command = command(&data, words);
        command.env("CI", "true").env(name, value);
        let (status, text) = printed(command, 80);
        assert!(status == Some(0) && !text.contains('\x1b'), "{words:?} {name}={value}: {text}");
    }
    let refused = command(&data, &["list", "--color", "sometimes"]).stderr(Stdio::null()).status();
    assert_eq!(refused.expect("it runs").code(), Some(2));
}

#[test]
fn no_locale_no_output_and_odd_widths_break_nothing() {
    let data = data();
    let mut plain = command(&data, &["show", "RUN"]);
    let bare = plain.env_clear().env("HOWSLOW_DATA", data.path()).env("LC_ALL", "C").output().expect("it runs");
    assert!(bare.status.success() && bare.stdout.len() > 200, "{bare:?}");
    for (columns, most) in [("70", 70), ("0", 100), ("x", 100), ("-3", 100), ("99999999", 100), ("1", 2)] {
        let output = command(&data, &["show", "RUN"]).env("COLUMNS", columns).output().expect("it runs");
        assert!(output.status.success());
        let (width, line) = widest(&String::from_utf8_lossy(&output.stdout)).expect("a page");
        assert!(width <= most, "COLUMNS={columns}: {line}");
    }
    // A closed stdout is no place to print to: an error or success, never a panic.
    let mut closed = Command::new("sh");
    closed.args(["-c", "exec \"$0\" list >&-"]).arg(cargo_bin("howslow")).env("HOWSLOW_DATA", data.path());
    let output = closed.output().expect("it runs");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
}

#[test]
fn what_a_headline_page_shows_first_is_of_the_headline_run() {
    for wanted in report::WANTED {
        let id = wanted.split('@').next().expect("an id");
        let operation = catalogue::find(id).unwrap_or_else(|| panic!("{id}"));
        let points = operation.points(true);
        let is_there = wanted == id || points.iter().any(|point| format!("{id}{point}") == wanted);
        assert!(operation.headline && is_there, "{wanted}");
    }
}

#[test]
fn a_headline_page_is_read_at_a_glance() {
    let data = data();
    let mut run: serde_json::Value = serde_json::from_str(EXAMPLE).expect("JSON");
    run["settings"]["patterns"] = serde_json::json!([]);
    run["settings"]["full"] = false.into();
    let costs = run["costs"].as_array().expect("costs").clone();
    let many = (0..120).map(|number| {
        let mut cost = costs[number % costs.len()].clone();
        cost["operation"] = format!("{}.{number}", cost["operation"].as_str().unwrap_or_default()).into();
        cost
    });
    run["costs"] = many.collect::<Vec<_>>().into();
    std::fs::write(data.path().join("many.json"), run.to_string()).expect("written");
    let lines = |words: &[&str]| {
        let output = command(&data, words).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).lines().map(String::from).collect::<Vec<_>>()
    };
    let page = lines(&["show", "many.json"]);
    assert!(page.len() <= 60 && page.len() > 30, "{} lines", page.len());
    assert!(page.iter().any(|line| line.contains("more costs and each doubt in full: --all")), "{}", page.join("\n"));
    assert!(lines(&["show", "many.json", "--all"]).len() > 120);
}
