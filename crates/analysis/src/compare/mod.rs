//! Runs beside each other: which costs belong together, the ratio of each to the first run's, and which differences are
//! changes. Works on runs and books alike. Knows nothing of pages.

mod clocks;
mod differences;
mod families;
mod figure;
mod matching;
mod noise;
mod verdict;

use record::{Cost, CountedIn, Point, Run, Skip};

pub use clocks::Clocks;
pub use differences::{Difference, differences};
pub use families::{Family, Mean, families, overall};
pub use figure::{Figure, figure};
pub use noise::{ELSEWHERE, Joint};
pub use verdict::{Against, Told, Verdict};

/// How runs are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// The unit of all costs. `None` means cycles if one of the runs counts in cycles. Otherwise, between runs of one
    /// kind of processor, it means cycles for the costs that follow the clock, so that a faster clock is not reported
    /// as cheaper work.
    pub unit: Option<CountedIn>,
    /// The smallest relative difference that is a change, whatever the noise.
    pub threshold: f64,
    /// Costs are the same if the whole interval of their ratio lies within this share of 1.
    pub margin: f64,
    /// How to treat costs whose operations have different versions.
    pub versions: Versions,
}

/// How to treat two costs of one operation in different versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// List them and do not compare them.
    Kept,
    /// Compare them like all others.
    Ignored,
}

/// Runs beside each other. The first one is the base of every ratio.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The compared runs.
    pub runs: &'a [Run],
    /// The unit of all costs; `None` if each row has its own unit.
    pub unit: Option<CountedIn>,
    /// The core clocks of the runs, if they can be compared.
    pub clocks: Option<Clocks>,
    /// For each run except the first: the difference that a change must exceed.
    pub noise: Vec<Joint>,
    /// Costs of the first run that another run also has, in the first run's order.
    pub rows: Vec<Row<'a>>,
    /// For each run: its costs without a row.
    pub only: Vec<Vec<Only<'a>>>,
    /// Costs that were not compared because their versions differ.
    pub versions: Vec<Versioned<'a>>,
}

/// One cost of the first run, with its partners in the others.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The cost of the first run.
    pub base: &'a Cost,
    /// The unit in which its figures are compared.
    pub unit: CountedIn,
    /// For each other run: the partner, its ratio to this cost, and whether that is a change.
    pub others: Vec<Option<(&'a Cost, Against)>>,
}

impl<'a> Row<'a> {
    /// Its heading.
    pub fn family(&self) -> &'a str {
        // Runs of an older format have no headings.
        let others = self.others.iter().flatten().map(|(cost, _)| *cost);
        let titled = [self.base].into_iter().chain(others).find(|cost| !cost.group.is_empty());
        titled.unwrap_or(self.base).heading()
    }

    /// True if it differs by more than noise in any run.
    pub fn changed(&self) -> bool {
        self.others.iter().flatten().any(|(_, against)| against.verdict.is_change())
    }

    /// The cost and its partners.
    pub fn costs(&self) -> impl Iterator<Item = &'a Cost> {
        [self.base].into_iter().chain(self.others.iter().flatten().map(|(cost, _)| *cost))
    }
}

/// A cost without a partner.
#[derive(Clone, Debug)]
pub struct Only<'a> {
    /// The cost.
    pub cost: &'a Cost,
    /// The runs that skipped it, by index, with their reason.
    pub skipped: Vec<(usize, &'a Skip)>,
}

/// Two costs of one operation that measure different work.
#[derive(Clone, Copy, Debug)]
pub struct Versioned<'a> {
    /// The cost of the first run.
    pub base: &'a Cost,
    /// The index of the other run.
    pub run: usize,
    /// The cost of the other run.
    pub other: &'a Cost,
}

