//! Computes the figures of a cost from the samples of rounds: gross, then net, with the doubts that the samples raise.

use record::{Cost, Doubt, Estimate, Figures, Nanoseconds, Neighbours, Round};

use crate::landing::{RoundFigure, around, effective, reach};
use crate::statistics::{Interval, median, quantile, sorted, two_groups, weighted_median, weighted_sum};
use crate::sums::doubts_of;

/// Rounds whose trust adds up to less than this rest on a few lucky checks. On a busy host, nine in ten costs with less
/// than 1 were more than 3 % off, and one in five of those with 6 to 10.
const ENOUGH_TRUST: f64 = 6.0;
/// What another hardware thread of the core adds to a cost that was almost never measured without it, on the log scale:
/// 20 to 50 %.
const NEIGHBOUR: f64 = 0.4;
/// With fewer rounds than this the scatter itself is a guess.
pub const ENOUGH_ROUNDS: usize = 6;
/// With fewer rounds than this, the ratio of typical to quiet is unknown.
const ENOUGH_FOR_A_RATIO: usize = 3;

/// The figures of gross cost, and their doubts.
pub struct Gross {
    /// The figures.
    pub figures: Figures,
    /// The core cycle at which the quiet figure is quoted, in ns; `None` if it is the time as read.
    pub cycle: Option<f64>,
    /// What sharing the hardware adds, if it can be determined.
    pub neighbours: Option<Neighbours>,
    /// The doubts.
    pub doubts: Vec<Doubt>,
    /// The number of rounds behind the headline figure, as the equivalent number of rounds of equal weight.
    pub rounds: usize,
}

/// How quiet batches are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clocking {
    /// As timed.
    AsRead,
    /// In cycles, quoted at this cycle in ns, or at a cycle of the cost's own batches.
    At(f64),
}

impl Clocking {
    /// The value of one batch, in ns or in cycles.
    pub fn read(self, ns: f64, cycle_ns: f64) -> f64 {
        match self {
            Clocking::AsRead => ns,
            Clocking::At(_) => ns / cycle_ns,
        }
    }
}

/// Estimates gross cost from rounds. `None` without a sample.
pub fn gross(rounds: &[Round], headline: Estimate, clocking: Clocking) -> Option<Gross> {
    let all = sorted(rounds.iter().flat_map(|round| round.ns.iter().copied()));
    let best = all.first().copied()?;
    let typicals = typical_medians(rounds, Clocking::AsRead);
    let typical = median(typicals.iter().map(|said| said.figure))?;
    let mut doubts = Vec::new();
    let (quiet, quiet_rounds) = quiet(rounds, clocking, &mut doubts)?;
    let (quiet_ns, cycle) = quoted(quiet, rounds, clocking)?;
    let (figure, by_round) = match headline {
        Estimate::Best => (best, &typicals),
        Estimate::Quiet => (quiet_ns, &quiet_rounds),
        Estimate::Typical => (typical, &typicals),
    };
    if headline != Estimate::Quiet {
        doubts.clear();
    }
    doubts.extend(groups(rounds, headline, clocking));
    let reach = if headline == Estimate::Quiet { quiet_reach(by_round, &doubts) } else { reach(by_round) };
    let landing = around(figure, reach);
    let open = landing.high.is_infinite();
    if open || (by_round.len() < ENOUGH_ROUNDS && doubts.is_empty()) {
        doubts.push(Doubt::FewRounds { rounds: if open { 1 } else { by_round.len() as u32 } });
    }
    let figures = Figures {
        best: Nanoseconds(best),
        quiet: Nanoseconds(quiet_ns),
        typical: Nanoseconds(typical),
        low: Nanoseconds(landing.low),
        high: Nanoseconds(landing.high),
    };
    let told = quiet_rounds.len() >= ENOUGH_FOR_A_RATIO && !doubts.contains(&Doubt::NeverQuiet);
    let neighbours = if told { neighbours(rounds, quiet, &quiet_rounds, clocking) } else { None };
    Some(Gross { figures, cycle, neighbours, doubts, rounds: effective(by_round).round() as usize })
}

