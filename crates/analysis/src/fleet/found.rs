//! Everything that a table of many runs shows.

use record::largest_first;
use serde::Serialize;

use super::cause::{Known, causes};
use super::class::{Class, classes};
use super::composite::{ClassRuns, Family, clock_rows, families};
use super::effects::Scatter;
use super::judge::{Chosen, MedianSide, TestedClass, by_node, chosen, node_p};
use super::options::{CLOCK, ENOUGH_NODES, FleetOptions};
use super::population::{Population, split};
use super::slow::{Doubted, SlowNode};
use super::table::{RunFacts, Table};
use crate::by_key;
use crate::statistics::median;

/// What a table shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub options: FleetOptions,
    /// The classes, the largest first.
    pub classes: Vec<ClassFound>,
    /// The slow nodes, the slowest first.
    pub slow: Vec<SlowNode>,
    /// The nodes that would be slow, if their figures carried no doubts.
    pub doubted: Vec<Doubted>,
    /// Families in which a class is two populations.
    pub populations: Vec<Population>,
    /// Tests made: nodes times families.
    pub tests: usize,
    /// Nodes that would be reported on the fast side by the same rule. If scatter is symmetric and no node is fast for a reason, about
    /// this many of the slow ones are chance.
    pub fast: usize,
    /// The runs that do not count, because their node has changed since.
    pub older_runs: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClassFound {
    pub class: Class,
    pub nodes: Vec<String>,
    pub runs: usize,
    /// Its families, in alphabetical order, the clock first.
    pub families: Vec<FamilySpread>,
    pub costs: Vec<CostSpread>,
    /// The ratio of each node to the median, by node and family.
    pub ratios: Vec<Vec<Option<f64>>>,
    /// The nodes that lack costs which most nodes have.
    pub lacking: Vec<LackingNode>,
}

/// A node that lacks costs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LackingNode {
    /// Its name.
    pub node: String,
    /// The costs that it lacks.
    pub lacks: usize,
    /// The costs that most nodes have.
    pub of: usize,
}

impl ClassFound {
    /// True if it has too few nodes for one to be called slow.
    pub fn is_small(&self) -> bool {
        self.nodes.len() < ENOUGH_NODES
    }

    /// True if no node has two runs, so that what runs differ by is not known.
    pub fn has_single_runs(&self) -> bool {
        self.runs == self.nodes.len()
    }
}

/// A family over the nodes of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilySpread {
    pub family: String,
    pub costs: usize,
    pub spread: Scatter,
}

/// A cost over the nodes of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct CostSpread {
    pub name: String,
    pub spread: Scatter,
}

/// Finds the classes of a table, what their nodes differ by, and which nodes are slow.
pub fn found(table: &Table, options: &FleetOptions) -> Found {
    let (classes, current) = classes(table, options);
    let clock = clock_rows(table);
    let mut populations = Vec::new();
    let judged = classes.iter().map(|class| {
        let runs = ClassRuns::of(table, class, &current);
        let mut families = families(table, &clock, &runs);
        for family in &mut families {
            if let Some(two) = population(table, class, family, options) {
                family.two = true;
                populations.push(two);
            }
        }
        TestedClass::new(class, families, runs, options)
    });
    let judged: Vec<TestedClass<'_>> = judged.collect();
    let tests =
        |side| judged.iter().enumerate().flat_map(move |(place, class)| class.tests(place, side)).collect::<Vec<_>>();
    let slow = tests(MedianSide::Slow);
    let count = slow.len();
    let chosen = chosen(&slow, options.false_share);
    let fast = by_node(&tests(MedianSide::Fast)).filter(|tests| node_p(tests) <= chosen.node_limit).count();
    let (slow, doubted) = named(table, &judged, &chosen);
    Found {
        options: options.clone(),
        slow,
        doubted,
        populations,
        tests: count,
        fast,
        older_runs: current.iter().filter(|current| !**current).count(),
        classes: judged.iter().map(|judged| class_found(table, judged)).collect(),
    }
}

/// The two populations of a family, if there are two.
fn population(table: &Table, class: &Class, family: &Family<'_>, options: &FleetOptions) -> Option<Population> {
    let logs: Vec<f64> = family.whole.nodes.iter().flatten().map(|effect| f64::from(effect.log)).collect();
    let (least, apart) = split(&logs)?;
    if apart < (1.0 + options.at_least).ln() {
        return None;
    }
    let slower = class.nodes.iter().zip(&family.whole.nodes);
    let slower = slower.filter(|(_, effect)| effect.is_some_and(|effect| f64::from(effect.log) >= least));
    let slower: Vec<String> = slower.map(|(node, _)| table.nodes[*node as usize].clone()).collect();
    Some(Population {
        class: class.name.clone(),
        family: family.name.clone(),
        faster: logs.len() - slower.len(),
        slower,
        ratio: apart.exp(),
    })
}

