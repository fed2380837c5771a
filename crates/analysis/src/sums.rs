//! Sums and ratios of costs, some of which may have no interval. Also the doubts that pass from costs to what is
//! computed from them.

use record::{Cost, Doubt};

use crate::statistics::{Interval, ratio, weighted_sum};

/// A part smaller than this share of a figure does not matter.
pub(crate) const SMALL: f64 = 0.01;

impl Interval {
    /// A value without an interval: its error is unknown.
    pub fn unbounded(value: f64) -> Interval {
        Interval { value, low: f64::NEG_INFINITY, high: f64::INFINITY }
    }

    pub const fn exactly(value: f64) -> Interval {
        Interval { value, low: value, high: value }
    }

    /// A value whose interval reaches equally far to both sides.
    pub fn around(value: f64, half: f64) -> Interval {
        Interval { value, low: value - half, high: value + half }
    }

    /// True if there is an interval. A single round gives none.
    pub fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// True if its interval contains zero, so that only its upper end is known.
    pub fn is_at_most(&self) -> bool {
        self.is_bounded() && self.holds_zero()
    }

    /// Half the interval; `None` if there is none.
    pub fn bounded_half(&self) -> Option<f64> {
        self.is_bounded().then(|| self.half())
    }

    /// The value and its ends, put through a function that rises.
    #[must_use]
    pub fn map(self, rising: impl Fn(f64) -> f64) -> Interval {
        Interval { value: rising(self.value), low: rising(self.low), high: rising(self.high) }
    }

    /// This value times a factor above 0.
    #[must_use]
    pub fn times(self, factor: f64) -> Interval {
        self.map(|value| value * factor)
    }

    /// The sum of two whose errors add up, as those of prices of one run do.
    #[must_use]
    pub fn plus(self, other: Interval) -> Interval {
        Interval { value: self.value + other.value, low: self.low + other.low, high: self.high + other.high }
    }

    /// A number over this value, which is above 0.
    #[must_use]
    pub fn under(self, number: f64) -> Interval {
        Interval { value: number / self.value, low: number / self.high, high: number / self.low }
    }

    /// The largest size that it may have; without an interval, the size of its value.
    fn reach(&self) -> f64 {
        let ends = if self.is_bounded() { self.low.abs().max(self.high.abs()) } else { 0.0 };
        self.value.abs().max(ends)
    }
}

/// The sum of `factor` x value, as [`weighted_sum`]. It has no interval if one part has none. A part with the factor 0
/// does not count.
pub fn sum(parts: impl IntoIterator<Item = (f64, Interval)>) -> Interval {
    let parts: Vec<(f64, Interval)> = parts.into_iter().filter(|(factor, _)| *factor != 0.0).collect();
    if parts.is_empty() {
        // The sum of no floating-point numbers is minus zero, which would be visible.
        return Interval::exactly(0.0);
    }
    if parts.iter().all(|(_, part)| part.is_bounded()) {
        return weighted_sum(&parts);
    }
    Interval::unbounded(parts.iter().map(|(factor, part)| factor * part.value).sum())
}

/// One cost divided by another: with the interval of [`ratio`] if both have one, otherwise without. `None` if either is
/// not distinguishable from zero.
pub fn quotient(over: Interval, under: Interval) -> Option<Interval> {
    if over.is_bounded() && under.is_bounded() {
        return ratio(over, under);
    }
    let positive = |of: &Interval| of.value > 0.0 && !of.is_at_most();
    (positive(&over) && positive(&under)).then(|| Interval::unbounded(over.value / under.value))
}

/// The doubts of a cost in the form in which everything computed from it carries them: the serious ones, with the
/// cost's name. A doubt that the cost itself inherited keeps its original name.
pub fn doubts_of(cost: &Cost) -> Vec<Doubt> {
    let carried = |doubt: &Doubt| match doubt {
        Doubt::Inherited { doubt: own, .. } => own.is_serious().then(|| doubt.clone()),
        own => own.is_serious().then(|| Doubt::Inherited { from: cost.name(), doubt: Box::new(own.clone()) }),
    };
    cost.doubts.iter().filter_map(carried).collect()
}

/// Adds what is not in the list yet.
pub fn join(doubts: &mut Vec<Doubt>, more: impl IntoIterator<Item = Doubt>) {
    for doubt in more {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    }
}

