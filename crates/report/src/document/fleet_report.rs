//! `howslow fleet show --json`: the classes of a fleet, and its slow nodes.

use analysis::fleet as told;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::{RatioFigure, all, finite};

/// The classes of a fleet, and its slow nodes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetReportDocument<'a> {
    /// The expected share of false ones that was allowed among what is called slow.
    pub false_share: f64,
    /// The least share by which a node had to be slower.
    pub at_least: f64,
    /// Tests made: nodes times families.
    pub tests: usize,
    /// Nodes that would be called fast by the same rule.
    pub fast: usize,
    /// Runs that do not count, because their node has changed since.
    pub older_runs: usize,
    /// The slow nodes, the slowest first.
    pub slow: Vec<FleetSlowNode<'a>>,
    /// The nodes that would be slow, if their figures carried no doubts.
    pub doubted: Vec<FleetDoubted<'a>>,
    /// Families in which a class is two populations.
    pub populations: Vec<FleetPopulation<'a>>,
    /// The classes, the largest first.
    pub classes: Vec<FleetClass<'a>>,
}

/// A slow node.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetSlowNode<'a> {
    /// Its name.
    pub node: &'a str,
    /// Its class.
    pub class: &'a str,
    /// What it is slow in.
    pub families: Vec<FleetSlowFamily<'a>>,
    /// The likely causes, the likeliest first.
    pub causes: Vec<FleetCause<'a>>,
}

/// A family that a node is slow in.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetSlowFamily<'a> {
    /// Its name.
    pub family: &'a str,
    /// The node over its class's median: of the family, or of the cost that is told best.
    pub ratio: RatioFigure,
    /// True if the family as a whole is slow, false if single costs of it are.
    pub whole: bool,
    /// The probability of at least this by chance.
    pub p: f64,
    /// The costs that are slow by themselves, the slowest first.
    pub costs: Vec<FleetSlowCost<'a>>,
}

/// A cost that a node is slow in.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetSlowCost<'a> {
    /// The operation and its point.
    pub cost: &'a str,
    /// The node over its class's median.
    pub ratio: RatioFigure,
}

/// A likely cause.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetCause<'a> {
    /// clock, memory, huge pages, mitigation, neighbour, disk, network, difference or unknown.
    pub kind: &'a str,
    /// Why.
    pub because: &'a str,
    /// True if the node's record differs from its class in it.
    pub recorded: bool,
}

/// A node that would be slow, if its figures carried no doubts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetDoubted<'a> {
    /// Its name.
    pub node: &'a str,
    /// Its class.
    pub class: &'a str,
    /// What it would be slow in.
    pub family: &'a str,
    /// The node over its class's median.
    pub ratio: RatioFigure,
    /// The share of its figures there that carry a doubt.
    pub share: f64,
    /// The most frequent doubt.
    pub doubt: &'a str,
}

/// A family in which a class is two populations.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetPopulation<'a> {
    /// The class.
    pub class: &'a str,
    /// The family.
    pub family: &'a str,
    /// The slower nodes.
    pub slower: &'a [String],
    /// The number of the faster ones.
    pub faster: usize,
    /// The slower ones over the faster ones.
    pub ratio: f64,
}

/// A class of nodes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetClass<'a> {
    /// Its name.
    pub class: &'a str,
    /// What most of its nodes are.
    pub parts: Vec<FleetPart<'a>>,
    /// What some nodes are otherwise.
    pub differing: Vec<FleetDifference<'a>>,
    /// Its runs.
    pub runs: usize,
    /// Its nodes.
    pub nodes: &'a [String],
    /// The nodes that lack costs which most nodes have.
    pub lacking: Vec<FleetLack<'a>>,
    /// Its families.
    pub families: Vec<FleetSpread<'a>>,
    /// Its costs.
    pub costs: Vec<FleetSpread<'a>>,
    /// Each node over the median, by node and family; null where it has no figure.
    pub ratios: &'a [Vec<Option<f64>>],
}

/// A part of what a machine is.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetPart<'a> {
    /// cpu, cpus, hypervisor, microcode, memory, kernel, mitigations, huge-pages, frequency or settings.
    pub part: &'a str,
    /// What it is.
    pub is: &'a str,
}

/// A part of one node that differs from its class.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetDifference<'a> {
    /// The node.
    pub node: &'a str,
    /// The part.
    pub part: &'a str,
    /// What it is there.
    pub is: &'a str,
}

/// A node that lacks costs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetLack<'a> {
    /// The node.
    pub node: &'a str,
    /// Costs it lacks.
    pub lacks: usize,
    /// Costs that most nodes have.
    pub of: usize,
}

