//! Demands and the fault curve from measured configurations.

use serde::{Deserialize, Serialize};

use super::faults::FaultCurve;
use super::figure::Figure;
use super::system::{PageDevice, Spread, System};

/// What the measurements say of the interactions and devices, apart from the configuration that they ran in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// CPU time of an interaction in user mode, in seconds.
    pub user_s: Figure,
    /// CPU time in the system without the handling of faults, in seconds.
    pub system_s: Figure,
    /// Waiting that is neither for a CPU nor for a page nor for eligibility, in seconds.
    pub other_wait_s: Figure,
    /// CPU time for handling one fault, in seconds.
    pub handling_s: Figure,
    /// Faults by the memory of an interaction.
    pub faults: FaultCurve,
    /// The part of memory that all interactions use in common, in bytes.
    pub shared_bytes: u64,
    /// The page devices of the measurements, by name.
    pub devices: Vec<PageDevice>,
    /// How think times are spread, for the simulation. The caller knows; exponential unless it says so.
    pub think_spread: Spread,
    /// What was assumed because it was not measured, in sentences.
    pub notes: Vec<String>,
}

impl Fit {
    /// The page device of this name.
    pub fn device(&self, name: &str) -> Option<&PageDevice> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// A system with these demands and nothing else set.
    pub(super) fn demands(&self) -> System {
        System {
            user_s: self.user_s,
            system_s: self.system_s,
            other_wait_s: self.other_wait_s,
            handling_s: self.handling_s,
            faults: self.faults.clone(),
            shared_bytes: self.shared_bytes,
            think_spread: self.think_spread,
            ..System::default()
        }
    }
}
