//! Finds the costs of a mix in a run, and computes sums of them with intervals.

use std::collections::BTreeMap;

use record::{Cost, MixLine, Run};

use crate::derived::net;
use crate::landing::FLOOR;
use crate::statistics::Interval;
use crate::sums::{SMALL, sum};

/// Longer than the age of the universe, in ns. A larger figure is an error in the file, and its square would still be a
/// number.
const LONGEST: f64 = 1e27;

/// Names that an operation shares with published costs, by its id.
pub type Names<'a> = &'a dyn Fn(&str) -> &'static [&'static str];

/// The reasons why a line of a mix has no cost in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Lack {
    /// The run does not have it, with the reason if the run states one.
    Missing(Option<String>),
    /// It has several, and the line does not say which one.
    Several(Vec<String>),
    /// Its figure is impossible for an operation.
    Absurd,
}

/// The origin of a figure: the index of its run, and its id and point.
pub type FigureSource = (usize, String);

/// The errors that the costs of one run share. They do not average out in a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SharedErrors {
    /// The error that all of them share, as a share of each. It is part of each one's own interval.
    pub error: f64,
    /// How much shorter and longer, as shares, the figure may be at another run's clock.
    pub clock: (f64, f64),
}

impl SharedErrors {
    /// The shared errors of a cost in a run. The first is the A/A band of the run, but at least the difference between
    /// two runs. The second is the clock's range, for a quiet figure that follows the clock. The costs of a book share
    /// nothing.
    pub fn of(run: &Run, cost: &Cost) -> SharedErrors {
        if run.is_published() {
            return SharedErrors::default();
        }
        let noise = &run.noise;
        let band = noise.band.as_ref().map(|band| band.difference).filter(|band| band.is_finite());
        let follows = cost.is_in_cycles() && noise.cycle_ns > 0.0;
        let range = noise.cycle_range_ns.filter(|range| follows && range.low > 0.0 && range.high.is_finite());
        let beside = |end: f64| end / noise.cycle_ns - 1.0;
        SharedErrors {
            error: band.unwrap_or(0.0).clamp(FLOOR, 1.0),
            clock: range.map_or((0.0, 0.0), |range| (beside(range.low).min(0.0), beside(range.high).max(0.0))),
        }
    }

    /// The same for a figure that already contains the clock's range.
    #[must_use]
    pub fn without_clock(self) -> SharedErrors {
        SharedErrors { clock: (0.0, 0.0), ..self }
    }

    /// A price without its shared error: only its own error.
    pub(crate) fn own(self, price: Interval) -> Interval {
        let shared = (self.error * price.value).powi(2);
        let rest = |reach: f64| (reach * reach - shared).max(0.0).sqrt();
        let Interval { value, low, high } = price;
        Interval { value, low: value - rest(value - low), high: value + rest(high - value) }
    }
}

/// One cost in a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Addend {
    times: f64,
    price: Interval,
    shared: SharedErrors,
}

/// A constant plus a sum of costs, each with a factor. Costs are independent except for the errors that one run's costs
/// share. A cost that occurs twice is not independent of itself, so it is stored once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    constant: f64,
    parts: BTreeMap<FigureSource, Addend>,
}

impl Sum {
    /// A figure without an interval, in ns.
    pub fn exactly(constant: f64) -> Sum {
        Sum { constant, ..Sum::default() }
    }

    /// This cost, once.
    pub fn once(source: FigureSource, price: Interval, shared: SharedErrors) -> Sum {
        Sum { constant: 0.0, parts: BTreeMap::from([(source, Addend { times: 1.0, price, shared })]) }
    }

    /// This sum plus another one multiplied by a factor.
    #[must_use]
    pub fn plus(mut self, times: f64, other: &Sum) -> Sum {
        self.constant += times * other.constant;
        for (source, part) in &other.parts {
            self.parts.entry(source.clone()).or_insert(Addend { times: 0.0, ..*part }).times += times * part.times;
        }
        self
    }

    /// The same sum, in which costs without an interval are uncertain by as much as themselves if all of them together are at
    /// most a hundredth of the whole: nobody needs to know more of them.
    #[must_use]
    pub fn without_unbounded_trifles(mut self) -> Sum {
        let whole = self.figure().value.abs();
        let unbounded = || self.parts.values().filter(|part| !part.price.is_bounded());
        if unbounded().map(|part| (part.times * part.price.value).abs()).sum::<f64>() <= SMALL * whole {
            for part in self.parts.values_mut().filter(|part| !part.price.is_bounded()) {
                let Interval { value, .. } = part.price;
                part.price = Interval::around(value, value.abs());
            }
        }
        self
    }

