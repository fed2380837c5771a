//! The same system played event by event, as a check on the exact solutions and for what they do not give: percentiles, constant think
//! times, kinds of interactions.
//!
//! The CPUs are shared equally by all that can run. Events are the ends of thinking, execution, page waits and other waits.

mod batches;
mod engine;
mod script;

use super::error::ModelError;
use super::prediction::Simulated;
use super::rates::Rates;
use super::system::System;
use batches::{Batch, simulated};
use engine::Engine;

pub use script::{Ended, Log, Request, Script};

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
    let undetermined = |what: String| ModelError::Undetermined { what, remedy: "simulate more events".into() };
    let mut engine = Engine::new(system, &rates, None, settings.seed);
    // All users think at first: they must have had some interactions before the system is as it stays.
    let mut ended = engine.batch(settings.events / 10).responses.len() as u64;
    while ended < FILLED * u64::from(rates.users) {
        if engine.events() >= settings.events {
            return Err(undetermined(format!(
                "the steady state: so many events are over before each user has had {FILLED} interactions"
            )));
        }
        ended += engine.batch(settings.events / BATCHES).responses.len() as u64;
    }
    let batches: Vec<Batch<'_>> = (0..BATCHES).map(|_| engine.batch(settings.events / BATCHES)).collect();
    simulated(&batches, engine.events()).ok_or_else(|| {
        undetermined("the response time: fewer than 10 interactions end in each 25th of the simulation".into())
    })
}

/// Plays a script once. Faults and waits are drawn.
///
/// # Errors
/// If a parameter is outside its range, or the script is not that of so many users.
pub fn play(system: &System, script: &Script, seed: u64) -> Result<Log, ModelError> {
    let rates = Rates::new(system)?;
    if script.users.len() != system.users as usize || script.users.iter().any(Vec::is_empty) {
        return Err(ModelError::parameter("users", "as many as the script has, each with a request"));
    }
    let mut engine = Engine::new(system, &rates, Some(&script.users), seed);
    engine.play_for(script.settle_s);
    engine.start_batch();
    engine.play_for(script.time_s);
    Ok(engine.log())
}
