//! `howslow noise --json`.

use analysis::noise::CpuAccount;
use record::Machine;
use serde::Serialize;

/// How long a spinning task was taken away from each CPU, and by whom.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NoiseDocument<'a> {
    /// This machine.
    pub machine: &'a Machine,
    /// True if all CPUs were watched at once; otherwise one after another.
    pub together: bool,
    /// One for each CPU.
    pub cpus: &'a [CpuAccount],
}
