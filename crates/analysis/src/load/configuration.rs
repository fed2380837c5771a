//! One point of an experiment's axes.

use record::Bytes;
use record::units::counted;
use serde::Serialize;

/// Where pages go that do not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PageDevice {
    /// Nowhere: only pages of files can leave memory.
    None,
    /// A swap file on a disk.
    Swap,
    /// Compressed memory.
    Zram,
}

/// What is done against page faults when a process begins or ends an interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Relief {
    /// Nothing.
    None,
    /// Its pages are asked for when it becomes eligible (`MADV_WILLNEED`).
    PrePaging,
    /// Its pages are the first to leave when it has ended (`MADV_COLD`).
    PostPurging,
    /// Its pages leave when it has ended (`MADV_PAGEOUT`).
    PagingOut,
    /// Pre-paging and paging out.
    Both,
}

impl PageDevice {
    pub const ALL: [PageDevice; 3] = [PageDevice::None, PageDevice::Swap, PageDevice::Zram];

    /// Its name in plans and tables.
    pub fn word(self) -> &'static str {
        match self {
            PageDevice::None => "none",
            PageDevice::Swap => "swap",
            PageDevice::Zram => "zram",
        }
    }
}

impl Relief {
    /// All kinds.
    pub const ALL: [Relief; 5] =
        [Relief::None, Relief::PrePaging, Relief::PostPurging, Relief::PagingOut, Relief::Both];

    /// Its name in plans and tables.
    pub fn word(self) -> &'static str {
        match self {
            Relief::None => "none",
            Relief::PrePaging => "pre-paging",
            Relief::PostPurging => "post-purging",
            Relief::PagingOut => "paging-out",
            Relief::Both => "both",
        }
    }

    /// True if pages are requested at the beginning.
    pub fn requests(self) -> bool {
        matches!(self, Relief::PrePaging | Relief::Both)
    }
}

/// One point of an experiment's axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Configuration {
    /// Scripted users; of an open system, the processes that serve.
    pub users: u32,
    /// Memory of all of them together, in bytes; null for all there is.
    pub memory: Option<u64>,
    /// CPUs of all of them together.
    pub cpus: u32,
    /// How many interactions may run at once; null for all.
    pub eligible: Option<u32>,
    /// Where pages go.
    pub device: PageDevice,
    /// What is done against page faults.
    pub relief: Relief,
    /// Counts the repetitions, from 1.
    pub repetition: u32,
}

impl Default for Configuration {
    /// One user with one CPU and all memory, no page device, nothing done against page faults, not repeated.
    fn default() -> Configuration {
        Configuration {
            users: 1,
            memory: None,
            cpus: 1,
            eligible: None,
            device: PageDevice::None,
            relief: Relief::None,
            repetition: 1,
        }
    }
}

impl Configuration {
    /// The largest number of processes that can be eligible at once.
    pub fn most_eligible(&self) -> u32 {
        self.eligible.map_or(self.users, |limit| limit.min(self.users))
    }

    /// `8 users, 48 MiB, 1 CPU, 3 eligible, swap, pre-paging, repetition 2`, without what is usual.
    pub fn described(&self) -> String {
        let mut parts = vec![counted(self.users.into(), "user")];
        parts.extend(self.memory.map(|bytes| Bytes(bytes).to_string()));
        parts.push(counted(self.cpus.into(), "CPU"));
        parts.extend(self.eligible.map(|limit| format!("{limit} eligible")));
        parts.extend((self.device != PageDevice::None).then(|| self.device.word().to_string()));
        parts.extend((self.relief != Relief::None).then(|| self.relief.word().to_string()));
        parts.extend((self.repetition > 1).then(|| format!("repetition {}", self.repetition)));
        parts.join(", ")
    }

    /// True if both differ in nothing but the repetition.
    pub fn repeats(&self, other: &Configuration) -> bool {
        Configuration { repetition: 0, ..self.clone() } == Configuration { repetition: 0, ..other.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_shows_what_is_not_usual() {
        let mut configuration = Configuration {
            users: 8,
            memory: Some(48 << 20),
            cpus: 1,
            eligible: Some(3),
            device: PageDevice::Swap,
            relief: Relief::Both,
            repetition: 2,
        };
        assert_eq!(configuration.described(), "8 users, 48 MiB, 1 CPU, 3 eligible, swap, both, repetition 2");
        assert_eq!(configuration.most_eligible(), 3);
        let other = Configuration { repetition: 1, ..configuration.clone() };
        assert!(configuration.repeats(&other));
        configuration =
            Configuration { users: 1, memory: None, cpus: 2, eligible: None, device: PageDevice::None, ..other };
        assert_eq!(configuration.described(), "1 user, 2 CPUs, both");
        assert_eq!(configuration.most_eligible(), 1);
    }
}
