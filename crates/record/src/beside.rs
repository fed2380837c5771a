//! Work that runs beside what is measured: of which kind, where, and for how much of the time.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::point::Point;

/// Where work runs, seen from the CPU of what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// On the other hardware thread of the same core.
    Sibling,
    /// On another core.
    Other,
    /// On the same CPU.
    Same,
}

impl Place {
    /// All places, the nearest hardware first and the shared CPU last.
    pub const ALL: [Place; 3] = [Place::Sibling, Place::Other, Place::Same];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Place::Sibling => "sibling",
            Place::Other => "other",
            Place::Same => "same",
        }
    }

    /// What the word means, to follow "beside it".
    pub fn described(self) -> &'static str {
        match self {
            Place::Sibling => "on the core's other hardware thread",
            Place::Other => "on another CPU",
            Place::Same => "on the same CPU",
        }
    }
}

/// Work that ran beside all that a run measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// The kind of work: `disk-reads`.
    pub kind: String,
    /// The operation that it repeats.
    pub operation: String,
    /// The point of that operation.
    pub at: Point,
    /// The share of the time in which it works or wants to work, 0 to 1.
    pub dose: f64,
    /// Where it runs.
    pub place: Place,
}

impl fmt::Display for Beside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.kind)?;
        if self.dose < 1.0 {
            write!(out, " {:.0} % of the time", self.dose * 100.0)?;
        }
        write!(out, " {}", self.place.described())
    }
}

/// What the work beside a run did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Achieved {
    /// The kind of work.
    pub kind: String,
    /// Operations per second of the run.
    pub per_second: f64,
    /// Processor time that it was charged for, per second of the run.
    pub cpu: f64,
}
