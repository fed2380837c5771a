//! How many times as long one thing takes as another that was measured in the same run. If their batches alternated in common
//! rounds, the rules are those of [`crate::lockstep`]. Otherwise it is the median over pairs of rounds taken in turn: a drift of the
//! machine hits both rounds of a pair alike, so the ratio is steadier than the ratio of two figures.

use record::{Cost, Estimate, Round};

use crate::compare::Verdict;
use crate::estimate::{Clocking, RoundsFigures, reach_of_quiet};
use crate::landing::{RoundFigure, around, reach};
use crate::lockstep::{Block, Judging, Lockstep, blocks, compare};
use crate::statistics::{Interval, quantile, sorted, weighted_median};

/// The time of a run that is compared with that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedTime {
    /// From beginning to end.
    Elapsed,
    /// What it had the processor for. The rest was taken from it by other programs.
    Processor,
}

/// One thing beside another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relative {
    /// So many times as long. Another run's ratio would lie in the interval 95 times in 100. If it holds 1, neither can be said
    /// to take longer.
    Times {
        ratio: Interval,
        /// Pairs of rounds, or blocks of batches that alternated.
        pairs: usize,
        /// Whether the other takes longer.
        verdict: Verdict,
        /// How many times the time so far would settle it, about.
        more: Option<f64>,
        time: ComparedTime,
    },
    /// One of them cannot be distinguished from the start of a program, or its figure is not positive.
    HoldsZero,
    /// Fewer than two pairs of rounds, which show no scatter.
    FewPairs,
}

/// How many times as long `other` takes as `base`. Commands are compared as they run, with their start, everything else net.
pub fn relative(base: &Cost, other: &Cost) -> Relative {
    let common = common(base, other);
    let commands = [base, other].into_iter().all(Cost::is_command);
    if commands && !common.is_empty() {
        return match [base, other].into_iter().all(is_preempted) {
            true => in_lockstep(&processor_times(base, other), ComparedTime::Processor),
            false => in_lockstep(&common, ComparedTime::Elapsed),
        };
    }
    if [base, other].into_iter().any(|cost| cost.quoted().0 <= 0.0 || cost.holds_zero()) {
        return Relative::HoldsZero;
    }
    if !common.is_empty() {
        return in_lockstep(&common, ComparedTime::Elapsed);
    }
    let quiet = [base, other].into_iter().all(|cost| cost.headline == Estimate::Quiet);
    let mut paired = paired(nets(base, figures(base)), nets(other, figures(other)));
    if quiet && paired.len() < 2 {
        // What disturbs both rounds of a pair cancels.
        paired = self::paired(nets(base, lowest(base)), nets(other, lowest(other)));
    }
    if paired.len() < 2 {
        return Relative::FewPairs;
    }
    if paired.iter().any(|pair| pair.figure <= 0.0 || !pair.figure.is_finite()) {
        return Relative::HoldsZero;
    }
    let far = if quiet { reach_of_quiet(&paired) } else { reach(&paired) };
    let values: Vec<(f64, f64)> = paired.iter().map(|pair| (pair.figure, pair.weight)).collect();
    match weighted_median(&values) {
        Some(value) if far.is_finite() => {
            let ratio = around(value, far);
            let verdict = match () {
                () if ratio.low > 1.0 => Verdict::Slower,
                () if ratio.high < 1.0 => Verdict::Faster,
                () => Verdict::Inconclusive,
            };
            Relative::Times { ratio, pairs: paired.len(), verdict, more: None, time: ComparedTime::Elapsed }
        }
        _ => Relative::FewPairs,
    }
}

fn in_lockstep(rounds: &[Vec<Block>], time: ComparedTime) -> Relative {
    match compare(rounds, Judging::default()) {
        Some(Lockstep { ratio, verdict, blocks, more }) if ratio.high.is_finite() => {
            Relative::Times { ratio, pairs: blocks, verdict, more, time }
        }
        _ => Relative::FewPairs,
    }
}