/// The quiet figure and each round's, in ns or in cycles. If no batch was quiet, the 10 % quantile of each round's
/// batches and their median, with a doubt.
fn quiet(rounds: &[Round], clocking: Clocking, doubts: &mut Vec<Doubt>) -> Option<(f64, Vec<RoundFigure>)> {
    let batches = rounds.iter().flat_map(|round| quiet_samples(round, clocking)).count();
    let by_round = quiet_rounds(rounds, clocking);
    let weighted: Vec<(f64, f64)> = by_round.iter().map(|said| (said.figure, said.weight)).collect();
    match weighted_median(&weighted) {
        Some(figure) => {
            if lacking_trust(&by_round) > 0.0 || by_round.len() < 3 {
                doubts.push(Doubt::FewQuiet { batches: batches as u32, rounds: by_round.len() as u32 });
            }
            Some((figure, by_round))
        }
        None => {
            doubts.push(Doubt::NeverQuiet);
            let low = |round: &Round| quantile(&sorted(samples(round, clocking)), 0.1);
            let by_round: Vec<f64> = rounds.iter().filter_map(low).collect();
            Some((median(by_round.iter().copied())?, RoundFigure::alike(by_round)))
        }
    }
}

/// The quiet figure in ns, and the cycle at which it is quoted. That is the run's cycle, or, if none of its own batches
/// ran at that clock, the cycle of its own batches. The figure never lies outside what was read.
fn quoted(quiet: f64, rounds: &[Round], clocking: Clocking) -> Option<(f64, Option<f64>)> {
    let Clocking::At(run) = clocking else { return Some((quiet, None)) };
    let counting = |wanted: bool| {
        let samples = rounds.iter().flat_map(|round| round.ns.iter().zip(&round.cycle_ns).zip(&round.quiet));
        samples.filter(move |(_, quiet)| **quiet == wanted).map(|((ns, cycle), _)| (*ns, *cycle)).collect::<Vec<_>>()
    };
    let mut own = counting(true);
    if own.is_empty() {
        own = counting(false);
    }
    let cycles = sorted(own.iter().map(|(_, cycle)| *cycle));
    let ran_at = *cycles.first()?..=*cycles.last()?;
    let cycle = if ran_at.contains(&run) { run } else { quantile(&cycles, 0.5)? };
    let least = own.iter().map(|(ns, _)| *ns).fold(f64::INFINITY, f64::min);
    let most = own.iter().map(|(ns, _)| *ns).fold(f64::NEG_INFINITY, f64::max);
    let ns = (quiet * cycle).clamp(least, most);
    Some((ns, Some(ns / quiet).filter(|cycle| cycle.is_finite() && *cycle > 0.0)))
}

/// What the typical moment costs over the quiet one, like with like.
fn neighbours(rounds: &[Round], quiet: f64, quiet_rounds: &[RoundFigure], clocking: Clocking) -> Option<Neighbours> {
    let typicals = typical_medians(rounds, clocking);
    let ratio = median(typicals.iter().map(|said| said.figure))? / quiet;
    let wide = reach(&typicals).hypot(reach(quiet_rounds));
    let told = typicals.len() >= ENOUGH_FOR_A_RATIO && ratio.is_finite() && ratio > 0.0 && wide.is_finite();
    let it = around(ratio, wide);
    told.then_some(Neighbours { ratio, low: it.low, high: it.high })
}

