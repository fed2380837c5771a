//! `howslow doctor --json`.

use analysis::doctor::Finding;
use record::Machine;
use serde::Serialize;

/// What `howslow doctor` found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument<'a> {
    /// This machine.
    pub machine: &'a Machine,
    /// What touches the numbers here.
    pub findings: &'a [Finding],
}
