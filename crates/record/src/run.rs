//! A run: the costs measured on one machine at one time, one JSON document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::beside::{Achieved, Beside};
use crate::cost::Cost;
use crate::levels::Ends;
use crate::machine::Machine;
use crate::point::{Point, Unit, Value};
use crate::tails::Tailing;
use crate::term::Term;

/// The name and version of the run document's format.
pub const SCHEMA: &str = "howslow-run/2";

/// The version before. Its intervals were those of its own medians, and its clock was the best one its machine had
/// shown.
pub const OLDER_SCHEMA: &str = "howslow-run/1";

/// Bytes in a block. Copying this many bytes is the unit that every cost is also quoted in.
pub const BLOCK: u64 = 512;

/// The costs measured on one machine at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// `howslow-run/2`. Older documents, `howslow-run/1`, are still read.
    pub schema: String,
    /// Start time and four random letters: `20261121-033006-qxtz`.
    pub id: String,
    /// When the run started, RFC 3339, UTC. For a book: the year.
    pub started: String,
    /// When it finished, RFC 3339, UTC.
    pub finished: String,
    /// Whether it was measured, published or imported.
    #[serde(default)]
    pub origin: Origin,
    /// The tool whose results were imported, with its version where its file says it; empty for other runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The version of howslow that measured, or that imported; empty for a book.
    pub howslow: String,
    /// A fingerprint of the program that measured: runs of one build can be expected to agree.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build: String,
    /// The unit in which its figures are exact.
    #[serde(default)]
    pub counted_in: CountedIn,
    /// The unit of each axis whose numbers are not counts. The numbers of `size`,
    /// `resident`, `set`, `file`, `filled`, `record`, `ahead` and `quantity` are bytes in any case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, Unit>,
    /// Where it was taken.
    pub machine: Machine,
    /// The settings of the run.
    pub settings: Settings,
    /// How quiet the machine was.
    #[serde(default)]
    pub noise: Noise,
    /// What was measured.
    pub costs: Vec<Cost>,
    /// What was not measured, and why.
    pub skipped: Vec<Skip>,
    /// How many times as long each thing that `howslow time` or `run --ratio` was given takes as the one it is compared with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<TimedRatio>,
}

/// One timed thing beside another, from batches or rounds taken in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimedRatio {
    /// The id of its cost.
    pub operation: String,
    /// The values of its parameters.
    pub at: Point,
    /// The id of the cost that it is compared with.
    pub base: String,
    /// The values of its parameters.
    pub base_at: Point,
    /// How many times as long it takes; absent if the two cannot be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The lower end of the interval in which the ratio lies 95 times in 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Its upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Pairs of rounds, or blocks of batches that alternated, that it rests on.
    pub pairs: u32,
    /// `slower`, `faster`, `same` (within 1 %) or `inconclusive`. Absent in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// True if processor times were compared, because other programs took the CPU away from both.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub processor_time: bool,
    /// About how many seconds of measuring would settle it; absent if it is settled, or if no time would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_after_s: Option<f64>,
}

/// Where the figures of a run come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// howslow measured them. Documents without this field are measured runs, unless `howslow` is empty.
    #[default]
    Measured,
    /// A paper or manual printed them.
    Published,
    /// Another tool measured them. `tool` names it.
    Imported,
    /// howslow measured them on a reference machine, and a book holds them without their samples.
    Reference,
}

impl Origin {
    /// Its name in documents and tables.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Measured => "measured",
            Origin::Published => "published",
            Origin::Imported => "imported",
            Origin::Reference => "reference",
        }
    }
}

/// What the figures of a run are exact in. Every cost has both where the clock is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountedIn {
    /// Times, as measured.
    #[default]
    Nanoseconds,
    /// Core cycles, as a processor's manual quotes them. The nanoseconds are computed with a nominal clock.
    Cycles,
}

