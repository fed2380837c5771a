//! What a run leaves to later runs of the same build, kernel and machine.

use std::collections::BTreeMap;

use record::{Cost, Estimate, Run, largest_first};

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
            Some(levels) => levels.at(levels.quoted()).into_iter().map(QuietRound::weighted).collect(),
            None => quiet_figures(&cost.rounds, clocking),
        };
        rounds.retain(|round| round.weight >= LEAST && round.figure > 0.0);
        // The heaviest ones.
        largest_first(&mut rounds, |one| one.weight);
        let disturbed = disturbed_medians(&cost.rounds, clocking).filter(|medians| medians.len() >= 2);
        Trace {
            rounds: rounds.iter().take(MOST).map(|round| (log(round.figure), round.weight as f32)).collect(),
            disturbed: disturbed.and_then(median).map(log),
            add: add.filter(|_| cost.follows_clock),
        }
    };
    run.costs.iter().filter(wanted).map(|cost| (cost.name(), trace(cost))).collect()
}
