//! How runs are compared.

use record::CountedIn;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// What all costs are compared in. `None` takes cycles where one of the runs counts in cycles; else, between runs of one
    /// kind of processor, cycles for the costs that follow the clock, so that a faster clock is not reported as cheaper work.
    pub unit: Option<CountedIn>,
    /// The least share by which a cost must differ for a change, whatever the noise.
    pub threshold: f64,
    /// Costs are the same where the whole interval of their ratio lies within this share of 1.
    pub margin: f64,
    /// What becomes of costs whose operation has another version.
    pub versions: Versions,
}

/// What becomes of two costs of one operation in different versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// They are listed and not compared.
    Kept,
    /// They are compared like all others.
    Ignored,
}