fn named(table: &Table, judged: &[TestedClass<'_>], chosen: &Chosen) -> (Vec<SlowNode>, Vec<Doubted>) {
    /// With more of its figures in doubt than this, a finding is none.
    const DOUBTED: f64 = 0.5;
    // Nodes by their class and their place there, with what they are slow in.
    let (mut slow, mut doubted) = (Vec::new(), Vec::new());
    for (test, of_costs) in &chosen.tests {
        let class = &judged[test.class];
        let Some(family) = class.slow(test, chosen.share, *of_costs) else { continue };
        let node = table.nodes[class.class.nodes[test.node] as usize].clone();
        let in_doubt = class.doubted(test, &family);
        if in_doubt > DOUBTED {
            let doubt = class.doubt(test).and_then(|place| table.doubts.get(usize::from(place) - 1));
            let doubt = doubt.cloned().unwrap_or_default();
            let class = class.class.name.clone();
            doubted.push(Doubted { node, class, family: family.family, ratio: family.ratio, share: in_doubt, doubt });
            continue;
        }
        slow.push(((test.class, test.node), family));
    }
    let named = by_key(slow).into_iter().map(|((class, node), mut families)| {
        largest_first(&mut families, |one| one.ratio.value);
        let class = &judged[class];
        let causes = causes(&families, &known(table, class, node));
        let name = table.nodes[class.class.nodes[node] as usize].clone();
        SlowNode { node: name, class: class.class.name.clone(), families, causes }
    });
    let mut slow: Vec<SlowNode> = named.collect();
    let most = |node: &SlowNode| node.families.first().map_or(0.0, |family| family.ratio.value);
    slow.sort_by(|one, other| most(other).total_cmp(&most(one)).then(one.node.cmp(&other.node)));
    doubted.sort_by(|one, other| other.ratio.value.total_cmp(&one.ratio.value).then(one.node.cmp(&other.node)));
    (slow, doubted)
}

fn known<'a>(table: &Table, of: &'a TestedClass<'_>, node: usize) -> Known<'a> {
    let here = |fact: fn(&RunFacts) -> Option<f64>| {
        let runs = table.runs.iter().enumerate();
        let known = runs.filter_map(|(run, (_, facts))| Some((of.runs.node(run as u32)?, fact(facts)?)));
        let all: Vec<(usize, f64)> = known.collect();
        let usual = median(all.iter().map(|(_, value)| *value))?;
        Some((median(all.iter().filter(|(of, _)| *of == node).map(|(_, value)| *value))?, usual))
    };
    Known {
        differences: of.class.differences(of.class.nodes[node]),
        clocks: here(|facts| facts.clock_ghz),
        undisturbed: here(|facts| facts.undisturbed),
        families: of.families.iter().map(|family| family.name.as_str()).collect(),
    }
}

fn class_found(table: &Table, judged: &TestedClass<'_>) -> ClassFound {
    let nodes = &judged.class.nodes;
    let families = &judged.families;
    let ratio =
        |node: usize| families.iter().map(|family| Some(f64::from(family.effect(node)?.log).exp())).collect::<Vec<_>>();
    let costs = || families.iter().filter(|family| family.name != CLOCK).flat_map(|family| &family.costs);
    // What more than half of the nodes have.
    let common: Vec<_> = costs().filter(|cost| 2 * cost.effects.spread.nodes > nodes.len()).collect();
    let lacks = |node: usize| common.iter().filter(|cost| cost.effects.nodes[node].is_none()).count();
    let name = |node: &u32| table.nodes[*node as usize].clone();
    let lacking = nodes.iter().enumerate();
    let lacking = lacking.map(|(place, node)| LackingNode { node: name(node), lacks: lacks(place), of: common.len() });
    let spread = |family: &Family<'_>| FamilySpread {
        family: family.name.clone(),
        costs: family.costs.len(),
        spread: family.whole.spread,
    };
    ClassFound {
        class: judged.class.clone(),
        nodes: nodes.iter().map(name).collect(),
        runs: judged.runs.count(),
        families: families.iter().map(spread).collect(),
        costs: costs().map(|cost| CostSpread { name: cost.rows.name.clone(), spread: cost.effects.spread }).collect(),
        ratios: (0..nodes.len()).map(ratio).collect(),
        lacking: lacking.filter(|node| node.lacks > 0).collect(),
    }
}
