//! A configuration, as documents tell it.

use analysis::load::Configuration;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// One configuration.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadConfiguration {
    /// Users; of an open system, processes that serve.
    pub users: u32,
    /// Their memory in bytes; null for all there is.
    pub memory: Option<u64>,
    /// Their CPUs.
    pub cpus: u32,
    /// How many interactions may run at once; null for all.
    pub eligible: Option<u32>,
    /// `none`, `swap` or `zram`.
    pub device: &'static str,
    /// `none`, `pre-paging`, `post-purging`, `paging-out` or `both`.
    pub relief: &'static str,
    /// Counts the repetitions, from 1.
    pub repetition: u32,
}

impl From<&Configuration> for LoadConfiguration {
    fn from(it: &Configuration) -> LoadConfiguration {
        LoadConfiguration {
            users: it.users,
            memory: it.memory,
            cpus: it.cpus,
            eligible: it.eligible,
            device: it.device.word(),
            relief: it.relief.word(),
            repetition: it.repetition,
        }
    }
}
