//! What the fit takes: configurations, and what was measured of each.

use serde::{Deserialize, Serialize};

use super::figure::Figure;

/// What an experiment sets. Equal page devices have equal names: demands of one device say nothing of another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeasuredConfiguration {
    pub users: u32,
    /// At most so many interactions at once; `None`: all.
    pub eligible: Option<u32>,
    pub cpus: u32,
    /// The memory limit in bytes; `None`: unlimited.
    pub memory_bytes: Option<u64>,
    /// Mean think time in seconds.
    pub think_s: f64,
    /// True if the pages of a user stay in memory while it thinks ([`super::System::pages_stay`]).
    pub pages_stay: bool,
    /// The page device: `swap file`, `zram`, `none`.
    pub page_device: String,
}

/// A measured configuration: means for one interaction, in seconds. What was not measured is `None`; the fit says what it misses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeasuredMeans {
    /// What was set.
    pub configuration: MeasuredConfiguration,
    /// How many interactions the means are of; their weight in the fit.
    pub interactions: u64,
    /// CPU time in user mode.
    pub user_s: Figure,
    /// CPU time in the system. With the handling of faults, unless `handling_s` says what that took.
    pub system_s: Figure,
    /// CPU time for the handling of all faults of an interaction, if measured; it is then not part of `system_s`.
    pub handling_s: Option<Figure>,
    /// Faults that waited for the page device or cost its CPU time (major faults).
    pub faults: Figure,
    /// Waiting for one page, queueing at the device included, if measured.
    pub page_wait_s: Option<Figure>,
    /// Waiting of the whole interaction for eligibility.
    pub eligibility_wait_s: Option<Figure>,
    /// Share of time for which the page device was busy, if measured.
    pub page_device_utilization: Option<Figure>,
    /// Interactions per second of all users together.
    pub throughput: Option<Figure>,
    /// Response time, from the request to its end.
    pub response_s: Option<Figure>,
    /// 95th percentile of the response time.
    pub response_p95_s: Option<Figure>,
    /// Share of the CPUs' time in which they idle while as many interactions as may be are eligible.
    pub multiprogramming_idle: Option<f64>,
    /// The same while fewer are eligible, but at least one.
    pub non_multiprogramming_idle: Option<f64>,
    /// The same while none is there.
    pub zero_idle: Option<f64>,
}
