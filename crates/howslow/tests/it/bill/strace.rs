//! Counts beside those of strace, for commands that make the same calls each time.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::{Calls, billed_by, calls, counting, files, unvaried};

/// Commands that do the same each time, threads left out: what those wait for differs.
const COMMANDS: [&[&str]; 12] = [
    &["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=5000"],
    &["find", "d"],
    &["tar", "cf", "/dev/null", "d"],
    &["sort", "words"],
    &["grep", "-r", "7", "d"],
    &["gzip", "-c", "words"],
    &["ls", "-lR", "d"],
    &["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"],
    &["sh", "-c", "/bin/cat words; /bin/cat d/f1; cd d"],
    &["xargs", "-a", "words", "-n", "500", "/bin/echo"],
    &["/usr/bin/python3", "-c", "import json, os; print(len(os.listdir('d')))"],
    &["git", "init", "--bare", "repository"],
];

/// What strace counts. It does not count the calls that never return.
fn straced(data: &TempDir, place: &Path, words: &[&str]) -> Calls {
    let table = place.join("table");
    let mut command = unvaried(data, place, "strace");
    command.args(["-f", "-c", "-o"]).arg(&table).args(words);
    assert!(command.status().expect("strace runs").success(), "{words:?}");
    let text = fs::read_to_string(&table).expect("its table");
    fs::remove_file(&table).expect("its table can be removed");
    let mut found = Calls::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let counts = match fields.as_slice() {
            [share, _, _, count, name] if share.parse::<f64>().is_ok() => Some((name, *count, "0")),
            [share, _, _, count, errors, name] if share.parse::<f64>().is_ok() => Some((name, *count, *errors)),
            _ => None,
        };
        if let Some((name, count, errors)) = counts.filter(|(name, ..)| **name != "total" && !name.starts_with("exit"))
        {
            found.insert((*name).into(), (count.parse().expect("a count"), errors.parse().expect("a count")));
        }
    }
    found
}

#[test]
fn counts_are_those_of_strace() {
    for source in ["ebpf", "ptrace"] {
        agree_with_strace(source);
    }
}

fn agree_with_strace(source: &str) {
    let Some(data) = counting(source) else { return };
    if Command::new("strace").arg("-V").output().is_err() {
        return testing::not_tested!("strace is not installed; apt-get install strace");
    }
    for words in COMMANDS {
        if Command::new(words[0]).arg("--version").output().is_err() {
            testing::left_out!("{} is not installed", words[0]);
            continue;
        }
        agree(&data, source, words);
    }
}

/// Counts a command by strace and by a bill. A program may draw a random number more or less, so that two runs of it differ;
/// of a few, one makes the same calls.
fn agree(data: &TempDir, source: &str, words: &[&str]) {
    const TRIES: u32 = 5;
    for left in (0..TRIES).rev() {
        let (theirs, ours) = (files(), files());
        let expected = straced(data, theirs.path(), words);
        let document = billed_by(data, ours.path(), &["--source", source], words);
        assert_eq!(document["seen"]["losses"], Value::Array(Vec::new()), "{words:?}");
        let mut found = calls(&document);
        let ended = found.remove("exit_group").map_or(0, |(count, _)| count);
        let processes = document["seen"]["processes"].as_array().expect("processes").len() as u64;
        let all = document["seen"]["processes"].as_array().expect("processes");
        let other: Vec<_> = all.iter().filter(|process| !process.to_string().contains("exit_group")).collect();
        assert_eq!(ended, processes, "every process of {words:?} ends by exit_group: {other:?}");
        if found == expected {
            return;
        }
        let other: Vec<_> = expected.iter().filter(|(call, counts)| found.get(*call) != Some(counts)).collect();
        assert!(left > 0, "{words:?}: {other:?}; {found:?} instead of {expected:?}");
    }
}
