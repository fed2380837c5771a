//! The script of the guide that gates a pull request. What a gate prints is in tests/cases.

use crate::support::folder;

/// The script of the guide, as it is, on one kernel: whatever the verdict, it is told and has its status.
#[test]
fn the_script_gates_a_pull_request() {
    let data = folder();
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks/gate.sh");
    let program = assert_cmd::cargo::cargo_bin!("howslow");
    let path = format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display());
    let mut command = assert_cmd::Command::new("sh");
    command.arg(script).current_dir(data.path()).env("PATH", path).env("HOWSLOW_DATA", data.path().join("data"));
    let output = command.env("CALLS", "syscall.getppid").env("BUDGET", "3s").output().expect("a shell");
    let (told, status) = (String::from_utf8_lossy(&output.stderr), output.status.code());
    let word = match status {
        Some(0) => "passed",
        Some(3) => "incomplete",
        Some(4) => "failed",
        _ => panic!("{status:?}: {told}"),
    };
    assert!(told.starts_with(&format!("howslow: gate {word}: ")), "{told}");
    let comment = std::fs::read_to_string(data.path().join("comment.md")).expect("a comment");
    assert!(
        comment.starts_with(&format!("### howslow: gate {word}\n")) && comment.contains("syscall.getppid"),
        "{comment}"
    );
    assert!(data.path().join("before.json").exists() && data.path().join("after.json").exists());
}
