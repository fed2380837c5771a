//! A database that is damaged, or that another program does not let go of.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{EXAMPLE, REPLAY, folder, howslow, json};

/// A store with one run.
fn kept(data: &TempDir) -> std::path::PathBuf {
    let file = data.path().join("runs.sqlite");
    let mut run = howslow(data);
    run.env("HOWSLOW_STORE", &file).args(["run", "loop.empty", "--keep"]).args(REPLAY).assert().success();
    file
}

/// Checks that there is one sentence, with advice, and the status of a failure.
fn one_sentence(output: &Output, advice: &str) {
    is_one_sentence(output, &String::from_utf8_lossy(&output.stderr), advice);
}

fn is_one_sentence(output: &Output, errors: &str, advice: &str) {
    assert_eq!((output.status.code(), errors.lines().count()), (Some(1), 1), "{errors}");
    assert!(errors.contains("runs.sqlite") && errors.contains(advice), "{errors}");
}

#[test]
fn a_damaged_database_is_one_sentence_with_advice() {
    let data = folder();
    let file = kept(&data);
    let mut bytes = fs::read(&file).expect("a database");
    bytes.iter_mut().skip(100).for_each(|byte| *byte = 0xa5);
    fs::write(&file, bytes).expect("written");
    for words in [&["history"][..], &["show", "@1"], &["watch"], &["compare", "@1", "@2"]] {
        let output = howslow(&data).env("HOWSLOW_STORE", &file).args(words).output().expect("it runs");
        one_sentence(&output, "move it away");
    }
}

/// Checks the same of a command that has said before that it waits.
fn one_sentence_after_a_wait(output: &Output, advice: &str) {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let (note, sentence) = errors.split_once('\n').unwrap_or_default();
    assert!(note.contains("another program is using the store; waiting"), "{errors}");
    is_one_sentence(output, sentence, advice);
}

/// The command as if no time passed while it waits: a minute is what another program gets.
fn hurried(data: &TempDir, store: &Path, words: &[&str]) -> Output {
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "/dev/null", "-e", "trace=clock_nanosleep,nanosleep"]);
    command.args(["-e", "inject=clock_nanosleep,nanosleep:retval=0"]).arg(assert_cmd::cargo::cargo_bin!("howslow"));
    command.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_STORE", store).args(words);
    command.output().expect("strace, which the tests of bills need too")
}

#[test]
fn a_locked_database_is_one_sentence_with_advice_and_loses_no_run() {
    let data = folder();
    let file = kept(&data);
    let other = Connection::open(&file).expect("a database");
    other.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    one_sentence_after_a_wait(&hurried(&data, &file, &["history"]), "try again when that has finished");
    one_sentence_after_a_wait(&hurried(&data, &file, &["show", "@1"]), "try again when that has finished");
    let replayed = data.path().join("replayed.json");
    fs::write(&replayed, EXAMPLE.replace("qxtz", "abcd")).expect("written");
    let run = ["run", "loop.empty", "--keep", "--replay", replayed.to_str().expect("text")];
    let measured = hurried(&data, &file, &run);
    let errors = String::from_utf8_lossy(&measured.stderr).into_owned();
    let is_used = errors.contains("is used by another program");
    assert!(measured.status.success() && is_used, "{:?} {errors}", measured.status);
    other.execute_batch("ROLLBACK").expect("no lock");
    drop(other);
    let rows = json(howslow(&data).env("HOWSLOW_STORE", &file).args(["history", "--json"]));
    assert_eq!(rows.as_array().map(Vec::len), Some(2), "the run that had to wait is there");
}
