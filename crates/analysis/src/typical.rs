//! The typical figure of a cost, which is what programs get on a shared machine, with its interval. It comes from the
//! rounds that took batches whatever the core was doing.

use record::{Cost, Estimate, Run};

use crate::derived::net;
use crate::estimate::{Clocking, interval, typical_medians};
use crate::landing::{FLOOR, around, reach};
use crate::statistics::{Interval, half_of_mean, squares, student_95};
use crate::sums::sum;

/// Terms within terms are not deeper than this. A record with more is damaged.
const DEEPEST: u32 = 4;

/// The typical figure of a cost, net: where another run on this machine would land, 95 times in 100. Costs that are
/// quoted by it already have it, and so do those of books.
pub fn typical(run: &Run, cost: &Cost) -> Interval {
    net_typical(run, cost, 0)
}

fn net_typical(run: &Run, cost: &Cost, depth: u32) -> Interval {
    if cost.headline != Estimate::Quiet || cost.rounds.is_empty() {
        return net(cost);
    }
    let terms = cost.terms.iter().filter(|_| depth < DEEPEST);
    let terms = terms.filter_map(|term| Some((-term.times, net_typical(run, run.cost_of(term)?, depth + 1))));
    sum([(1.0, gross_typical(cost))].into_iter().chain(terms)).moved_to(cost.net_ns.typical.0)
}

/// The typical figure as timed.
pub fn gross_typical(cost: &Cost) -> Interval {
    if cost.headline != Estimate::Quiet || cost.rounds.is_empty() {
        return interval(&cost.gross_ns, cost.headline);
    }
    let value = cost.gross_ns.typical.0;
    if !cost.levels.is_empty() {
        let medians: Vec<f64> =
            typical_medians(&cost.rounds, Clocking::AsRead).iter().map(|round| round.figure).collect();
        // Where the mean of another run lies.
        let reach = half_of_mean(&medians) * std::f64::consts::SQRT_2;
        let interval = Interval { value, low: (value - reach).max(0.0), high: value + reach };
        return if reach.is_finite() { interval } else { Interval::unbounded(value) };
    }
    around(value, spread(cost).unwrap_or(f64::INFINITY))
}

/// Half the interval of a typical figure, as a difference of logarithms. A few rounds are joined with what is usual, as if that came from
/// eight rounds: of two runs of 460 costs, pairs of rounds then held another pair in 99 instead of 94 in 100, with intervals of half the
/// mean width (Winkler's score 0.46 to 0.50 instead of 0.90 to 1.21). `None` if a median is not positive, or one round is all that is known.
fn spread(cost: &Cost) -> Option<f64> {
    /// Rounds, beyond which they are judged alone.
    const FEW: usize = 3;
    const USUAL: f64 = 8.0;
    let medians = typical_medians(&cost.rounds, Clocking::AsRead);
    if medians.is_empty() || medians.iter().any(|round| round.figure <= 0.0) {
        return None;
    }
    let Some(usual) = usual_deviation(cost).filter(|_| medians.len() <= FEW) else {
        return Some(reach(&medians)).filter(|half| half.is_finite());
    };
    let logs: Vec<f64> = medians.iter().map(|round| round.figure.ln()).collect();
    let count = logs.len() as f64;
    let freedom = USUAL + count - 1.0;
    let variance = (USUAL * usual * usual + squares(&logs)) / freedom;
    Some((student_95(freedom as u32) * (variance * 2.0 / count).sqrt()).hypot(FLOOR))
}

/// How far single rounds of this cost lie apart, before any was seen: as rounds of its kind usually scatter, and as the typical figure lies
/// above the undisturbed one. `None` without an undisturbed figure.
fn usual_deviation(cost: &Cost) -> Option<f64> {
    let basis = cost.basis.as_ref()?;
    let above = (cost.gross_ns.typical.0 / cost.gross_ns.quiet.0).ln();
    Some(basis.scatter.hypot(basis.slow_down_deviation).hypot(above)).filter(|deviation| deviation.is_finite())
}

#[cfg(test)]
mod tests {
    use record::{Basis, Nanoseconds, Round};

    use super::*;
    use crate::example;

    fn round(ns: &[f64], survey: Option<bool>) -> Round {
        Round { quiet: vec![false; ns.len()], survey, ..example::round(ns) }
    }

