//! Findings about the hardware and about its other users.

use record::units::{counted, percent};
use record::{Counters, Machine, Noise, Present};

use super::finding::{Findings, Severity};
use crate::reference::dear_clock_source;

/// Others' share of the processor above which a run is disturbed.
const DISTURBED: f64 = 0.02;

/// The other users of the hardware: other guests, the other thread of a core.
pub fn neighbours(machine: &Machine, noise: Option<&Noise>, findings: &mut Findings) {
    let quiet = noise.and_then(|noise| noise.cpus.iter().map(|cpu| cpu.quiet).reduce(f64::max));
    match machine.virtualization.hypervisor.as_deref() {
        Some("QEMU TCG") => findings.noise(
            "instructions are emulated (QEMU TCG): costs are the emulator's, and cycles mean nothing",
            "compare only with runs under the same emulator; run on hardware or KVM (qemu -accel kvm) for the machine's",
        ),
        Some("gVisor") => findings.note(
            "system calls are answered by gVisor, not by the host's kernel",
            "for the host's own costs run outside the sandbox (docker run --runtime runc)",
        ),
        Some(hypervisor) => {
            let hypervisor = if hypervisor == "unknown" { "an unknown hypervisor" } else { hypervisor };
            let measured = quiet.map(|quiet| format!("; the best CPU was undisturbed in {} of the batches", percent(quiet)));
            findings.noise(format!(
                    "a guest of {hypervisor}: neighbours may share the cores, which slows code by a third and shows in \
                     no counter of this system{}",
                    measured.unwrap_or_default()
                ), "use the quiet figures, measure longer (--budget 300s), or rent whole cores (dedicated host, bare metal)");
        }
        None => {}
    }
    if machine.cpu.threads_per_core.is_some_and(|threads| threads > 1) {
        findings.setting(
            Severity::Noise,
            "cores have several hardware threads: whatever runs on the sibling slows what is measured",
            "keep the siblings idle, or switch them off for the run: echo off | sudo tee /sys/devices/system/cpu/smt/control",
        );
    }
    if let Some(noise) = noise.filter(|noise| noise.steal > DISTURBED) {
        findings.noise(
            format!("the hypervisor gave {} of the CPU time to other guests", percent(noise.steal)),
            "run when the host is less loaded, or on an instance without shared or burstable CPUs",
        );
    }
}

/// The other users of this system.
pub fn others(machine: &Machine, noise: Option<&Noise>, now: &Present, findings: &mut Findings) {
    let online = machine.cpu.online.max(1);
    if machine.cpu.usable.len() == 1 {
        findings.missing(
            "only one CPU may be used: operations between two CPUs are skipped, and howslow shares it with what it measures",
            "allow a second one: taskset -c 0,1 howslow, docker run --cpuset-cpus 0-1, or a machine with more",
        );
    }
    let busy = noise.map(|noise| noise.others).filter(|&others| others > DISTURBED);
    match (busy, now.load) {
        (Some(others), _) => findings.noise(
            format!("other programs used {} of the machine's CPU time during the run", percent(others)),
            "stop them (top shows which), or measure on an idle CPU with --cpu N",
        ),
        // Half a task per CPU leaves CPUs free. Without a measurement by a run, the load average is used.
        (None, Some(load)) if noise.is_none() && load > 0.5 * f64::from(online) => findings.noise(
            format!("load average {load:.2} on {}: other programs compete for them", counted(online.into(), "CPU")),
            "stop them (top shows which), or wait a minute if they have just ended",
        ),
        _ => {}
    }
    if let Some(cpus) = machine.limits.cpus {
        findings.noise(
            format!("a cgroup allows {cpus:.2} CPUs: when they are used up everything stops until the next period"),
            "lift the quota: docker run without --cpus, or systemctl set-property UNIT CPUQuota=",
        );
    }
}

pub fn frequency(machine: &Machine, now: &Present, findings: &mut Findings) {
    let frequency = &machine.cpu.frequency;
    if let Some(governor) = frequency.governor.as_deref().filter(|&governor| governor != "performance") {
        findings.setting(
            Severity::Noise,
            format!("the frequency governor is {governor}: the clock follows the load, so times drift"),
            "sudo cpupower frequency-set -g performance (or write it to /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor)",
        );
    }
    if frequency.boost == Some(true) {
        let intel = frequency.driver.as_deref().is_some_and(|driver| driver.starts_with("intel_"));
        let switch = if intel {
            "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
        } else {
            "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
        };
        findings.setting(
            Severity::Noise,
            "boost is on: the clock depends on temperature and on how many cores work",
            format!("compare cycles rather than times, or switch it off for the run: {switch}"),
        );
    }
    if now.on_battery == Some(true) {
        findings.noise("running on battery: firmware may hold the clock down", "plug it in");
    }
}

pub fn clock(machine: &Machine, findings: &mut Findings) {
    if let Some(source) = dear_clock_source(machine) {
        findings.setting(
            Severity::Noise,
            format!("the clock source is {source}: each reading enters the kernel, so batches must be longer"),
            "if listed in available_clocksource: echo tsc | sudo tee \
             /sys/devices/system/clocksource/clocksource0/current_clocksource \
             (boot with tsc=reliable if the kernel found it unstable)",
        );
    }
}

pub fn counters(machine: &Machine, now: &Present, findings: &mut Findings) {
    let guest = machine.virtualization.hypervisor.is_some();
    let without = |why: &str| format!("{why}; cycles come from the speed check, instructions and misses are missing");
    let (why, remedy) = match (now.counters, now.perf_event_paranoid) {
        (Counters::Available, _) => return,
        (Counters::Refused, Some(level)) if level > 2 => {
            let what = without(&format!("hardware counters are refused (perf_event_paranoid is {level})"));
            return findings.setting(Severity::Missing, what, "sudo sysctl kernel.perf_event_paranoid=2");
        }
        (Counters::Refused, _) => (
            "hardware counters are refused, most likely by a seccomp filter",
            "docker run --security-opt seccomp=unconfined, or --cap-add PERFMON",
        ),
        (Counters::Absent, _) if machine.virtualization.hypervisor.as_deref() == Some("QEMU TCG") => (
            "no hardware counters: an emulated processor has none",
            "run on hardware, or under KVM (qemu -accel kvm -cpu host,pmu=on)",
        ),
        (Counters::Absent, _) if guest => (
            "no hardware counters: the hypervisor gives this guest no PMU",
            "a guest with one: qemu -cpu host,pmu=on, a whole-socket or bare-metal instance",
        ),
        (Counters::Absent, _) => {
            ("no hardware counters: the kernel has no driver for this PMU", "a kernel built with CONFIG_PERF_EVENTS")
        }
    };
    findings.missing(without(why), remedy);
}
