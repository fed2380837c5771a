//! The parts of what a machine is.

use std::collections::BTreeMap;

use record::Machine;

/// A part of what a machine is, in the order in which differences are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MachinePart {
    /// Architecture, model and stepping of the processor.
    Cpu,
    Cpus,
    Hypervisor,
    Microcode,
    /// The memory, and its NUMA nodes. Sizes within 2 % of each other count as alike.
    Memory,
    Kernel,
    /// The mitigations of the processor's vulnerabilities.
    Mitigations,
    /// The policy of transparent huge pages.
    HugePages,
    /// The frequency governor, its driver, and boost.
    Frequency,
    /// The clock source, the idle driver, preemption and ticks.
    Settings,
}

impl MachinePart {
    pub const ALL: [MachinePart; 10] = [
        MachinePart::Cpu,
        MachinePart::Cpus,
        MachinePart::Hypervisor,
        MachinePart::Microcode,
        MachinePart::Memory,
        MachinePart::Kernel,
        MachinePart::Mitigations,
        MachinePart::HugePages,
        MachinePart::Frequency,
        MachinePart::Settings,
    ];

    /// Its name on the command line and in tables.
    pub fn word(self) -> &'static str {
        match self {
            MachinePart::Cpu => "cpu",
            MachinePart::Cpus => "cpus",
            MachinePart::Hypervisor => "hypervisor",
            MachinePart::Microcode => "microcode",
            MachinePart::Memory => "memory",
            MachinePart::Kernel => "kernel",
            MachinePart::Mitigations => "mitigations",
            MachinePart::HugePages => "huge-pages",
            MachinePart::Frequency => "frequency",
            MachinePart::Settings => "settings",
        }
    }

    /// True if machines that differ in it are never compared. The other parts make a class only where enough nodes have
    /// them; for fewer they are a possible cause.
    pub(super) fn is_hard(self) -> bool {
        matches!(self, MachinePart::Cpu | MachinePart::Cpus | MachinePart::Hypervisor)
    }
}

/// The parts of one machine, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    pub(super) texts: BTreeMap<MachinePart, String>,
    pub(super) memory: u64,
}

impl Parts {
    pub fn of(machine: &Machine) -> Parts {
        let Machine { cpu, memory, kernel, virtualization, .. } = machine;
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
        let joined =
            |parts: Vec<String>| parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let boost = cpu.frequency.boost.map_or("", |boost| if boost { "boost" } else { "no boost" });
        let frequency = [&cpu.frequency.governor, &cpu.frequency.driver].map(|part| part.clone().unwrap_or_default());
        let mitigations = kernel.mitigations.iter().map(|(name, how)| format!("{name}: {how}"));
        let settings =
            [&machine.clock_source, &kernel.idle, &kernel.preemption].map(|part| part.clone().unwrap_or_default());
        let ticks = kernel.tick_hz.map_or_else(String::new, |hz| format!("{hz} Hz"));
        let container = virtualization.container.clone().unwrap_or_default();
        let around = virtualization.hypervisor.clone().unwrap_or_else(|| "bare metal".into());
        let texts = [
            (
                MachinePart::Cpu,
                joined(vec![machine.architecture.clone(), cpu.model.clone(), format!("({})", cpu.signature)]),
            ),
            (MachinePart::Cpus, cpu.online.to_string()),
            (MachinePart::Hypervisor, joined(vec![around, container])),
            (MachinePart::Microcode, or_none(&cpu.microcode)),
            (
                MachinePart::Memory,
                if memory.nodes > 1 { format!("in {} NUMA nodes", memory.nodes) } else { String::new() },
            ),
            (MachinePart::Kernel, joined(vec![kernel.name.clone(), kernel.release.clone(), kernel.version.clone()])),
            (MachinePart::Mitigations, mitigations.collect::<Vec<_>>().join("; ")),
            (MachinePart::HugePages, or_none(&memory.transparent_huge_pages)),
            (MachinePart::Frequency, joined(frequency.into_iter().chain([boost.into()]).collect())),
            (MachinePart::Settings, joined(settings.into_iter().chain([ticks]).collect())),
        ];
        Parts { texts: texts.into(), memory: memory.total.0 }
    }

    /// One part, as text; empty if nothing is known of it.
    pub fn get(&self, part: MachinePart) -> &str {
        self.texts.get(&part).map_or("", String::as_str)
    }
}