    fn spread(rounds: &[Round]) -> Option<f64> {
        super::spread(&Cost { rounds: rounds.to_vec(), basis: None, ..example::run().costs[8].clone() })
    }

    #[test]
    fn the_formula_by_hand() {
        // Logarithms -0.01, 0 and 0.01: s = 0.01, t(0.975, 2) = 4.3027.
        let rounds = [-0.01_f64, 0.0, 0.01].map(|log| round(&[log.exp()], None));
        let expected = (4.3027 * 1.2533 * 0.01 * (2.0_f64 / 3.0).sqrt()).hypot(0.002);
        assert!((spread(&rounds).expect("three rounds") - expected).abs() < 1e-6);
        assert_eq!(spread(&[round(&[5.0], None), round(&[5.0], None)]), Some(FLOOR), "never surer than the floor");
    }

    #[test]
    fn only_rounds_that_surveyed_count_where_the_run_records_them() {
        let quiet = |ns: f64| round(&[ns], Some(false));
        let surveyed = |ns: f64| round(&[ns], Some(true));
        assert_eq!(spread(&[quiet(1.0), quiet(9.0), surveyed(5.0), surveyed(5.0)]), Some(FLOOR));
        assert_eq!(spread(&[quiet(1.0), quiet(9.0), surveyed(5.0)]), None, "one tells nothing");
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[round(&[0.0], None), round(&[1.0], None)]), None);
    }

    #[test]
    fn few_rounds_are_joined_with_what_is_usual() {
        let mut cost = example::run().costs[8].clone();
        cost.rounds = vec![round(&[110.0], Some(true)), round(&[100.0], Some(false))];
        (cost.gross_ns.typical, cost.gross_ns.quiet) = (Nanoseconds(110.0), Nanoseconds(100.0));
        cost.basis = None;
        assert_eq!(gross_typical(&cost), Interval::unbounded(110.0));
        cost.basis =
            Some(Basis { rounds: 2, earlier_rounds: 0, scatter: 0.03, slow_down: 0.2, slow_down_deviation: 0.04 });
        // t(0.975, 8) = 2.306, of one round.
        let half = (2.306 * 2.0_f64.sqrt() * 0.05_f64.hypot(1.1_f64.ln())).hypot(FLOOR);
        let found = gross_typical(&cost);
        assert!((found.high / (110.0 * half.exp()) - 1.0).abs() < 1e-4, "{found:?}");
        assert!((found.low / (110.0 * (-half).exp()) - 1.0).abs() < 1e-4, "{found:?}");
        // Two that agree show more; four are judged alone.
        let alike = |count: usize| Cost { rounds: vec![round(&[110.0], Some(true)); count], ..cost.clone() };
        let half = |count: usize| super::spread(&alike(count)).expect("rounds");
        assert!(half(2) < 0.7 * half(1) && half(4) == FLOOR, "{} {} {}", half(1), half(2), half(4));
    }

    #[test]
    fn a_net_cost_is_as_open_as_the_whole_and_its_terms() {
        let mut run = example::run();
        let mut cost = run.costs[8].clone();
        let empty = run.costs.iter_mut().find(|cost| cost.operation == "loop.empty").expect("the loop");
        empty.rounds = vec![round(&[0.4], None), round(&[0.5], None)];
        (empty.gross_ns.typical, empty.net_ns.typical) = (Nanoseconds(0.45), Nanoseconds(0.45));
        cost.rounds = vec![round(&[100.0], None), round(&[100.0], None)];
        (cost.gross_ns.typical, cost.net_ns.typical) = (Nanoseconds(100.0), Nanoseconds(98.2));
        cost.terms = vec![example::term(4.0, "loop.empty")];
        let found = typical(&run, &cost);
        let alone = typical(&run, &Cost { terms: Vec::new(), ..cost.clone() });
        assert!((alone.half() - 0.2).abs() < 1e-3 && found.half() > 4.0 * 0.1, "{alone:?} {found:?}");
        assert!(found.value == 98.2 && found.low < 98.2 && found.high > 98.2);
        cost.rounds.truncate(1);
        assert_eq!(typical(&run, &cost), Interval::unbounded(98.2));
    }

    #[test]
    fn a_cost_that_contains_itself_ends() {
        let mut run = example::run();
        run.costs[0].terms = vec![example::term(1.0, "loop.empty")];
        let cost = run.costs[0].clone();
        assert!(typical(&run, &cost).value == cost.net_ns.typical.0);
    }
}
