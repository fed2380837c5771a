//! What one operation takes at one point, with everything it was computed from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::doubt::Doubt;
use crate::levels::{Basis, Ends, Level};
use crate::point::Point;
use crate::tails::Tails;
use crate::term::Term;
use crate::units::{Bytes, Nanoseconds};

/// The tally of the largest memory of a run of a command, in bytes.
pub const PEAK_MEMORY: &str = "peak memory bytes";
/// The tally of its exit statuses: the mean, so that it is whole if all runs end alike. Of a signal, 128 and its number.
pub const EXIT_STATUS: &str = "exit status";
/// What the id of a command of the user's begins with.
pub const COMMAND: &str = "command: ";

/// Which figure a cost is quoted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// The smallest sample. Only published costs are quoted by it.
    Best,
    /// Median over rounds of each round's median over the batches taken while the core was undisturbed.
    Quiet,
    /// Median over rounds of each round's median: for operations that wait for a device or a timer.
    #[default]
    Typical,
}

impl Estimate {
    /// Its name in documents, tables and pages.
    pub fn word(self) -> &'static str {
        match self {
            Estimate::Best => "best",
            Estimate::Quiet => "quiet",
            Estimate::Typical => "typical",
        }
    }
}

/// The estimates of one cost per iteration, with the 95 % interval of the headline figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// The smallest sample; of a net cost, less the quiet figures of its terms.
    pub best: Nanoseconds,
    /// The cost on an undisturbed core, from the medians of each round's quiet batches.
    pub quiet: Nanoseconds,
    /// Median over rounds of each round's median.
    pub typical: Nanoseconds,
    /// Lower end of the headline figure's 95 % interval. Minus infinity (null in JSON) if there is none.
    #[serde(with = "crate::units::open_below")]
    #[schemars(with = "Option<f64>")]
    pub low: Nanoseconds,
    /// Upper end of the headline figure's 95 % interval. Infinity (null in JSON) if there is none.
    #[serde(with = "crate::units::open_above")]
    #[schemars(with = "Option<f64>")]
    pub high: Nanoseconds,
}

impl Figures {
    /// A figure that nothing timed, with its interval: one value stands for every estimate.
    pub fn given(value: f64, low: f64, high: f64) -> Figures {
        let value = Nanoseconds(value);
        Figures { best: value, quiet: value, typical: value, low: Nanoseconds(low), high: Nanoseconds(high) }
    }

    /// All of them times a factor above 0.
    #[must_use]
    pub fn times(self, factor: f64) -> Figures {
        let times = |ns: Nanoseconds| Nanoseconds(ns.0 * factor);
        let Figures { best, quiet, typical, low, high } = self;
        Figures { best: times(best), quiet: times(quiet), typical: times(typical), low: times(low), high: times(high) }
    }

    /// The figure of this kind.
    pub fn get(&self, estimate: Estimate) -> Nanoseconds {
        match estimate {
            Estimate::Best => self.best,
            Estimate::Quiet => self.quiet,
            Estimate::Typical => self.typical,
        }
    }
}

/// What sharing the hardware adds: the typical cost over the quiet one, both in cycles if the cost follows the clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbours {
    /// Typical over quiet.
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
}

/// Processor time per iteration, partners and children included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// In user mode.
    pub user: Nanoseconds,
    /// In the kernel.
    pub system: Nanoseconds,
}

/// Page faults per iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Faults {
    /// Without a read from a device.
    pub minor: f64,
    /// With a read from a device.
    pub major: f64,
}

/// Context switches per iteration of the measured task and the children it reaped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Switches {
    /// It waited.
    pub voluntary: f64,
    /// The CPU was taken from it.
    pub involuntary: f64,
}

/// What one iteration read from the device of the file, as the kernel counts. The first two are counts of the whole
/// device, so they include other programs. The third is for the measured process alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reads {
    /// Requests that the device completed, merged ones counted once.
    pub count: f64,
    /// Bytes of these requests. `bytes` over `count` is the mean request.
    pub bytes: f64,
    /// Bytes that the measured process itself fetched from devices, by `/proc/self/io`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_bytes: Option<f64>,
}

