//! `howslow fleet show --json`: the classes of a fleet, and its slow nodes.

use analysis::fleet::{ClassFound, Doubted, Found, LackingNode, Population, Scatter, SlowNode};
use serde::Serialize;

use super::figure::finite;
use crate::fleet_report::node_name;

/// The classes of a fleet, and its slow nodes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FleetReportDocument<'a> {
    /// The expected share of false ones that was allowed among what is called slow.
    pub false_share: f64,
    /// The least share by which a node had to be slower.
    pub at_least: f64,
    /// Tests made in all classes: nodes times families.
    pub tests: usize,
    /// Nodes of all classes that would be called fast by the same rule.
    pub fast: usize,
    /// Runs that do not count, because their node has changed since.
    pub older_runs: usize,
    /// The slow nodes, the slowest first.
    pub slow: Vec<&'a SlowNode>,
    /// The nodes that would be slow, if their figures carried no doubts.
    pub doubted: Vec<&'a Doubted>,
    /// Families in which a class is two populations.
    pub populations: Vec<&'a Population>,
    /// The classes, the largest first.
    pub classes: Vec<FleetClass<'a>>,
}

/// A class of nodes.
#[derive(Debug, Serialize, JsonSchema)]
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
    pub lacking: &'a [LackingNode],
    /// Its families.
    pub families: Vec<FleetSpread<'a>>,
    /// Its costs.
    pub costs: Vec<FleetSpread<'a>>,
    /// Each node over the median, by node and family; null where it has no figure.
    pub ratios: &'a [Vec<Option<f64>>],
}

/// A part of what a machine is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FleetPart<'a> {
    /// cpu, cpus, hypervisor, microcode, memory, kernel, mitigations, huge-pages, frequency or settings.
    pub part: &'a str,
    /// What it is.
    pub is: &'a str,
}

/// A part of one node that differs from its class.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FleetDifference<'a> {
    /// The node.
    pub node: &'a str,
    /// The part.
    pub part: &'a str,
    /// What it is there.
    pub is: &'a str,
}

/// How the scatter of a cost or a family splits: variances of the logarithm, which may be negative if there is nothing visible.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FleetSpread<'a> {
    /// The family, or the operation and its point.
    pub name: &'a str,
    /// The figure of the median node; null for a family of several costs.
    pub median_ns: Option<f64>,
    /// How its scatter splits.
    #[serde(flatten)]
    pub scatter: &'a Scatter,
}

impl<'a> FleetReportDocument<'a> {
    /// The document, with only the class of this name if one is given.
    pub fn of(found: &'a Found, class: Option<&str>) -> FleetReportDocument<'a> {
        let has = |name: &str| class.is_none_or(|class| class == name);
        FleetReportDocument {
            false_share: found.options.false_share,
            at_least: found.options.at_least,
            tests: found.tests,
            fast: found.fast,
            older_runs: found.older_runs,
            slow: found.slow.iter().filter(|node| has(&node.class)).collect(),
            doubted: found.doubted.iter().filter(|node| has(&node.class)).collect(),
            populations: found.populations.iter().filter(|population| has(&population.class)).collect(),
            classes: found.classes.iter().filter(|class| has(&class.class.name)).map(FleetClass::from).collect(),
        }
    }
}

impl<'a> From<&'a ClassFound> for FleetClass<'a> {
    fn from(class: &'a ClassFound) -> FleetClass<'a> {
        let parts = class.class.parts.iter().map(|(part, is)| FleetPart { part: part.word(), is });
        let differing = class.class.differing.iter().map(|(node, part, is)| {
            let (node, part) = (node_name(class, *node), part.word());
            FleetDifference { node, part, is }
        });
        let families = class.families.iter();
        FleetClass {
            class: &class.class.name,
            parts: parts.collect(),
            differing: differing.collect(),
            runs: class.runs,
            nodes: &class.nodes,
            lacking: &class.lacking,
            families: families.map(|family| spread(&family.family, &family.spread, family.costs == 1)).collect(),
            costs: class.costs.iter().map(|cost| spread(&cost.name, &cost.spread, true)).collect(),
            ratios: &class.ratios,
        }
    }
}

fn spread<'a>(name: &'a str, scatter: &'a Scatter, single: bool) -> FleetSpread<'a> {
    FleetSpread { name, median_ns: single.then(|| scatter.middle.exp()).and_then(finite), scatter }
}
