//! The reader of stdout takes nothing: what is printed waits for it, and nothing else does.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use assert_cmd::cargo::cargo_bin;

use rustix::process::Signal;

use super::run_in;
use crate::support::{REPLAY, comes, folder, kill, status_of, until};

/// The least that a pipe holds.
const LEAST: usize = 4096;

/// Starts it with its stdout in a pipe that nobody reads.
fn unread(mut command: Command) -> (Child, ChildStdout) {
    testing::interruptible();
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let pipe = running.stdout.take().expect("a pipe");
    rustix::pipe::fcntl_setpipe_size(&pipe, LEAST).expect("a size");
    (running, pipe)
}

/// True once something is in the pipe: it has room for no second piece.
fn is_full(pipe: &ChildStdout) -> bool {
    rustix::io::ioctl_fionread(pipe).is_ok_and(|bytes| bytes > 0)
}

/// Waits until the pipe is full, then checks that each of these signals would end it.
fn ends_by(command: impl Fn() -> Command, signals: &[Signal]) {
    for &signal in signals {
        let (mut running, pipe) = unread(command());
        until("a full pipe", || is_full(&pipe));
        kill(running.id(), signal);
        until("the end", || running.try_wait().expect("our child").is_some());
        let (status, signal) = (running.wait().expect("our child"), signal.as_raw());
        assert!(status.signal() == Some(signal) || status.code() == Some(128 + signal), "{status}");
    }
}

#[test]
fn a_run_and_a_bill_whose_documents_nobody_reads_can_be_ended() {
    let place = folder();
    lets_go_of_the_program_in_time(&place);
    let target = ["--system", "--source", "accounts"];
    ends_by(|| bill(&place, &target), &[Signal::TERM, Signal::HUP, Signal::INT]);
    let replayed = || {
        let mut command = run_in(place.path(), &["loop.empty"]);
        command.args(REPLAY);
        command
    };
    ends_by(replayed, &[Signal::TERM, Signal::HUP]);
}

/// A bill of this target, again and again.
fn bill(place: &tempfile::TempDir, target: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("howslow"));
    command.arg("bill").args(target).args(["--json", "--every", "20ms"]);
    command.env("HOWSLOW_DATA", place.path().join("data")).env("TMPDIR", place.path());
    command
}

/// A process that is traced is let go at its next event, so this one has events.
fn lets_go_of_the_program_in_time(place: &tempfile::TempDir) {
    let mut watched = Command::new("sh").args(["-c", "while :; do sleep 0.05; done"]).spawn().expect("sh");
    let is_traced = || status_of(watched.id(), "TracerPid:").expect("our child") != "0";
    let mut command = bill(place, &["-p", &watched.id().to_string(), "--source", "ptrace"]);
    command.args(["--for", "1s"]);
    let (mut running, pipe) = unread(command);
    let full = comes(|| is_full(&pipe));
    let (let_go, writes) = (comes(|| !is_traced()), running.try_wait().expect("our child").is_none());
    kill(running.id(), Signal::TERM);
    let ended = comes(|| running.try_wait().expect("our child").is_some());
    watched.kill().and_then(|()| watched.wait()).expect("our child");
    assert!(full && let_go && writes && ended, "full {full}, let go {let_go}, writes {writes}, ended {ended}");
}
