//! Net costs: what is left of a gross cost when its terms are subtracted.

use record::{Cost, Doubt, Ends, Estimate, Figures, Nanoseconds};

use crate::estimate::interval;
use crate::levels;
use crate::statistics::{Interval, weighted_sum};
use crate::sums::doubts_of;

/// A part of a cost smaller than this share passes no doubt on. Even if it were wrong by its full size, the cost's own
/// interval would cover that.
const MATTERS: f64 = 0.01;

/// Subtracts the terms from a cost's gross figures, and adds the doubts of the terms that matter. `find` returns the
/// cost that a term names. A term without a cost leaves the net figures unchanged.
///
/// # Errors
/// The name of the first term that `find` does not know.
pub fn subtract<'a>(cost: &mut Cost, find: impl Fn(&record::Term) -> Option<&'a Cost>) -> Result<(), String> {
    let found = cost.terms.iter().map(|term| Ok((term.times, find(term).ok_or_else(|| term.typed())?)));
    let baselines: Vec<(f64, &Cost)> = found.collect::<Result<_, String>>()?;
    let (gross, headline) = (cost.gross_ns, cost.headline);
    let net = |estimate: Estimate| {
        // The smallest sample of a term was not taken with that of the whole. Less that, best could lie above quiet.
        let of_terms = if estimate == Estimate::Best { Estimate::Quiet } else { estimate };
        let terms = baselines.iter().map(|(times, baseline)| times * baseline.net_ns.get(of_terms).0);
        Nanoseconds(gross.get(estimate).0 - terms.sum::<f64>())
    };
    let net_interval = |whole: Interval| {
        let terms = baselines.iter().map(|(times, baseline)| (-times, interval(&baseline.net_ns, baseline.headline)));
        let terms = terms.map(|(times, term)| (times, or_anything(term)));
        weighted_sum(&std::iter::once((1.0, whole)).chain(terms).collect::<Vec<_>>())
    };
    // The terms may be quoted by other figures than the cost.
    let Interval { low, high, .. } = net_interval(interval(&gross, headline)).moved_to(net(headline).0);
    cost.net_ns = Figures {
        best: net(Estimate::Best),
        quiet: net(Estimate::Quiet),
        typical: net(Estimate::Typical),
        low: Nanoseconds(low),
        high: Nanoseconds(high),
    };
    for level in &mut cost.levels {
        let Interval { value, low, high } = net_interval(levels::interval(level));
        (level.ns, level.interval_ns) = (Nanoseconds(value), Ends { low, high });
    }
    for (times, baseline) in baselines {
        if (times * baseline.quoted().0).abs() >= MATTERS * gross.get(headline).0.abs() {
            cost.doubts.extend(doubts_of(baseline));
        }
    }
    if cost.quoted().0 < 0.0 {
        cost.doubts.push(Doubt::NegativeNet);
    } else if low <= 0.0 && high.is_finite() {
        cost.doubts.push(Doubt::AtMost { high: Nanoseconds(high) });
    }
    Ok(())
}

/// A baseline that has no interval is anything between nothing and twice its figure. It does not take the interval of what
/// contains it.
fn or_anything(part: Interval) -> Interval {
    if part.is_bounded() { part } else { Interval::around(part.value, part.value.abs()) }
}

/// Subtracts the terms of all costs, innermost first, because a term's own net cost must be known before it is subtracted, and
/// adds the doubts on what is wider than `wanted`. A cost whose term is not there keeps its gross figures, with a doubt.
pub fn subtract_all(costs: &mut [Option<Cost>], wanted: f64) {
    let names: Vec<Option<(String, record::Point)>> =
        costs.iter().map(|cost| cost.as_ref().map(|cost| (cost.operation.clone(), cost.at.clone()))).collect();
    let place = |term: &record::Term| {
        names.iter().position(|name| name.as_ref().is_some_and(|(id, at)| *id == term.operation && *at == term.at))
    };
    let mut done: Vec<bool> = costs.iter().map(Option::is_none).collect();
    let ready = |cost: &Cost, done: &[bool]| cost.terms.iter().all(|term| place(term).is_none_or(|of| done[of]));
    // The registry's terms form no cycle, so every turn of this loop finishes at least one cost.
    while let Some(index) =
        (0..costs.len()).find(|&index| !done[index] && costs[index].as_ref().is_some_and(|cost| ready(cost, &done)))
    {
        done[index] = true;
        let Some(mut cost) = costs[index].take() else { continue };
        let gross = cost.gross_ns.get(cost.headline).0;
        if let Err(missing) = subtract(&mut cost, |term| costs[place(term)?].as_ref()) {
            cost.terms.clear();
            cost.doubts.push(Doubt::RoundLost {
                reason: format!("its baseline {missing} was not measured, so nothing is subtracted"),
            });
        }
        let half_width = cost.half_width().filter(|half| *half > wanted && !cost.holds_zero());
        cost.doubts.extend(half_width.map(|half_width| Doubt::Wide { half_width: rounded(half_width), wanted }));
        if !cost.terms.is_empty() {
            cost.cycles = rounded(cost.cycles * cost.quoted().0 / gross);
        }
        costs[index] = Some(cost);
    }
}

/// Rounds to seven significant digits, a hundred times finer than any clock here resolves.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn a_figure_lies_in_its_interval_where_its_term_is_quoted_by_another() {
        let mut baseline = example::cost("baseline", 300.0, 5.0);
        (baseline.gross_ns.typical, baseline.net_ns.typical) = (Nanoseconds(390.0), Nanoseconds(390.0));
        let terms = vec![example::term(1.0, "baseline")];
        let mut whole = Cost { headline: Estimate::Typical, terms, ..example::cost("whole", 1450.0, 40.0) };
        whole.gross_ns.typical = Nanoseconds(1450.0);
        subtract(&mut whole, |_| Some(&baseline)).expect("a baseline");
        let net = whole.net_ns;
        assert_eq!(net.typical.0, 1060.0);
        assert!(net.low.0 < 1060.0 && 1060.0 < net.high.0, "{net:?}");
    }

    #[test]
    fn the_best_of_what_is_left_lies_below_quiet_as_it_did_before() {
        let mut baseline = example::cost("baseline", 300.0, 5.0);
        baseline.net_ns.best = Nanoseconds(250.0);
        let mut whole = Cost { terms: vec![example::term(1.0, "baseline")], ..example::cost("whole", 1450.0, 40.0) };
        (whole.gross_ns.best, whole.gross_ns.quiet) = (Nanoseconds(1430.0), Nanoseconds(1450.0));
        subtract(&mut whole, |_| Some(&baseline)).expect("a baseline");
        assert_eq!((whole.net_ns.best.0, whole.net_ns.quiet.0), (1130.0, 1150.0));
    }

    #[test]
    fn a_cost_without_its_baseline_keeps_its_levels() {
        let ends = Ends { low: 1.0, high: 2.0 };
        let level = record::Level { ns: Nanoseconds(1.5), interval_ns: ends, share: 0.5, share_interval: ends };
        let levels = vec![level; 2];
        let whole = Cost { terms: vec![example::term(1.0, "absent")], levels, ..example::cost("whole", 10.0, 1.0) };
        let mut costs = [Some(whole)];
        subtract_all(&mut costs, 1.0);
        assert_eq!(costs[0].as_ref().map(|cost| cost.levels.len()), Some(2));
    }
}
