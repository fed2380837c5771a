//! What a difference must exceed.

use super::conditions::Conditions;

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
        crate::change::reaches(self.judged)
    }
}
