//! `howslow fleet`: over a real Slurm and a real sshd on this host, and over a scheduler that misbehaves.

mod cluster;
mod deleted;
mod fake;
mod manifests;
mod slurm;
mod ssh;

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use assert_cmd::cargo::cargo_bin;
use fleet::{Fleet, Folder, Node, Stage};

/// What a node measures in the tests.
const TINY: [&str; 4] = ["--suite", "loop.empty", "--every", "300ms"];

/// The program without debug information: an eighth of the bytes to copy to each node.
fn small_program() -> &'static str {
    // Nothing drops what is static, so it lies where cargo keeps what tests leave.
    static MADE: LazyLock<String> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("small");
        std::fs::create_dir_all(&folder).expect("a folder");
        let copied = folder.join("howslow");
        let stripped = Command::new("strip").arg("-o").arg(&copied).arg(cargo_bin!("howslow")).status();
        if !stripped.is_ok_and(|status| status.success()) {
            testing::executable(&copied, std::fs::File::open(cargo_bin!("howslow")).expect("it is built"));
        }
        copied.into_os_string().into_string().expect("a plain path")
    });
    &MADE
}

fn state(data: &Path, id: &str) -> Fleet {
    Folder::at(&data.join("fleet")).read(id).expect("the state of a fleet")
}

fn node<'a>(fleet: &'a Fleet, name: &str) -> &'a Node {
    fleet.nodes.iter().find(|node| node.name == name).unwrap_or_else(|| panic!("{name} is no node of {fleet:?}"))
}

/// Checks how the newest attempt on a node ended, and that the reason contains this.
fn ended(fleet: &Fleet, name: &str, stage: Stage, expected: &str) {
    let last = node(fleet, name).attempts.last().unwrap_or_else(|| panic!("nothing was tried on {name}"));
    let is_expected = last.stage == stage && last.reason.contains(expected);
    assert!(is_expected, "{name}: {last:?}, not {stage:?} because of {expected:?}");
}