/// The medians of the rounds that took batches whatever the core was doing: only those show what is typical; rounds that
/// sought quiet moments would flatter it. Of older runs, which do not tell them apart, of all rounds.
pub fn typical_medians(rounds: &[Round], clocking: Clocking) -> Vec<RoundFigure> {
    let medians = |only_surveyed: bool| {
        let chosen = rounds.iter().filter(move |round| !only_surveyed || round.survey == Some(true));
        RoundFigure::alike(chosen.filter_map(|round| median(samples(round, clocking))))
    };
    let surveyed = medians(true);
    if surveyed.is_empty() { medians(false) } else { surveyed }
}

/// What each round's quiet batches say, in the order taken, and how far that is to be trusted: a round differs from others
/// in where memory lies, so that beyond some quiet batches more of them do not make it weigh more; but where few of a
/// round's batches were quiet, a neighbour came and went, and lucky checks around a batch say little of what was between.
pub fn quiet_rounds(rounds: &[Round], clocking: Clocking) -> Vec<RoundFigure> {
    let figure =
        |round: &Round| RoundFigure::of_quiet(&quiet_samples(round, clocking).collect::<Vec<_>>(), round.ns.len());
    without_light(rounds.iter().filter_map(figure).collect())
}

/// What single rounds of a cost say of its headline figure, in ns or in cycles.
pub struct RoundsFigures {
    headline: Estimate,
    clocking: Clocking,
    /// True if no batch of any round was quiet.
    never_quiet: bool,
}

impl RoundsFigures {
    /// Those of a cost with these rounds.
    pub fn of(rounds: &[Round], headline: Estimate, clocking: Clocking) -> RoundsFigures {
        let clocking = if headline == Estimate::Quiet { clocking } else { Clocking::AsRead };
        let never_quiet = !rounds.iter().any(|round| round.quiet.contains(&true));
        RoundsFigures { headline, clocking, never_quiet }
    }

    /// What this round says; `None` if it was lost, or if it is none of those that give the figure.
    pub fn figure(&self, round: &Round) -> Option<RoundFigure> {
        let alike = |figure: f64| RoundFigure { figure, weight: 1.0 };
        let all = || samples(round, self.clocking);
        match self.headline {
            Estimate::Quiet if self.never_quiet => quantile(&sorted(all()), 0.1).map(alike),
            Estimate::Quiet => {
                RoundFigure::of_quiet(&quiet_samples(round, self.clocking).collect::<Vec<_>>(), round.ns.len())
            }
            Estimate::Typical if round.survey == Some(false) => None,
            Estimate::Typical => median(all()).map(alike),
            Estimate::Best => all().reduce(f64::min).map(alike),
        }
    }
}

/// The rounds that weigh at least a quarter as much as the heaviest one, and three of them in any case.
pub fn without_light(mut said: Vec<RoundFigure>) -> Vec<RoundFigure> {
    const LEAST: usize = 3;
    const SHARE: f64 = 0.25;
    let mut weights: Vec<f64> = said.iter().map(|said| said.weight).collect();
    weights.sort_by(|one, other| other.total_cmp(one));
    let limit = weights.first().map_or(0.0, |most| most * SHARE);
    let limit = weights.get(LEAST - 1).map_or(0.0, |third| limit.min(*third));
    said.retain(|said| said.weight >= limit);
    said
}

/// How far another run's quiet figure may lie from that of these rounds: what their scatter says, joined with what a neighbour
/// adds where they are hardly to be trusted.
pub fn reach_of_quiet(rounds: &[RoundFigure]) -> f64 {
    reach(rounds).hypot(NEIGHBOUR * lacking_trust(rounds))
}

/// The share of the trust wanted that these rounds lack, from 0 to 1.
fn lacking_trust(rounds: &[RoundFigure]) -> f64 {
    let trust: f64 = rounds.iter().map(|said| said.weight).sum();
    (1.0 - trust / ENOUGH_TRUST).max(0.0)
}

/// The same where no batch may have been quiet, so that the rounds are the 10 % quantiles of whatever there was.
fn quiet_reach(rounds: &[RoundFigure], doubts: &[Doubt]) -> f64 {
    match doubts.contains(&Doubt::NeverQuiet) {
        true => reach(rounds).hypot(NEIGHBOUR),
        false => reach_of_quiet(rounds),
    }
}