/// How the scatter of a cost or a family splits: variances of the logarithm, which may be negative if there is nothing visible.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetSpread<'a> {
    /// The family, or the operation and its point.
    pub name: &'a str,
    /// The figure of the median node; null for a family of several costs.
    pub median_ns: Option<f64>,
    /// Nodes that have it.
    pub nodes: usize,
    /// Their runs.
    pub runs: usize,
    /// Between the rounds of a run; null if no run tells.
    pub within_run: Option<f64>,
    /// Between the runs of a node; null if no node has two.
    pub between_run: Option<f64>,
    /// Between nodes.
    pub between_node: Option<f64>,
}

impl<'a> FleetReportDocument<'a> {
    /// The document, with only the class of this name if one is given.
    pub fn of(found: &'a told::Found, class: Option<&str>) -> FleetReportDocument<'a> {
        let has = |name: &str| class.is_none_or(|class| class == name);
        FleetReportDocument {
            false_share: found.options.false_share,
            at_least: found.options.at_least,
            tests: found.tests,
            fast: found.fast,
            older_runs: found.older_runs,
            slow: found.slow.iter().filter(|it| has(&it.class)).map(FleetSlowNode::from).collect(),
            doubted: found.doubted.iter().filter(|it| has(&it.class)).map(FleetDoubted::from).collect(),
            populations: found.populations.iter().filter(|it| has(&it.class)).map(FleetPopulation::from).collect(),
            classes: found.classes.iter().filter(|it| has(&it.class.name)).map(FleetClass::from).collect(),
        }
    }
}

impl<'a> From<&'a told::SlowNode> for FleetSlowNode<'a> {
    fn from(it: &'a told::SlowNode) -> FleetSlowNode<'a> {
        FleetSlowNode { node: &it.node, class: &it.class, families: all(&it.families), causes: all(&it.causes) }
    }
}

impl<'a> From<&'a told::SlowFamily> for FleetSlowFamily<'a> {
    fn from(it: &'a told::SlowFamily) -> FleetSlowFamily<'a> {
        let ratio = RatioFigure::from(&it.ratio);
        FleetSlowFamily { family: &it.family, ratio, whole: it.whole, p: it.p, costs: all(&it.costs) }
    }
}

impl<'a> From<&'a told::SlowCost> for FleetSlowCost<'a> {
    fn from(it: &'a told::SlowCost) -> FleetSlowCost<'a> {
        FleetSlowCost { cost: &it.name, ratio: RatioFigure::from(&it.ratio) }
    }
}

impl<'a> From<&'a told::SlowCause> for FleetCause<'a> {
    fn from(it: &'a told::SlowCause) -> FleetCause<'a> {
        FleetCause { kind: it.kind.word(), because: &it.because, recorded: it.recorded }
    }
}

impl<'a> From<&'a told::Doubted> for FleetDoubted<'a> {
    fn from(it: &'a told::Doubted) -> FleetDoubted<'a> {
        let told::Doubted { node, class, family, ratio, share, doubt } = it;
        FleetDoubted { node, class, family, ratio: RatioFigure::from(ratio), share: *share, doubt }
    }
}

impl<'a> From<&'a told::Population> for FleetPopulation<'a> {
    fn from(it: &'a told::Population) -> FleetPopulation<'a> {
        let told::Population { class, family, slower, faster, ratio } = it;
        FleetPopulation { class, family, slower, faster: *faster, ratio: *ratio }
    }
}

impl<'a> From<&'a told::ClassFound> for FleetClass<'a> {
    fn from(it: &'a told::ClassFound) -> FleetClass<'a> {
        let parts = it.class.parts.iter().map(|(part, is)| FleetPart { part: part.word(), is });
        let name =
            |node: u32| it.class.nodes.iter().position(|of| *of == node).map_or("", |place| it.nodes[place].as_str());
        let differing = it.class.differing.iter();
        let differing = differing.map(|(node, part, is)| FleetDifference { node: name(*node), part: part.word(), is });
        let lacking = it.lacking.iter().map(|(node, lacks, of)| FleetLack { node, lacks: *lacks, of: *of });
        FleetClass {
            class: &it.class.name,
            parts: parts.collect(),
            differing: differing.collect(),
            runs: it.runs,
            nodes: &it.nodes,
            lacking: lacking.collect(),
            families: it.families.iter().map(|it| spread(&it.family, &it.spread, it.costs == 1)).collect(),
            costs: it.costs.iter().map(|it| spread(&it.name, &it.spread, true)).collect(),
            ratios: &it.ratios,
        }
    }
}

fn spread<'a>(name: &'a str, it: &told::Scatter, single: bool) -> FleetSpread<'a> {
    FleetSpread {
        name,
        median_ns: single.then(|| it.middle.exp()).and_then(finite),
        nodes: it.nodes,
        runs: it.runs,
        within_run: it.within_run.and_then(finite),
        between_run: it.between_run.and_then(finite),
        between_node: finite(it.between_node),
    }
}
