//! Costs that contradict each other. The impossible one gets a doubt.

use record::{Cost, Doubt, Point, Value};

use crate::sums::join;

/// A rule that holds on every machine: `dearer` never costs less than `cheaper` at the point with the same axes.
pub struct Rule<'a> {
    /// The operation that does more.
    pub dearer: &'a str,
    /// The operation that it contains.
    pub cheaper: &'a str,
}

/// Adds a doubt to every cost that breaks a rule, or that falls along an axis with which it can only rise.
pub fn check(costs: &mut [Cost], rules: &[Rule<'_>], rising: &[(&str, &str)]) {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (index, cost) in costs.iter().enumerate() {
        let rules = rules.iter().filter(|rule| rule.dearer == cost.operation);
        let contained = rules.filter_map(|rule| {
            costs.iter().find(|other| other.operation == rule.cheaper && within(&other.at, &cost.at))
        });
        let axes = rising.iter().filter(|(operation, _)| *operation == cost.operation);
        let lower = axes.filter_map(|(_, axis)| next_lower(costs, cost, axis));
        // Lower by more than both intervals and a twentieth.
        for other in contained.chain(lower).filter(|other| cost.net_ns.high.0 < other.net_ns.low.0 * 0.95) {
            found.push((index, format!("{} at {} should not cost more", other.typed(), other.quoted())));
        }
    }
    // A rule may occur once for every point of its operation.
    found.into_iter().for_each(|(index, than)| join(&mut costs[index].doubts, [Doubt::Implausible { than }]));
}

/// True if every axis of `inner` that `outer` has is at the same value there.
fn within(inner: &Point, outer: &Point) -> bool {
    inner.0.iter().all(|(axis, value)| outer.0.get(axis).is_none_or(|other| other == value))
}

/// The cost of the same operation at the next lower number on `axis`, with all other axes equal.
fn next_lower<'a>(costs: &'a [Cost], cost: &Cost, axis: &str) -> Option<&'a Cost> {
    let here = cost.at.number(axis)?;
    let same = |other: &&Cost| {
        other.operation == cost.operation
            && other.at.number(axis).is_some_and(|there| there < here)
            && other.at.clone().with(axis, Value::Number(here)) == cost.at
    };
    costs.iter().filter(same).max_by_key(|other| other.at.number(axis))
}

#[cfg(test)]
mod tests {
    use record::Nanoseconds;

    use super::*;
    use crate::example;

    fn cost(id: &str, ns: f64) -> Cost {
        example::cost(id, ns, ns * 0.01)
    }

    #[test]
    fn a_contradiction_is_reported_once_however_often_its_rule_is_given() {
        let mut costs = [cost("fork", 100.0), cost("exec", 50.0)];
        let rule = || Rule { dearer: "exec", cheaper: "fork" };
        check(&mut costs, &[rule(), rule()], &[]);
        assert!(costs[0].doubts.is_empty());
        assert!(matches!(costs[1].doubts[..], [Doubt::Implausible { .. }]), "{:?}", costs[1].doubts);
    }

    #[test]
    fn a_cost_within_a_twentieth_contradicts_nothing() {
        let mut costs = [cost("fork", 100.0), cost("exec", 96.0)];
        check(&mut costs, &[Rule { dearer: "exec", cheaper: "fork" }], &[]);
        assert!(costs.iter().all(|cost| cost.doubts.is_empty()));
    }

    #[test]
    fn a_cost_of_one_round_contradicts_nothing_and_is_contradicted_by_nothing() {
        for open in [0, 1] {
            let mut costs = [cost("fork", 100.0), cost("exec", 1.0)];
            let net = &mut costs[open].net_ns;
            (net.low, net.high) = (Nanoseconds(f64::NEG_INFINITY), Nanoseconds(f64::INFINITY));
            check(&mut costs, &[Rule { dearer: "exec", cheaper: "fork" }], &[]);
            assert!(costs.iter().all(|cost| cost.doubts.is_empty()));
        }
    }
}