    /// The sum as a figure with its interval, in ns. The own errors of the costs are added by squares; the shared
    /// errors of one run are added linearly first. There is no interval if one cost has none.
    pub fn figure(&self) -> Interval {
        let own = self.parts.values().map(|part| (part.times, part.shared.own(part.price)));
        let constant = (1.0, Interval::exactly(self.constant));
        sum(own.chain([constant]).chain(self.shared().into_iter().map(|error| (1.0, error))))
    }

    /// The shared errors of each run, for all its costs together: errors around zero.
    fn shared(&self) -> Vec<Interval> {
        let mut by_run: BTreeMap<usize, [Interval; 2]> = BTreeMap::new();
        for ((run, _), part) in &self.parts {
            let [error, clock] = by_run.entry(*run).or_default();
            let all = part.times * part.price.value;
            error.low -= all * part.shared.error;
            error.high += all * part.shared.error;
            clock.low += all * part.shared.clock.0;
            clock.high += all * part.shared.clock.1;
        }
        // A negative sum is larger if its parts are shorter.
        let around =
            |ends: Interval| Interval { value: 0.0, low: ends.low.min(ends.high), high: ends.low.max(ends.high) };
        by_run.into_values().flatten().map(around).collect()
    }

    /// The costs in the sum, each with its own interval and its shared error.
    pub(crate) fn prices(&self) -> impl Iterator<Item = (&FigureSource, Interval, f64)> {
        self.parts.iter().map(|(source, part)| (source, part.shared.own(part.price), part.shared.error))
    }

    /// The costs in it that have no interval.
    pub fn unbounded(&self) -> impl Iterator<Item = &FigureSource> {
        self.parts.iter().filter(|(_, part)| part.times != 0.0 && !part.price.is_bounded()).map(|(source, _)| source)
    }
}

/// The cost that a line of a mix means in a run: by its id, else by a shared name. In a book, which has its own ids,
/// also by the names that the registry gives to the operation. Axes that the line does not name are free.
///
/// # Errors
/// If there is no such cost, or several, or one that is no time.
pub fn cost_of<'a>(run: &'a Run, line: &MixLine, names: Names) -> Result<&'a Cost, Lack> {
    let id = line.term.operation.as_str();
    let by_id: Vec<&Cost> = run.costs.iter().filter(|cost| cost.operation == id).collect();
    let means = |cost: &&Cost, lenient: bool| {
        line.term.at.0.iter().all(|(axis, value)| cost.at.0.get(axis).map_or(lenient, |is| is == value))
    };
    let mut meant: Vec<&Cost> = by_id.iter().copied().filter(|cost| means(cost, false)).collect();
    if by_id.is_empty() {
        // A published cost has no axes, so it matches any point of the line.
        let called = |name: &str| {
            let likes = run.costs.iter().filter(|cost| cost.like.iter().any(|like| like == name));
            likes.filter(|cost| means(cost, true)).collect::<Vec<_>>()
        };
        meant = called(id);
        if meant.is_empty() && run.is_published() {
            meant = names(id).iter().map(|name| called(name)).find(|found| !found.is_empty()).unwrap_or_default();
        }
    }
    match meant.as_slice() {
        [] => Err(Lack::Missing(skipped(run, line))),
        [cost] => {
            let Interval { value, low, high } = net(cost);
            let possible = |end: f64| end.is_infinite() || end.abs() <= LONGEST;
            let sane = value.abs() <= LONGEST && possible(low) && possible(high) && low <= high;
            if sane { Ok(cost) } else { Err(Lack::Absurd) }
        }
        several => Err(Lack::Several(several.iter().map(|cost| cost.typed()).collect())),
    }
}