/// The doubts of several costs, each once.
pub fn doubts_of_all<'a>(costs: impl IntoIterator<Item = &'a Cost>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    join(&mut doubts, costs.into_iter().flat_map(doubts_of));
    doubts
}

/// True if a part of a sum, with its factor, may be more than a hundredth of the sum and more than half its interval.
pub fn matters(whole: &Interval, factor: f64, part: &Interval) -> bool {
    let reach = factor.abs() * part.reach();
    reach > SMALL * whole.value.abs() && reach > whole.bounded_half().unwrap_or(0.0)
}

/// The doubts of the costs that matter to a sum of them.
pub fn doubts_in<'a>(whole: &Interval, parts: impl IntoIterator<Item = (f64, Interval, &'a Cost)>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (factor, part, cost) in parts {
        if matters(whole, factor, &part) {
            join(&mut doubts, doubts_of(cost));
        }
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn cost(name: &str, doubts: Vec<Doubt>) -> Cost {
        let run = example::run();
        Cost { operation: name.into(), at: record::Point::default(), doubts, ..run.costs[0].clone() }
    }

    #[test]
    fn a_sum_with_a_part_without_an_interval_has_none_and_is_a_number() {
        let parts = [(2.0, Interval::around(3.0, 1.0)), (1.0, Interval::unbounded(4.0))];
        let whole = sum(parts);
        assert_eq!(whole, Interval::unbounded(10.0));
        // Zero times infinity is not a number.
        assert_eq!(
            sum([(2.0, Interval::around(3.0, 1.0)), (0.0, Interval::unbounded(4.0))]),
            Interval::around(6.0, 2.0)
        );
        assert!(sum([]) == Interval::exactly(0.0) && sum([]).value.is_sign_positive());
        assert!(!whole.is_at_most() && Interval::unbounded(4.0).holds_zero());
    }

    #[test]
    fn a_ratio_without_an_interval_is_a_number_without_one() {
        assert_eq!(quotient(Interval::unbounded(6.0), Interval::around(2.0, 0.1)), Some(Interval::unbounded(3.0)));
        assert_eq!(quotient(Interval::around(2.0, 0.1), Interval::unbounded(-6.0)), None);
        assert_eq!(
            quotient(Interval::unbounded(6.0), Interval::around(2.0, 3.0)),
            None,
            "it cannot be distinguished from zero"
        );
    }

    #[test]
    fn a_number_over_a_value_has_its_ends_the_other_way_round() {
        let value = Interval { value: 2.0, low: 1.0, high: 4.0 };
        assert_eq!(value.under(8.0), Interval { value: 4.0, low: 2.0, high: 8.0 });
    }

    #[test]
    fn only_what_matters_is_reported() {
        let wide = || vec![Doubt::Wide { half_width: 0.5, wanted: 0.01 }];
        let (large, small) = (cost("large", wide()), cost("small", wide()));
        let count = |half: f64| {
            let parts = [(1.0, Interval::around(1000.0, 1.0), &large), (2.0, Interval::around(4.0, half), &small)];
            let whole = sum(parts.map(|(factor, part, _)| (factor, part)));
            doubts_in(&whole, parts).len()
        };
        assert_eq!(count(0.1), 1, "8 of 1008");
        assert_eq!(count(20.0), 2, "8 +- 40 of 1008 is most of what is not known of it");
        let open = [(1.0, Interval::unbounded(1000.0), &large), (1.0, Interval::around(900.0, 1.0), &small)];
        assert_eq!(doubts_in(&Interval::unbounded(1900.0), open).len(), 2);
    }

    #[test]
    fn doubts_keep_the_name_they_come_from_and_are_reported_once() {
        let inner = Doubt::Inherited { from: "base".into(), doubt: Box::new(Doubt::NeverQuiet) };
        let bound = Doubt::AtMost { high: record::Nanoseconds(1.0) };
        let harmless = Doubt::Inherited { from: "base".into(), doubt: Box::new(bound.clone()) };
        let cost = cost("a", vec![inner.clone(), bound, harmless, Doubt::NegativeNet]);
        let doubts = doubts_of(&cost);
        assert_eq!(doubts, [inner, Doubt::Inherited { from: "a".into(), doubt: Box::new(Doubt::NegativeNet) }]);
        let mut all = doubts.clone();
        join(&mut all, doubts);
        assert_eq!(all.len(), 2);
    }
}
