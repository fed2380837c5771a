//! Findings about the system of a run: memory, limits, files, the kernel's build.

use record::{Bytes, Machine, Present};

use super::finding::{Findings, Severity};
use crate::reference::{IN_MEMORY, SERVED, dear_mitigations};

/// The largest working set of the memory operations.
const LARGEST_SET: Bytes = Bytes(256 << 20);
/// Files that the operations with many descriptors open.
const OPEN_FILES: u64 = 1024;
/// Memory that the operations on locked pages lock.
const LOCKED: Bytes = Bytes(1 << 20);
/// Processes and threads that the operations with many tasks start.
const PROCESSES: u64 = 1024;
/// Memory that the operations on shared memory and scratch files use.
const ROOM: Bytes = Bytes(64 << 20);

pub fn memory(machine: &Machine, now: &Present, findings: &mut Findings) {
    if let Some(limit) = machine.limits.memory.filter(|&limit| limit.0 < 2 * LARGEST_SET.0) {
        findings.missing(
            format!("a cgroup allows {limit} of memory: sets of {LARGEST_SET} will be skipped or page"),
            "raise it: docker run --memory 1g, or systemctl set-property UNIT MemoryMax=1G",
        );
    }
    if let Some(free) = now.memory_free.filter(|&free| free.0 < 2 * LARGEST_SET.0) {
        findings.missing(
            format!("only {} MiB of memory are free: sets of {LARGEST_SET} will be skipped or page", free.0 >> 20),
            "stop what uses it (ps aux --sort -rss | head)",
        );
    }
    if machine.memory.transparent_huge_pages.as_deref() == Some("never") {
        findings.setting(
            Severity::Missing,
            "transparent huge pages are off: costs over huge pages are missing, and large sets also pay for the TLB",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        );
    }
    if let Some(used) = now.swap_used.filter(|used| used.0 > 0) {
        findings.setting(
            Severity::Noise,
            format!("{} MiB are swapped out: first touches may wait for the device", used.0.div_ceil(1 << 20)),
            "bring them back when memory is free: sudo swapoff -a && sudo swapon -a",
        );
    }
}

pub fn limits(machine: &Machine, now: &Present, findings: &mut Findings) {
    let limits = &machine.limits;
    if let Some(files) = limits.open_files.filter(|&files| files < OPEN_FILES) {
        findings.missing(
            format!("{files} open files allowed: points with up to {OPEN_FILES} descriptors are skipped"),
            "ulimit -n 4096 (docker run --ulimit nofile=4096)",
        );
    }
    if let Some(locked) = limits.locked_memory.filter(|&locked| locked < LOCKED) {
        findings.missing(
            format!("{locked} may be locked in memory: mlock over larger sizes is skipped"),
            "ulimit -l 8192 (docker run --ulimit memlock=8388608)",
        );
    }
    if let Some(processes) = limits.processes.into_iter().chain(now.processes).min().filter(|&most| most < PROCESSES) {
        findings.missing(
            format!("{processes} processes and threads allowed: points with many tasks are skipped"),
            "ulimit -u 4096; docker run --pids-limit 4096; sudo sysctl kernel.pid_max=32768",
        );
    }
    if let Some(size) = now.shared_memory.filter(|&size| size < ROOM) {
        findings.missing(
            format!("/dev/shm holds {size}: larger shared memory is skipped"),
            "sudo mount -o remount,size=1g /dev/shm (docker run --shm-size 1g)",
        );
    }
}

pub fn files(now: &Present, findings: &mut Findings) {
    let elsewhere = "set TMPDIR to a folder on the device to be measured";
    match now.scratch_kind.as_deref() {
        Some(kind) if IN_MEMORY.contains(&kind) => findings.noise(
            format!(
                "scratch files in {} are in memory ({kind}): fsync costs nothing there and no device is seen",
                now.scratch
            ),
            elsewhere,
        ),
        Some(kind) if SERVED.contains(&kind) => findings
            .noise(format!("scratch files in {} go over {kind}: file costs are the server's", now.scratch), elsewhere),
        Some("overlay") => findings.note(
            format!("scratch files in {} are on a container's overlay: opening and looking up cost more", now.scratch),
            "set TMPDIR to a volume: docker run -v scratch:/scratch -e TMPDIR=/scratch",
        ),
        _ => {}
    }
    if let Some(free) = now.scratch_free.filter(|free| free.0 < 2 * LARGEST_SET.0) {
        findings.missing(
            format!("{} MiB of room in {}: operations on large files are skipped", free.0 >> 20, now.scratch),
            "make room there, or set TMPDIR to a larger file system",
        );
    }
    if !now.missing_programs.is_empty() {
        findings.missing(
            format!("no {}: operations that start it are skipped", now.missing_programs.join(", ")),
            "install a shell and the core utilities (busybox has both)",
        );
    }
    for (name, there, lost) in [
        ("/proc", now.proc, "faults, load and this process's limits are not seen"),
        ("/sys", now.sys, "caches, topology and mitigations are known only as far as the processor tells"),
    ] {
        if !there {
            let remedy = format!("mount -t {0} {0} {name}", if name == "/sys" { "sysfs" } else { "proc" });
            findings.missing(format!("no {name}: {lost}"), remedy);
        }
    }
}

pub fn kernel(machine: &Machine, now: &Present, findings: &mut Findings) {
    let dear = dear_mitigations(machine);
    if !dear.is_empty() {
        findings.setting(
            Severity::Note,
            format!("mitigations make the kernel slower: {}", dear.join("; ")),
            "to see what they cost, compare a run booted with mitigations=off, on a machine that runs nobody else's code",
        );
    }
    if !now.debugging.is_empty() {
        findings.setting(
            Severity::Noise,
            format!(
                "the kernel was built to find bugs ({}): its costs are several times the usual",
                now.debugging.join(", ")
            ),
            "boot a kernel built without these options",
        );
    }
    if machine.kernel.release.to_lowercase().contains("microsoft") {
        findings.note(
            "this is the Windows Subsystem for Linux: files below /mnt are served by Windows",
            "keep scratch files on the Linux side: TMPDIR=/tmp",
        );
    }
}
