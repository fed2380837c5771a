//! Typed reasons not to trust a cost, each with what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::point::typed_name;
use crate::units::{Nanoseconds, counted, percent};

/// A reason not to trust a cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Doubt {
    /// No batch was taken while the core was undisturbed. The quiet figure is the 10 % quantile.
    NeverQuiet,
    /// The same, but the figure is computed from the disturbed rounds: they are so much slower than undisturbed ones.
    FromDisturbed {
        /// By what share disturbed rounds of this cost are usually slower.
        slow_down: f64,
        /// Rounds of earlier runs that this comes from; 0: it is what a shared core usually adds.
        earlier_rounds: u32,
    },
    /// Fewer batches were quiet than the estimate needs.
    FewQuiet {
        /// Quiet batches, of all rounds together.
        batches: u32,
        /// Rounds with at least one of them.
        rounds: u32,
    },
    /// The interval is wider than the precision asked for when the budget ended.
    Wide {
        /// Half the interval divided by the figure.
        half_width: f64,
        /// The precision that was asked for.
        wanted: f64,
    },
    /// A single round gave the figure (in older runs: fewer than six).
    FewRounds {
        /// Rounds that gave a figure.
        rounds: u32,
    },
    /// The baseline costs more than the whole: the net cost is negative.
    NegativeNet,
    /// The interval of the net cost contains zero: it is at most its upper end.
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
    /// Rounds that were undisturbed for most of the time lie beyond what the others say: another layout of code and data. The interval
    /// reaches to them.
    Layout {
        /// The end of the interval that they moved.
        at: Nanoseconds,
    },
    /// The cost per iteration depends on how many iterations a batch had.
    NonLinear {
        /// Cost per iteration in a batch of half the length, divided by that in a full one.
        ratio: f64,
    },
    /// The core's frequency moved during the run.
    FrequencyMoved {
        /// Slowest cycle time divided by the fastest, among this cost's rounds.
        ratio: f64,
    },
    /// Other tasks took this CPU during most batches.
    Interrupted {
        /// Share of batches that lost their CPU, or other tasks per CPU.
        share: f64,
    },
    /// What it waited for had come, but other tasks had its CPU. That time is left out.
    Queued {
        /// How long it waited for its CPU, per iteration.
        wait: Nanoseconds,
    },
    /// A round was lost.
    RoundLost {
        /// What happened to it.
        reason: String,
    },
    /// The file was not out of memory when a cold pass over it began.
    NotCold {
        /// Passes that began like this.
        passes: u32,
        /// The largest share of the file that was still in memory.
        resident: f64,
    },
    /// One batch is shorter than the clock can resolve well.
    CoarseClock {
        /// Clock resolution divided by batch length.
        share: f64,
    },
    /// This cost contradicts another one.
    Implausible {
        /// The other operation, and what is impossible about it.
        than: String,
    },
    /// The figure moved steadily from the first round to the last, by more than chance.
    Drift {
        /// The last rounds' figure divided by that of the first.
        ratio: f64,
    },
    /// Its batches ran at their own clock, not at the run's. Code that heats the core lowers its clock.
    OwnClock {
        /// The clock of its batches, in GHz.
        ghz: f64,
        /// The clock that prevailed in the run, in GHz.
        run_ghz: f64,
    },
    /// The imported file has one figure and does not say how it scatters, so there is no interval.
    NoScatter,
    /// All samples come from one process of another tool. The interval lacks what differs between processes.
    OneProcess {
        /// Samples behind the interval.
        samples: u32,
    },
    /// A cost that this one was computed from is doubtful.
    Inherited {
        /// That cost's name.
        from: String,
        /// Its doubt.
        doubt: Box<Doubt>,
    },
}

impl Doubt {
    /// True if this is a reason not to trust the figure. False if it is only a note: an upper bound is valid, and a
    /// clock of its own is a property of the work, and what is left out is not in the figure.
    pub fn is_serious(&self) -> bool {
        !matches!(self, Doubt::AtMost { .. } | Doubt::OwnClock { .. } | Doubt::Queued { .. })
    }

    /// A note for tables, without the figures.
    pub fn short(&self) -> &'static str {
        match self {
            Doubt::NeverQuiet => "the core was never undisturbed",
            Doubt::FromDisturbed { .. } => "computed from disturbed rounds",
            Doubt::FewQuiet { .. } => "few quiet batches",
            Doubt::Wide { .. } => "the interval is wider than was asked for",
            Doubt::FewRounds { .. } => "few rounds",
            Doubt::NegativeNet => "its baseline cost more than the whole",
            Doubt::AtMost { .. } => "cannot be distinguished from zero",
            Doubt::Bimodal { .. } => "two groups of samples",
            Doubt::Layout { .. } => "the interval reaches to another layout",
            Doubt::NonLinear { .. } => "an iteration costs another amount in batches of half the length",
            Doubt::FrequencyMoved { .. } => "the clock frequency moved",
            Doubt::Interrupted { .. } => "other tasks took the CPU",
            Doubt::Queued { .. } => "its waits for a busy CPU are left out",
            Doubt::RoundLost { .. } => "a round was lost",
            Doubt::NotCold { .. } => "part of the file was in memory",
            Doubt::CoarseClock { .. } => "a batch is short for the clock",
            Doubt::Drift { .. } => "it drifted from the first rounds to the last",
            Doubt::OwnClock { .. } => "its batches ran at a clock of their own",
            Doubt::NoScatter => "one figure without scatter: there is no interval",
            Doubt::OneProcess { .. } => "all samples come from one process",
            Doubt::Inherited { doubt, .. } => doubt.short(),
            Doubt::Implausible { .. } => "contradicts another cost of its run",
        }
    }
}

