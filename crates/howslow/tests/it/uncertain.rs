//! What a run reports of its own uncertainty, with the real binary: memory of earlier runs, busy CPUs.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use record::{Doubt, Run};
use tempfile::TempDir;

use crate::support::{Ours, TRIES, folder, howslow};

fn run(data: &TempDir, arguments: &[&str]) -> Run {
    let result = howslow(data).arg("run").args(arguments).arg("--json").assert().success();
    record::run_from_bytes(&result.get_output().stdout).expect("a run")
}

#[test]
fn no_figure_lies_outside_its_own_samples_whatever_is_remembered() {
    let data = folder();
    // A clock and a width that this machine never had.
    let machine = system::machine::describe().cpu.signature;
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let absurd = format!(r#"{{"machines":{{"{machine} {}":{{"width_cycles":0.061,"cycle_ns":0.1}}}}}}"#, host.trim());
    fs::write(data.path().join("known.json"), absurd).expect("written");
    let measured = || run(&data, &["loop.empty", "syscall.getppid", "--budget", "2s"]);
    let of_all =
        |run: &Run, is_meant: fn(&Doubt) -> bool| run.costs.iter().all(|cost| cost.doubts.iter().any(is_meant));
    let known = || fs::read_to_string(data.path().join("known.json")).expect("it is remembered");
    // Three runs far away from it report so, and then it is forgotten.
    for number in 1..=3 {
        // A check may be that narrow by luck.
        let hardly = |doubt: &Doubt| matches!(doubt, Doubt::FromDisturbed { .. } | Doubt::FewQuiet { .. });
        assert!(of_all(&measured(), hardly), "run {number}: {}", known());
        assert_eq!(known().contains("0.061"), number < 3, "run {number}: {}", known());
    }
    // On a busy machine a run may lack undisturbed batches all the same.
    let mut later = std::iter::repeat_with(measured).take(TRIES);
    assert!(later.any(|run| !of_all(&run, |doubt| matches!(doubt, Doubt::FromDisturbed { .. }))), "{}", known());
    assert!(!known().contains("0.061"), "{}", known());
}

/// A busy loop on one CPU that ends with the test.
fn busy_on(cpu: u32) -> Ours {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).process_group(0);
    let child = command.spawn().expect("sh starts");
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu as usize);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::thread::sched_setaffinity(Some(pid), &set).expect("pinned");
    Ours(child)
}

#[test]
fn a_busy_program_on_the_measured_cpu_is_reported() {
    let data = folder();
    let cpu = *system::machine::describe().cpu.usable.first().expect("a CPU");
    let _busy = busy_on(cpu);
    // An iteration is longer than a scheduler's slice, so every batch contains some of the other program's time.
    let run = run(&data, &["memory.copy@size=64MiB", "--cpu", &cpu.to_string(), "--budget", "6s"]);
    let cost = run.costs.iter().find(|cost| cost.bytes.0 == 64 << 20).expect("measured");
    let is_meant = |doubt: &Doubt| {
        matches!(doubt, Doubt::FromDisturbed { .. } | Doubt::Interrupted { .. } | Doubt::FewQuiet { .. })
    };
    assert!(cost.doubts.iter().any(is_meant), "{:?}", cost.doubts);
}