/// True for a command that waits for nothing but a CPU, and lost it to others for a part of its runs. How long it had to wait for that
/// says nothing of it: beside a compilation, half the interval of the elapsed times was 12 %.
fn is_preempted(cost: &Cost) -> bool {
    /// Switches of a run to wait: for its end, and perhaps one more.
    const WAITS: f64 = 2.5;
    /// A slice of the scheduler, or what a busy CPU lets a task wait for one, is no longer.
    const LONGEST: f64 = 20e6;
    const SHARE: f64 = 0.02;
    let (wait, processor) = (cost.wait_ns.0, cost.cpu_ns.user.0 + cost.cpu_ns.system.0);
    let by_others = wait <= LONGEST * cost.switches.involuntary;
    cost.switches.voluntary <= WAITS && by_others && wait > SHARE * processor
}

/// The processor times of the rounds in which runs of both alternated: a block each.
fn processor_times(base: &Cost, other: &Cost) -> Vec<Vec<Block>> {
    // A lost round has none, and no number is left out.
    let time = |round: &Round| round.cpu_ns.map_or(f64::NAN, |time| time.0);
    let pairs = common_rounds(base, other);
    pairs.map(|(round, partner)| vec![Block { base: time(round), other: time(partner), quiet: true }]).collect()
}

/// The rounds in which the batches of both alternated.
fn common_rounds<'c>(base: &'c Cost, other: &'c Cost) -> impl Iterator<Item = (&'c Round, &'c Round)> {
    let partner = |round: &Round| other.rounds.iter().find(|other| other.order == round.order && !other.ns.is_empty());
    base.rounds.iter().filter_map(move |round| Some((round, partner(round)?)))
}

/// The blocks of the rounds in which the batches of both alternated, net of their terms unless they are commands.
fn common(base: &Cost, other: &Cost) -> Vec<Vec<Block>> {
    let runs = |cost: &Cost, round: &Round| -> Vec<(f64, bool)> {
        let terms = if cost.is_command() { 0.0 } else { cost.gross_ns.get(cost.headline).0 - cost.quoted().0 };
        round.ns.iter().zip(&round.quiet).map(|(ns, quiet)| (ns - terms, *quiet)).collect()
    };
    let pairs = common_rounds(base, other);
    pairs.map(|(round, partner)| blocks(&runs(base, round), &runs(other, partner))).collect()
}

/// The ratios of the rounds of two items. Their n-th rounds belong to the same pass over all items.
fn paired(below: Vec<Option<RoundFigure>>, above: Vec<Option<RoundFigure>>) -> Vec<RoundFigure> {
    let ratio = |(below, above): (Option<RoundFigure>, Option<RoundFigure>)| {
        let (below, above) = (below?, above?);
        Some(RoundFigure { figure: above.figure / below.figure, weight: above.weight.min(below.weight) })
    };
    below.into_iter().zip(above).filter_map(ratio).collect()
}

fn clocking(cost: &Cost) -> Clocking {
    if cost.follows_clock { Clocking::At(1.0) } else { Clocking::AsRead }
}

/// What each round in the order taken shows of the figure; `None` for one that was lost or shows nothing.
fn figures(cost: &Cost) -> Vec<Option<RoundFigure>> {
    let figures = RoundsFigures::of(&cost.rounds, cost.headline, clocking(cost));
    in_order(cost).map(|round| figures.figure(round)).collect()
}

/// The 10 % quantile of each round's batches, undisturbed or not.
fn lowest(cost: &Cost) -> Vec<Option<RoundFigure>> {
    let lowest = |round: &Round| {
        let batches = round.ns.iter().zip(&round.cycle_ns).map(|(ns, cycle)| clocking(cost).read(*ns, *cycle));
        Some(RoundFigure { figure: quantile(&sorted(batches), 0.1)?, weight: 1.0 })
    };
    in_order(cost).map(lowest).collect()
}

fn in_order(cost: &Cost) -> impl Iterator<Item = &Round> {
    let mut rounds: Vec<&Round> = cost.rounds.iter().collect();
    rounds.sort_by_key(|round| round.order);
    rounds.into_iter()
}

