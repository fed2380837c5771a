//! What comparing runs gives: rows of costs that belong together, and what stands in none.

use record::{Cost, CountedIn, Point, Run, Skip};

use super::clocks::Clocks;
use super::figure::{ComparedFigure, figure};
use super::levels;
use super::options::Joint;
use super::verdict::Against;

/// Runs beside each other; the first one is the base of every ratio.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// What was compared.
    pub runs: &'a [Run],
    /// What all costs were compared in; `None` where each row has its own unit.
    pub unit: Option<CountedIn>,
    /// The core clocks of the runs, where they can be compared.
    pub clocks: Option<Clocks>,
    /// Of each run but the first: what a cost must differ by.
    pub noise: Vec<Joint>,
    /// Costs of the first run that another one has too, in the first one's order.
    pub rows: Vec<ComparisonRow<'a>>,
    /// Of each run: what stands in no row.
    pub only: Vec<Vec<Only<'a>>>,
    /// Costs that were not compared because their versions differ.
    pub versions: Vec<Versioned<'a>>,
}

/// One cost of the first run with its like in the others.
#[derive(Clone, Debug)]
pub struct ComparisonRow<'a> {
    /// The cost of the first run.
    pub base: &'a Cost,
    /// What its figures are compared in.
    pub unit: CountedIn,
    /// Of each other run: the cost that belongs to it, how many times dearer, and whether that is a change.
    pub others: Vec<Option<(&'a Cost, Against)>>,
}

impl<'a> ComparisonRow<'a> {
    /// The heading it stands under.
    pub fn family(&self) -> &'a str {
        // Runs of an older format have no headings.
        self.costs().find(|cost| !cost.group.is_empty()).unwrap_or(self.base).heading()
    }

    /// Whether it differs by more than noise in any run.
    pub fn changed(&self) -> bool {
        self.others.iter().flatten().any(|(_, against)| against.verdict.is_change())
    }

    /// The cost and its like in the others.
    pub fn costs(&self) -> impl Iterator<Item = &'a Cost> {
        [self.base].into_iter().chain(self.others.iter().flatten().map(|(cost, _)| *cost))
    }
}

/// A cost that has no like.
#[derive(Clone, Debug)]
pub struct Only<'a> {
    pub cost: &'a Cost,
    /// The runs that report why they do not have it, by their place, with their reason.
    pub skipped: Vec<(usize, &'a Skip)>,
}

/// Two costs of one operation whose work is not the same.
#[derive(Clone, Copy, Debug)]
pub struct Versioned<'a> {
    /// That of the first run.
    pub base: &'a Cost,
    /// The other run's place.
    pub run: usize,
    /// That of the other run.
    pub other: &'a Cost,
}

impl<'a> Comparison<'a> {
    /// Whether no cost of the first run has its like in another, in whatever version.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.versions.is_empty()
    }

    /// The figure of a cost of the run at this place, in cycles of the clocks compared where they can be.
    pub fn figure(&self, place: usize, cost: &Cost, unit: CountedIn) -> ComparedFigure {
        figure(&self.runs[place], cost, unit, self.clocks.as_ref().map(|clocks| clocks.cycle_ns[place]))
    }

    /// The figures by which a cost of the first run is compared with its like in the run at this place: of costs with levels, those of
    /// the levels compared.
    pub fn compared_figures(&self, place: usize, [one, two]: [&Cost; 2], unit: CountedIn) -> [ComparedFigure; 2] {
        levels::figures(one, two, [self.figure(0, one, unit), self.figure(place, two, unit)])
    }

    /// Keeps what is wanted of the costs. The verdicts stay as they are: they do not depend on what is looked at.
    pub fn retain(&mut self, wanted: impl Fn(&Cost) -> bool) {
        self.rows.retain(|row| row.costs().any(&wanted));
        self.versions.retain(|pair| wanted(pair.base) || wanted(pair.other));
        for only in &mut self.only {
            only.retain(|only| wanted(only.cost));
        }
    }

    /// The costs of a run that stand in no row and are not listed for their version.
    pub(super) fn alone(&self, place: usize) -> Vec<Only<'a>> {
        let compared = self.rows.iter().flat_map(|row| match place {
            0 => Some(row.base),
            _ => row.others[place - 1].as_ref().map(|(cost, _)| *cost),
        });
        let listed = self.versions.iter().filter_map(|pair| match place {
            0 => Some(pair.base),
            _ => (pair.run == place).then_some(pair.other),
        });
        // By place in memory: a run may hold two costs of one name.
        let known: std::collections::HashSet<*const Cost> = compared.chain(listed).map(std::ptr::from_ref).collect();
        let alone = self.runs[place].costs.iter().filter(|cost| !known.contains(&std::ptr::from_ref(*cost)));
        alone.map(|cost| Only { cost, skipped: self.skips_of(place, &cost.operation, &cost.at) }).collect()
    }

    /// The runs, this one aside, that skipped an operation at a point, and why.
    pub(super) fn skips_of(&self, place: usize, operation: &str, at: &Point) -> Vec<(usize, &'a Skip)> {
        let others = self.runs.iter().enumerate().filter(|(other, _)| *other != place);
        others
            .filter_map(|(other, run)| {
                let meant = |skip: &&Skip| skip.operation == operation && (skip.at.0.is_empty() || skip.at == *at);
                Some((other, run.skipped.iter().find(meant)?))
            })
            .collect()
    }
}