impl CountedIn {
    /// The unit as documents and tables name it.
    pub fn unit(self) -> &'static str {
        match self {
            CountedIn::Nanoseconds => "ns",
            CountedIn::Cycles => "cycles",
        }
    }
}

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The user's name for this run, by which it is found again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Patterns given; empty for the headline operations.
    pub patterns: Vec<String>,
    /// True if every operation at every point was asked for.
    pub full: bool,
    /// Fixed iterations per batch, if asked for.
    pub count: Option<u64>,
    /// Least number of rounds per cost.
    pub rounds: u32,
    /// Half-width of the interval at which a cost needs no more rounds.
    pub precision: f64,
    /// Seconds the whole run may take.
    pub budget_s: f64,
    /// The CPU asked for, if any.
    pub cpu: Option<u32>,
    /// Seed of the order, the offsets and the bootstrap.
    pub seed: u64,
    /// Shortest batch, in µs.
    pub batch_us: f64,
    /// How far the checks of a quiet batch may be above the best width, as a share.
    pub tolerance: f64,
    /// The work that ran beside everything that was measured. All costs of such a run are quoted by their typical figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    /// If the distribution of single iterations was asked for: how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tails: Option<Tailing>,
}

/// How quiet the machine was during the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// Per CPU used: how often its core was undisturbed.
    pub cpus: Vec<CpuQuiet>,
    /// Time per independent add on an undisturbed core, in core cycles. It decides which batches are quiet.
    pub best_width_cycles: f64,
    /// The core cycle that prevailed in this run's quiet batches, in ns. Costs that follow the clock are quoted at it.
    /// In older runs, the shortest cycle that the machine had ever shown.
    pub cycle_ns: f64,
    /// The range of the cycle that contains 90 in 100 of this run's quiet batches, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_range_ns: Option<Ends>,
    /// How rounds were started; absent in older runs, whose rounds came from one process forked at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launchers: Option<Launchers>,
    /// Share of the machine's CPU time that other programs of this system used.
    pub others: f64,
    /// Share of the machine's CPU time that the hypervisor reports as given to others.
    pub steal: f64,
    /// Number of earlier runs of the same build and kernel on this machine that the scatter of rounds was learnt from.
    #[serde(default)]
    pub earlier_runs: u32,
    /// True if the program that measured was traced, or calls of the whole system were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub traced: bool,
    /// Why earlier runs were not used, if there were some: `2 earlier runs are of another kernel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_unused: Option<String>,
    /// What the work did that ran beside the run, in the order of `beside` in `settings`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Achieved>,
    /// What more time would bring; absent if every cost is as precise as asked, or cannot become so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<More>,
    /// How far two costs of the same operation differ here.
    pub band: Option<Band>,
    /// Cost of one reading of the clock, in ns.
    pub clock_ns: f64,
    /// Smallest step of the clock, in ns.
    pub clock_step_ns: f64,
}

impl Noise {
    /// The share of batches in which the core was undisturbed; `None` without batches.
    pub fn undisturbed(&self) -> Option<f64> {
        undisturbed(&self.cpus)
    }
}

/// The share of the batches of these CPUs in which the core was undisturbed; `None` without batches.
pub fn undisturbed(cpus: &[CpuQuiet]) -> Option<f64> {
    let batches: f64 = cpus.iter().map(|cpu| f64::from(cpu.batches)).sum();
    let quiet: f64 = cpus.iter().map(|cpu| f64::from(cpu.batches) * cpu.quiet).sum();
    (batches > 0.0).then(|| quiet / batches)
}

/// The processes that started the rounds. Each is new, so that rounds sample what differs between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Launchers {
    /// Their number.
    pub count: u32,
    /// True if each was executed anew, with an address layout of its own. Otherwise rounds were forked from this
    /// process's image, and differ less than runs do.
    pub executed: bool,
}

/// What more time would bring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct More {
    /// Costs whose intervals are wider than asked, and would become narrower.
    pub costs: u32,
    /// Seconds needed to bring all of them to the wanted precision.
    pub seconds: f64,
}

/// How often one CPU's core was undisturbed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuQuiet {
    /// The CPU's number.
    pub cpu: u32,
    /// Batches taken there.
    pub batches: u32,
    /// Share of them that were quiet.
    pub quiet: f64,
}

