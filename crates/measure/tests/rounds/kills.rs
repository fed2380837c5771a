//! The parent is interrupted or killed: no process, file or folder stays behind.

use std::path::Path;
use std::time::Duration;

use howslow_measure::measure;
use operation::Operation;
use system::guard::children::{self, Reaped};

use crate::support::{
    Failed, HARMLESS, Trial, child, equal, never, nothing_left, order, processes_of_ours, sleep, spin, until,
};

pub fn tests() -> Vec<Trial> {
    vec![
        ("SIGINT ends the work early and cleanly", || {
            testing::interruptible();
            ended_by(libc::SIGINT)
        }),
        ("SIGTERM ends the work early and cleanly", || ended_by(libc::SIGTERM)),
        ("SIGKILL of the parent leaves nothing", || ended_by(libc::SIGKILL)),
        ("SIGKILL of the launcher is noticed", launcher_killed),
    ]
}

/// Hangs in its first round, with a scratch file, a child and a grandchild.
const HANGING: &[Operation] = &[Operation {
    id: "test.hang",
    prepare: |setting| {
        std::fs::write(setting.scratch().join("file"), "left behind?")?;
        // SAFETY: the child and its child only sleep.
        if unsafe { libc::fork() } == 0 {
            // SAFETY: as above.
            unsafe { libc::fork() };
            sleep();
        }
        Ok(never(spin))
    },
    patience: 60.0,
    ..HARMLESS
}];

/// Runs `take` in a child with the given scratch root; its exit status says how it ended.
fn parent(root: &Path) -> libc::pid_t {
    child(|| measure(order(HANGING, root), &mut |_| {}).map_or(99, |taken| taken.interrupted.unwrap_or(0)))
}

/// The round runs once the file exists.
fn under_way(root: &Path) -> Result<(), Failed> {
    let runs = || std::fs::read_dir(root).into_iter().flatten().flatten();
    until("the round to begin", || runs().any(|run| run.path().join("0-0/file").exists()))?;
    std::thread::sleep(Duration::from_millis(20));
    Ok(())
}

fn ended_by(signal: i32) -> Result<(), Failed> {
    let root = tempfile::tempdir()?;
    let before = processes_of_ours();
    let pid = parent(root.path());
    under_way(root.path())?;
    // SAFETY: our own child.
    unsafe { libc::kill(pid, signal) };
    let end = children::wait_for(pid);
    if signal != libc::SIGKILL {
        equal(end, Reaped::Exit(signal), "the signal reported")?;
        nothing_left(root.path())?;
        return equal(processes_of_ours(), before, "processes before and after");
    }
    until("the launcher to clean up", || processes_of_ours() == before && nothing_left(root.path()).is_ok())
}

fn launcher_killed() -> Result<(), Failed> {
    let root = tempfile::tempdir()?;
    let before = processes_of_ours();
    let pid = parent(root.path());
    under_way(root.path())?;
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    let launcher: libc::pid_t = listed.trim().parse()?;
    children::kill(launcher);
    equal(children::wait_for(pid), Reaped::Exit(99), "the error reported")?;
    nothing_left(root.path())?;
    equal(processes_of_ours(), before, "processes before and after")
}
