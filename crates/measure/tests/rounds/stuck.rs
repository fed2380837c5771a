//! Children that no signal can end: they are abandoned in time, with the reason.

use std::time::Duration;

use system::guard::{Lost, apart};

use crate::support::{Failed, Trial, equal, processes_of_ours, sleep};

pub fn tests() -> Vec<Trial> {
    vec![
        ("a child that stops at its end is abandoned", held_by_a_tracer),
        ("a child that is frozen is abandoned", frozen),
    ]
}

/// A child that a tracer holds at its exit: after it is killed, it stays until the tracer releases it, which it does
/// not.
fn held_by_a_tracer() -> Result<(), Failed> {
    let before = processes_of_ours();
    let end: Result<u32, Lost> = apart(Duration::from_millis(300), || {
        traced();
        sleep()
    });
    // Before the tracer let it go by itself.
    equal(end, Err(Lost::Stuck), "the end")?;
    equal(processes_of_ours(), before, "processes of ours")
}

/// Makes a process of another group hold this one at its exit.
fn traced() {
    let ours = std::process::id() as libc::pid_t;
    // Any process may trace this one, where only its ancestors may otherwise.
    // SAFETY: concerns this process alone.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
    // SAFETY: this process has one thread.
    if unsafe { libc::fork() } != 0 {
        return;
    }
    // SAFETY: moves only this process, which the group's end then does not reach.
    unsafe { libc::setsid() };
    // If the test is killed, this limits how long the child is held.
    // SAFETY: ends this process alone.
    unsafe { libc::alarm(30) };
    // SAFETY: traces our parent; the address is ignored.
    unsafe { libc::ptrace(libc::PTRACE_SEIZE, ours, 0, libc::PTRACE_O_TRACEEXIT) };
    sleep()
}

/// The freezer of cgroup version 1 lets no signal through.
const FREEZER: &str = "/sys/fs/cgroup/freezer";

fn frozen() -> Result<(), Failed> {
    let group = std::path::PathBuf::from(FREEZER).join(format!("howslow-test-{}", std::process::id()));
    if std::fs::create_dir(&group).is_err() {
        testing::left_out!("{FREEZER} cannot be written (it takes root and control groups of version 1)");
        return Ok(());
    }
    let folder = group.clone();
    let end: Result<u32, Lost> = apart(Duration::from_millis(300), move || {
        // Frozen by itself as it writes the second, it never returns from it.
        let joined = std::fs::write(folder.join("cgroup.procs"), std::process::id().to_string());
        let frozen = joined.and_then(|()| std::fs::write(folder.join("freezer.state"), "FROZEN"));
        u32::from(frozen.is_ok())
    });
    // It is given up while it is frozen.
    let left = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    // The kernel releases it.
    let thawed = std::fs::write(group.join("freezer.state"), "THAWED");
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::remove_dir(&group).is_ok()
    });
    equal((thawed.is_ok(), gone), (true, true), "that the child was let go and died")?;
    equal(left.lines().count(), 1, "processes that were frozen")?;
    equal(end, Err(Lost::Stuck), "the end")
}
