//! What is known of the machine of a run, in the form in which causes ask for it.

use record::{Machine, Noise, Present};

/// The machine of a run, how quiet it was, and its present state, which a kept run does not have.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub machine: &'a Machine,
    pub noise: &'a Noise,
    /// The present state, if the run is of now.
    pub present: Option<&'a Present>,
}

impl<'a> Facts<'a> {
    pub(super) fn hypervisor(&self) -> Option<&'a str> {
        self.machine.virtualization.hypervisor.as_deref()
    }

    /// True for a guest whose instructions run on the processor.
    pub(super) fn is_guest(&self) -> bool {
        self.hypervisor().is_some_and(|name| !matches!(name, "QEMU TCG" | "gVisor"))
    }

    /// True if the kernel was started with this word.
    pub(super) fn booted_with(&self, word: &str) -> bool {
        let line = self.machine.kernel.command_line.as_deref().unwrap_or_default();
        line.split_whitespace().any(|given| given == word)
    }

    /// The driver that idle CPUs sleep by.
    pub(super) fn idle_driver(&self) -> Option<&'a str> {
        let idle = self.machine.kernel.idle.as_deref()?;
        Some(idle.split('/').next().unwrap_or(idle)).filter(|driver| !driver.is_empty() && *driver != "none")
    }

    pub(super) fn file_system(&self) -> Option<&'a str> {
        self.present?.scratch_kind.as_deref()
    }
}

/// File systems in memory, on which no device is seen.
pub(crate) const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// File systems whose costs are a server's.
pub(crate) const SERVED: [&str; 4] = ["nfs", "cifs", "9p", "fuse"];

/// The clock source, if the kernel cannot read it for a task without a system call (its `vdso_clock_mode`).
pub(crate) fn dear_clock_source(machine: &Machine) -> Option<&str> {
    const CHEAP: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];
    machine.clock_source.as_deref().filter(|source| !CHEAP.contains(source))
}

/// Mitigations that make it slower to enter the kernel, to leave it or to switch: the file, a word in it, the effect.
const DEAR: &[(&str, &str, &str)] = &[
    ("meltdown", "PTI", "page tables are switched at every entry (PTI)"),
    ("mds", "Clear CPU buffers", "buffers are cleared at every exit (MDS)"),
    ("tsx_async_abort", "Clear CPU buffers", "buffers are cleared at every exit (TAA)"),
    ("mmio_stale_data", "Clear CPU buffers", "buffers are cleared at every exit (MMIO stale data)"),
    ("reg_file_data_sampling", "Clear Register File", "registers' stale data are cleared at every exit (RFDS)"),
    ("tsa", "Clear CPU buffers", "buffers are cleared at every exit (TSA)"),
    ("retbleed", "IBRS", "speculation is restricted in the kernel (IBRS)"),
    ("retbleed", "untrained return thunk", "returns are untrained at every entry (retbleed)"),
    ("spec_rstack_overflow", "Safe RET", "returns go through a safe thunk (SRSO)"),
    ("spec_rstack_overflow", "IBPB", "branch predictions are flushed at entry or for guests (SRSO)"),
    ("spectre_v2", "Retpolines", "indirect branches go through retpolines"),
    ("spectre_v2", "BHI: SW loop", "branch history is cleared at every entry (BHI)"),
    ("spectre_v2", "BHI: BHI_DIS_S", "branch history is kept apart in the kernel (BHI)"),
    ("gather_data_sampling", "Microcode", "gathers are slowed by microcode (GDS)"),
    ("indirect_target_selection", "Aligned", "indirect branches and returns go through aligned thunks (ITS)"),
];

/// The effects of the mitigations that make the kernel slower on this machine.
pub fn dear_mitigations(machine: &Machine) -> Vec<&'static str> {
    let in_force = |(name, word, _): &&(&str, &str, &str)| {
        machine.kernel.mitigations.get(*name).is_some_and(|text| {
            // Enhanced IBRS is set once and costs the entry nothing.
            text.starts_with("Mitigation")
                && text.contains(word)
                && !(*word == "IBRS" && text.contains("Enhanced IBRS"))
        })
    };
    DEAR.iter().filter(in_force).map(|&(.., does)| does).collect()
}
