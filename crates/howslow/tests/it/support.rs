//! Shared by the tests: the command with its own data folder, the run that it prints, and an example run.

use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use record::Run;
use tempfile::TempDir;

pub const EXAMPLE: &str = include_str!("../../../record/tests/data/example-run.json");

/// Options of a run that takes no time: its rounds are those of the example.
pub const REPLAY: [&str; 2] =
    ["--replay", concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/data/example-run.json")];

/// Options of a run that is as short as a run can be.
pub const QUICK: [&str; 6] = ["--rounds", "1", "--precision", "100%", "--budget", "2s"];

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The command, with its data in this folder. It is killed after a time that only a hanging command takes. Its pages are so wide
/// that every sentence stands on one line, whatever the figures in it are.
pub fn howslow(data: &TempDir) -> Command {
    let mut command = Command::cargo_bin("howslow").expect("the binary is built");
    command
        .env("HOWSLOW_DATA", data.path())
        .env("HOWSLOW_PRICES", "kept")
        .env("HOWSLOW_STORE", "files")
        .env("XDG_RUNTIME_DIR", data.path())
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("CI")
        .env("COLUMNS", "1000")
        .timeout(Duration::from_secs(600));
    command
}

/// The run that a command printed as JSON. Checks that the exit status says whether all of it was measured.
pub fn run_of(output: &Output) -> Run {
    let run = record::run_from_bytes(&output.stdout);
    let run = run.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.status.code(), Some(if run.skipped.is_empty() { 0 } else { 3 }), "{:?}", run.skipped);
    run
}

/// Runs howslow as a user without rights, in a folder that this user may write to; `None` if that is not possible here.
pub fn without_rights(data: &TempDir, words: &[&str]) -> Option<Output> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(data.path(), std::fs::Permissions::from_mode(0o777)).expect("our folder");
    let program = assert_cmd::cargo::cargo_bin!("howslow");
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let run = |program: &std::path::Path, words: &[&str]| {
        let mut command = std::process::Command::new("setpriv");
        command
            .args(user)
            .arg(program)
            .args(words)
            .current_dir("/")
            .env("HOWSLOW_DATA", data.path())
            .env("HOWSLOW_PRICES", "kept");
        command.stdin(std::process::Stdio::null()).output()
    };
    match run(program, &["--version"]) {
        Ok(output) if output.status.success() => Some(run(program, words).expect("it runs")),
        other => {
            testing::not_tested!(
                "howslow cannot run as another user: {other:?}; run as root, in a folder that others can read"
            );
            None
        }
    }
}
