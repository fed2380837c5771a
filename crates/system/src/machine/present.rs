//! The facts for the doctor that are not in the machine's description, because they may change in an hour.

use std::path::Path;

use record::{Bytes, Counters, Present};
use rustix::process::{Resource, getrlimit};

use crate::machine::host::{Host, field};
use crate::machine::kernel::{configuration, value};
use crate::machine::memory::kib;
use crate::perf::PerfEvent;

/// Programs that operations start.
const PROGRAMS: [&str; 2] = ["/bin/sh", "/bin/true"];

/// Build options that make a kernel many times slower than production kernels.
const DEBUGGING: [&str; 6] = [
    "CONFIG_KASAN", "CONFIG_KCSAN", "CONFIG_KMSAN", "CONFIG_PROVE_LOCKING", "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "CONFIG_SLUB_DEBUG_ON",
];

/// The current state, for a run whose files would be below `scratch`.
pub fn present(scratch: &Path) -> Present {
    present_on(&Host::here(), scratch, counters())
}

fn present_on(host: &Host, scratch: &Path, counters: Counters) -> Present {
    let meminfo = host.read("proc/meminfo").unwrap_or_default();
    let loadavg = host.read("proc/loadavg").unwrap_or_default();
    let status = host.read("proc/self/status").unwrap_or_default();
    let file_system = rustix::fs::statfs(scratch).ok();
    let swap = kib(&meminfo, "SwapTotal").zip(kib(&meminfo, "SwapFree"));
    Present {
        counters,
        perf_event_paranoid: host.number("proc/sys/kernel/perf_event_paranoid"),
        load: loadavg.split(' ').next().and_then(|load| load.parse().ok()),
        memory_free: kib(&meminfo, "MemAvailable").or_else(|| kib(&meminfo, "MemFree")),
        swap_used: swap.map(|(total, free)| Bytes(total.0.saturating_sub(free.0))),
        scratch: scratch.display().to_string(),
        scratch_kind: file_system.as_ref().map(|kind| file_system_name(kind.f_type as u64)),
        scratch_free: file_system.map(|kind| Bytes(kind.f_bavail.saturating_mul(unit(&kind)))),
        shared_memory: rustix::fs::statfs("/dev/shm").ok().map(|kind| Bytes(kind.f_blocks.saturating_mul(unit(&kind)))),
        processes: processes(host),
        capabilities: field(&status, "CapEff").and_then(|set| u64::from_str_radix(set, 16).ok()),
        ptrace_scope: host.number("proc/sys/kernel/yama/ptrace_scope"),
        io_uring_disabled: host.number("proc/sys/kernel/io_uring_disabled"),
        missing_programs: PROGRAMS.iter().filter(|program| !host.exists(&program[1..])).map(|&p| p.into()).collect(),
        debugging: debugging(host),
        on_battery: on_battery(host),
        proc: host.exists("proc/self/stat"),
        sys: host.exists("sys/devices/system/cpu"),
    }
}

/// Whether this process can count its cycles.
fn counters() -> Counters {
    // The kind PERF_TYPE_HARDWARE and its event PERF_COUNT_HW_CPU_CYCLES are both 0.
    let flags = PerfEvent::EXCLUDE_KERNEL | PerfEvent::EXCLUDE_HYPERVISOR;
    let counter = match (PerfEvent { flags, ..PerfEvent::default() }).open(0, -1) {
        Ok(counter) => counter,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Counters::Refused,
        Err(_) => return Counters::Absent,
    };
    let mut count = [0; 8];
    // Some hypervisors open a counter that never counts.
    match rustix::io::read(&counter, &mut count) {
        Ok(8) if u64::from_ne_bytes(count) > 0 => Counters::Available,
        _ => Counters::Absent,
    }
}

/// The bytes of the blocks that are counted (statvfs(3)).
fn unit(kind: &rustix::fs::StatFs) -> u64 {
    (if kind.f_frsize > 0 { kind.f_frsize } else { kind.f_bsize }) as u64
}

/// The maximum number of processes and threads: the tightest of this user's limit and the kernel's two.
fn processes(host: &Host) -> Option<u64> {
    let kernel = ["proc/sys/kernel/pid_max", "proc/sys/kernel/threads-max"].map(|path| host.number(path));
    kernel.into_iter().chain([getrlimit(Resource::Nproc).current]).flatten().min()
}

fn debugging(host: &Host) -> Vec<String> {
    let configuration = configuration(host).unwrap_or_default();
    DEBUGGING.iter().filter(|option| value(&configuration, option) == Some("y")).map(|&o| o.to_owned()).collect()
}

/// True if a battery is discharging; `None` if there is none.
fn on_battery(host: &Host) -> Option<bool> {
    let supplies = host.list("sys/class/power_supply");
    let read = |name: &String, file: &str| host.read(&format!("sys/class/power_supply/{name}/{file}"));
    let batteries = supplies.iter().filter(|name| read(name, "type").is_some_and(|kind| kind == "Battery"));
    batteries.filter_map(|name| read(name, "status")).map(|status| status == "Discharging").reduce(|a, b| a || b)
}

/// A file system's name by its magic number (`linux/magic.h`).
fn file_system_name(magic: u64) -> String {
    match magic & 0xffff_ffff {
        0x0102_1994 => "tmpfs".into(),
        0x8584_58f6 => "ramfs".into(),
        0xef53 => "ext4".into(),
        0x5846_5342 => "xfs".into(),
        0x9123_683e => "btrfs".into(),
        0x794c_7630 => "overlay".into(),
        0x2fc1_2fc1 => "zfs".into(),
        0xf2f5_2010 => "f2fs".into(),
        0x6969 => "nfs".into(),
        0x0102_1997 => "9p".into(),
        0x6573_5546 => "fuse".into(),
        0xca45_1a4e => "bcachefs".into(),
        0xff53_4d42 | 0xfe53_4d42 => "cifs".into(),
        other => format!("{other:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    #[test]
    fn a_folder_with_nothing_in_it_is_a_present_without_facts() {
        let present = present_on(&Recorded::empty().host(), Path::new("/nowhere/at/all"), Counters::Absent);
        assert_eq!((present.proc, present.sys), (false, false));
        assert_eq!((present.load, present.scratch_kind, present.on_battery), (None, None, None));
        assert_eq!(present.missing_programs, PROGRAMS);
    }

    #[test]
    fn a_recorded_laptop() {
        let recorded = Recorded::new(&[
            ("proc/loadavg", "2.05 0.50 0.16 7/145 6818"),
            ("proc/meminfo", "MemAvailable:  24299336 kB\nSwapTotal:  2097148 kB\nSwapFree:  2000000 kB"),
            ("proc/self/status", "Name:\tcat\nCapEff:\t000001fffeffffff"),
            ("proc/sys/kernel/perf_event_paranoid", "-1"),
            ("sys/class/power_supply/BAT0/type", "Battery"),
            ("sys/class/power_supply/BAT0/status", "Discharging"),
        ]);
        let present = present_on(&recorded.host(), recorded.path(), Counters::Absent);
        assert_eq!((present.load, present.perf_event_paranoid, present.on_battery), (Some(2.05), Some(-1), Some(true)));
        assert_eq!(present.swap_used, Some(Bytes(97148 << 10)));
        assert_eq!(present.capabilities, Some(0x1ff_feff_ffff));
        assert!(present.scratch_kind.is_some());
    }

    #[test]
    fn file_systems_have_names() {
        assert_eq!(file_system_name(0xef53), "ext4");
        assert_eq!(file_system_name(0x9123_683e), "btrfs");
        assert_eq!(file_system_name(0x1234), "0x1234");
    }
}
