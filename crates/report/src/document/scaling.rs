//! `howslow scaling --json`: how work scales with the number of CPUs.

use analysis::scalability::Scaling;
use record::{Run, Skip};
use serde::Serialize;

/// How work scales with the number of CPUs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScalingDocument<'a> {
    /// The run's id.
    pub run: &'a str,
    /// The kinds of work.
    pub works: &'a [Scaling],
    /// What could not be measured.
    pub skipped: &'a [Skip],
}

impl<'a> ScalingDocument<'a> {
    pub fn of(run: &'a Run, works: &'a [Scaling]) -> ScalingDocument<'a> {
        ScalingDocument { run: &run.id, works, skipped: &run.skipped }
    }
}