impl fmt::Display for Doubt {
    /// Costs with the same doubt share a footnote, so a number that is shown beside the figure is not in the text.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NEVER_QUIET: &str =
            "the core was never undisturbed: the figure is the 10 % quantile; run again when the host is less loaded";
        const BY_DEFAULT: &str = "computed from disturbed rounds: the core was never undisturbed, and what that usually adds to such work is taken off; run again when the host is less loaded";
        const BY_HISTORY: &str = "computed from disturbed rounds: the core was never undisturbed, and earlier runs show what that adds; run again when the host is less loaded";
        const FEW_QUIET: &str = "few batches were quiet; raise --budget, or run when the host is less loaded";
        const SINGLE_ROUND: &str = "a single round gave a figure, so the interval is what other operations show; raise --budget, or --rounds if you set it";
        const FEW_ROUNDS: &str = "fewer than six rounds gave a figure, so the interval is a guess; raise --budget, or --rounds if you set it";
        const NEGATIVE_NET: &str = "its baseline cost more than the whole; the difference is inconclusive here";
        const NO_SCATTER: &str =
            "the imported file has one figure and no scatter, so there is no interval; import a file with repetitions";
        const ONE_PROCESS: &str =
            "all samples come from one process: another process may differ by more than the interval says";
        const QUEUED: &str =
            "in which its wait was over and other tasks had its CPU; a program beside them waits as long";
        const INTERRUPTED: &str = "other tasks ran on its CPUs in most batches; stop them or choose --cpu";
        match self {
            Doubt::NeverQuiet => out.write_str(NEVER_QUIET),
            Doubt::FromDisturbed { earlier_rounds: 0, .. } => out.write_str(BY_DEFAULT),
            Doubt::FromDisturbed { .. } => out.write_str(BY_HISTORY),
            Doubt::FewQuiet { .. } => out.write_str(FEW_QUIET),
            Doubt::Wide { half_width, wanted } => {
                let wider = format!("its interval is wider than the {} asked for", percent(*wanted));
                write!(out, "{wider}; {}", narrowed_by(*half_width, *wanted))
            }
            Doubt::FewRounds { rounds: 1 } => out.write_str(SINGLE_ROUND),
            Doubt::FewRounds { .. } => out.write_str(FEW_ROUNDS),
            Doubt::NegativeNet => out.write_str(NEGATIVE_NET),
            Doubt::AtMost { high } => write!(out, "cannot be distinguished from zero: at most {high}"),
            Doubt::Bimodal { low, high } => {
                write!(out, "two groups of samples, around {low} and {high}; look at the rounds in the run file")
            }
            Doubt::Layout { at } => {
                let layout = format!("undisturbed rounds show another layout of code and data, at {at}");
                write!(out, "{layout}: the interval reaches to it")
            }
            Doubt::NonLinear { ratio } => {
                let slower = format!("an iteration costs {ratio:.2} times as much in batches of half the length");
                write!(out, "{slower}; state builds up in the loop")
            }
            Doubt::FrequencyMoved { ratio } => {
                write!(out, "the clock frequency moved by {}; compare cycles, not times", percent(ratio - 1.0))
            }
            Doubt::Interrupted { .. } => out.write_str(INTERRUPTED),
            Doubt::Queued { wait } => write!(out, "left out: {wait} {QUEUED}"),
            Doubt::RoundLost { reason } => write!(out, "a round was lost: {reason}"),
            Doubt::NotCold { passes, resident } => {
                let (some, part) = (counted((*passes).into(), "pass"), percent(*resident));
                write!(out, "{some} began with up to {part} of the file in memory; see that no other program holds it")
            }
            Doubt::CoarseClock { share } => {
                write!(out, "the clock resolves only {} of a batch; raise --count", percent(*share))
            }
            Doubt::Implausible { than } => write!(out, "contradicts another cost: {than}"),
            Doubt::Drift { ratio } => {
                let drifted = signed_percent(*ratio - 1.0);
                let cause = "something builds up on this machine, or it warms up";
                write!(out, "it drifted by {drifted} from the first rounds to the last; {cause}")
            }
            Doubt::OwnClock { ghz, run_ghz } => {
                let clocks = format!("{ghz:.2} GHz, not at the run's {run_ghz:.2} GHz");
                write!(out, "its batches ran at {clocks}: that is part of its price")
            }
            Doubt::NoScatter => out.write_str(NO_SCATTER),
            Doubt::OneProcess { .. } => out.write_str(ONE_PROCESS),
            Doubt::Inherited { from, doubt } => write!(out, "inherited from {}: {doubt}", typed_name(from)),
        }
    }
}

/// What narrows an interval. Its width falls with the root of the time, so a budget helps only if not too much is lacking.
fn narrowed_by(half_width: f64, wanted: f64) -> &'static str {
    /// Nobody measures longer than this many times as long.
    const PATIENCE: f64 = 25.0;
    let times = (half_width / wanted).powi(2);
    if times <= PATIENCE { "raise --budget" } else { "run again when the machine is quieter" }
}

/// `+3.2 %`, `-3.2 %`.
fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "-" } else { "+" };
    format!("{sign}{}", percent(share.abs()))
}
