//! How runs are compared, and what a difference must exceed.

use record::CountedIn;

use super::conditions::Conditions;
use crate::change;

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

/// What a difference between two runs must exceed, as shares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Joint {
    /// The least difference that counts, whatever the intervals.
    pub threshold: f64,
    /// How far the interval of a ratio may reach from 1 if the two costs are to count as the same.
    pub margin: f64,
    /// Costs that are judged together.
    pub judged: usize,
    /// What differed between the two runs besides their costs.
    pub conditions: Conditions,
}

impl Joint {
    /// How many times its own reach a difference must exceed.
    pub fn reaches(&self) -> f64 {
        change::reaches(self.judged)
    }
}
