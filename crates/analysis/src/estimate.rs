//! From the samples of rounds to the figures of a cost: gross, then net, with the doubts that the samples raise.

use record::{Cost, Doubt, Estimate, Figures, Nanoseconds, Round};

use crate::statistics::{Interval, median, median_ranks, quantile, sorted, two_groups, weighted_median, weighted_sum};

/// Fewer quiet batches than this in all rounds together are too few to quote without a doubt.
const ENOUGH_QUIET: usize = 10;
/// Fewer rounds than this give an interval of less than 95 %.
pub const ENOUGH_ROUNDS: usize = 6;

/// The figures of gross cost, and what makes them doubtful.
pub struct Gross {
    /// The figures.
    pub figures: Figures,
    /// The doubts.
    pub doubts: Vec<Doubt>,
    /// Rounds that the headline figure rests on.
    pub rounds: usize,
}

/// How quiet batches are read: as timed, or at a clock whose cycle takes so many ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clocking {
    /// As timed.
    AsRead,
    /// In cycles, times this cycle in ns.
    At(f64),
}

/// Estimates gross cost from rounds. `surveyed` tells of each round whether it took batches whatever the core was
/// doing: only those show what is typical; rounds that sought quiet moments would flatter it. `None` without a sample.
pub fn gross(rounds: &[Round], surveyed: &[bool], headline: Estimate, clocking: Clocking) -> Option<Gross> {
    let best = sorted(rounds.iter().flat_map(|round| round.ns.iter().copied())).first().copied()?;
    let all_typical = |only_surveyed: bool| {
        let chosen = rounds.iter().zip(surveyed).filter(move |(_, surveyed)| !only_surveyed || **surveyed);
        sorted(chosen.filter_map(|(round, _)| median(round.ns.iter().copied())))
    };
    let mut typicals = all_typical(true);
    if typicals.is_empty() {
        typicals = all_typical(false);
    }
    let typical = quantile(&typicals, 0.5)?;
    let quiet_batches = rounds.iter().flat_map(|round| quiet_samples(round, clocking)).count();
    let quiet_rounds = quiet_medians(rounds, clocking);
    let mut doubts = Vec::new();
    let quiet = match weighted_median(&weighted_rounds(rounds, clocking)) {
        Some(quiet) => quiet,
        None => quantile(&sorted(rounds.iter().flat_map(|round| round.ns.iter().copied())), 0.1)?,
    };
    let by_round = match headline {
        Estimate::Quiet if quiet_rounds.is_empty() => {
            doubts.push(Doubt::NeverQuiet);
            sorted(rounds.iter().filter_map(|round| quantile(&sorted(round.ns.iter().copied()), 0.1)))
        }
        Estimate::Quiet => {
            if quiet_batches < ENOUGH_QUIET || quiet_rounds.len() < 3 {
                doubts.push(Doubt::FewQuiet { batches: quiet_batches as u32, rounds: quiet_rounds.len() as u32 });
            }
            quiet_rounds
        }
        Estimate::Typical | Estimate::Best => typicals,
    };
    if by_round.len() < ENOUGH_ROUNDS && !matches!(doubts.last(), Some(Doubt::FewQuiet { .. } | Doubt::NeverQuiet)) {
        doubts.push(Doubt::FewRounds { rounds: by_round.len() as u32 });
    }
    doubts.extend(groups(rounds, headline, clocking));
    let (low, high) = median_ranks(by_round.len());
    // Where rounds hold no quiet batch, the pooled quantile can lie outside the rounds' own: the interval holds it.
    let figure = match headline {
        Estimate::Best => best,
        Estimate::Quiet => quiet,
        Estimate::Typical => typical,
    };
    let figures = Figures {
        best: Nanoseconds(best),
        quiet: Nanoseconds(quiet),
        typical: Nanoseconds(typical),
        low: Nanoseconds(by_round[low].min(figure)),
        high: Nanoseconds(by_round[high].max(figure)),
    };
    Some(Gross { figures, doubts, rounds: by_round.len() })
}