/// The same net of the terms, in ns.
fn nets(cost: &Cost, figures: Vec<Option<RoundFigure>>) -> Vec<Option<RoundFigure>> {
    let values: Vec<(f64, f64)> = figures.iter().flatten().map(|round| (round.figure, round.weight)).collect();
    let gross = cost.gross_ns.get(cost.headline).0;
    // In ns at the clock that the cost is quoted at.
    let Some(scale) = weighted_median(&values).map(|middle| gross / middle) else { return vec![None; figures.len()] };
    let terms = gross - cost.quoted().0;
    let net = |round: RoundFigure| RoundFigure { figure: round.figure * scale - terms, ..round };
    figures.into_iter().map(|round| round.map(net)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use record::Nanoseconds;

    use super::*;
    use crate::example;

    /// A cost whose rounds took these times, of which `terms` is the start of a program. No round is common to two of them.
    fn cost(rounds: &[f64], terms: f64, headline: Estimate) -> Cost {
        static TAKEN: AtomicU32 = AtomicU32::new(0);
        let taken = TAKEN.fetch_add(1, Ordering::Relaxed);
        let mut cost = example::run().costs[0].clone();
        let round = |(order, ns): (u32, &f64)| Round { order: order * 1000 + taken, ..example::round(&[*ns; 12]) };
        cost.rounds = (0..).zip(rounds).map(round).collect();
        let middle = weighted_median(&rounds.iter().map(|value| (*value, 1.0)).collect::<Vec<_>>()).expect("rounds");
        (cost.headline, cost.follows_clock) = (headline, headline == Estimate::Quiet);
        for (figures, value) in [(&mut cost.gross_ns, middle), (&mut cost.net_ns, middle - terms)] {
            let ns = Nanoseconds(value);
            (figures.best, figures.quiet, figures.typical) = (ns, ns, ns);
            (figures.low, figures.high) = (Nanoseconds(value * 0.99), Nanoseconds(value * 1.01));
        }
        cost
    }

    #[test]
    fn a_drift_that_hits_both_is_no_scatter_of_the_ratio() {
        let drift = [1.0, 1.3, 0.8, 1.1, 2.0, 1.5, 0.9, 1.2, 1.0, 1.4, 1.7, 1.1];
        for headline in [Estimate::Quiet, Estimate::Typical] {
            let base = cost(&drift.map(|factor| 100.0 * factor), 0.0, headline);
            let other = cost(&drift.map(|factor| 105.0 * factor), 0.0, headline);
            let Relative::Times { ratio, pairs, .. } = relative(&base, &other) else { panic!("a ratio") };
            assert_eq!(pairs, 12);
            assert!((ratio.value - 1.05).abs() < 1e-9 && ratio.low > 1.04 && ratio.high < 1.06, "{ratio:?}");
            let Relative::Times { ratio, .. } = relative(&other, &base) else { panic!("a ratio") };
            assert!((ratio.value - 1.0 / 1.05).abs() < 1e-9);
        }
    }

    #[test]
    fn scatter_of_their_own_leaves_open_which_takes_longer() {
        let (one, other) = ([90.0, 110.0, 95.0, 120.0, 85.0, 100.0], [110.0, 88.0, 121.0, 90.0, 100.0, 101.0]);
        let [base, other] = [one, other].map(|rounds| cost(&rounds, 0.0, Estimate::Typical));
        let Relative::Times { ratio, .. } = relative(&base, &other) else { panic!("a ratio") };
        assert!(ratio.low < 1.0 && ratio.high > 1.0, "{ratio:?}");
    }

    #[test]
    fn what_starting_a_program_takes_is_in_neither() {
        let [base, other] = [200.0, 300.0].map(|ns| cost(&[ns; 6], 100.0, Estimate::Typical));
        let Relative::Times { ratio, .. } = relative(&base, &other) else { panic!("a ratio") };
        assert!((ratio.value - 2.0).abs() < 1e-9, "{ratio:?}");
        let none = cost(&[100.0; 6], 100.0, Estimate::Typical);
        assert_eq!(relative(&base, &none), Relative::HoldsZero);
    }

    #[test]
    fn rounds_that_were_never_undisturbed_together_are_compared_as_they_are() {
        let noise = [1.3, 1.2, 1.4, 1.25, 1.3, 1.5, 1.2, 1.3];
        let mut base = cost(&noise.map(|factor| 100.0 * factor), 0.0, Estimate::Quiet);
        let mut other = cost(&noise.map(|factor| 300.0 * factor), 0.0, Estimate::Quiet);
        for (place, (one, two)) in base.rounds.iter_mut().zip(&mut other.rounds).enumerate() {
            (if place % 2 == 0 { one } else { two }).quiet.fill(false);
        }
        let Relative::Times { ratio, pairs, .. } = relative(&base, &other) else { panic!("a ratio") };
        assert_eq!((pairs, (ratio.value * 1e6).round()), (8, 3e6));
    }

    #[test]
    fn rounds_that_have_no_partner_count_for_nothing() {
        let base = cost(&[100.0; 6], 0.0, Estimate::Typical);
        let mut other = cost(&[200.0; 9], 0.0, Estimate::Typical);
        other.rounds[1].ns.clear();
        other.rounds[1].cycle_ns.clear();
        let Relative::Times { ratio, pairs, .. } = relative(&base, &other) else { panic!("a ratio") };
        assert_eq!((pairs, (ratio.value * 1e6).round()), (5, 2e6));
        let once = cost(&[100.0], 0.0, Estimate::Typical);
        assert_eq!(relative(&once, &other), Relative::FewPairs);
    }

    #[test]
    fn common_rounds_are_compared_in_lockstep() {
        let drift = [1.0, 1.3, 0.8, 1.1, 2.0, 1.5, 0.9, 1.2];
        let base = cost(&drift.map(|factor| 100.0 * factor), 0.0, Estimate::Typical);
        let mut other = cost(&drift.map(|factor| 105.0 * factor), 0.0, Estimate::Typical);
        for (one, two) in base.rounds.iter().zip(&mut other.rounds) {
            two.order = one.order;
        }
        let found = relative(&base, &other);
        let Relative::Times { ratio, pairs, verdict, .. } = found else { panic!("{found:?}") };
        assert_eq!((pairs, verdict), (48, Verdict::Slower), "two batches make a block");
        assert!((ratio.value - 1.05).abs() < 1e-9, "{ratio:?}");
        // A command that takes no longer than a program that does nothing can still be compared as it runs.
        let mut nothing = [base, other];
        for cost in &mut nothing {
            cost.operation = "command: true".into();
            (cost.net_ns.low, cost.net_ns.typical) = (Nanoseconds(-1.0), Nanoseconds(0.1));
        }
        assert!(matches!(relative(&nothing[0], &nothing[1]), Relative::Times { pairs: 48, .. }));
    }

    #[test]
    fn commands_that_lost_the_cpu_are_compared_by_what_they_had_of_it() {
        let taken = [0.1, 0.9, 0.2, 1.3, 0.4, 0.7, 1.1, 0.3, 0.6, 0.8, 0.2, 1.0];
        let command = |times: f64, shift: usize, switches: record::Switches| {
            let elapsed: Vec<f64> = (0..12).map(|round| 50e6 * (times + taken[(round + shift) % 12])).collect();
            let mut cost = cost(&elapsed, 0.0, Estimate::Typical);
            cost.operation = format!("command: work {shift}");
            for (order, round) in cost.rounds.iter_mut().enumerate() {
                (round.order, round.cpu_ns) = (order as u32, Some(Nanoseconds(50e6 * times)));
                round.ns.truncate(1);
                round.quiet.truncate(1);
                round.cycle_ns.truncate(1);
            }
            (cost.cpu_ns.user, cost.cpu_ns.system) = (Nanoseconds(50e6 * times), Nanoseconds(0.0));
            (cost.wait_ns, cost.switches) = (Nanoseconds(30e6), switches);
            cost
        };
        let found = |switches: record::Switches| match relative(&command(1.0, 0, switches), &command(1.03, 5, switches))
        {
            Relative::Times { ratio, time, verdict, .. } => (ratio, time, verdict),
            other => panic!("{other:?}"),
        };
        let (ratio, time, verdict) = found(record::Switches { voluntary: 1.1, involuntary: 9.0 });
        assert_eq!((time, verdict), (ComparedTime::Processor, Verdict::Slower));
        assert!((ratio.value - 1.03).abs() < 1e-9 && ratio.high < 1.04, "{ratio:?}");
        // Who waits for something else is slower if that is.
        for switches in [(1.1, 0.0), (40.0, 9.0)] {
            let (ratio, time, _) = found(record::Switches { voluntary: switches.0, involuntary: switches.1 });
            assert!(time == ComparedTime::Elapsed && ratio.high / ratio.low > 1.1, "{ratio:?}");
        }
    }
}
