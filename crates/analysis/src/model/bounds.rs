//! What no system of these demands exceeds.

use super::error::ModelError;
use super::prediction::Bounds;
use super::rates::Rates;
use super::system::System;

/// Asymptotic bounds (Denning and Buzen, Computing Surveys 10:3, 1978). Faults grow with the number of eligible interactions, so that the
/// bounds use the fewest that an interaction can have: with memory to itself, and at any depth of the queue of pages.
///
/// # Errors
/// If a parameter of the system is outside its range.
pub fn bounds(system: &System) -> Result<Bounds, ModelError> {
    let rates = Rates::new(system)?;
    let depths = 0..rates.most_eligible();
    let faults_per_s = depths.map(|pages| rates.faults_per_s(1, pages)).fold(f64::INFINITY, f64::min);
    let faults = faults_per_s * rates.work_s;
    let cpu = rates.work_s + faults * rates.handling_s;
    let page = faults * rates.service_s;
    let total = cpu + page + rates.other_s;
    let busiest = cpu / f64::from(rates.cpus);
    let busiest = busiest.max(if rates.channels == u32::MAX { 0.0 } else { page / f64::from(rates.channels) });
    // As many as are eligible are served at once, each for at least its own time.
    let busiest = if rates.limit == u32::MAX { busiest } else { busiest.max(total / f64::from(rates.limit)) };
    let users = f64::from(rates.users);
    Ok(Bounds {
        throughput: (1.0 / busiest).min(users / (total + rates.think_s)),
        response_s: total.max(users * busiest - rates.think_s),
        knee: (total + rates.think_s) / busiest,
    })
}
