//! `howslow file`: pages of a file counted, evicted and written, and arguments that are not such files.

use std::fs;
use std::path::Path;

use crate::on_disk::{file, folder, written};
use crate::support;
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn json(mut command: Command) -> Value {
    support::json(command.arg("--json"))[0].clone()
}

#[test]
fn a_file_is_written_put_out_of_memory_and_read_again() {
    let Some(folder) = folder() else { return };
    let path = written(folder.path(), 1 << 20);
    let content = fs::read(&path).expect("the file");
    let pages = (1 << 20) / rustix::param::page_size() as u64;
    let before = json(file("resident", &path));
    assert_eq!((&before["pages"], &before["resident_pages"]), (&pages.into(), &pages.into()));
    assert_eq!(before["ranges"], serde_json::json!([[0, pages]]));
    json(file("sync", &path));
    if !before["dirty_pages"].is_null() {
        assert_eq!(json(file("resident", &path))["dirty_pages"], 0);
    }
    let evicted = json(file("evict", &path));
    assert_eq!((&evicted["resident_pages_before"], &evicted["resident_pages"]), (&pages.into(), &0.into()));
    assert_eq!(json(file("resident", &path))["ranges"], serde_json::json!([]));
    assert_eq!(fs::read(&path).expect("the file"), content);
    assert_eq!(json(file("resident", &path))["resident_pages"], pages);
    file("resident", &path).assert().success().stdout(contains("1 MiB").and(contains("###")));
    file("evict", &path).assert().success().stdout(contains("none are left"));
    file("sync", &path).assert().success().stdout(contains("all written"));
}

#[test]
fn pages_that_somebody_holds_stay_and_are_reported() {
    let Some(folder) = folder() else { return };
    let path = written(folder.path(), 1 << 20);
    let held = fs::File::open(&path).expect("the file");
    // A pipe keeps the pages that were spliced into it.
    let (_reader, writer) = rustix::pipe::pipe().expect("a pipe");
    rustix::fs::fsync(&held).expect("written");
    let moved = rustix::pipe::splice(&held, None, &writer, None, 16 << 10, rustix::pipe::SpliceFlags::empty());
    assert!(moved.expect("spliced") > 0);
    file("evict", &path).assert().code(3).stdout(contains("are left, because"));
}

#[test]
fn an_empty_file_has_no_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path(), 0);
    file("resident", &path).assert().success().stdout(contains("0 of 0 pages"));
}

/// Opening a FIFO for reading would release a process that waits to write into it, and then end that process by SIGPIPE.
#[test]
fn what_is_no_file_of_pages_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    let (fifo, missing, socket) = (place("fifo"), place("miss\u{7}ing"), place("socket"));
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let _listening = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let mut writer = std::process::Command::new("sh");
    let mut writer = writer.args(["-c", "exec echo word >\"$0\""]).arg(&fifo).spawn().expect("sh");
    for verb in ["resident", "evict", "sync"] {
        for (path, expected) in [
            (missing.as_path(), "No such file"),
            (folder.path(), "a directory"),
            (&fifo, "a FIFO"),
            (&socket, "a socket"),
            (Path::new("/dev/null"), "a device"),
        ] {
            let refused = file(verb, path).assert().code(2).stdout("");
            let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
            assert!(text.contains(expected) && text.lines().count() == 1 && !text.contains('\u{7}'), "{text}");
        }
    }
    let mut command = Command::cargo_bin("howslow").expect("the binary is built");
    command.args(["file", "evict"]).assert().code(2);
    assert!(writer.try_wait().expect("our child").is_none(), "somebody opened the FIFO");
    assert_eq!(fs::read(&fifo).expect("read"), b"word\n");
    assert!(writer.wait().expect("our child").success());
}

#[test]
fn memory_has_no_outside() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        testing::not_tested!("no /dev/shm; mount a tmpfs there");
        return;
    };
    let path = written(folder.path(), 4096);
    let content = fs::read(&path).expect("the file");
    file("evict", &path).assert().code(1).stderr(contains("lives in memory").and(contains("on a disk")));
    assert_eq!(fs::read(&path).expect("the file"), content);
}
