//! One line of a bill. Knows no other line.

use serde::{Deserialize, Serialize};

use crate::form::{As, TimeFigure};
use crate::statistics::Interval;

/// The family of the lines that price system calls. Others price what comes with them.
pub const CALLS: &str = "system calls";
/// Rows whose work is done by calls.
pub(super) const PROCESSES: [&str; 2] = ["processes", "threads"];
/// The calls by which processes and threads begin and end. Their work is priced in those rows, not by call.
const TOGETHER: &[&str] =
    &["clone", "clone3", "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid"];

/// True for a call that is priced together with the process or thread that it begins or ends.
pub(super) fn is_priced_together(call: &str) -> bool {
    TOGETHER.contains(&call)
}

/// One line of a bill: a call, or what else costs processor time in the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BillRow {
    /// A system call, or what else costs processor time in the kernel.
    pub what: String,
    /// What it is added up with.
    pub family: String,
    /// How often.
    pub count: u64,
    /// Bytes moved, if it moves bytes.
    pub bytes: Option<u64>,
    /// How often it failed.
    pub failed: u64,
    /// The time of all of them; null without a price.
    #[serde(default, with = "As::<Option<TimeFigure>>")]
    pub total: Option<Interval>,
    /// The part of it that a CPU works, in ns.
    pub cpu_ns: Option<f64>,
    /// How many of them the run has no price for: the times are those of the others.
    #[serde(default)]
    pub lacking: f64,
    /// The operations that price it.
    pub priced_by: Vec<String>,
    /// The processor time of all of them as it was in this program, by samples; null without samples.
    #[serde(default, with = "As::<Option<TimeFigure>>")]
    pub measured: Option<Interval>,
}

impl BillRow {
    /// The time of one, in ns; `None` if some have no price.
    pub fn each(&self) -> Option<f64> {
        self.total.filter(|_| self.count > 0 && self.lacking == 0.0).map(|total| total.value / self.count as f64)
    }

    /// The processor time that was measured over the price: what this program's caches, paths and contention add.
    pub fn context(&self) -> Option<f64> {
        let price = self.whole_cpu_ns().filter(|price| *price > 0.0)?;
        self.measured.map(|measured| measured.value / price)
    }

    /// The processor time of all of them, in ns; `None` if some have no price.
    pub fn whole_cpu_ns(&self) -> Option<f64> {
        self.cpu_ns.filter(|_| self.lacking == 0.0)
    }

    /// One that nothing but this is known of.
    pub(super) fn of(what: String, family: String, count: u64) -> BillRow {
        let (bytes, failed, total, cpu_ns, priced_by) = (None, 0, None, None, Vec::new());
        BillRow { what, family, count, bytes, failed, total, cpu_ns, lacking: 0.0, priced_by, measured: None }
    }
}