/// The reason that the run states for a missing cost.
fn skipped(run: &Run, line: &MixLine) -> Option<String> {
    let spoken = |skip: &&record::Skip| {
        let free = skip.at.0.is_empty();
        skip.operation == line.term.operation
            && line.term.at.0.iter().all(|(axis, value)| free || skip.at.0.get(axis) == Some(value))
    };
    let skip = run.skipped.iter().find(spoken)?;
    let remedy = if skip.remedy.is_empty() { String::new() } else { format!(" ({})", skip.remedy) };
    Some(format!("{}{remedy}", skip.reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once(run: usize, name: &str, price: Interval) -> Sum {
        Sum::once((run, name.into()), price, SharedErrors::default())
    }

    #[test]
    fn a_cost_is_not_independent_of_itself() {
        let one = once(0, "a", Interval::around(10.0, 1.0));
        let twice = Sum::default().plus(1.0, &one).plus(1.0, &one);
        assert_eq!(twice.figure(), Interval::around(20.0, 2.0));
        assert_eq!(one.clone().plus(-1.0, &one).figure(), Interval::around(0.0, 0.0));
        let apart = one.plus(1.0, &once(1, "a", Interval::around(10.0, 1.0))).figure();
        assert!((apart.half() - 2.0_f64.sqrt()).abs() < 1e-12, "{apart:?}");
    }

    #[test]
    fn a_constant_has_no_interval() {
        let sum = Sum::exactly(5.0).plus(2.0, &once(0, "a", Interval::around(3.0, 0.5)));
        assert_eq!(sum.figure(), Interval::around(11.0, 1.0));
    }

    #[test]
    fn a_sum_of_many_costs_of_one_run_is_no_surer_than_what_they_share() {
        let shared = SharedErrors { error: 0.01, clock: (0.0, 0.0) };
        let of = |run: &dyn Fn(usize) -> usize| {
            let costs = (0..1000).map(|n| Sum::once((run(n), n.to_string()), Interval::around(10.0, 0.2), shared));
            costs.fold(Sum::default(), |sum, cost| sum.plus(1.0, &cost)).figure()
        };
        // Of the 2 % of each, 1 % is shared: the root of 100^2 and of 1000 x 0.03.
        let all = of(&|_| 0);
        assert!((all.half() - (100.0_f64.powi(2) + 1000.0 * 0.03).sqrt()).abs() < 1e-9, "{all:?}");
        assert!(of(&|n| n).half() < 7.0, "costs of a thousand runs share nothing");
        let alone = Sum::once((0, "a".into()), Interval::around(10.0, 0.2), shared);
        assert!((alone.figure().half() - 0.2).abs() < 1e-12, "a cost's own interval holds what it shares");
        assert!((alone.clone().plus(-1.0, &alone)).figure() == Interval::around(0.0, 0.0));
        let other = Sum::once((0, "b".into()), Interval::around(10.0, 0.1), shared);
        let difference = alone.plus(-1.0, &other).figure();
        assert!((difference.half() - 0.03_f64.sqrt()).abs() < 1e-12, "what both share cancels: {difference:?}");
    }

    #[test]
    fn another_clock_moves_all_that_follow_it_together() {
        let shared = SharedErrors { error: 0.0, clock: (-0.02, 0.1) };
        let one = Sum::once((0, "a".into()), Interval::exactly(100.0), shared);
        let sum = one.clone().plus(3.0, &Sum::once((0, "b".into()), Interval::exactly(100.0), shared));
        let close = |found: Interval, low: f64, high: f64| (found.low - low).abs() + (found.high - high).abs() < 1e-9;
        assert!(close(sum.figure(), 392.0, 440.0), "{:?}", sum.figure());
        let less = Sum::default().plus(-1.0, &one).figure();
        assert!(close(less, -110.0, -98.0), "{less:?}");
    }

    #[test]
    fn a_sum_with_a_cost_of_one_round_has_no_interval() {
        let shared = SharedErrors { error: 0.01, clock: (-0.1, 0.1) };
        let open = Sum::once((0, "a".into()), Interval::unbounded(6.0), shared);
        let sum = once(0, "b", Interval::around(3.0, 0.5)).plus(2.0, &open);
        assert_eq!(sum.figure(), Interval::unbounded(15.0));
        assert_eq!(sum.unbounded().collect::<Vec<_>>(), [&(0, "a".to_string())]);
        assert_eq!(sum.clone().without_unbounded_trifles(), sum, "it is no trifle");
        assert_eq!(sum.plus(-2.0, &open).figure(), Interval::around(3.0, 0.5), "what cancels leaves nothing open");
    }

    #[test]
    fn a_trifle_of_one_round_does_not_take_the_interval_away() {
        let open = Sum::once((0, "a".into()), Interval::unbounded(3.0), SharedErrors::default());
        let sum = once(0, "b", Interval::around(400.0, 4.0)).plus(1.0, &open).without_unbounded_trifles();
        assert_eq!(sum.figure(), Interval::around(403.0, 5.0));
        assert_eq!(sum.unbounded().count(), 0);
        let many = (0..2).map(|n| Sum::once((0, n.to_string()), Interval::unbounded(3.0), SharedErrors::default()));
        let sum = many.fold(once(0, "b", Interval::around(400.0, 4.0)), |sum, open| sum.plus(1.0, &open));
        assert!(!sum.without_unbounded_trifles().figure().is_bounded(), "together they are no trifle");
    }
}
