//! What a difference must exceed.

/// What a difference between two runs must exceed, as shares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Joint {
    /// The least difference that counts, whatever the intervals.
    pub threshold: f64,
    /// How far the interval of a ratio may reach from 1 if the two costs are to count as the same.
    pub margin: f64,
    /// Costs that are judged together.
    pub judged: usize,
    /// The seconds between the two runs, in which memory may have drifted.
    pub seconds_apart: f64,
}

impl Joint {
    /// How many times its own reach a difference must exceed.
    pub fn reaches(&self) -> f64 {
        crate::change::reaches(self.judged)
    }
}
