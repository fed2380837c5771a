//! `howslow self-test --json`.

use analysis::self_test::SelfCheck;
use record::Machine;
use serde::Serialize;

/// What `howslow self-test` found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SelfTestDocument<'a> {
    /// This machine.
    pub machine: &'a Machine,
    /// The version of howslow.
    pub howslow: &'static str,
    /// The checks, in the order of the page.
    pub checks: Vec<SelfCheck>,
}
