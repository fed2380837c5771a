//! Computes the figures of a cost from the samples of rounds: gross, then net, with the doubts that the samples raise.

use record::{Doubt, Estimate, Figures, Level, Nanoseconds, Neighbours, Round};

use crate::landing::{RoundFigure, around, reach};
use crate::levels::{self, LevelRounds};
use crate::prior::Prior;
pub use crate::reading::{Clocking, Reading};
use crate::reading::{quiet_samples, samples};
use crate::statistics::{Interval, median, sorted, two_groups};
use crate::undisturbed::{ENOUGH_TRUST, Estimated, QuietRound, lowest, of_typical, undisturbed};

/// What another hardware thread of the core adds to a cost that was almost never measured without it, on the log scale:
/// 20 to 50 %.
const NEIGHBOUR: f64 = 0.4;
/// The number of rounds that a run begins with.
pub const ENOUGH_ROUNDS: usize = 6;
/// With fewer rounds than this, the ratio of typical to quiet is unknown.
const ENOUGH_FOR_A_RATIO: usize = 3;

/// The figures of gross cost, and their doubts.
pub struct Gross {
    /// The figures. Their interval says where the cost lies; another run lands within it times the square root of 2.
    pub figures: Figures,
    /// The core cycle at which the quiet figure is quoted, in ns; `None` if it is the time as read.
    pub cycle: Option<f64>,
    /// Its levels, cheapest first, if it has two or more.
    pub levels: Vec<Level>,
    /// What sharing the hardware adds, if it can be determined.
    pub neighbours: Option<Neighbours>,
    pub doubts: Vec<Doubt>,
    /// The number of rounds behind the headline figure.
    pub rounds: usize,
}

/// Estimates gross cost from rounds. `None` without a sample.
pub fn gross(rounds: &[Round], reading: Reading, prior: &Prior) -> Option<Gross> {
    let Reading { headline, cpus, clocking } = reading;
    let all = sorted(rounds.iter().flat_map(|round| round.ns.iter().copied()));
    let best = all.first().copied()?;
    let typicals = typical_medians(rounds, Clocking::AsRead);
    let clocking = clocking.settled(rounds);
    let (mut doubts, unit) = (Vec::new(), clocking.unit());
    let mut quiet = match cpus {
        0 | 1 => undisturbed(rounds, clocking, prior, &mut doubts)?,
        _ => lowest(rounds, clocking)?,
    };
    // An operation that waits has no state of the core.
    let of_levels = LevelRounds::of(rounds, clocking, cpus).filter(|_| headline == Estimate::Quiet);
    let levels = of_levels.and_then(|by_level| Some((by_level.levels(clocking, prior)?, by_level)));
    if let Some((levels, by_level)) = &levels {
        let place = by_level.quoted();
        let interval = levels::interval(&levels[place]).times(1.0 / unit);
        quiet = Estimated { interval, rounds: by_level.at(place).len() };
        doubts.retain(|doubt| !matches!(doubt, Doubt::Layout { .. }));
    }
    let typical = match &levels {
        // A median would be that of one level.
        Some(_) => typicals.iter().map(|round| round.figure).sum::<f64>() / typicals.len() as f64,
        None => median(typicals.iter().map(|round| round.figure))?,
    };
    let quiet_ns = quiet.interval.value * unit;
    let (interval, count) = match headline {
        Estimate::Quiet => (quiet.interval.times(unit), quiet.rounds),
        Estimate::Typical => (of_typical(typical, &typicals), typicals.len()),
        Estimate::Best => (around(best, reach(&typicals)), typicals.len()),
    };
    if headline != Estimate::Quiet {
        doubts.clear();
    }
    doubts.extend(groups(rounds, headline, clocking).filter(|_| levels.is_none()));
    if count < 2 {
        doubts.push(Doubt::FewRounds { rounds: 1 });
    }
    let figures = Figures {
        best: Nanoseconds(best),
        quiet: Nanoseconds(quiet_ns),
        typical: Nanoseconds(typical),
        low: Nanoseconds(interval.low),
        high: Nanoseconds(interval.high),
    };
    let quiet_rounds = quiet_rounds(rounds, clocking);
    let shown = quiet_rounds.len() >= ENOUGH_FOR_A_RATIO && levels.is_none();
    let neighbours = if shown { neighbours(rounds, quiet.interval.value, &quiet_rounds, clocking) } else { None };
    let cycle = (clocking != Clocking::AsRead).then_some(unit);
    let levels = levels.map_or_else(Vec::new, |(levels, _)| levels);
    Some(Gross { figures, cycle, levels, neighbours, doubts, rounds: count })
}