/// Compares runs with the first of them.
pub fn compare<'a>(runs: &'a [Run], how: &How) -> Comparison<'a> {
    let clocks = Clocks::of(runs);
    let unit = how.unit.or_else(|| unit(runs, clocks.as_ref()));
    let mut all = Comparison {
        runs,
        unit,
        clocks,
        noise: Vec::new(),
        rows: Vec::new(),
        only: vec![Vec::new(); runs.len()],
        versions: Vec::new(),
    };
    let Some((base, others)) = runs.split_first() else { return all };
    let mut columns = Vec::new();
    for (other, place) in others.iter().zip(1..) {
        let joint = Joint::of(base, other, how);
        let mut pairs = matching::pairs(base, other);
        pairs.retain(|&(one, two)| {
            let (one, two) = (&base.costs[one], &other.costs[two]);
            let apart = how.versions == Versions::Kept && matching::versions_differ(one, two);
            if apart {
                all.versions.push(Versioned { base: one, run: place, other: two });
            }
            !apart
        });
        columns.push(column(&pairs, base, other, unit, &joint));
        all.noise.push(joint);
    }
    let has_like = |place: usize| columns.iter().any(|column| column[place].is_some());
    let placed: Vec<usize> = (0..base.costs.len()).filter(|&place| has_like(place)).collect();
    for place in placed {
        let others = columns.iter_mut().map(|column| column[place].take()).collect();
        let base = &base.costs[place];
        all.rows.push(Row { base, unit: unit_of(unit, base), others });
    }
    for place in 0..runs.len() {
        all.only[place] = all.alone(place);
    }
    all
}

/// For each cost of the base: its partner in another run, judged together with all others of that run.
fn column<'a>(
    pairs: &[(usize, usize)],
    base: &Run,
    other: &'a Run,
    unit: Option<CountedIn>,
    joint: &Joint,
) -> Vec<Option<(&'a Cost, Against)>> {
    let costs = pairs.iter().map(|&(one, two)| (&base.costs[one], &other.costs[two]));
    let figures: Vec<_> = costs
        .map(|(one, two)| {
            let unit = unit_of(unit, one);
            verdict::Pair::of(figure(base, one, unit), figure(other, two, unit), one, two)
        })
        .collect();
    let mut column: Vec<Option<(&Cost, Against)>> = vec![None; base.costs.len()];
    for (&(one, two), against) in pairs.iter().zip(verdict::judge(&figures, joint)) {
        column[one] = Some((&other.costs[two], against));
    }
    column
}

/// The common unit: cycles if one of the runs is exact only in cycles, times if the runs' clocks are of different
/// kinds. `None` if each cost has the unit in which it is steady.
fn unit(runs: &[Run], clocks: Option<&Clocks>) -> Option<CountedIn> {
    if runs.iter().any(|run| run.counted_in == CountedIn::Cycles) {
        return Some(CountedIn::Cycles);
    }
    clocks.is_none().then_some(CountedIn::Nanoseconds)
}

/// The unit in which a cost of the base is compared.
fn unit_of(all: Option<CountedIn>, base: &Cost) -> CountedIn {
    all.unwrap_or(if base.follows_clock { CountedIn::Cycles } else { CountedIn::Nanoseconds })
}

impl<'a> Comparison<'a> {
    /// True if no cost of the first run has a partner in another run, in whatever version.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.versions.is_empty()
    }

    /// Keeps the wanted costs. The verdicts do not change, because they do not depend on what is shown.
    pub fn retain(&mut self, wanted: impl Fn(&Cost) -> bool) {
        self.rows.retain(|row| row.costs().any(&wanted));
        self.versions.retain(|it| wanted(it.base) || wanted(it.other));
        for only in &mut self.only {
            only.retain(|it| wanted(it.cost));
        }
    }

    /// The costs of a run that have no row and are not listed because of their version.
    fn alone(&self, place: usize) -> Vec<Only<'a>> {
        let compared = self.rows.iter().flat_map(|row| match place {
            0 => Some(row.base),
            _ => row.others[place - 1].as_ref().map(|(cost, _)| *cost),
        });
        let listed = self.versions.iter().filter_map(|it| match place {
            0 => Some(it.base),
            _ => (it.run == place).then_some(it.other),
        });
        // By address in memory, because a run may hold two costs of one name.
        let known: std::collections::HashSet<*const Cost> = compared.chain(listed).map(std::ptr::from_ref).collect();
        let alone = self.runs[place].costs.iter().filter(|cost| !known.contains(&std::ptr::from_ref(*cost)));
        alone.map(|cost| Only { cost, skipped: self.skips_of(place, &cost.operation, &cost.at) }).collect()
    }

    /// The other runs that skipped an operation at a point, and their reasons.
    fn skips_of(&self, place: usize, operation: &str, at: &Point) -> Vec<(usize, &'a Skip)> {
        let others = self.runs.iter().enumerate().filter(|(other, _)| *other != place);
        others
            .filter_map(|(other, run)| {
                let meant = |skip: &&Skip| skip.operation == operation && (skip.at.0.is_empty() || skip.at == *at);
                Some((other, run.skipped.iter().find(meant)?))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
