//! What a run leaves to later runs of the same build, kernel and machine.

use std::collections::BTreeMap;

use record::{Cost, Estimate, Run};

use crate::estimate::quiet_figures;
use crate::landing::RoundFigure;
use crate::levels::LevelRounds;
use crate::prior::Trace;
use crate::reading::{CLOCK, Clocking, add};
use crate::statistics::median;
use crate::undisturbed::{QuietRound, disturbed_medians};

/// The figure by which runs of one machine are compared: in cycles if the cost follows the clock, else in ns. `None` if
/// it is unknown.
pub fn figure(cost: &Cost) -> Option<f64> {
    let figure = cost.steady();
    (cost.has_interval() && !cost.holds_zero() && figure.is_finite() && figure > 0.0).then_some(figure)
}

/// What a run leaves to later ones, by the name of the cost. A cost on two CPUs, or one that waits for a device, leaves nothing.
pub fn traces(run: &Run) -> BTreeMap<String, Trace> {
    /// A round that weighs less was hardly undisturbed.
    const LEAST: f64 = 1.0;
    /// More rounds show no more of scatter.
    const MOST: usize = 20;
    let add = match add(run) {
        Some(add) => Some(add.gross_ns.quiet.0).filter(|_| add.half_width().is_some_and(|half| half < CLOCK)),
        None => Some(run.noise.cycle_ns),
    };
    let add = add.map(|ns| ns.ln() as f32).filter(|add| add.is_finite());
    let wanted = |cost: &&Cost| cost.headline == Estimate::Quiet && cost.cpus <= 1;
    let trace = |cost: &Cost| {
        let clocking = if cost.follows_clock { Clocking::At(run.noise.cycle_ns) } else { Clocking::AsRead };
        let log = |figure: f64| (figure * clocking.unit()).ln() as f32;
        let mut rounds: Vec<RoundFigure> = match LevelRounds::of(&cost.rounds, clocking, cost.cpus) {
            // Its changes of level are no scatter.
            Some(levels) => levels.at(levels.quoted()).iter().map(QuietRound::weighted).collect(),
            None => quiet_figures(&cost.rounds, clocking),
        };
        rounds.retain(|round| round.weight >= LEAST && round.figure > 0.0);
        // The heaviest ones.
        rounds.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        let disturbed = disturbed_medians(&cost.rounds, clocking).filter(|medians| medians.len() >= 2);
        Trace {
            rounds: rounds.iter().take(MOST).map(|round| (log(round.figure), round.weight as f32)).collect(),
            disturbed: disturbed.and_then(median).map(log),
            add: add.filter(|_| cost.follows_clock),
        }
    };
    run.costs.iter().filter(wanted).map(|cost| (cost.name(), trace(cost))).collect()
}

/// The standard deviation of values in the order taken, from the squares of their successive differences (von Neumann, Annals of
/// Mathematical Statistics 12:367, 1941) without the largest one: a machine that was changed between two runs, by a kernel or a
/// setting, scatters no more than before, and a drift over months is no scatter either.
pub(crate) fn scatter(squares: &[f64]) -> f64 {
    let count = squares.len() as f64;
    if squares.len() < 2 {
        return 0.0;
    }
    let kept = squares.iter().sum::<f64>() - squares.iter().copied().fold(0.0, f64::max);
    // What the largest of so many squares takes away of normal scatter, fitted to a simulation within 5 %.
    let left_out = 1.0 + (1.75 + count.ln()) / count;
    (kept / (2.0 * (count - 1.0)) * left_out).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    #[test]
    fn the_scatter_of_normal_runs_is_their_standard_deviation() {
        let mut random = fastrand::Rng::with_seed(3);
        for runs in [4, 6, 11, 30] {
            const TRIES: u32 = 20_000;
            let mut variance = || {
                let values: Vec<f64> = (0..runs).map(|_| normal(&mut random)).collect();
                let squares: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).collect();
                scatter(&squares).powi(2)
            };
            let variance = (0..TRIES).map(|_| variance()).sum::<f64>() / f64::from(TRIES);
            assert!((0.9..=1.1).contains(&variance), "{runs}: {variance}");
        }
    }
}