impl Reads {
    /// The mean request in bytes; `None` if there was none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.bytes / self.count)
    }
}

/// Processor time that an operation takes and that none of its tasks is charged for: that of the kernel's threads and of
/// interrupts, and what the hypervisor takes meanwhile. Means over the middle half of pairs of windows, with the operation and at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hidden {
    /// Per operation: busy time of all CPUs, less what its tasks were charged for and what is busy at rest.
    pub ns: Nanoseconds,
    /// Its 95 % interval; absent with too few windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<Ends>,
    /// Processor time that its tasks were charged for in the same windows, with everything around the timed region.
    pub charged_ns: Nanoseconds,
    /// The part of it that the kernel's threads were charged for; absent if they cannot be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_threads_ns: Option<Nanoseconds>,
}

impl Hidden {
    /// The time, if it is known not to be zero; zero if it is at most a fiftieth of what was charged; else `None`.
    pub fn known(&self) -> Option<Nanoseconds> {
        const NOTHING: f64 = 0.02;
        let Ends { low, high } = self.interval_ns?;
        if low > 0.0 {
            return Some(self.ns);
        }
        (high <= NOTHING * self.charged_ns.0).then_some(Nanoseconds(0.0))
    }
}

/// One fresh process that measured one operation at one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Position in the shuffled order of all rounds of the run, from 0.
    pub order: u32,
    /// The CPU it was pinned to.
    pub cpu: u32,
    /// Iterations per batch.
    pub times: u64,
    /// Gross cost per iteration of each batch, in ns, in the order taken.
    pub ns: Vec<f64>,
    /// One core cycle around each batch, in ns, from the chain of dependent adds.
    pub cycle_ns: Vec<f64>,
    /// The worse of the two width checks around each batch, divided by the best width of this machine: about 1 if the
    /// core was undisturbed.
    pub width: Vec<f32>,
    /// Whether each batch was quiet.
    pub quiet: Vec<bool>,
    /// True if it took batches whatever the core was doing. Only such rounds give the typical figure. Absent in older
    /// runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survey: Option<bool>,
    /// The launcher that started it, counted from 0: each is a program started afresh.
    #[serde(default)]
    pub launcher: u32,
    /// Processor time per iteration over all its full batches, partners and children included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<Nanoseconds>,
    /// Elapsed time minus processor time per iteration over all its full batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<Nanoseconds>,
    /// Time per iteration over all its full batches in which what it waited for had come and other tasks had its CPU. It is
    /// in no other figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_ns: Option<Nanoseconds>,
    /// Why the round was lost, if it was; the lists are then empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// What one operation takes at one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// The operation's id.
    pub operation: String,
    /// One sentence on what it does.
    #[serde(default)]
    pub summary: String,
    /// The heading it is shown under, its family's title. Empty in older runs, which use the id's first part.
    #[serde(default)]
    pub group: String,
    /// The operation's version. Costs of different versions are compared only on request.
    #[serde(default)]
    pub version: u32,
    /// The point it was taken at.
    pub at: Point,
    /// What one iteration is: `call`, `round trip`, `load`.
    pub per: String,
    /// Names the papers give to the same thing.
    #[serde(default)]
    pub like: Vec<String>,
    /// CPUs it keeps busy: 2 when a partner runs on another one.
    #[serde(default)]
    pub cpus: u32,
    /// True if its time scales with the core clock: work inside the core and its private caches. Its quiet figure is
    /// then the median in cycles, quoted at the run's clock (`cycle_ns` of `noise`), or at the nearest clock of its own
    /// batches. Otherwise it is the time as read.
    #[serde(default)]
    pub follows_clock: bool,
    /// What the interval rests on. Where it is absent, as in older runs, the interval says where another run lands, and is wider by
    /// the square root of 2 than the one that says where the cost lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The levels that its undisturbed batches lie on, cheapest first, if there are two or more crisp ones. The headline figure is the
    /// lowest that, with those below, holds 40 %; `typical` is a mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// With the terms subtracted.
    pub net_ns: Figures,
    /// The figure that the cost is quoted by.
    pub headline: Estimate,
    /// As timed.
    pub gross_ns: Figures,
    /// Processor time.
    pub cpu_ns: Cpu,
    /// Elapsed minus processor time of all tasks that take part; negative if they overlapped.
    pub wait_ns: Nanoseconds,
    /// The 95 % interval of the processor time, user and system together, in ns; absent with too few rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_interval_ns: Option<Ends>,
    /// The 95 % interval of the waiting time, in ns; absent with too few rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_interval_ns: Option<Ends>,
    /// What sharing the hardware adds here; absent if it cannot be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    /// The headline figure in core cycles, by the speed check.
    pub cycles: f64,
    /// Payload moved.
    pub bytes: Bytes,
    /// Page faults.
    pub faults: Faults,
    /// Context switches.
    pub switches: Switches,
    /// Reads from the device of its file. Only for operations that read files, if the kernel counts the reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Reads>,
    /// Processor time that no task of it is charged for. Only for operations that cross a device, a queue or a network;
    /// absent in older runs, beside other work, and where it cannot be accounted for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Hidden>,
    /// Counts of the operation itself, per iteration, by name. Example: for a reader that does not wait, the records
    /// that came at once.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tallies: BTreeMap<String, f64>,
    /// The distribution of single iterations, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tails: Option<Tails>,
    /// The samples.
    pub rounds: Vec<Round>,
    /// The costs subtracted from gross to give net.
    pub terms: Vec<Term>,
    /// The costs that the net cost should consist of. The difference is the residual.
    #[serde(default)]
    pub explained_by: Vec<Term>,
    /// Reasons not to trust it.
    pub doubts: Vec<Doubt>,
}

