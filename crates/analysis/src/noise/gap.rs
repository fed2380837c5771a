//! A gap, and the stretch of spinning that it is in.

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
    pub fn end(&self) -> f64 {
        self.start + self.length
    }
}

/// One stretch of spinning without a pause, with what the kernel counted on this CPU meanwhile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpinWindow {
    /// Its begin, in ns of the recording's clock.
    pub start: f64,
    /// Its end, in ns.
    pub end: f64,
    /// True if tracepoints were recorded during it, which makes its gaps longer.
    pub traced: bool,
    /// Interrupts and softirqs, in the order of the recording's lines.
    pub counts: Vec<u64>,
    /// The time in which they were counted, in ns: from one reading of the counters to the next, so longer than the window.
    pub counting: f64,
    /// Time of a chain of dependent operations before it, in ns: inversely proportional to the core's frequency.
    pub chain: f64,
}
