//! How many times as long one thing takes as another that was measured in the same run, by the rounds in which their batches
//! alternated and the rules of [`crate::lockstep`].

use record::{Cost, Round};

use crate::lockstep::{Block, Lockstep, blocks, compare};

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
    /// So many times as long, by blocks of batches that alternated. Another run's ratio would lie in the interval 95 times in 100.
    /// If it holds 1, neither can be said to take longer.
    Times { found: Lockstep, time: ComparedTime },
    /// One of them cannot be distinguished from the start of a program, or its figure is not positive.
    HoldsZero,
    /// Fewer than two common rounds, which show no scatter.
    FewPairs,
}

/// How many times as long `other` takes as `base`. Commands are compared as they run, with their start, everything else net.
pub fn relative(base: &Cost, other: &Cost) -> Relative {
    let both = [base, other];
    let commands = both.into_iter().all(Cost::is_command);
    if commands && both.into_iter().all(is_preempted) {
        return in_lockstep(&processor_times(base, other), ComparedTime::Processor);
    }
    if !commands && both.into_iter().any(|cost| cost.quoted().0 <= 0.0 || cost.holds_zero()) {
        return Relative::HoldsZero;
    }
    in_lockstep(&common(base, other), ComparedTime::Elapsed)
}

fn in_lockstep(rounds: &[Vec<Block>], time: ComparedTime) -> Relative {
    match compare(rounds) {
        Some(found) if found.ratio.high.is_finite() => Relative::Times { found, time },
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

#[cfg(test)]
mod tests {
    use record::{Estimate, Nanoseconds};

    use super::*;
    use crate::compare::Verdict;
    use crate::example;

    fn cost(rounds: &[f64]) -> Cost {
        let mut cost = example::run().costs[0].clone();
        let round = |(order, ns): (u32, &f64)| Round { order, ..example::round(&[*ns; 12]) };
        cost.rounds = (0..).zip(rounds).map(round).collect();
        (cost.headline, cost.follows_clock) = (Estimate::Typical, false);
        for figures in [&mut cost.gross_ns, &mut cost.net_ns] {
            (figures.typical, figures.low, figures.high) = (Nanoseconds(100.0), Nanoseconds(99.0), Nanoseconds(101.0));
        }
        cost
    }

    #[test]
    fn common_rounds_are_compared_in_lockstep() {
        let drift = [1.0, 1.3, 0.8, 1.1, 2.0, 1.5, 0.9, 1.2];
        let [base, other] = [100.0, 105.0].map(|ns| cost(&drift.map(|factor| ns * factor)));
        let found = relative(&base, &other);
        let Relative::Times { found, .. } = found else { panic!("{found:?}") };
        assert_eq!((found.blocks, found.verdict), (48, Verdict::Slower), "two batches make a block");
        assert!((found.ratio.value - 1.05).abs() < 1e-9, "{found:?}");
        let mut alone = other.clone();
        alone.rounds.iter_mut().for_each(|round| round.order += 100);
        assert_eq!(relative(&base, &alone), Relative::FewPairs);
        // A command that takes no longer than a program that does nothing can still be compared as it runs.
        let mut nothing = [base, other];
        for cost in &mut nothing {
            (cost.net_ns.low, cost.net_ns.typical) = (Nanoseconds(-1.0), Nanoseconds(0.1));
        }
        assert_eq!(relative(&nothing[0], &nothing[1]), Relative::HoldsZero);
        for cost in &mut nothing {
            cost.operation = "command: true".into();
        }
        let found = relative(&nothing[0], &nothing[1]);
        assert!(matches!(found, Relative::Times { found: Lockstep { blocks: 48, .. }, .. }), "{found:?}");
    }

    #[test]
    fn commands_that_lost_the_cpu_are_compared_by_what_they_had_of_it() {
        let taken = [0.1, 0.9, 0.2, 1.3, 0.4, 0.7, 1.1, 0.3, 0.6, 0.8, 0.2, 1.0];
        let command = |times: f64, shift: usize, switches: record::Switches| {
            let elapsed: Vec<f64> = (0..12).map(|round| 50e6 * (times + taken[(round + shift) % 12])).collect();
            let mut cost = cost(&elapsed);
            cost.operation = format!("command: work {shift}");
            for round in &mut cost.rounds {
                round.cpu_ns = Some(Nanoseconds(50e6 * times));
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
            Relative::Times { found: Lockstep { ratio, verdict, .. }, time } => (ratio, time, verdict),
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
