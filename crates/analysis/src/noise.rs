//! A spinning task's gaps: how long they are, which come back with a period, what they are charged to. Knows nothing of how
//! gaps are recorded.

mod account;
mod charge;
mod periods;
mod windows;

pub use account::{Account, Cause, Clock, Counted, Longest, Repeated, Source, account};
pub use charge::{Charges, Event, Mark, UNEXPLAINED, charge};
pub use periods::{Series, periods};
pub use windows::{Line, attribute};

/// A moment at which the spinning task did not run: two of its clock readings lay further apart than usual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The last reading before it, in ns of the recording's clock.
    pub start: f64,
    /// The time between the readings less the loop's usual step, in ns.
    pub length: f64,
    /// True if the kernel took the CPU from the task meanwhile (an involuntary switch).
    pub switched: bool,
}

impl Gap {
    /// Its end, in ns.
    pub fn end(&self) -> f64 {
        self.start + self.length
    }
}

/// One stretch of spinning without a pause, with what the kernel counted on this CPU meanwhile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Its begin, in ns of the recording's clock.
    pub start: f64,
    /// Its end, in ns.
    pub end: f64,
    /// True if tracepoints were recorded during it, which makes its gaps longer.
    pub traced: bool,
    /// Interrupts and softirqs, in the order of the recording's lines.
    pub counts: Vec<u64>,
    /// Time of a chain of dependent operations before it, in ns: inversely proportional to the core's frequency.
    pub chain: f64,
}

/// What was recorded on one CPU.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The CPU.
    pub cpu: u32,
    /// The loop's usual step between two readings, in ns.
    pub step: f64,
    /// A gap is a step that is longer than the usual one by more than this, in ns.
    pub threshold: f64,
    /// The stretches, in order.
    pub windows: Vec<Window>,
    /// The gaps, in order of time.
    pub gaps: Vec<Gap>,
    /// The names of the interrupts and softirqs that the windows count.
    pub lines: Vec<String>,
    /// What tracepoints told during the traced windows, in order of time.
    pub events: Vec<Event>,
    /// The names of the tasks, interrupts and softirqs that the events tell of.
    pub names: Vec<String>,
    /// Events that the kernel dropped because a buffer was full.
    pub lost_events: u64,
    /// Why there are no tracepoints; `None` if there are.
    pub untraced: Option<String>,
    /// Steal time that the hypervisor told during the windows, in ns; `None` if the kernel does not tell it.
    pub steal: Option<f64>,
    /// Time that the task waited for its CPU while it wanted to run, in ns, by its scheduler statistics.
    pub waited: Option<f64>,
    /// Gaps that found no room in the buffer.
    pub lost_gaps: u64,
    /// Ticks of the kernel's clock per second, if known.
    pub tick_hz: Option<u32>,
}
