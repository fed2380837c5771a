//! Typed reasons not to trust a cost, each with what to do about it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Nanoseconds, percent};

/// A reason not to trust a cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Doubt {
    /// No batch was taken while the core was ours alone; the quiet figure is the 10 % quantile.
    NeverQuiet,
    /// Fewer batches were quiet than the estimate wants.
    FewQuiet {
        /// Quiet batches, of all rounds together.
        batches: u32,
        /// Rounds with at least one of them.
        rounds: u32,
    },
    /// The interval is wider than the precision asked for when the budget ended.
    Wide {
        /// Half the interval over the figure.
        half_width: f64,
        /// The precision that was asked for.
        wanted: f64,
    },
    /// Fewer than six rounds: the interval covers less than 95 %.
    FewRounds {
        /// Rounds that gave a figure.
        rounds: u32,
    },
    /// The baseline is dearer than the whole: the net cost is negative.
    NegativeNet,
    /// The interval of the net cost holds zero: it is at most its upper end.
    AtMost {
        /// Upper end of the interval.
        high: Nanoseconds,
    },
    /// The samples fall into two groups.
    Bimodal {
        /// Centre of the lower group.
        low: Nanoseconds,
        /// Centre of the upper group.
        high: Nanoseconds,
    },
    /// The cost per iteration depends on how many iterations a batch had.
    NonLinear {
        /// Cost per iteration in a batch of half the length over that of the full one.
        ratio: f64,
    },
    /// The core's frequency moved during the run.
    FrequencyMoved {
        /// Slowest over fastest cycle time among this cost's rounds.
        ratio: f64,
    },
    /// Other tasks took this CPU during most batches.
    Interrupted {
        /// Share of batches in which the task was switched out against its will.
        share: f64,
    },
    /// A round was lost.
    RoundLost {
        /// What happened to it.
        reason: String,
    },
    /// The file was not out of memory when a cold pass over it began.
    NotCold {
        /// Passes that began so.
        passes: u32,
        /// The largest share of the file that was still in memory.
        resident: f64,
    },
    /// One batch is shorter than the clock can resolve well.
    CoarseClock {
        /// Clock resolution over batch length.
        share: f64,
    },
    /// This cost contradicts another one.
    Implausible {
        /// The other operation, and what is impossible.
        than: String,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::NeverQuiet => write!(
                out,
                "the core was never ours alone: the figure is the 10 % quantile; run again when the host is less loaded"
            ),
            Doubt::FewQuiet { batches, rounds } => write!(
                out,
                "only {batches} quiet batches in {rounds} rounds; give it time (--budget) or run when the host is less loaded"
            ),
            Doubt::Wide { half_width, wanted } => write!(
                out,
                "the interval is {} wide where {} was asked for; raise --budget",
                percent(*half_width),
                percent(*wanted)
            ),
            Doubt::FewRounds { rounds } => {
                write!(out, "only {rounds} rounds gave a figure, so the interval covers less than 95 %; raise --rounds")
            }
            Doubt::NegativeNet => {
                write!(out, "its baseline cost more than the whole; the two cannot be told apart here")
            }
            Doubt::AtMost { high } => write!(out, "cannot be told from zero: at most {high}"),
            Doubt::Bimodal { low, high } => {
                write!(out, "two groups of samples, around {low} and {high}; look at the rounds in the run file")
            }
            Doubt::NonLinear { ratio } => write!(
                out,
                "an iteration costs {ratio:.2} times as much in batches of half the length; state builds up in the loop"
            ),
            Doubt::FrequencyMoved { ratio } => {
                write!(out, "the clock frequency moved by {}; compare cycles, not times", percent(ratio - 1.0))
            }
            Doubt::Interrupted { share } => {
                write!(out, "another task took this CPU in {} of the batches; stop it or choose --cpu", percent(*share))
            }
            Doubt::RoundLost { reason } => write!(out, "a round was lost: {reason}"),
            Doubt::NotCold { passes, resident } => write!(
                out,
                "{passes} passes began with up to {} of the file in memory; see that no other program holds it",
                percent(*resident)
            ),
            Doubt::CoarseClock { share } => {
                write!(out, "the clock resolves only {} of a batch; raise --count", percent(*share))
            }
            Doubt::Implausible { than } => write!(out, "impossible beside another cost: {than}"),
        }
    }
}
