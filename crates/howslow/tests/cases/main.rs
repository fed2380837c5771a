//! Text cases: commands and what they print, one file for each subject in this folder. A line that begins with `$ ` is given to a shell
//! in a folder with example runs, mixes and models; below it stands what is printed, and `? N` if the exit status is not 0. Long JSON
//! is broken into lines.
//!
//! `HOWSLOW_WRITE_CASES=1 cargo test -p howslow --test cases` writes what is printed now. `HOWSLOW_PROGRAM` names another program to run.

mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;
use tempfile::TempDir;

#[test]
fn every_case_prints_what_its_file_says() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = fs::read_dir(cases).expect("the cases").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|name| name == "txt")).collect();
    files.sort();
    // Those of `time`, which measure, take longest: they begin.
    let queue = Mutex::new(files.iter().rev());
    let next = || queue.lock().ok()?.next();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let work = || std::iter::from_fn(next).filter_map(|path| differs(path)).collect();
        let running = [scope.spawn(work), scope.spawn(work)];
        running.into_iter().flat_map(|some| some.join().unwrap_or_else(|_| vec!["a case panicked".into()])).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with a case: the first line that differs.
fn differs(path: &Path) -> Option<String> {
    let expected = fs::read_to_string(path).expect("a case");
    let folder = world::folder();
    let printed: String =
        expected.lines().filter_map(|line| line.strip_prefix("$ ")).map(|line| transcript(&folder, line)).collect();
    if std::env::var_os("HOWSLOW_WRITE_CASES").is_some() {
        fs::write(path, printed).expect("a case can be written");
        return None;
    }
    let mut lines = printed.lines().zip(expected.lines()).enumerate();
    let differing = lines.find(|(_, (printed, expected))| printed != expected);
    let (number, (now, then)) = match differing {
        Some(differing) => differing,
        None if printed == expected => return None,
        None => (printed.lines().count().min(expected.lines().count()), ("the end, or more lines", "otherwise")),
    };
    Some(format!("{}, line {}\n  expected: {then}\n  printed:  {now}", path.display(), number + 1))
}

/// A command and what it prints, with the folder's name replaced.
fn transcript(folder: &TempDir, line: &str) -> String {
    let program = std::env::var_os("HOWSLOW_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_howslow").into());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\nhowslow() {{ \"$HOWSLOW_PROGRAM\" \"$@\"; }}\n{line}")]);
    shell.current_dir(folder.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    shell.env("HOWSLOW_PROGRAM", program).env("HOWSLOW_DATA", folder.path().join("data"));
    let output = shell.env("HOWSLOW_STORE", "files").output().expect("sh, which every system has");
    let printed = String::from_utf8_lossy(&output.stdout).replace(&folder.path().display().to_string(), "[FOLDER]");
    let mut text = format!("$ {line}\n");
    for line in printed.lines() {
        match serde_json::from_str::<Value>(line) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => broken(&value, "", 0, &mut text),
            _ => text.push_str(&format!("{line}\n")),
        }
    }
    match output.status.code() {
        Some(0) => text + "\n",
        status => format!("{text}? {}\n\n", status.map_or("killed".into(), |code| code.to_string())),
    }
}

/// JSON with a line for each value that fits one.
fn broken(value: &Value, key: &str, depth: usize, text: &mut String) {
    let indent = " ".repeat(depth);
    let whole = value.to_string();
    if whole.len() <= 130 {
        text.push_str(&format!("{indent}{key}{whole}\n"));
        return;
    }
    let mut inner = |children: Vec<(String, &Value)>, open: char, close: char| {
        text.push_str(&format!("{indent}{key}{open}\n"));
        children.iter().for_each(|(key, child)| broken(child, key, depth + 1, text));
        text.push_str(&format!("{indent}{close}\n"));
    };
    match value {
        Value::Object(map) => inner(map.iter().map(|(key, child)| (format!("{key}: "), child)).collect(), '{', '}'),
        Value::Array(list) => inner(list.iter().map(|child| (String::new(), child)).collect(), '[', ']'),
        other => text.push_str(&format!("{indent}{key}{other}\n")),
    }
}
