//! Finds the costs of two runs that belong together: by id and point, and if one of the two is published, also by
//! shared names. Each cost belongs to at most one other, and the pairs are the same whichever run comes first.

use std::collections::{BTreeMap, HashMap};

use record::{Cost, Origin, Point, Run};

use super::figure::is_published;

/// Pairs of indices into the costs of `base` and `other`, in the order of the base.
pub(super) fn pairs(base: &Run, other: &Run) -> Vec<(usize, usize)> {
    let mut sides = Sides { base: RunSide::new(base), other: RunSide::new(other), pairs: Vec::new() };
    sides.by_id();
    sides.by_analogue();
    sides.by_shared_name();
    sides.pairs.sort_unstable();
    sides.pairs
}

/// True if two costs measure different work. A published cost has no version; those of a reference machine have.
pub(super) fn versions_differ((base, one): (&Run, &Cost), (run, other): (&Run, &Cost)) -> bool {
    let versioned = |run: &Run, cost: &Cost| run.origin == Origin::Reference || !is_published(run, cost);
    one.operation == other.operation && one.version != other.version && versioned(base, one) && versioned(run, other)
}

struct RunSide<'a> {
    run: &'a Run,
    taken: Vec<bool>,
    by_operation: HashMap<&'a str, Vec<usize>>,
}

impl<'a> RunSide<'a> {
    fn new(run: &'a Run) -> RunSide<'a> {
        let mut by_operation: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, cost) in run.costs.iter().enumerate() {
            by_operation.entry(&cost.operation).or_default().push(place);
        }
        RunSide { run, taken: vec![false; run.costs.len()], by_operation }
    }

    fn cost(&self, place: usize) -> &'a Cost {
        &self.run.costs[place]
    }

    fn is_published(&self, place: usize) -> bool {
        is_published(self.run, self.cost(place))
    }

    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.run.costs.len()).filter(|&place| !self.taken[place])
    }

    /// The costs that a name such as `memory.copy@size=512` means. Axes that it does not name are free.
    fn named<'s>(&'s self, name: &'s str) -> impl Iterator<Item = usize> + 's {
        let (operation, at) = name.split_once('@').unwrap_or((name, ""));
        let known = self.by_operation.get(operation).map_or(&[][..], Vec::as_slice);
        known.iter().copied().filter(move |&place| means(at, &self.cost(place).at))
    }
}

/// True if a point has every `axis=value` that a text names.
fn means(at: &str, point: &Point) -> bool {
    let mut choices = at.split(',').filter(|choice| !choice.is_empty());
    choices.all(|choice| {
        let Some((axis, value)) = choice.split_once('=') else { return false };
        point.0.get(axis).is_some_and(|at| at.to_string() == value)
    })
}

struct Sides<'a> {
    base: RunSide<'a>,
    other: RunSide<'a>,
    pairs: Vec<(usize, usize)>,
}

impl<'a> Sides<'a> {
    fn take(&mut self, one: usize, two: usize) {
        self.base.taken[one] = true;
        self.other.taken[two] = true;
        self.pairs.push((one, two));
    }

    fn by_id(&mut self) {
        let mut waiting: HashMap<(&str, &Point), Vec<usize>> = HashMap::new();
        for (place, cost) in self.other.run.costs.iter().enumerate().rev() {
            waiting.entry((&cost.operation, &cost.at)).or_default().push(place);
        }
        for (place, cost) in self.base.run.costs.iter().enumerate() {
            if let Some(two) = waiting.get_mut(&(cost.operation.as_str(), &cost.at)).and_then(Vec::pop) {
                self.take(place, two);
            }
        }
    }

    /// Pairs costs by the ids that published costs name as analogues: first the nearest of each, then the second.
    fn by_analogue(&mut self) {
        let mut wanted = Vec::new();
        collect(&self.base, &self.other, |rank, by, named| wanted.push((rank, by, named, (by, named))));
        collect(&self.other, &self.base, |rank, by, named| wanted.push((rank, by, named, (named, by))));
        wanted.sort_unstable();
        for (_, _, _, (one, two)) in wanted {
            if !self.base.taken[one] && !self.other.taken[two] {
                self.take(one, two);
            }
        }
    }

    /// Pairs the first remaining costs on either side that share a name, if one of them is published.
    fn by_shared_name(&mut self) {
        let mut shared: BTreeMap<&str, [Vec<usize>; 2]> = BTreeMap::new();
        for (index, side) in [&self.base, &self.other].into_iter().enumerate() {
            for place in side.free() {
                for name in &side.cost(place).like {
                    shared.entry(name).or_default()[index].push(place);
                }
            }
        }
        for [ones, twos] in shared.values() {
            let one = ones.iter().copied().find(|&place| !self.base.taken[place]);
            let two = twos.iter().copied().find(|&place| !self.other.taken[place]);
            if let (Some(one), Some(two)) = (one, two)
                && may_be_alike((&self.base, one), (&self.other, two))
            {
                self.take(one, two);
            }
        }
    }
}

/// Calls `found` with (index of the name, the published cost, the cost it names) for all that are free.
fn collect(by: &RunSide<'_>, named: &RunSide<'_>, mut found: impl FnMut(usize, usize, usize)) {
    for place in by.free().filter(|&place| by.is_published(place)) {
        for (rank, name) in by.cost(place).like.iter().enumerate() {
            let mut costs = named.named(name).filter(|&two| !named.taken[two]);
            if let Some(two) = costs.find(|&two| may_be_alike((by, place), (named, two))) {
                found(rank, place, two);
            }
        }
    }
}

/// False for two measured costs, which have ids of their own, and for one id at two points, which are different things.
fn may_be_alike((by, one): (&RunSide<'_>, usize), (named, two): (&RunSide<'_>, usize)) -> bool {
    by.cost(one).operation != named.cost(two).operation && (by.is_published(one) || named.is_published(two))
}
