//! The parameters of a system: users, limits, demands of an interaction, page device.

use serde::{Deserialize, Serialize};

use super::faults::FaultCurve;
use super::figure::Figure;

/// A system with its users. Times are seconds. What a file leaves out takes its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct System {
    /// Users, each of whom thinks, asks, waits for the answer, and thinks again.
    pub users: u32,
    /// Mean think time.
    pub think_s: Figure,
    /// How think times are spread. The exact solution takes them as exponential; the simulation takes this.
    pub think_spread: Spread,
    /// At most so many interactions hold memory at once. `None`: all.
    pub eligible: Option<u32>,
    pub cpus: u32,
    /// Memory of all eligible interactions together, in bytes. Only [`FaultCurve`]s over memory need it.
    pub memory_bytes: Option<u64>,
    /// The part of it that all interactions use in common: programs, libraries. Every share contains it.
    pub shared_bytes: u64,
    /// True if the pages of a user stay in memory while it thinks, as those of a program that stays open do: then all users share the
    /// memory, and not the eligible interactions alone.
    pub pages_stay: bool,
    /// Where pages stay: the most faults of an interaction because its pages left while the user thought. It then faults for each page
    /// once, unless not even the eligible fit into memory.
    pub reload_faults: Option<Figure>,
    /// CPU time of an interaction in user mode.
    pub user_s: Figure,
    /// CPU time of an interaction in the system, without the handling of page faults.
    pub system_s: Figure,
    /// Waiting of an interaction that is neither for a CPU nor for a page, while it holds memory: files, other devices.
    pub other_wait_s: Figure,
    /// How the work of an interaction is spread about its mean.
    pub work_spread: Spread,
    /// Kinds of interactions, if they differ in size. Only the simulation tells them apart; their mean size is 1.
    pub kinds: Vec<Kind>,
    /// How often an interaction faults.
    pub faults: FaultCurve,
    /// CPU time for handling one fault, without what the page device takes of the CPU.
    pub handling_s: Figure,
    /// How much more CPU time it takes for each further eligible interaction, as a share: they contend for the memory's lists.
    pub handling_crowding: Figure,
    /// Where pages come from.
    pub page_device: PageSource,
}

impl Default for System {
    fn default() -> System {
        System {
            users: 1,
            think_s: Figure::default(),
            think_spread: Spread::Exponential,
            eligible: None,
            cpus: 1,
            memory_bytes: None,
            shared_bytes: 0,
            pages_stay: false,
            reload_faults: None,
            user_s: Figure::default(),
            system_s: Figure::default(),
            other_wait_s: Figure::default(),
            work_spread: Spread::Exponential,
            kinds: Vec::new(),
            faults: FaultCurve::None,
            handling_s: Figure::default(),
            handling_crowding: Figure::default(),
            page_device: PageSource::default(),
        }
    }
}

impl System {
    /// The parameters that may have intervals, by their names in a file, without those of the fault curve.
    pub(super) fn figures_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut Figure)> {
        let device = &mut self.page_device;
        let figures = [
            ("think_s", &mut self.think_s),
            ("user_s", &mut self.user_s),
            ("system_s", &mut self.system_s),
            ("other_wait_s", &mut self.other_wait_s),
            ("handling_s", &mut self.handling_s),
            ("page_device.service_s", &mut device.service_s),
            ("page_device.cpu_s", &mut device.cpu_s),
            ("page_device.crowding", &mut device.crowding),
            ("handling_crowding", &mut self.handling_crowding),
        ];
        figures.into_iter().chain(self.reload_faults.as_mut().map(|faults| ("reload_faults", faults)))
    }
}

/// Where pages come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageSource {
    /// Its name, for texts: `swap file`, `zram`.
    pub name: String,
    /// Time for which a fault keeps the device busy and the interaction waits, without queueing: the page in, and the pages out that it
    /// causes. Zero for zram.
    pub service_s: Figure,
    /// CPU time that the device takes for a fault, such as compression: on zram a page costs CPU, and no waiting.
    pub cpu_s: Figure,
    /// How many faults it serves at once; further ones queue. `None`: as many as there are.
    pub channels: Option<u32>,
    /// How much longer a page takes for each further eligible interaction, as a share: others keep the device and the CPUs busy that
    /// bring it.
    pub crowding: Figure,
}

/// How a time is spread about its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Exponentially, as the exact solution assumes.
    #[default]
    Exponential,
    /// Always the mean.
    Constant,
}

/// A kind of interaction, such as a compilation among smaller commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    pub name: String,
    /// How often it occurs, relative to the others.
    pub weight: f64,
    /// Its work, relative to the others: CPU time, faults and waiting grow with it.
    pub size: f64,
}