/// Each round's quiet median with its weight. Rounds count alike however many batches were quiet, because they differ in
/// where memory lies; but on a busy host a single quiet batch is often none, and counts half.
fn weighted_rounds(rounds: &[Round], clocking: Clocking) -> Vec<(f64, f64)> {
    let weighted = rounds.iter().filter_map(|round| {
        let batches = quiet_samples(round, clocking).count();
        Some((median(quiet_samples(round, clocking))?, batches.min(2) as f64))
    });
    weighted.collect()
}

/// The medians of rounds' quiet batches, ascending: of rounds with at least two of them, where those are enough.
fn quiet_medians(rounds: &[Round], clocking: Clocking) -> Vec<f64> {
    let with = |least: usize| {
        let enough = rounds.iter().filter(move |round| round.quiet.iter().filter(|quiet| **quiet).count() >= least);
        sorted(enough.filter_map(|round| median(quiet_samples(round, clocking))))
    };
    let pairs = with(2);
    if pairs.len() >= ENOUGH_ROUNDS { pairs } else { with(1) }
}

/// The quiet batches of a round, in ns per iteration.
fn quiet_samples(round: &Round, clocking: Clocking) -> impl Iterator<Item = f64> + '_ {
    let samples = round.ns.iter().zip(&round.cycle_ns).zip(&round.quiet);
    samples.filter(|(_, quiet)| **quiet).map(move |((ns, cycle), _)| match clocking {
        Clocking::AsRead => *ns,
        Clocking::At(best) => ns / cycle * best,
    })
}

/// The doubt that the samples which count fall into two groups.
fn groups(rounds: &[Round], headline: Estimate, clocking: Clocking) -> Option<Doubt> {
    let counting: Vec<f64> = match headline {
        Estimate::Quiet => rounds.iter().flat_map(|round| quiet_samples(round, clocking)).collect(),
        Estimate::Typical | Estimate::Best => rounds.iter().flat_map(|round| round.ns.iter().copied()).collect(),
    };
    let groups = two_groups(&sorted(counting))?;
    Some(Doubt::Bimodal { low: Nanoseconds(groups.low), high: Nanoseconds(groups.high) })
}

/// The headline figure of these figures with its interval.
pub fn interval(figures: &Figures, headline: Estimate) -> Interval {
    Interval { value: figures.get(headline).0, low: figures.low.0, high: figures.high.0 }
}

/// Subtracts the terms from a cost's gross figures. `find` gives the cost a term names; a term without a cost leaves
/// the net figures as they were and is answered as `Err` with its name.
///
/// # Errors
/// The first term that `find` does not know.
pub fn subtract<'a>(cost: &mut Cost, find: impl Fn(&record::Term) -> Option<&'a Cost>) -> Result<(), String> {
    let mut parts = vec![(1.0, interval(&cost.gross_ns, cost.headline))];
    let mut others =
        Figures { best: Nanoseconds(0.0), quiet: Nanoseconds(0.0), typical: Nanoseconds(0.0), ..cost.gross_ns };
    for term in &cost.terms {
        let of = find(term).ok_or_else(|| format!("{}{}", term.operation, term.at))?;
        parts.push((-term.times, interval(&of.net_ns, of.headline)));
        others.best.0 += term.times * of.net_ns.best.0;
        others.quiet.0 += term.times * of.net_ns.quiet.0;
        others.typical.0 += term.times * of.net_ns.typical.0;
    }
    let net = weighted_sum(&parts);
    cost.net_ns = Figures {
        best: Nanoseconds(cost.gross_ns.best.0 - others.best.0),
        quiet: Nanoseconds(cost.gross_ns.quiet.0 - others.quiet.0),
        typical: Nanoseconds(cost.gross_ns.typical.0 - others.typical.0),
        low: Nanoseconds(net.low),
        high: Nanoseconds(net.high),
    };
    if cost.quoted().0 < 0.0 {
        cost.doubts.push(Doubt::NegativeNet);
    } else if net.low <= 0.0 {
        cost.doubts.push(Doubt::AtMost { high: Nanoseconds(net.high) });
    }
    Ok(())
}