impl Cost {
    /// A cost that nothing timed: published or computed. It has a name, figures and what one iteration is; all else is empty.
    pub fn given(operation: &str, at: Point, per: &str, figures: Figures) -> Cost {
        Cost {
            operation: operation.into(),
            version: 1,
            at,
            per: per.into(),
            cpus: 1,
            net_ns: figures,
            headline: Estimate::Typical,
            gross_ns: figures,
            ..Cost::default()
        }
    }

    /// The figure the cost is quoted by, net.
    pub fn quoted(&self) -> Nanoseconds {
        self.net_ns.get(self.headline)
    }

    /// Half the interval divided by the figure. `None` if the figure is not positive, or after a single round.
    pub fn half_width(&self) -> Option<f64> {
        let quoted = self.quoted().0;
        let half = (self.net_ns.high.0 - self.net_ns.low.0) / 2.0 / quoted;
        (quoted > 0.0 && half.is_finite()).then_some(half)
    }

    /// True if it is steady in cycles: its headline figure is a quiet one that follows the core clock. Waits are times.
    pub fn is_in_cycles(&self) -> bool {
        self.follows_clock && self.headline == Estimate::Quiet
    }

    /// Its headline figure as it is steadiest: in cycles if it is steady in these, else in ns.
    pub fn steady(&self) -> f64 {
        if self.is_in_cycles() { self.cycles } else { self.quoted().0 }
    }

    /// True if its headline figure has an interval. A single round gives none.
    pub fn has_interval(&self) -> bool {
        self.net_ns.low.0.is_finite() && self.net_ns.high.0.is_finite()
    }

    /// True if the interval of the net cost contains zero, so that only its upper end is known.
    pub fn holds_zero(&self) -> bool {
        self.has_interval() && self.net_ns.low.0 <= 0.0 && self.net_ns.high.0 >= 0.0
    }

    /// True if it is the cost of a command of the user's.
    pub fn is_command(&self) -> bool {
        self.operation.starts_with(COMMAND)
    }

    /// The part of the id before its first dot.
    pub fn family(&self) -> &str {
        self.operation.split('.').next().unwrap_or(&self.operation)
    }

    /// The heading it is shown under.
    pub fn heading(&self) -> &str {
        if self.group.is_empty() { self.family() } else { &self.group }
    }

    /// Id and point with plain numbers, as documents and other programs hold them: `pipe.self@size=4096`.
    pub fn name(&self) -> String {
        format!("{}{}", self.operation, self.at)
    }

    /// Id and point for people, who can type it so: `pipe.self@size=4KiB`.
    pub fn typed(&self) -> String {
        format!("{}{}", self.operation, self.at.typed())
    }
}
