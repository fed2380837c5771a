//! Shared by the tests: the command with its own data folder, what it prints, an example run, and processes that are waited for.

use std::ffi::OsStr;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::sync::Mutex;
use std::time::Duration;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use record::{Cost, Run, Skip};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

pub const EXAMPLE: &str = include_str!("../../../record/tests/data/example-run.json");

/// Options of a run that takes no time: its rounds are those of the example.
pub const REPLAY: [&str; 2] =
    ["--replay", concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/data/example-run.json")];

/// Options of a run that is as short as a run can be.
pub const QUICK: [&str; 6] = ["--rounds", "1", "--precision", "100%", "--budget", "2s"];

/// How often a measurement is tried that a busy machine may disturb.
pub const TRIES: usize = 6;

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The program, for a test that starts it and goes on. Its data is in this folder. Its pages are so wide that every sentence stands
/// on one line, whatever the figures in it are.
pub fn program(data: &TempDir) -> std::process::Command {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("howslow"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CI");
    command.env("HOWSLOW_DATA", data.path()).env("XDG_RUNTIME_DIR", data.path());
    command.envs([("HOWSLOW_PRICES", "kept"), ("HOWSLOW_STORE", "files"), ("COLUMNS", "1000")]);
    command
}

/// The command that a test waits for. It is killed after a time that only a hanging command takes.
pub fn howslow(data: &TempDir) -> Command {
    let mut command = Command::from_std(program(data));
    command.timeout(Duration::from_secs(600));
    command
}

/// The run that a command printed as JSON. Checks that the exit status shows whether all of it was measured.
pub fn run_of(output: &Output) -> Run {
    let run = record::run_from_bytes(&output.stdout);
    let run = run.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.status.code(), Some(if run.skipped.is_empty() { 0 } else { 3 }), "{:?}", run.skipped);
    run
}

/// The first cost of this operation.
pub fn cost<'r>(run: &'r Run, id: &str) -> &'r Cost {
    let found = run.costs.iter().find(|cost| cost.operation == id);
    found.unwrap_or_else(|| panic!("{id} was not measured on {}: {:?}", run.machine.architecture, run.skipped))
}

/// Checks that it was measured, at one point or another.
pub fn measured(run: &Run, id: &str) {
    assert!(run.costs.iter().any(|cost| cost.operation == id), "{id} was not measured: {:?}", run.skipped);
}

/// Why the first point of this operation was not measured.
pub fn skip<'r>(run: &'r Run, id: &str) -> &'r Skip {
    run.skipped.iter().find(|skip| skip.operation == id).unwrap_or_else(|| panic!("{id} was not skipped"))
}

/// Nothing is printed, but that a run took longer than its budget: each command runs at least once, however long a busy host takes.
pub fn prints_nothing() -> impl Predicate<str> {
    is_empty().or(contains("\n").count(1).and(starts_with("howslow: --budget: it took ")))
}

/// The document that a command prints, which succeeds.
pub fn json(command: &mut Command) -> Value {
    serde_json::from_slice(&command.assert().success().get_output().stdout).expect("JSON")
}

/// Waits until it is so; false after a minute in which this process could look. Nothing here takes that long, unless all of it is stopped.
pub fn comes(mut is_so: impl FnMut() -> bool) -> bool {
    const LOOKS: u32 = 12_000;
    (0..LOOKS).any(|_| {
        let found = is_so();
        if !found {
            std::thread::sleep(Duration::from_millis(5));
        }
        found
    })
}

pub fn until(what: &str, is_so: impl FnMut() -> bool) {
    assert!(comes(is_so), "waited in vain for {what}");
}

/// Waits until something is there.
pub fn found<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    until(what, || {
        found = look();
        found.is_some()
    });
    found.expect("it is there")
}

/// Does this with each item, so many at a time. Returns what it gives, in any order.
pub fn at_once<T: Send, R: Send>(
    workers: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let queue = Mutex::new(items);
    let one = || {
        let next = || queue.lock().expect("no panic holds it").next();
        std::iter::from_fn(next).map(&work).collect::<Vec<R>>()
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(one)).collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// The processes that a process has started.
pub fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// A process and all below it.
pub fn family(pid: u32) -> Vec<u32> {
    std::iter::once(pid).chain(children(pid).into_iter().flat_map(family)).collect()
}

/// Sends a signal; a process that has ended meanwhile needs none.
pub fn kill(pid: u32, signal: Signal) {
    let sent = kill_process(Pid::from_raw(pid as i32).expect("an id"), signal);
    assert!(matches!(sent, Ok(()) | Err(Errno::SRCH)), "{sent:?}");
}

/// A child that ends with the test.
pub struct Ours(pub Child);

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The letter of a process's state in /proc.
pub fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// True if a process has ended; one that nobody has waited for has ended too.
pub fn is_gone(pid: u32) -> bool {
    matches!(state(pid), None | Some('Z'))
}

/// A line of the status of a process.
pub fn status_of(pid: u32, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().into())
}

/// True if a process has this signal in a mask: `SigCgt:` of those that it handles, `SigIgn:` of those that it ignores.
pub fn has_signal(pid: u32, mask: &str, signal: Signal) -> bool {
    let mask = status_of(pid, mask).and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

/// The folders in which programs are found, this one first.
pub fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

/// True if a program can be executed here.
pub fn is_installed(program: &str) -> bool {
    std::process::Command::new(program).arg("--version").output().is_ok()
}

/// The number of files in a folder, unless it is gone.
pub fn count(folder: impl AsRef<Path>) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Runs howslow as a user without rights, in a folder that this user may write to; `None` if that is not possible here.
pub fn without_rights(data: &TempDir, words: &[&str]) -> Option<Output> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(data.path(), std::fs::Permissions::from_mode(0o777)).expect("our folder");
    let program = assert_cmd::cargo::cargo_bin!("howslow");
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let run = |program: &Path, words: &[&str]| {
        let mut command = std::process::Command::new("setpriv");
        command.args(user).arg(program).args(words).current_dir("/");
        command.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_PRICES", "kept");
        command.stdin(std::process::Stdio::null()).output()
    };
    match run(program, &["--version"]) {
        Ok(output) if output.status.success() => Some(run(program, words).expect("it runs")),
        other => {
            let remedy = "run as root, in a folder that others can read";
            testing::not_tested!("howslow cannot run as another user: {other:?}; {remedy}");
            None
        }
    }
}

/// What `cc` makes of these arguments; `None`, said aloud, without a compiler.
pub fn cc<A: AsRef<OsStr>>(program: PathBuf, arguments: impl IntoIterator<Item = A>) -> Option<PathBuf> {
    let Ok(status) = std::process::Command::new("cc").arg("-o").arg(&program).args(arguments).status() else {
        testing::not_tested!("there is no C compiler; install one (apt install gcc)");
        return None;
    };
    assert!(status.success(), "cc refuses {}", program.display());
    Some(program)
}
