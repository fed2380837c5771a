//! Which nodes are slow, and in what: a test of every node in every family, with the share of false ones controlled.
//!
//! Three levels, after Benjamini and Bogomolov, J. R. Stat. Soc. B 76:297, 2014: nodes, by all their families together; the
//! families of the nodes that were found; the costs of these.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use record::{largest_first, smallest_first};

use super::class::Class;
use super::composite::{ClassRuns, Family, MemberCost};
use super::effects::Effect;
use super::options::{ENOUGH_NODES, FleetOptions};
use super::slow::{SlowCost, SlowFamily};
use super::tail::{TailFit, accepted, together};

#[derive(Clone, Copy, Debug)]
pub(super) struct NodeTest {
    pub class: usize,
    pub family: usize,
    pub node: usize,
    pub p: f64,
}

pub(super) struct TestedClass<'a> {
    pub class: &'a Class,
    pub families: Vec<Family<'a>>,
    pub runs: ClassRuns,
    whole: TailFit,
    single: TailFit,
    at_least: f64,
}

impl<'a> TestedClass<'a> {
    pub fn new(
        class: &'a Class,
        families: Vec<Family<'a>>,
        runs: ClassRuns,
        options: &FleetOptions,
    ) -> TestedClass<'a> {
        // A biweight scale has about this many degrees of freedom (Mosteller and Tukey, "Data analysis and regression", 1977,
        // chapter 10).
        let most = (0.7 * (class.nodes.len().saturating_sub(1)) as f64) as u32;
        let one = families.iter().filter(|family| !family.two);
        let scores =
            one.clone().flat_map(|family| family.whole.nodes.iter().flatten()).map(|effect| f64::from(effect.score));
        let whole = TailFit::fitted(scores, most);
        let costs = one.flat_map(|family| &family.costs).flat_map(|cost| cost.effects.nodes.iter().flatten());
        let single = TailFit::fitted(costs.map(|effect| f64::from(effect.score)), most);
        TestedClass { class, families, runs, whole, single, at_least: (1.0 + options.at_least).ln() }
    }

    /// The tests of the class: every node that has figures in a family. None in classes that are too small.
    pub fn tests(&self, class: usize, side: MedianSide) -> Vec<NodeTest> {
        if self.class.nodes.len() < ENOUGH_NODES {
            return Vec::new();
        }
        let enough = |family: &(usize, &Family<'_>)| !family.1.two && family.1.whole.spread.nodes >= ENOUGH_NODES;
        let families: Vec<(usize, &Family<'_>)> = self.families.iter().enumerate().filter(enough).collect();
        let of_node = |node: usize| {
            let with = families.iter().filter(move |(_, family)| family.effect(node).is_some());
            with.map(move |(place, family)| NodeTest { class, family: *place, node, p: self.p(family, node, side) })
        };
        (0..self.class.nodes.len()).flat_map(of_node).collect()
    }

    fn p(&self, family: &Family<'_>, node: usize, side: MedianSide) -> f64 {
        let whole = family.effect(node).map_or(1.0, |effect| self.one(effect, &self.whole, side));
        if family.costs.len() < 2 {
            return whole;
        }
        let single = together(family.tested(node).map(|(_, effect)| self.one(effect, &self.single, side)));
        (2.0 * whole.min(single)).min(1.0)
    }

    /// The p value of an effect; 1 for one that is small, or whose interval holds 1.
    fn one(&self, effect: &Effect, tail: &TailFit, side: MedianSide) -> f64 {
        /// Lower scores are never reported among so many tests, and their p values would only take time.
        const LEAST: f64 = 2.0;
        let turned = match side {
            MedianSide::Slow => 1.0,
            MedianSide::Fast => -1.0,
        };
        let (score, log) = (turned * f64::from(effect.score), turned * f64::from(effect.log));
        if score < LEAST || log < self.at_least {
            return 1.0;
        }
        let ratio = effect.ratio();
        let slow = match side {
            MedianSide::Slow => ratio.low > 1.0,
            MedianSide::Fast => ratio.high < 1.0,
        };
        if slow { tail.p(score) } else { 1.0 }
    }

    /// What a test found: the family, of which `share` may be false, with its slow costs, of which `of_costs` may.
    pub fn slow(&self, test: &NodeTest, share: f64, of_costs: f64) -> Option<SlowFamily> {
        let family = self.families.get(test.family)?;
        let effect = family.effect(test.node)?;
        let several = family.costs.len() > 1;
        // The family as a whole is what is reported if it alone would have given this p value.
        let times = if several { 2.0 } else { 1.0 };
        let whole = times * self.one(effect, &self.whole, MedianSide::Slow) <= share.max(test.p);
        let single = |(cost, effect): (&MemberCost<'_>, &Effect)| {
            let p = self.one(effect, &self.single, MedianSide::Slow);
            (p, effect.score, SlowCost { name: cost.rows.name.clone(), ratio: effect.ratio() })
        };
        let mut costs: Vec<(f64, f32, SlowCost)> = family.tested(test.node).filter(|_| several).map(single).collect();
        costs.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
        let ps: Vec<f64> = costs.iter().map(|cost| cost.0).collect();
        let best = costs.first().map(|cost| cost.2.ratio);
        let mut costs: Vec<SlowCost> = costs.into_iter().take(accepted(&ps, of_costs)).map(|cost| cost.2).collect();
        largest_first(&mut costs, |one| one.ratio.value);
        let ratio = if whole { effect.ratio() } else { best? };
        Some(SlowFamily { family: family.name.clone(), ratio, whole, p: test.p, costs })
    }

    /// The share of a node's figures behind a finding that carry a doubt.
    pub fn doubted(&self, test: &NodeTest, slow: &SlowFamily) -> f64 {
        let named = |cost: &MemberCost<'_>| {
            slow.whole || slow.costs.is_empty() || slow.costs.iter().any(|slow| slow.name == cost.rows.name)
        };
        self.families.get(test.family).map_or(0.0, |family| family.doubted(test.node, named))
    }

    /// The most frequent doubt of a node in a family, by its place in the table's list, counted from 1.
    pub fn doubt(&self, test: &NodeTest) -> Option<u16> {
        let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
        for entry in self.families.get(test.family)?.costs.iter().flat_map(|cost| &cost.rows.entries) {
            if entry.doubt > 0 && self.runs.node(entry.run) == Some(test.node) {
                *counts.entry(entry.doubt).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by_key(|(doubt, count)| (*count, Reverse(*doubt)));
        most.map(|(doubt, _)| doubt)
    }
}

/// Which side of the median is tested. The fast side shows what chance does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MedianSide {
    Slow,
    Fast,
}

/// What was accepted.
pub(super) struct Chosen {
    /// The accepted tests: those of the nodes that were found. Each with the share of false ones that is allowed among its
    /// costs.
    pub tests: Vec<(NodeTest, f64)>,
    /// The greatest p value of a node that was found.
    pub node_limit: f64,
    /// The share of false ones that is allowed among the families of a node.
    pub share: f64,
}

/// Nodes first, by all their families together; then the families of the nodes that were found, with a share of false ones that
/// is smaller by the share of nodes that were found. That among costs is also smaller by the share of the node's families.
pub(super) fn chosen(tests: &[NodeTest], share: f64) -> Chosen {
    let (nodes, share) = selected(by_node(tests).map(|tests| (node_p(tests), tests)), share);
    let families = |(_, tests): &(f64, &[NodeTest])| {
        let (tests, of_costs) = selected(tests.iter().map(|test| (test.p, *test)), share);
        tests.into_iter().map(move |(_, test)| (test, of_costs))
    };
    let tests = nodes.iter().flat_map(families).collect();
    Chosen { tests, node_limit: nodes.last().map_or(0.0, |(p, _)| *p), share }
}

/// Of these, with their p values, those that can be called true with this share of false ones, and the share that is left for what
/// is selected within each.
fn selected<T>(all: impl Iterator<Item = (f64, T)>, share: f64) -> (Vec<(f64, T)>, f64) {
    let mut all: Vec<(f64, T)> = all.collect();
    smallest_first(&mut all, |one| one.0);
    let found = accepted(&all.iter().map(|(p, _)| *p).collect::<Vec<_>>(), share);
    let left = share * found as f64 / all.len().max(1) as f64;
    all.truncate(found);
    (all, left)
}

/// The tests of each node, which follow each other.
pub(super) fn by_node(tests: &[NodeTest]) -> impl Iterator<Item = &[NodeTest]> {
    tests.chunk_by(|one, other| (one.class, one.node) == (other.class, other.node))
}

/// The p value of a node: all its families together.
pub(super) fn node_p(tests: &[NodeTest]) -> f64 {
    together(tests.iter().map(|test| test.p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_selection_makes_the_share_of_false_ones_smaller() {
        let test = |node, family, p| NodeTest { class: 0, family, node, p };
        let of_node =
            |node| (0..4).map(move |family| test(node, family, if node == 0 && family < 2 { 1e-9 } else { 1.0 }));
        let tests: Vec<NodeTest> = (0..10).flat_map(of_node).collect();
        let chosen = chosen(&tests, 0.05);
        let found: Vec<(usize, usize)> = chosen.tests.iter().map(|(test, _)| (test.node, test.family)).collect();
        assert_eq!(found, [(0, 0), (0, 1)]);
        // One of ten nodes, and two of its four families.
        assert!((chosen.share - 0.005).abs() < 1e-12);
        assert!(chosen.tests.iter().all(|(_, of_costs)| (of_costs - 0.0025).abs() < 1e-12), "{:?}", chosen.tests);
    }
}
