//! Where a run was taken: everything that makes two runs differ. A fact that could not be learnt is `None`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Where a run was taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// The system's name in its network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// `x86_64` or `aarch64`.
    pub architecture: String,
    /// The processor.
    pub cpu: CpuModel,
    /// The memory.
    pub memory: Memory,
    /// The kernel.
    pub kernel: Kernel,
    /// The hypervisor and container around it.
    pub virtualization: Virtualization,
    /// Limits on this process.
    pub limits: Limits,
    /// The clock source the kernel uses: `tsc`, `kvm-clock`, `arch_sys_counter`.
    pub clock_source: Option<String>,
    /// The C library: `glibc 2.36`, `musl`.
    pub libc: String,
}

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CpuModel {
    /// The processor's name, as it reports it.
    pub model: String,
    /// The microarchitecture, if model numbers or features identify it: `Cascade Lake`.
    pub microarchitecture: Option<String>,
    /// `GenuineIntel`, `AuthenticAMD`, or the implementer on aarch64.
    pub vendor: String,
    /// Family, model and stepping as one text: `6/85/7`.
    pub signature: String,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// CPUs the system has online.
    pub online: u32,
    /// CPUs this process may use.
    pub usable: Vec<u32>,
    /// Physical cores, as the system reports them.
    pub cores: Option<u32>,
    /// Hardware threads per core, as the system reports them (a guest often cannot see its siblings).
    pub threads_per_core: Option<u32>,
    /// Sockets.
    pub sockets: Option<u32>,
    /// Caches of the strongest usable CPU, smallest level first.
    pub caches: Vec<Cache>,
    /// Frequencies of the strongest usable CPU as the kernel reports them.
    pub frequency: Frequency,
    /// Instruction set extensions that change costs: `avx2`, `erms`, `fsrm`.
    pub features: Vec<String>,
}

/// One cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cache {
    /// 1, 2, 3.
    pub level: u32,
    /// `data`, `instruction`, `unified`.
    pub kind: String,
    /// Its size.
    pub size: Bytes,
    /// Bytes per line.
    pub line: Option<u32>,
    /// CPUs that share it, as the kernel lists them: `0-1`.
    pub shared_by: Option<String>,
}

/// Frequencies in MHz.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Frequency {
    /// Base frequency, or what `/proc/cpuinfo` says.
    pub nominal_mhz: Option<f64>,
    /// Highest allowed.
    pub max_mhz: Option<f64>,
    /// The cpufreq governor; `None` if the kernel does not control the frequency.
    pub governor: Option<String>,
    /// The cpufreq driver.
    pub driver: Option<String>,
    /// True if turbo or boost is on.
    pub boost: Option<bool>,
}

/// The memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// Total.
    pub total: Bytes,
    /// Swap, total.
    pub swap: Bytes,
    /// Base page size.
    pub page: Bytes,
    /// Huge page sizes the kernel offers.
    pub huge_pages: Vec<Bytes>,
    /// Transparent huge page policy: `always`, `madvise`, `never`.
    pub transparent_huge_pages: Option<String>,
    /// NUMA nodes.
    pub nodes: u32,
}

/// The kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Kernel {
    /// `Linux`.
    pub name: String,
    /// `6.18.44`.
    pub release: String,
    /// Build line: `#1 SMP PREEMPT_DYNAMIC`.
    pub version: String,
    /// Command line.
    pub command_line: Option<String>,
    /// Vulnerability to its mitigation, as the kernel words it.
    pub mitigations: BTreeMap<String, String>,
    /// Preemption model, if the kernel reports it.
    pub preemption: Option<String>,
    /// Ticks per second, if the kernel reports it.
    pub tick_hz: Option<u32>,
    /// Idle driver and governor: `haltpoll/haltpoll`.
    pub idle: Option<String>,
}

/// The hypervisor and container around the system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Virtualization {
    /// `KVM`, `QEMU TCG`, `gVisor`; `None` on bare metal.
    pub hypervisor: Option<String>,
    /// `docker`, `podman`, `lxc`; `None` outside.
    pub container: Option<String>,
    /// Seccomp mode of this process: 0 none, 1 strict, 2 filter.
    pub seccomp: Option<u32>,
}

/// Limits on this process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Cgroup hierarchy: `v1`, `v2`, `none`.
    pub cgroup: String,
    /// Memory limit of the cgroup.
    pub memory: Option<Bytes>,
    /// CPU quota of the cgroup, in CPUs.
    pub cpus: Option<f64>,
    /// Process limit of the cgroup.
    pub processes: Option<u64>,
    /// Open files (soft).
    pub open_files: Option<u64>,
    /// Locked memory (soft).
    pub locked_memory: Option<Bytes>,
    /// True if the effective user is root.
    pub root: bool,
}

impl Machine {
    /// What machines of one class have in common, as one line: architecture, processor, CPUs online, memory to the GiB and the
    /// hypervisor. The kernel and settings are left out, because they change while the machine stays.
    pub fn class(&self) -> String {
        let Machine { architecture, cpu, memory, virtualization, .. } = self;
        let gib = (memory.total.0 as f64 / f64::from(1 << 30)).round();
        let around = virtualization.hypervisor.as_deref().unwrap_or("bare metal");
        format!("{architecture}, {} ({}), {} CPUs, {gib} GiB, {around}", cpu.model, cpu.signature, cpu.online)
    }
}
