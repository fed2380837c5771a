//! There is no space for a file, or no device behind it.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use record::Skip;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{done, measured, run_in, run_of, skip, skipped};
use crate::filter::{errno, filtered};
use crate::on_disk::folder;
use crate::support::REPLAY;

/// The same command with `folder` as a file system in memory of this size in MiB, visible only to the command. The exit status is 99
/// if something is left there. `None`, with a message, if that is not possible here.
fn in_memory(command: &Command, folder: &Path, mib: u32) -> Option<Command> {
    const MOUNTED: &str = r#"mount -t tmpfs -o "size=$2m" none "$1" || exit 98; place=$1; shift 2
        "$@"; status=$?; [ -z "$(ls -A "$place" | grep -v '^data$')" ] || exit 99; exit $status"#;
    let unshare = |script: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c"]).args(script).arg(folder).arg(mib.to_string());
        unshare
    };
    let tried = unshare(&[MOUNTED, "sh"]).arg("true").output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        testing::not_tested!("no file system can be mounted; install util-linux, allow user namespaces");
        return None;
    }
    let mut mounted = unshare(&[MOUNTED, "sh"]);
    mounted.arg(command.get_program()).args(command.get_args());
    mounted.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(mounted)
}

const WRITERS: [&str; 10] = [
    "write.write", "write.pwrite", "write.fallocate", "write.mmap", "write.stdio", "write.bufwriter", "write.uring",
    "write.uring.registered", "write.splice", "write.direct",
];

#[test]
fn without_a_device_or_room_what_needs_it_is_a_skip_with_its_remedy() {
    room_that_is_missed_late_is_a_skip_that_names_it();
    in_memory_warm_readers_and_writers_that_do_not_sync_work();
    on_a_full_disk_the_rest_is_measured();
}

fn in_memory_warm_readers_and_writers_that_do_not_sync_work() {
    let place = tempfile::tempdir().expect("a folder");
    let usual = ["read.pread", "read.mmap", "read.uring", "read.splice", "read.copy"];
    let patterns = usual.map(|id| format!("{id}@file=16777216,record=131072"));
    let mut patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    patterns.extend(["read.direct@file=16777216,record=131072", "write.*"]);
    let mut command = run_in(place.path(), &patterns);
    command.args(["--rounds", "2"]);
    let Some(mut command) = in_memory(&command, place.path(), 300) else { return };
    let run = run_of(&command.output().expect("it starts"));
    for id in usual {
        measured(&run, id);
        let cold = skip(&run, id);
        assert!(cold.at.word("state") == Some("cold") && cold.reason.contains("in memory (tmpfs)"), "{cold:?}");
        assert!(cold.remedy.contains("set TMPDIR"), "{cold:?}");
    }
    skipped(&run, "read.direct", "in memory (tmpfs)");
    let (direct, others): (Vec<&str>, Vec<&str>) = WRITERS.iter().partition(|id| id.ends_with("direct"));
    others.iter().for_each(|id| measured(&run, id));
    direct.iter().for_each(|id| skipped(&run, id, "in memory (tmpfs)"));
    let synced = run.skipped.iter().filter(|skip| skip.at.word("sync").is_some_and(|sync| sync != "none"));
    assert!(synced.clone().count() >= others.len(), "{:?}", run.skipped);
    synced.for_each(|skip| assert!(skip.reason.contains("nothing is written when a file is synced"), "{skip:?}"));
}

/// On file systems that allocate space in advance, and on those that cannot.
fn on_a_full_disk_the_rest_is_measured() {
    let place = tempfile::tempdir().expect("a folder");
    let mut patterns = vec!["read.pread", "read.mmap", "loop.empty"];
    let writers = WRITERS.map(|id| format!("{id}@sync=none"));
    patterns.extend(writers.iter().map(String::as_str));
    for finds_room in [true, false] {
        let command = run_in(place.path(), &patterns);
        let Some(mut command) = in_memory(&command, place.path(), 4) else { return };
        if !finds_room {
            command = filtered(command, libc::SYS_fallocate, errno(libc::EOPNOTSUPP));
        }
        let run = run_of(&command.output().expect("it starts"));
        measured(&run, "loop.empty");
        for id in patterns[..2].iter().chain(&WRITERS) {
            let is_it = |skip: &&Skip| skip.operation == *id && skip.at.word("state") != Some("cold");
            let found = run.skipped.iter().find(is_it);
            let Skip { reason, remedy, .. } = found.unwrap_or_else(|| panic!("{id}: {:?}", run.skipped));
            let expected = match (*id, finds_room) {
                ("write.direct", false) => "in memory (tmpfs)",
                ("write.fallocate", false) => "does not allocate space in advance",
                // A store cannot report that there is no space.
                ("write.mmap", false) => "SIGBUS (a mapped file was truncated, could not be read, or had no space",
                _ => "space",
            };
            assert!(reason.contains(expected), "{id}: {reason}");
            assert!(!remedy.is_empty() || reason.contains("SIGBUS"), "{id}: {reason}");
        }
    }
}

/// A limit of a file's size, and space that is missed only when pages are written.
fn room_that_is_missed_late_is_a_skip_that_names_it() {
    let place = tempfile::tempdir().expect("a folder");
    let mut command = run_in(place.path(), &["read.pread@state=warm", "write.pwrite@sync=none", "loop.empty"]);
    let limit = || Ok(setrlimit(Resource::Fsize, Rlimit { current: Some(8 << 20), maximum: Some(8 << 20) })?);
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(limit) };
    let run = done(command, place.path());
    for id in ["read.pread", "write.pwrite"] {
        skipped(&run, id, "a file may have at most 8 MiB here");
        assert!(skip(&run, id).remedy.contains("ulimit -f"));
    }
    measured(&run, "loop.empty");
    let Some(place) = folder() else { return };
    let command = run_in(place.path(), &["write.pwrite@file=1048576,record=131072", "loop.empty"]);
    let run = done(filtered(command, libc::SYS_fsync, errno(libc::ENOSPC)), place.path());
    skipped(&run, "write.pwrite", "no space for a file of 1 MiB");
    measured(&run, "loop.empty");
}

/// Too long a file is an error of the write, and no death.
#[test]
fn a_limit_of_a_file_s_size_is_reported_as_a_full_disk_is() {
    let place = tempfile::tempdir().expect("a folder");
    let howslow = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(assert_cmd::cargo::cargo_bin!("howslow")).args(REPLAY);
        command.current_dir(place.path()).env("HOWSLOW_DATA", place.path().join("data")).env("HOWSLOW_STORE", "files");
        command.output().expect("sh starts")
    };
    for script in ["ulimit -f 1; \"$0\" list --json >listed", "ulimit -f 1; \"$0\" run loop.empty \"$@\" -o run.json"] {
        let refused = howslow(script);
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(1) && why.contains("ulimit -f"), "{:?}: {why}", refused.status);
    }
}
