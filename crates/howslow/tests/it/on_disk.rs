//! Shared by the tests of file commands: a folder with a device behind it, a file in it, and the command on that file.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder whose files have a device behind them; `None`, with a message, if there is none.
pub fn folder() -> Option<TempDir> {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let file = fs::File::open(folder.path()).expect("the folder");
    if catalogue::residence::lives_in_memory(&file) {
        testing::not_tested!("/var/tmp lives in memory; mount a file system with a device there");
        return None;
    }
    Some(folder)
}

/// A file of this size in which all pages differ.
pub fn written(folder: &Path, bytes: usize) -> PathBuf {
    let path = folder.join("data");
    let content: Vec<u8> = (0..bytes).map(|place| (place * 7 + place / 4096) as u8).collect();
    fs::write(&path, content).expect("a file");
    path
}

/// `howslow file VERB PATH`.
pub fn file(verb: &str, path: &Path) -> Command {
    let mut command = Command::cargo_bin("howslow").expect("the binary is built");
    command.args(["file", verb]).arg(path);
    command
}
