//! What to try, as far as the place allows it.

use record::Machine;

/// Where a run was taken, by what can be changed from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A system whose kernel and settings its owner can change.
    Own,
    /// A container or sandbox: the kernel and its settings are the host's.
    Inside,
}

impl Place {
    pub fn of(machine: &Machine) -> Place {
        let around = &machine.virtualization;
        let sandbox = around.hypervisor.as_deref() == Some("gVisor");
        if around.container.is_some() || sandbox { Place::Inside } else { Place::Own }
    }
}

/// What to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Something that can be done anywhere: another way to start, another folder, another time.
    Here(&'static str),
    /// A setting of the kernel, of its command line or of the hardware.
    Setting(&'static str),
}

impl Remedy {
    /// The remedy in words. Where the place forbids it, it is said to be the host's.
    pub fn text(self, place: Place) -> String {
        match (self, place) {
            (Remedy::Here(text), _) | (Remedy::Setting(text), Place::Own) => format!("try {text}"),
            (Remedy::Setting(text), Place::Inside) => format!("the host's setting: {text}"),
        }
    }
}