impl RoundFigure {
    /// What the quiet ones of a round's batches say. It weighs as many as they are, up to ten, times their share: replayed
    /// over recorded runs beside other rules in docs/METHOD.md.
    pub fn of_quiet(quiet: &[f64], batches: usize) -> Option<RoundFigure> {
        const MOST: usize = 10;
        let weight = quiet.len().min(MOST) as f64 * quiet.len() as f64 / batches.max(1) as f64;
        Some(RoundFigure { figure: median(quiet.iter().copied())?, weight })
    }
}

/// The batches of a round, in ns or in cycles per iteration.
fn samples(round: &Round, clocking: Clocking) -> impl Iterator<Item = f64> + '_ {
    round.ns.iter().zip(&round.cycle_ns).map(move |(ns, cycle)| clocking.read(*ns, *cycle))
}

/// The quiet batches of a round, in the same unit.
fn quiet_samples(round: &Round, clocking: Clocking) -> impl Iterator<Item = f64> + '_ {
    samples(round, clocking).zip(&round.quiet).filter(|(_, quiet)| **quiet).map(|(sample, _)| sample)
}

/// The doubt that the samples used fall into two groups, in ns.
fn groups(rounds: &[Round], headline: Estimate, clocking: Clocking) -> Option<Doubt> {
    let clocking = if headline == Estimate::Quiet { clocking } else { Clocking::AsRead };
    let counting: Vec<f64> = match headline {
        Estimate::Quiet => rounds.iter().flat_map(|round| quiet_samples(round, clocking)).collect(),
        Estimate::Typical | Estimate::Best => rounds.iter().flat_map(|round| round.ns.iter().copied()).collect(),
    };
    let cycle = if let Clocking::At(cycle) = clocking { cycle } else { 1.0 };
    let groups = two_groups(&sorted(counting))?;
    Some(Doubt::Bimodal { low: Nanoseconds(groups.low * cycle), high: Nanoseconds(groups.high * cycle) })
}

/// The headline figure with its interval.
pub fn interval(figures: &Figures, headline: Estimate) -> Interval {
    Interval { value: figures.get(headline).0, low: figures.low.0, high: figures.high.0 }
}

/// A part of a cost smaller than this share passes no doubt on. Even if it were wrong by its full size, the cost's own
/// interval would cover that.
const MATTERS: f64 = 0.01;

/// Subtracts the terms from a cost's gross figures, and adds the doubts of the terms that matter. `find` returns the
/// cost that a term names. A term without a cost leaves the net figures unchanged.
///
/// # Errors
/// The name of the first term that `find` does not know.
pub fn subtract<'a>(cost: &mut Cost, find: impl Fn(&record::Term) -> Option<&'a Cost>) -> Result<(), String> {
    let mut parts = vec![(1.0, interval(&cost.gross_ns, cost.headline))];
    let mut inherited = Vec::new();
    let mut others =
        Figures { best: Nanoseconds(0.0), quiet: Nanoseconds(0.0), typical: Nanoseconds(0.0), ..cost.gross_ns };
    for term in &cost.terms {
        let of = find(term).ok_or_else(|| term.typed())?;
        parts.push((-term.times, interval(&of.net_ns, of.headline)));
        if (term.times * of.quoted().0).abs() >= MATTERS * cost.gross_ns.get(cost.headline).0.abs() {
            inherited.extend(doubts_of(of));
        }
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
    cost.doubts.extend(inherited);
    if cost.quoted().0 < 0.0 {
        cost.doubts.push(Doubt::NegativeNet);
    } else if net.low <= 0.0 && net.high.is_finite() {
        cost.doubts.push(Doubt::AtMost { high: Nanoseconds(net.high) });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
