//! What is reported of slow nodes.

use serde::Serialize;

use crate::statistics::Interval;

/// A node that is slow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlowNode {
    /// Its name.
    pub node: String,
    /// The name of its class.
    pub class: String,
    /// What it is slow in, the slowest first.
    pub families: Vec<SlowFamily>,
    /// What is likely to be the cause, the likeliest first.
    pub causes: Vec<SlowCause>,
}

/// A family that a node is slow in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlowFamily {
    /// Its name.
    pub family: String,
    /// The node over its class's median, with an interval that holds what its runs scatter by: of the whole family, or of the
    /// cost that is told best if only single costs are told.
    pub ratio: Interval,
    /// True if the family as a whole is slow.
    pub whole: bool,
    /// The probability of at least this by chance.
    pub p: f64,
    /// The costs that are slow by themselves, the slowest first.
    pub costs: Vec<SlowCost>,
}

/// A cost that a node is slow in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlowCost {
    /// The operation and its point.
    #[serde(rename = "cost")]
    pub name: String,
    /// The node over its class's median.
    pub ratio: Interval,
}

/// A node that would be called slow, if its figures carried no doubts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Doubted {
    /// Its name.
    pub node: String,
    /// The name of its class.
    pub class: String,
    /// What it would be slow in.
    pub family: String,
    /// By how much.
    pub ratio: Interval,
    /// The share of its figures there that carry a doubt.
    pub share: f64,
    /// The most frequent doubt, in words.
    pub doubt: String,
}

/// A kind of cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CauseKind {
    /// The core runs slower: power, heat, a governor.
    Clock,
    /// Memory: a channel, a module, its speed.
    Memory,
    /// Huge pages.
    #[serde(rename = "huge pages")]
    HugePages,
    /// A mitigation, or something else on the way into the kernel.
    Mitigation,
    /// Somebody else on the same hardware.
    Neighbour,
    /// The disk or its file system.
    Disk,
    /// The network's code in the kernel.
    Network,
    /// What the machine is differs in another part.
    Difference,
    /// Nothing known fits.
    Unknown,
}

impl CauseKind {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            CauseKind::Clock => "clock",
            CauseKind::Memory => "memory",
            CauseKind::HugePages => "huge pages",
            CauseKind::Mitigation => "mitigation",
            CauseKind::Neighbour => "neighbour",
            CauseKind::Disk => "disk",
            CauseKind::Network => "network",
            CauseKind::Difference => "difference",
            CauseKind::Unknown => "unknown",
        }
    }
}

/// A likely cause.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlowCause {
    /// Its kind.
    pub kind: CauseKind,
    /// Why it is likely, in one sentence.
    pub because: String,
    /// True if the node's record differs from its class in it. False if only the families that move together point to it.
    pub recorded: bool,
}
