//! Chooses the solution of a system: the exact chain where it is small enough, else the hierarchy.

use super::error::ModelError;
use super::prediction::SteadyState;
use super::rates::Rates;
use super::system::System;
use super::{chain, hierarchy};

/// The chain is solved up to this effort: some milliseconds.
const CHAIN: f64 = 1.2e7;
/// The chain is solved up to this effort where only it will do: a second.
const CHAIN_ALONE: f64 = 1e9;
/// The hierarchy is solved up to this effort: a second or so.
const HIERARCHY: f64 = 1e8;

/// The steady state of a system.
///
/// # Errors
/// If a parameter is outside its range, or the system is larger than the model takes.
pub fn predict(system: &System) -> Result<SteadyState, ModelError> {
    let rates = Rates::new(system)?;
    if chain::effort(&rates, rates.most_eligible()) <= CHAIN || !rates.is_product_form_inside() && rates.other_s > 0.0 {
        return predict_exactly(system);
    }
    if hierarchy::effort(&rates) > HIERARCHY {
        let what = format!("{} eligible interactions", rates.most_eligible());
        return Err(ModelError::TooLarge { what, most: "800 that also wait elsewhere".into() });
    }
    Ok(hierarchy::solve(&rates))
}

/// The steady state by the Markov chain, however long that takes: up to a second.
///
/// # Errors
/// Those of [`predict`].
pub fn predict_exactly(system: &System) -> Result<SteadyState, ModelError> {
    solved_exactly(system).map(|rates| chain::solve(&rates))
}

/// The rates of a system that is not too large for the Markov chain.
pub(super) fn solved_exactly(system: &System) -> Result<Rates, ModelError> {
    let rates = Rates::new(system)?;
    let eligible = rates.most_eligible();
    let is_solved = |most: &u32| chain::effort(&rates, *most) <= CHAIN_ALONE;
    if !is_solved(&eligible) {
        let what = format!("{} users, of whom {eligible} are eligible", rates.users);
        let most = (1..eligible).rev().find(is_solved).unwrap_or(1);
        return Err(ModelError::TooLarge { what, most: format!("{most} eligible of so many users") });
    }
    Ok(rates)
}

/// The steady state by the flow-equivalent server, whatever the size.
///
/// # Errors
/// Those of [`predict`].
pub fn predict_by_hierarchy(system: &System) -> Result<SteadyState, ModelError> {
    Ok(hierarchy::solve(&Rates::new(system)?))
}
