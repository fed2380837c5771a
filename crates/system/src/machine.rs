//! What machine this is: every fact that makes two runs differ, learnt without privileges and without `/proc` or
//! `/sys` where need be. Nothing here fails: what cannot be learnt is `None`.
//!
//! ```
//! let machine = howslow_system::machine::describe();
//! assert_eq!(machine.architecture, std::env::consts::ARCH);
//! for (level, bytes) in howslow_system::machine::data_caches(0) {
//!     println!("level {level}: {bytes} bytes");
//! }
//! ```

mod cache;
mod cgroup;
mod cpu;
mod frequency;
mod host;
mod kernel;
mod kernel_threads;
mod memory;
mod microarchitecture;
mod mounted;
mod named_cgroup;
mod present;
mod processor;
#[cfg(test)]
mod recorded;
mod rights;
mod task;
mod topology;
mod virtualization;

use record::Machine;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub use cgroup::Hierarchy;
use host::Host;
pub use kernel_threads::KernelThreads;
pub use mounted::mounted_path;
pub use named_cgroup::{NamedCgroup, NoNamedCgroup};
pub use present::present;
pub use processor::processor_name;
pub use rights::remedy_of_refusal;
pub use task::{TaskStat, processor_time, scheduled_ns};
pub use topology::{Distance, Topology};

/// The machine this process runs on, as it is now. In a pod, whose host name is the pod's, `HOWSLOW_HOST` names the node.
pub fn describe() -> Machine {
    let machine = describe_host(&Host::here());
    let named = std::env::var("HOWSLOW_HOST").ok().filter(|name| !name.is_empty());
    Machine { host: named.or(machine.host), ..machine }
}

/// The bytes of memory that this process may take: what is free, and what its cgroups leave.
pub fn available_memory() -> u64 {
    let host = Host::here();
    let free = memory::available(&host).0;
    cgroup::memory_left(&host).map_or(free, |left| left.min(free))
}

/// The CPUs that this process may use and can be pinned to: those that a set holds.
pub fn pinnable_cpus() -> Vec<u32> {
    let held = |cpu: &u32| (*cpu as usize) < rustix::thread::CpuSet::MAX_CPU;
    cpu::allowed().unwrap_or_else(|| describe().cpu.usable.into_iter().filter(held).collect())
}

/// Allows this process as many open files as it may allow itself. Returns the limit that it had, which stays if it cannot be raised.
pub fn raise_open_files() -> Rlimit {
    let before = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before });
    before
}

/// How this kernel accounts processor time.
pub fn accounting() -> record::Accounting {
    kernel::accounting(&Host::here())
}

/// The sizes in bytes of one CPU's data caches by level, as far as the kernel or the processor reports them.
pub fn data_caches(cpu: u32) -> std::collections::BTreeMap<u32, u64> {
    let caches = cache::describe(&Host::here(), cpu);
    caches.into_iter().filter(|cache| cache.kind != "instruction").map(|cache| (cache.level, cache.size.0)).collect()
}

fn describe_host(host: &Host) -> Machine {
    Machine {
        host: host.read("proc/sys/kernel/hostname"),
        architecture: std::env::consts::ARCH.into(),
        cpu: cpu::describe(host),
        memory: memory::describe(host),
        kernel: kernel::describe(host),
        virtualization: virtualization::describe(host),
        limits: cgroup::limits(host),
        clock_source: host.read("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        libc: libc_name(),
    }
}

/// The C library that this program was linked with, and its version if the library reports one.
fn libc_name() -> String {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: takes nothing and returns a static string that ends in a zero byte.
        let version = unsafe { libc::gnu_get_libc_version() };
        if version.is_null() {
            return "glibc".into();
        }
        // SAFETY: not null, static and ended by a zero byte, as said above.
        let version = unsafe { std::ffi::CStr::from_ptr(version) };
        format!("glibc {}", version.to_string_lossy())
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        if cfg!(target_env = "musl") { "musl".into() } else { String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::recorded::Recorded;
    use super::*;

    #[test]
    fn a_host_without_proc_and_sys_is_still_described() {
        let machine = describe_host(&Recorded::empty().host());
        assert!(!machine.architecture.is_empty());
        assert!(machine.cpu.online >= 1);
        assert!(!machine.cpu.usable.is_empty());
        assert!(machine.memory.total.0 > 0);
        assert!(machine.memory.page.0 >= 4096);
        assert_eq!(machine.kernel.name, "Linux");
        assert!(!machine.kernel.release.is_empty());
        assert_eq!(machine.limits.cgroup, "none");
        assert_eq!(machine.virtualization.container, None);
        assert_eq!(machine.clock_source, None);
    }

    #[test]
    fn garbage_in_every_file_does_no_harm() {
        let garbage = b"\xff:\0 -4294967295, [[: 18446744073709551616-\n:\n\n";
        let files = [
            "proc/cpuinfo",
            "proc/meminfo",
            "proc/version",
            "proc/self/cgroup",
            "proc/self/mountinfo",
            "proc/self/status",
            "proc/config.gz",
            "proc/1/environ",
            "sys/devices/system/cpu/online",
            "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
            "sys/devices/system/cpu/cpu0/cache/index0/size",
            "sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
            "sys/kernel/mm/transparent_hugepage/enabled",
        ];
        let recorded = Recorded::new(&files.map(|path| (path, garbage)));
        assert!(describe_host(&recorded.host()).cpu.online >= 1);
    }

    #[test]
    fn this_machine_is_described() {
        let machine = describe();
        assert_eq!(machine.architecture, std::env::consts::ARCH);
        assert!(!machine.libc.is_empty());
    }
}