/// The A/A band: how far two costs of the same operation lie apart on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Band {
    /// The difference that nine in ten pairs stay below, as a share. Pairs with doubts count only if all have one. In
    /// older runs, the largest difference.
    pub difference: f64,
    /// The same of what the pairs differ by beyond their own two intervals: how far 1 lies from the interval of their ratio.
    /// It is the least difference that counts as a change. Absent in older runs, whose `difference` counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<f64>,
    /// The operations that were measured twice, with the relative difference of each.
    pub operations: Vec<(String, f64)>,
}

impl Band {
    /// What a difference must exceed to count, as a share.
    pub fn least(&self) -> f64 {
        self.beyond.unwrap_or(self.difference)
    }
}

/// An operation not measured here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skip {
    /// The operation's id.
    pub operation: String,
    /// The point; empty if no point was measured.
    #[serde(default)]
    pub at: Point,
    /// Why it was not measured.
    pub reason: String,
    /// What would make it measurable; empty if nothing would.
    pub remedy: String,
}

impl Run {
    /// Whether its figures come from elsewhere: a paper printed them, or another tool measured them.
    pub fn is_published(&self) -> bool {
        matches!(self.origin, Origin::Published | Origin::Imported)
    }

    /// Whether it is a book: published figures, or a reference machine.
    pub fn is_book(&self) -> bool {
        matches!(self.origin, Origin::Published | Origin::Reference)
    }

    /// Notes the unit of each axis whose numbers are not counts.
    pub fn note_units(&mut self) {
        let points = self.costs.iter().map(|cost| &cost.at).chain(self.skipped.iter().map(|skip| &skip.at));
        let bytes = points.flat_map(|point| &point.0).filter(|(_, value)| matches!(value, Value::Bytes(_)));
        self.units = bytes.map(|(axis, _)| (axis.clone(), Unit::Bytes)).collect();
    }

    /// Gives the numbers at all points the units that the run notes.
    pub(crate) fn apply_units(&mut self) {
        let Run { units, costs, skipped, .. } = self;
        let of_costs = costs.iter_mut().flat_map(|cost| {
            let terms = cost.terms.iter_mut().chain(&mut cost.explained_by).map(|term| &mut term.at);
            std::iter::once(&mut cost.at).chain(terms)
        });
        for point in of_costs.chain(skipped.iter_mut().map(|skip| &mut skip.at)) {
            for (axis, value) in &mut point.0 {
                if let Some(unit) = units.get(axis) {
                    *value = value.clone().in_unit(*unit);
                }
            }
        }
    }

    /// The cost of this operation at this point, given as axis and value.
    pub fn cost(&self, operation: &str, at: &[(&str, Value)]) -> Option<&Cost> {
        self.costs.iter().find(|cost| {
            cost.operation == operation
                && cost.at.0.len() == at.len()
                && at.iter().all(|(axis, value)| cost.at.0.get(*axis) == Some(value))
        })
    }

    /// The cost that a term means.
    pub fn cost_of(&self, term: &Term) -> Option<&Cost> {
        self.costs.iter().find(|cost| cost.operation == term.operation && cost.at == term.at)
    }

    /// The cost that every other is also quoted in: copying 512 bytes.
    pub fn block_move(&self) -> Option<&Cost> {
        let published = |cost: &&Cost| cost.bytes.0 == BLOCK && cost.like.iter().any(|name| name == "Block Move");
        self.cost("memory.copy", &[("size", Value::Number(BLOCK))]).or_else(|| self.costs.iter().find(published))
    }
}

/// The JSON Schema of the run document, as published in `docs/`. A test holds it to the types.
pub const RUN_SCHEMA: &str = include_str!("../howslow-run-2.schema.json");

/// The JSON Schema of the run document, as the types give it.
#[cfg(feature = "schema")]
pub fn run_schema() -> schemars::Schema {
    schemars::schema_for!(Run)
}