/// What the typical moment costs over the quiet one, like with like.
fn neighbours(rounds: &[Round], quiet: f64, quiet_rounds: &[RoundFigure], clocking: Clocking) -> Option<Neighbours> {
    let typicals = typical_medians(rounds, clocking);
    let ratio = median(typicals.iter().map(|round| round.figure))? / quiet;
    let wide = reach(&typicals).hypot(reach(quiet_rounds));
    let known = typicals.len() >= ENOUGH_FOR_A_RATIO && ratio.is_finite() && ratio > 0.0 && wide.is_finite();
    let interval = around(ratio, wide);
    known.then_some(Neighbours { ratio, low: interval.low, high: interval.high })
}

/// The medians of the rounds that took batches whatever the core was doing: only those show what is typical; rounds that
/// sought quiet moments would flatter it. Of older runs, which do not distinguish them, of all rounds.
pub fn typical_medians(rounds: &[Round], clocking: Clocking) -> Vec<RoundFigure> {
    let medians = |only_surveyed: bool| {
        let chosen = rounds.iter().filter(move |round| !only_surveyed || round.survey == Some(true));
        RoundFigure::alike(chosen.filter_map(|round| median(samples(round, clocking))))
    };
    let surveyed = medians(true);
    if surveyed.is_empty() { medians(false) } else { surveyed }
}

/// What each round's quiet batches show, without the rounds that hardly weigh.
pub fn quiet_rounds(rounds: &[Round], clocking: Clocking) -> Vec<RoundFigure> {
    without_light(quiet_figures(rounds, clocking))
}

/// What each round's quiet batches show, in the order taken, and how far that is to be trusted: a round differs from others
/// in where memory lies, so that beyond some quiet batches more of them do not make it weigh more; but where few of a
/// round's batches were quiet, a neighbour came and went, and lucky checks around a batch show little of what was between.
pub(crate) fn quiet_figures(rounds: &[Round], clocking: Clocking) -> Vec<RoundFigure> {
    rounds.iter().filter_map(|round| QuietRound::of(round, clocking)).map(QuietRound::weighted).collect()
}

/// The rounds that weigh at least a quarter as much as the heaviest one, and three of them in any case.
pub fn without_light(mut rounds: Vec<RoundFigure>) -> Vec<RoundFigure> {
    const LEAST: usize = 3;
    const SHARE: f64 = 0.25;
    let mut weights: Vec<f64> = rounds.iter().map(|round| round.weight).collect();
    weights.sort_by(|one, other| other.total_cmp(one));
    let limit = weights.first().map_or(0.0, |most| most * SHARE);
    let limit = weights.get(LEAST - 1).map_or(0.0, |third| limit.min(*third));
    rounds.retain(|round| round.weight >= limit);
    rounds
}

/// How far another run's quiet figure may lie from that of these rounds: what their scatter says, joined with what a neighbour
/// adds where they are hardly to be trusted.
pub fn reach_of_quiet(rounds: &[RoundFigure]) -> f64 {
    let trust: f64 = rounds.iter().map(|round| round.weight).sum();
    let lacking = (1.0 - trust / ENOUGH_TRUST).max(0.0);
    reach(rounds).hypot(NEIGHBOUR * lacking)
}

impl RoundFigure {
    /// What the quiet ones of a round's batches show. It weighs as many as they are, up to ten, times their share: replayed
    /// over recorded runs beside other rules in lab/RULES.md.
    pub fn of_quiet(quiet: &[f64], batches: usize) -> Option<RoundFigure> {
        let share = quiet.len() as f64 / batches.max(1) as f64;
        Some(RoundFigure { figure: median(quiet.iter().copied())?, weight: RoundFigure::trust(quiet.len(), share) })
    }
}

/// The doubt that the samples used fall into two groups, in ns.
fn groups(rounds: &[Round], headline: Estimate, clocking: Clocking) -> Option<Doubt> {
    let clocking = if headline == Estimate::Quiet { clocking } else { Clocking::AsRead };
    let counting: Vec<f64> = match headline {
        Estimate::Quiet => rounds.iter().flat_map(|round| quiet_samples(round, clocking)).collect(),
        Estimate::Typical | Estimate::Best => rounds.iter().flat_map(|round| round.ns.iter().copied()).collect(),
    };
    let [low, high] = two_groups(&sorted(counting))?.map(|middle| Nanoseconds(middle * clocking.unit()));
    Some(Doubt::Bimodal { low, high })
}

pub fn interval(figures: &Figures, headline: Estimate) -> Interval {
    Interval { value: figures.get(headline).0, low: figures.low.0, high: figures.high.0 }
}

#[cfg(test)]
mod tests;
