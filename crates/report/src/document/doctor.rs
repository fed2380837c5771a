//! `howslow doctor --json`.

use analysis::doctor::{Finding, Severity};
use record::Machine;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::all;

/// What `howslow doctor` found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DoctorDocument<'a> {
    /// This machine.
    pub machine: &'a Machine,
    /// What touches the numbers here.
    pub findings: Vec<DoctorFinding<'a>>,
}

/// One thing that touches the numbers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DoctorFinding<'a> {
    /// `odd`, `noise`, `missing` or `note`.
    pub severity: &'static str,
    /// What is so here, and what follows.
    pub what: &'a str,
    /// What to do; empty where nothing needs doing.
    pub remedy: &'a str,
}

impl<'a> DoctorDocument<'a> {
    /// The document.
    pub fn of(machine: &'a Machine, findings: &'a [Finding]) -> DoctorDocument<'a> {
        DoctorDocument { machine, findings: all(findings) }
    }
}

impl<'a> From<&'a Finding> for DoctorFinding<'a> {
    fn from(it: &'a Finding) -> DoctorFinding<'a> {
        let severity = match it.severity {
            Severity::Odd => "odd",
            Severity::Noise => "noise",
            Severity::Missing => "missing",
            Severity::Note => "note",
        };
        DoctorFinding { severity, what: &it.what, remedy: &it.remedy }
    }
}
