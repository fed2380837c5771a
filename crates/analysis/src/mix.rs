//! The costs that a mix asks for, found in a run, and sums of them that carry their intervals.

use std::collections::BTreeMap;

use record::{Cost, MixLine, Run};

use crate::derived::net;
use crate::statistics::{Interval, weighted_sum};

/// Longer than the universe is old, in ns: a figure beyond it is damage, and its square would still be a number.
const LONGEST: f64 = 1e27;

/// Names that an operation shares with published costs, by its id.
pub type Names<'a> = &'a dyn Fn(&str) -> &'static [&'static str];

/// Why a line of a mix has no cost in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Lack {
    /// The run does not have it; why, where the run says so.
    Missing(Option<String>),
    /// It has several, and the line does not say which.
    Several(Vec<String>),
    /// Its figure is none that an operation can take.
    Absurd,
}

/// Which cost a figure comes from: the place of its run among those at hand, and its id and point.
pub type Source = (usize, String);

/// A constant and a sum of costs, each so many times. Costs are independent of each other; one cost that occurs twice is not
/// independent of itself, so that it is kept once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    constant: f64,
    parts: BTreeMap<Source, (f64, Interval)>,
}

impl Sum {
    /// A figure without an interval, in ns.
    pub fn exactly(constant: f64) -> Sum {
        Sum { constant, ..Sum::default() }
    }

    /// Once this cost.
    pub fn once(source: Source, cost: Interval) -> Sum {
        Sum { constant: 0.0, parts: BTreeMap::from([(source, (1.0, cost))]) }
    }

    /// This sum and so many times another.
    #[must_use]
    pub fn plus(mut self, times: f64, other: &Sum) -> Sum {
        self.constant += times * other.constant;
        for (source, (weight, cost)) in &other.parts {
            self.parts.entry(source.clone()).or_insert((0.0, *cost)).0 += times * weight;
        }
        self
    }

    /// The sum as a figure with its interval, in ns.
    pub fn figure(&self) -> Interval {
        let exact = Interval { value: self.constant, low: self.constant, high: self.constant };
        let parts = self.parts.values().map(|(weight, cost)| (*weight, *cost));
        weighted_sum(&parts.chain([(1.0, exact)]).collect::<Vec<_>>())
    }

    /// The costs in it.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.parts.keys()
    }
}

/// The cost that a line of a mix means in a run: by its id; else by the name that the cost shares with it. In a book, which
/// has ids of its own, also by the names that the registry says the operation shares. Axes that the line does not speak of are free.
///
/// # Errors
/// No such cost, several, or one that is no time.
pub fn cost_of<'a>(run: &'a Run, line: &MixLine, names: Names) -> Result<&'a Cost, Lack> {
    let id = line.operation.as_str();
    let by_id: Vec<&Cost> = run.costs.iter().filter(|cost| cost.operation == id).collect();
    let means = |cost: &&Cost, lenient: bool| {
        line.at.0.iter().all(|(axis, value)| cost.at.0.get(axis).map_or(lenient, |is| is == value))
    };
    let mut meant: Vec<&Cost> = by_id.iter().copied().filter(|cost| means(cost, false)).collect();
    if by_id.is_empty() {
        // A published cost has no axes: whatever the line says of them is not against it.
        let called = |name: &str| {
            let likes = run.costs.iter().filter(|cost| cost.like.iter().any(|like| like == name));
            likes.filter(|cost| means(cost, true)).collect::<Vec<_>>()
        };
        meant = called(id);
        if meant.is_empty() && run.howslow.is_empty() {
            meant = names(id).iter().map(|name| called(name)).find(|found| !found.is_empty()).unwrap_or_default();
        }
    }
    match meant.as_slice() {
        [] => Err(Lack::Missing(skipped(run, line))),
        [cost] => {
            let Interval { value, low, high } = net(cost);
            let sane = [value, low, high].iter().all(|figure| figure.is_finite() && figure.abs() <= LONGEST);
            if sane { Ok(cost) } else { Err(Lack::Absurd) }
        }
        several => Err(Lack::Several(several.iter().map(|cost| cost.name()).collect())),
    }
}

/// Why the run says that it does not have it.
fn skipped(run: &Run, line: &MixLine) -> Option<String> {
    let spoken = |skip: &&record::Skip| {
        let free = skip.at.0.is_empty();
        skip.operation == line.operation
            && line.at.0.iter().all(|(axis, value)| free || skip.at.0.get(axis) == Some(value))
    };
    let skip = run.skipped.iter().find(spoken)?;
    let remedy = if skip.remedy.is_empty() { String::new() } else { format!(" ({})", skip.remedy) };
    Some(format!("{}{remedy}", skip.reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(value: f64, half: f64) -> Interval {
        Interval { value, low: value - half, high: value + half }
    }

    #[test]
    fn a_cost_is_not_independent_of_itself() {
        let once = Sum::once((0, "a".into()), part(10.0, 1.0));
        let twice = Sum::default().plus(1.0, &once).plus(1.0, &once);
        assert_eq!(twice.figure(), part(20.0, 2.0));
        assert_eq!(once.clone().plus(-1.0, &once).figure(), part(0.0, 0.0));
        let other = Sum::once((1, "a".into()), part(10.0, 1.0));
        let apart = once.plus(1.0, &other).figure();
        assert!((apart.half() - 2.0_f64.sqrt()).abs() < 1e-12, "{apart:?}");
    }

    #[test]
    fn a_constant_has_no_interval() {
        let sum = Sum::exactly(5.0).plus(2.0, &Sum::once((0, "a".into()), part(3.0, 0.5)));
        assert_eq!(sum.figure(), part(11.0, 1.0));
    }
}
