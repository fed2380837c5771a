//! Findings about the rights of this process.

use record::{Machine, Present};

use super::finding::{Findings, Severity};
use crate::reference::Place;

/// Capability numbers (`linux/capability.h`).
const NET_ADMIN: u32 = 12;
const SYS_PTRACE: u32 = 19;
pub const SYS_ADMIN: u32 = 21;
const SYS_NICE: u32 = 23;

pub fn rights(machine: &Machine, now: &Present, findings: &mut Findings) {
    if machine.virtualization.seccomp == Some(2) {
        findings.noise(
            "a seccomp filter sees every system call: each costs more, and those it refuses are skipped",
            "run outside it: docker run --security-opt seccomp=unconfined",
        );
    }
    let lacks = |capability: u32| now.capabilities.is_some_and(|set| set >> capability & 1 == 0);
    if !machine.limits.root {
        let start = match findings.place {
            Place::Own => "sudo howslow",
            Place::Inside => "start the container as root: docker run --user 0",
        };
        findings.missing(
            "not root: operations that mount, make namespaces or cgroups, drop caches, swap or use real-time priority are skipped",
            start,
        );
    } else {
        let lacking = [
            (SYS_ADMIN, "SYS_ADMIN", "mounts, namespaces, swap"),
            (SYS_NICE, "SYS_NICE", "real-time priority"),
            (NET_ADMIN, "NET_ADMIN", "network devices"),
            (SYS_PTRACE, "SYS_PTRACE", "tracing others"),
        ];
        let lacking: Vec<_> = lacking.iter().filter(|(capability, ..)| lacks(*capability)).collect();
        if !lacking.is_empty() {
            let uses: Vec<&str> = lacking.iter().map(|(.., uses)| *uses).collect();
            let options: Vec<String> = lacking.iter().map(|(_, name, _)| format!("--cap-add {name}")).collect();
            findings.missing(
                format!("root without all capabilities: operations on {} are skipped", uses.join(", ")),
                format!("docker run {}", options.join(" ")),
            );
        }
    }
    if now.ptrace_scope == Some(3) {
        findings.setting(
            Severity::Missing,
            "nobody may trace (yama ptrace_scope is 3): operations with ptrace are skipped, bills cannot be taken with it",
            "reboot without it: it can only be raised while the system runs",
        );
    }
    if now.io_uring_disabled == Some(2) || (now.io_uring_disabled == Some(1) && lacks(SYS_ADMIN)) {
        findings.setting(
            Severity::Missing,
            "io_uring is switched off: its operations are skipped",
            "sudo sysctl kernel.io_uring_disabled=0",
        );
    }
}
