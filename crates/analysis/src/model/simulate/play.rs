//! A script played: users that request given kinds of interactions at given times, as those of an experiment do.

use super::engine::Engine;
use super::script::{Log, Request};
use crate::model::error::ModelError;
use crate::model::rates::Rates;
use crate::model::system::System;

/// What the users of an experiment do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// What each user does, from its first thinking on. It begins anew at its end.
    pub users: Vec<Vec<Request>>,
    /// Seconds that are played before what counts.
    pub settle_s: f64,
    /// Seconds that count.
    pub time_s: f64,
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
