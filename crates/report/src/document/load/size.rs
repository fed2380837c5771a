//! `howslow load --size-for --json`.

use record::Machine;
use serde::Serialize;

/// The least memory and CPUs with which a command keeps a bound of its response time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SizeDocument<'a> {
    /// This machine.
    pub machine: &'a Machine,
    /// The command.
    pub command: &'a [String],
    /// The share of the responses that must keep the bound, from 0 to 1; null for the mean.
    pub share: Option<f64>,
    /// The bound in seconds.
    pub bound_s: f64,
    /// The least number of CPUs that keeps it with all memory; null if all CPUs do not.
    pub cpus: Option<u32>,
    /// The least memory in bytes that keeps it with these CPUs, exact to 10 %; null if no limit up to this machine's
    /// memory does.
    pub memory: Option<u64>,
    /// What was tried, in order.
    pub trials: Vec<SizeTrial>,
    /// What could not be had here, in whole sentences.
    pub notes: &'a [String],
}

/// One trial.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SizeTrial {
    /// Memory in bytes; null for all there is.
    pub memory: Option<u64>,
    /// CPUs.
    pub cpus: u32,
    /// The response time that the bound is on, in seconds; null if a command failed or it depends on when the unfinished end.
    pub response_s: Option<f64>,
    /// What it is at least in the second case.
    pub response_at_least_s: Option<f64>,
    /// Commands that ended.
    pub count: usize,
    /// Those that failed, were killed or hung.
    pub failed: usize,
    /// Those that were unfinished at the end.
    pub unfinished: usize,
    /// True if the bound was kept.
    pub kept: bool,
}
