//! How often an interaction faults, as a function of the memory that it has. Times are seconds of execution between faults, without the
//! time of handling them.

use serde::{Deserialize, Serialize};

use super::figure::Figure;

/// Faults as a function of memory. `share` is the memory of one interaction: that of the system, divided by the interactions that are
/// eligible ([`super::System::share`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultCurve {
    /// No faults.
    #[default]
    None,
    /// As many in each interaction, whatever memory there is.
    PerInteraction(Figure),
    /// Mean time between faults, whatever memory there is, in seconds.
    Every(Figure),
    /// The mean time between faults of the interaction at depth 1, 2, ... : the first one whose page is there while 0, 1, ... before it
    /// wait. In seconds of CPU time with the handling of the fault inside, as Multics measured it.
    ByDepth(Vec<Figure>),
    /// The mean time between faults grows in proportion to memory (Saltzer, CACM 17:4, 1974).
    Saltzer {
        /// Seconds of execution between faults for each byte of the share.
        s_per_byte: Figure,
    },
    /// The mean time between faults grows with a power of memory (Belady and Kuehner, CACM 12:5, 1969).
    Power {
        /// A share in bytes at which the time is known.
        at_bytes: u64,
        /// Seconds of execution between faults at that share.
        every_s: Figure,
        /// The exponent.
        exponent: Figure,
    },
    /// Measured: faults for each second of execution, by memory. Between two points the rate is interpolated on logarithms; below
    /// the first it grows as in Saltzer's model, above the last it stays.
    Points(Vec<CurvePoint>),
}

/// A measured point of a fault curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// The memory of one interaction in bytes.
    pub share_bytes: u64,
    /// Faults for each second of execution, handling not counted.
    pub per_s: Figure,
}
