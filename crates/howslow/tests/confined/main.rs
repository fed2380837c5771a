//! Runs under a seccomp filter, on one CPU, with few descriptors, without namespaces: what cannot be measured is reported with a
//! reason, the rest is measured, and the machine is unchanged.
//!
//! This is a separate program, because its tests look for anything left on the machine and would find the objects of other tests.

#[path = "../it/filter.rs"]
mod filter;
#[path = "../it/support.rs"]
#[allow(dead_code, reason = "the tests of the other program use the rest")]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use filter::{errno, filtered};
use record::Run;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use support::{comes, count, measured, run_of, skip};
use tempfile::TempDir;

/// One test at a time, so that no run sees the temporary objects of another.
static ALONE: Mutex<()> = Mutex::new(());

/// The state of a machine before and after.
struct Place {
    folder: TempDir,
    before: BTreeMap<String, Vec<String>>,
    _alone: MutexGuard<'static, ()>,
}

impl Place {
    fn new() -> Place {
        let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("scratch")).expect("a folder");
        Place { before: state(folder.path()), folder, _alone: alone }
    }

    fn command(&self, patterns: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("howslow"));
        command.arg("run").args(patterns).args(["--budget", "2s", "--json"]);
        command.env("HOWSLOW_DATA", self.folder.path().join("data")).env("TMPDIR", self.folder.path().join("scratch"));
        command
    }

    /// Runs the command. Returns the run, after checking that nothing is left behind.
    fn run(&self, mut command: Command) -> Run {
        let run = run_of(&command.output().expect("it starts"));
        assert_eq!(count(self.folder.path().join("scratch")), 0, "left behind");
        // The kernel frees keys and namespaces asynchronously, and another howslow may have some for as long as it runs.
        let change = || changed(&self.before, &state(self.folder.path()));
        assert!(comes(|| change().is_empty()), "the machine before and after: {:?}", change());
        run
    }
}

/// What is there now and was not, and what was there and is not: not what another howslow has removed.
fn changed(before: &BTreeMap<String, Vec<String>>, now: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let missing = |from: &BTreeMap<String, Vec<String>>, all: &BTreeMap<String, Vec<String>>| -> Vec<String> {
        let entries = all.iter().flat_map(|(place, names)| names.iter().map(move |name| (place, name)));
        let missing = entries.filter(|(place, name)| !from[*place].contains(name));
        missing.map(|(place, name)| format!("{place}: {name}")).collect()
    };
    let gone = missing(now, before).into_iter().filter(|name| !name.contains("howslow"));
    gone.chain(missing(before, now)).collect()
}

/// What a run in this folder could leave behind outside of it.
fn state(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let lines = |path: &str| -> Vec<String> {
        fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let names = |path: &str| -> Vec<String> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let mut state = BTreeMap::new();
    for path in ["/proc/sysvipc/msg", "/proc/sysvipc/sem", "/proc/self/mounts"] {
        state.insert(path.to_owned(), lines(path));
    }
    // The last columns are page counts, which other programs change.
    for path in ["/proc/sysvipc/shm", "/proc/swaps"] {
        state.insert(path.into(), lines(path).iter().map(|line| line.split_whitespace().take(2).collect()).collect());
    }
    for path in ["/dev/mqueue", "/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/dev/shm"] {
        state.insert(path.to_owned(), names(path));
    }
    state.insert("hostname".into(), lines("/proc/sys/kernel/hostname"));
    state
        .insert("howslow keys".into(), lines("/proc/keys").into_iter().filter(|key| key.contains("howslow")).collect());
    // Those of another howslow have another folder.
    let data = [b"HOWSLOW_DATA=", folder.as_os_str().as_bytes()].concat();
    let is_ours = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(&data))
    };
    state.insert("processes".into(), names("/proc").into_iter().filter(is_ours).collect());
    state
}

#[test]
fn a_filter_that_refuses_is_a_skip_with_its_remedy() {
    let place = Place::new();
    let command = filtered(place.command(&["poll.epoll", "poll.poll"]), libc::SYS_epoll_create1, errno(libc::EPERM));
    let run = place.run(command);
    let skip = skip(&run, "poll.epoll");
    assert!(skip.reason.contains("no permission") && skip.remedy.contains("seccomp"), "{skip:?}");
    measured(&run, "poll.poll");
}

#[test]
fn a_kernel_without_the_call_is_a_skip() {
    let place = Place::new();
    let patterns = ["call.landlock_create_ruleset", "call.getuid"];
    let command = filtered(place.command(&patterns), libc::SYS_landlock_create_ruleset, errno(libc::ENOSYS));
    let run = place.run(command);
    assert!(skip(&run, patterns[0]).reason.contains("no such call"));
    measured(&run, "call.getuid");
}

#[test]
fn a_filter_that_kills_costs_the_rounds_of_one_operation() {
    let place = Place::new();
    let patterns = ["call.sched_get_priority_max", "call.sched_get_priority_min"];
    let command = filtered(place.command(&patterns), libc::SYS_sched_get_priority_max, libc::SECCOMP_RET_KILL_PROCESS);
    let run = place.run(command);
    assert!(skip(&run, patterns[0]).reason.contains("SIGSYS (a seccomp filter)"), "{:?}", run.skipped);
    measured(&run, patterns[1]);
}

#[test]
fn without_private_namespaces_the_machine_s_own_are_left_alone() {
    let place = Place::new();
    let patterns = ["call.semop", "call.mq_open", "call.sethostname", "call.mount", "call.getuid"];
    let run = place.run(filtered(place.command(&patterns), libc::SYS_unshare, errno(libc::EPERM)));
    for id in &patterns[..4] {
        let skip = skip(&run, id);
        assert!(!skip.reason.is_empty() && !skip.remedy.is_empty(), "{skip:?}");
    }
    measured(&run, "call.getuid");
}

#[test]
fn objects_outside_the_scratch_folder_are_gone_afterwards() {
    let place = Place::new();
    let patterns =
        ["call.semop", "call.msgsnd", "call.shmat", "call.mq_open", "call.add_key", "call.sethostname", "call.mount"];
    let run = place.run(place.command(&patterns));
    let done = run.costs.iter().filter(|cost| patterns.contains(&cost.operation.as_str())).count();
    assert_eq!(done + run.skipped.len(), patterns.len(), "{:?}", run.skipped);
    if done < patterns.len() {
        testing::left_out!("{:?}", run.skipped);
    }
}

#[test]
fn too_few_descriptors_is_a_skip() {
    let place = Place::new();
    let mut command = place.command(&["poll.poll@descriptors=1000", "poll.poll@descriptors=10"]);
    let few = || Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(128), maximum: Some(128) })?);
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(few) };
    let run = place.run(command);
    let skip = skip(&run, "poll.poll");
    assert!(skip.at.number("descriptors") == Some(1000) && !skip.remedy.is_empty(), "{skip:?}");
    measured(&run, "poll.poll");
}

#[test]
fn on_one_cpu_partners_on_another_are_skipped() {
    let place = Place::new();
    let mut command = place.command(&["futex.roundtrip"]);
    let one = || {
        let mut cpus = CpuSet::new();
        cpus.set(sched_getcpu());
        Ok(sched_setaffinity(None, &cpus)?)
    };
    // SAFETY: the closure makes two system calls and allocates nothing.
    unsafe { command.pre_exec(one) };
    let run = place.run(command);
    let skip = skip(&run, "futex.roundtrip");
    assert!(skip.at.word("distance") == Some("other") && skip.reason.contains("only one CPU"), "{skip:?}");
    measured(&run, "futex.roundtrip");
}
