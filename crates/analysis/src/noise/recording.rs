//! All that was recorded on one CPU.

use super::charge::Event;
use super::gap::{Gap, SpinWindow};
use super::periods::Series;
use crate::statistics::median;

/// What was recorded on one CPU.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    pub cpu: u32,
    /// The loop's usual step between two readings, in ns.
    pub step: f64,
    /// A gap is a step that is longer than the usual one by more than this, in ns.
    pub threshold: f64,
    /// The stretches, in order.
    pub windows: Vec<SpinWindow>,
    /// The gaps, in order of time.
    pub gaps: Vec<Gap>,
    /// The names of the interrupts and softirqs that the windows count.
    pub lines: Vec<String>,
    /// What tracepoints reported during the traced windows, in order of time.
    pub events: Vec<Event>,
    /// The names of the tasks, interrupts and softirqs that occur in the events.
    pub names: Vec<String>,
    /// Events that the kernel dropped because a buffer was full.
    pub lost_events: u64,
    /// Why there are no tracepoints; `None` if there are.
    pub untraced: Option<String>,
    /// Steal time that the hypervisor reported during the windows, in ns; `None` if the kernel does not report it.
    pub steal: Option<f64>,
    /// Time that the task waited for its CPU while it wanted to run, in ns, by its scheduler statistics.
    pub waited: Option<f64>,
    /// What a gap takes beyond the work of another task, in ns: the interrupt that wakes it, a switch to it and a switch back.
    /// `None` if it could not be measured.
    pub switching: Option<f64>,
    /// Gaps that found no room in the buffer.
    pub lost_gaps: u64,
    /// Ticks of the kernel's clock per second, if known.
    pub tick_hz: Option<u32>,
}

impl Recording {
    /// How long other tasks worked in the gaps of a series, in ns; `None` if most of them are no tasks' turns, or take no longer
    /// than a turn without work. Lengths are those of gaps that are `plain`.
    pub(super) fn worked(&self, series: &Series, plain: impl Fn(usize) -> bool) -> Option<f64> {
        let switched = series.members.iter().filter(|&&member| self.gaps[member].switched).count();
        let plain = series.members.iter().filter(|&&member| plain(member));
        let worked = median(plain.map(|&member| self.gaps[member].length))? - self.switching?;
        (2 * switched > series.members.len() && worked > 0.0).then_some(worked)
    }
}
