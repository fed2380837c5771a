//! Children that no signal ends: they are abandoned in time, with the reason.

use std::time::{Duration, Instant};

use guard::apart;
use libtest_mimic::{Failed, Trial};

use crate::support::{contains, equal, processes_of_ours, trial};

/// What may be given to any of this: a stuck child is looked at for 2 s, and again for as long with what it left.
const SOON: Duration = Duration::from_secs(12);

pub fn tests() -> Vec<Trial> {
    vec![
        trial("a child that stops at its end is abandoned", held_by_a_tracer),
        trial("a child that is frozen is abandoned", frozen),
    ]
}

/// A child that a tracer holds at its very end: killed, it stays until the tracer lets it go, which it does not.
fn held_by_a_tracer() -> Result<(), Failed> {
    let before = processes_of_ours();
    let start = Instant::now();
    let end: Result<u32, String> = apart(Duration::from_millis(300), || {
        traced();
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    let took = start.elapsed();
    contains(&end.err().unwrap_or_default(), "stuck in the kernel")?;
    equal(took < SOON, true, "that it took no more than some seconds")?;
    equal(processes_of_ours(), before, "processes of ours")
}

/// Has a process of another group hold this one at its end.
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
    // Should the test be killed, nobody is held for long.
    // SAFETY: ends this process alone.
    unsafe { libc::alarm(30) };
    // SAFETY: traces our parent; the address is ignored.
    unsafe { libc::ptrace(libc::PTRACE_SEIZE, ours, 0, libc::PTRACE_O_TRACEEXIT) };
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// The freezer of the first version of control groups lets no signal through.
const FREEZER: &str = "/sys/fs/cgroup/freezer";

fn frozen() -> Result<(), Failed> {
    let group = std::path::PathBuf::from(FREEZER).join(format!("howslow-test-{}", std::process::id()));
    if std::fs::create_dir(&group).is_err() {
        testing::not_tested!("{FREEZER} cannot be written (it takes root and control groups of version 1)");
        return Ok(());
    }
    let start = Instant::now();
    let folder = group.clone();
    let end: Result<u32, String> = apart(Duration::from_millis(300), move || {
        // Frozen by itself as it writes the second, it never returns from it.
        let joined = std::fs::write(folder.join("cgroup.procs"), std::process::id().to_string());
        let frozen = joined.and_then(|()| std::fs::write(folder.join("freezer.state"), "FROZEN"));
        u32::from(frozen.is_ok())
    });
    let took = start.elapsed();
    let left = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    // The kernel lets it go.
    let thawed = std::fs::write(group.join("freezer.state"), "THAWED");
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::remove_dir(&group).is_ok()
    });
    equal((thawed.is_ok(), gone), (true, true), "that the child was let go and died")?;
    equal(left.lines().count(), 1, "processes that were frozen")?;
    contains(&end.err().unwrap_or_default(), "stuck in the kernel")?;
    equal(took < SOON, true, "that it took no more than some seconds")
}
