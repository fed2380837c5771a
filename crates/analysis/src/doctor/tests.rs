//! The doctor's findings on made-up machines.

use record::{Bytes, Counters, CpuQuiet};

use super::rights::SYS_ADMIN;
use super::*;

/// A machine on which nothing is wrong.
fn healthy() -> (Machine, Present) {
    let mut machine = Machine::default();
    machine.cpu.usable = vec![0, 1, 2, 3];
    machine.cpu.threads_per_core = Some(1);
    machine.cpu.frequency.governor = Some("performance".into());
    machine.cpu.frequency.boost = Some(false);
    machine.clock_source = Some("tsc".into());
    machine.memory.transparent_huge_pages = Some("madvise".into());
    machine.limits.root = true;
    machine.limits.open_files = Some(1024);
    machine.limits.locked_memory = Some(Bytes(8 << 20));
    let now = Present {
        counters: Counters::Available,
        load: Some(0.1),
        memory_free: Some(Bytes(8 << 30)),
        swap_used: Some(Bytes(0)),
        scratch: "/tmp".into(),
        scratch_kind: Some("ext4".into()),
        scratch_free: Some(Bytes(8 << 30)),
        capabilities: Some(u64::MAX),
        proc: true,
        sys: true,
        ..Present::default()
    };
    (machine, now)
}

/// The only finding after one thing is changed on a healthy machine.
fn only(change: impl FnOnce(&mut Machine, &mut Present)) -> Finding {
    let (mut machine, mut now) = healthy();
    change(&mut machine, &mut now);
    let mut findings = examine(&machine, None, &now);
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings.remove(0)
}

#[test]
fn a_healthy_machine_has_no_findings() {
    let (machine, now) = healthy();
    assert_eq!(examine(&machine, None, &now), []);
}

#[test]
fn each_trouble_is_found_alone_and_has_a_remedy() {
    type Change = fn(&mut Machine, &mut Present);
    let changes: [(Severity, &str, Change); 27] = [
        (Severity::Noise, "guest of KVM", |m, _| m.virtualization.hypervisor = Some("KVM".into())),
        (Severity::Noise, "emulated", |m, _| m.virtualization.hypervisor = Some("QEMU TCG".into())),
        (Severity::Note, "gVisor", |m, _| m.virtualization.hypervisor = Some("gVisor".into())),
        (Severity::Noise, "hardware threads", |m, _| m.cpu.threads_per_core = Some(2)),
        (Severity::Noise, "powersave", |m, _| m.cpu.frequency.governor = Some("powersave".into())),
        (Severity::Noise, "boost", |m, _| m.cpu.frequency.boost = Some(true)),
        (Severity::Noise, "battery", |_, n| n.on_battery = Some(true)),
        (Severity::Missing, "one CPU", |m, _| m.cpu.usable = vec![3]),
        (Severity::Noise, "load average 3.00", |_, n| n.load = Some(3.0)),
        (Severity::Noise, "1.50 CPUs", |m, _| m.limits.cpus = Some(1.5)),
        (Severity::Noise, "hpet", |m, _| m.clock_source = Some("hpet".into())),
        (Severity::Missing, "256 MiB", |m, _| m.limits.memory = Some(Bytes(128 << 20))),
        (Severity::Missing, "100 MiB of memory", |_, n| n.memory_free = Some(Bytes(100 << 20))),
        (Severity::Missing, "huge pages", |m, _| m.memory.transparent_huge_pages = Some("never".into())),
        (Severity::Noise, "swapped", |_, n| n.swap_used = Some(Bytes(4096))),
        (Severity::Missing, "256 open files", |m, _| m.limits.open_files = Some(256)),
        (Severity::Missing, "locked", |m, _| m.limits.locked_memory = Some(Bytes(64 << 10))),
        (Severity::Missing, "100 processes", |m, _| m.limits.processes = Some(100)),
        (Severity::Missing, "counters", |_, n| n.counters = Counters::Absent),
        (Severity::Noise, "seccomp", |m, _| m.virtualization.seccomp = Some(2)),
        (Severity::Missing, "not root", |m, _| m.limits.root = false),
        (Severity::Missing, "mounts", |_, n| n.capabilities = Some(!(1 << SYS_ADMIN))),
        (Severity::Missing, "trace", |_, n| n.ptrace_scope = Some(3)),
        (Severity::Missing, "io_uring", |_, n| n.io_uring_disabled = Some(2)),
        (Severity::Noise, "fsync", |_, n| n.scratch_kind = Some("tmpfs".into())),
        (Severity::Missing, "no /proc", |_, n| n.proc = false),
        (Severity::Missing, "/bin/sh", |_, n| n.missing_programs = vec!["/bin/sh".into()]),
    ];
    for (severity, part, change) in changes {
        let finding = only(change);
        assert_eq!(finding.severity, severity, "{finding:?}");
        assert!(finding.what.contains(part), "{finding:?}");
        assert!(!finding.remedy.is_empty(), "{finding:?}");
    }
}

