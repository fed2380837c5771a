//! The same system played event by event, as a check on the exact solutions and for what they do not give: percentiles, constant think
//! times, kinds of interactions.
//!
//! The CPUs are shared equally by all that can run. Events are the ends of thinking, execution, page waits and other waits.

mod batches;
mod engine;
mod play;
mod script;

use super::error::ModelError;
use super::prediction::Simulated;
use super::rates::Rates;
use super::system::System;
use batches::Batches;
use engine::Engine;

pub use play::{Script, play};
pub use script::{Ended, Log, Request};

/// How long to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulationSettings {
    /// Events to play, after at least a tenth of them, and at most as many, for warming up.
    pub events: u64,
    /// The seed of the random numbers. Equal seeds give equal results.
    pub seed: u64,
}

impl Default for SimulationSettings {
    fn default() -> SimulationSettings {
        SimulationSettings { events: 2_000_000, seed: 1 }
    }
}

/// Parts of the simulation whose means make the intervals. They are long against the time of an interaction, so that they are
/// independent enough.
const BATCHES: u64 = 25;
/// Interactions of each user, in the mean, that end before anything is counted.
const FILLED: u64 = 5;

/// Plays a system.
///
/// # Errors
/// If a parameter is outside its range, or fewer interactions end than an interval needs.
pub fn simulate(system: &System, settings: &SimulationSettings) -> Result<Simulated, ModelError> {
    let rates = Rates::new(system)?;
    let few = || ModelError::Undetermined {
        what: "the response time: fewer than 10 interactions end in each 25th of the simulation".into(),
        remedy: "simulate more events".into(),
    };
    let mut engine = Engine::new(system, &rates, None, settings.seed);
    // All users think at first: they must have had some interactions before the system is as it stays.
    engine.start_batch();
    engine.play(settings.events / 10);
    let mut ended = engine.batch().finished;
    while ended < FILLED * u64::from(rates.users) {
        if engine.events() >= settings.events {
            return Err(ModelError::Undetermined {
                what: format!(
                    "the steady state: so many events are over before each user has had {FILLED} interactions"
                ),
                remedy: "simulate more events".into(),
            });
        }
        engine.start_batch();
        engine.play(settings.events / BATCHES);
        ended += engine.batch().finished;
    }
    let mut batches = Batches::new();
    for _ in 0..BATCHES {
        engine.start_batch();
        engine.play(settings.events / BATCHES);
        batches.add(engine.batch());
    }
    batches.simulated(engine.events()).ok_or_else(few)
}