#[test]
fn the_remedy_fits_the_driver_and_the_refusal() {
    let finding = only(|machine, _| {
        machine.cpu.frequency.boost = Some(true);
        machine.cpu.frequency.driver = Some("intel_pstate".into());
    });
    assert!(finding.remedy.contains("no_turbo"));
    let finding = only(|_, now| {
        now.counters = Counters::Refused;
        now.perf_event_paranoid = Some(4);
    });
    assert!(finding.remedy.contains("perf_event_paranoid=2"));
}

#[test]
fn mitigations_are_a_note_and_enhanced_ibrs_is_none() {
    let set = |machine: &mut Machine, name: &str, text: &str| {
        machine.kernel.mitigations.insert(name.into(), text.into());
    };
    let finding = only(|machine, _| {
        set(machine, "meltdown", "Mitigation: PTI");
        set(machine, "retbleed", "Mitigation: Enhanced IBRS");
        set(machine, "mds", "Not affected");
    });
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.what.contains("PTI") && !finding.what.contains("IBRS"));
}

#[test]
fn a_runs_own_noise_is_believed_before_the_load_average() {
    let (mut machine, mut now) = healthy();
    machine.virtualization.hypervisor = Some("KVM".into());
    now.load = Some(9.0);
    let noise = Noise {
        cpus: vec![CpuQuiet { cpu: 0, batches: 100, quiet: 0.15 }],
        others: 0.25,
        steal: 0.1,
        ..Noise::default()
    };
    let findings = examine(&machine, Some(&noise), &now);
    let all: Vec<&str> = findings.iter().map(|finding| finding.what.as_str()).collect();
    assert!(all[0].contains("15 %") && all[1].contains("10 %") && all[2].contains("25 %"), "{all:?}");
    assert_eq!(findings.len(), 3);
}

#[test]
fn noise_comes_first() {
    let (mut machine, now) = healthy();
    machine.limits.root = false;
    machine.virtualization.seccomp = Some(2);
    let severities: Vec<Severity> = examine(&machine, None, &now).iter().map(|finding| finding.severity).collect();
    assert_eq!(severities, [Severity::Noise, Severity::Missing]);
}

#[test]
fn within_a_container_settings_are_the_hosts() {
    let finding = only(|machine, _| {
        machine.cpu.frequency.governor = Some("powersave".into());
        machine.virtualization.container = Some("docker".into());
    });
    assert!(finding.remedy.starts_with("the host's setting, outside this container: cpupower"), "{finding:?}");
    // What starts the container anew is no setting of the host.
    let finding = only(|machine, _| {
        machine.limits.cpus = Some(1.5);
        machine.virtualization.container = Some("docker".into());
    });
    assert!(finding.remedy.starts_with("lift the quota: docker run"), "{finding:?}");
}
