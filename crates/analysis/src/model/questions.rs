//! What people want to know of a system: how many users it carries, what a change is worth, and what limits it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use record::largest_first;
use serde::Serialize;

use super::error::ModelError;
use super::faults::FaultCurve;
use super::prediction::SteadyState;
use super::rates::crowded;
use super::simulate::{SimulationSettings, simulate};
use super::solve::predict;
use super::system::System;
use super::uncertain::{about, draws};
use crate::parallel::answers;
use crate::statistics::Interval;

/// The users that a system carries within a bound on its response time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UsersWithin {
    /// The most users whose response is within the bound, with the interval that follows from the parameters, and for a percentile from the
    /// simulation. 0: a single user already exceeds it.
    pub users: Interval,
    /// True if the search ended before the bound was passed: more users than these are too many for it, or for the model.
    pub at_least: bool,
}

/// The most users that are looked for.
const MOST: u32 = 5_000;
/// Where too few interactions end, a simulation is made longer, up to this factor.
const LONGER: u64 = 64;
/// Some seconds.
const MOST_EVENTS: u64 = 20_000_000;

/// The most users whose mean response time is at most `bound_s` seconds.
///
/// # Errors
/// Those of [`predict`].
pub fn users_within(system: &System, bound_s: f64) -> Result<UsersWithin, ModelError> {
    let within = |system: &System, users| Ok(predict(&System { users, ..system.clone() })?.response_s <= bound_s);
    let (users, at_least) = most_users(|users| within(system, users))?;
    // A draw may be no system, as one in which an interaction takes no CPU time.
    let drawn = answers(&draws(system), |drawn| most_near(users, |users| within(drawn, users)).ok());
    let drawn = drawn.into_iter().map(f64::from);
    Ok(UsersWithin { users: about(f64::from(users), drawn), at_least })
}

/// The most users for whom 95 % of the responses are within `bound_s` seconds, by simulation. The interval holds the scatter of the
/// simulation, and that of the parameters as far as the mean response shows it.
///
/// # Errors
/// Those of [`simulate`].
pub fn users_within_p95(
    system: &System,
    bound_s: f64,
    settings: &SimulationSettings,
) -> Result<UsersWithin, ModelError> {
    let known = RefCell::new(BTreeMap::<u32, Interval>::new());
    let p95 = |users| {
        if let Some(known) = known.borrow().get(&users) {
            return Ok(*known);
        }
        let (system, mut settings) = (System { users, ..system.clone() }, *settings);
        let most = (settings.events * LONGER).min(settings.events.max(MOST_EVENTS));
        loop {
            match simulate(&system, &settings) {
                Err(ModelError::Undetermined { .. }) if settings.events < most => settings.events *= 4,
                // One user alone must be simulated; what takes too long for more of them is beyond the model.
                Err(ModelError::Undetermined { what, .. }) if users > 1 => {
                    return Err(ModelError::TooLarge { what, most: format!("{most} events") });
                }
                found => {
                    let found = found?.percentiles.p95.interval();
                    known.borrow_mut().insert(users, found);
                    return Ok(found);
                }
            }
        }
    };
    let (users, at_least) = most_users(|users| p95(users).map(|interval| interval.value <= bound_s))?;
    let low = most_near(users, |users| p95(users).map(|interval| interval.high <= bound_s))?;
    let high = most_near(users, |users| p95(users).map(|interval| interval.low <= bound_s))?;
    let mut found = Interval { value: users.into(), low: low.min(users).into(), high: high.max(users).into() };
    // About the bound, the percentile is in proportion to the mean.
    let at = users.max(1);
    let mean = predict(&System { users: at, ..system.clone() });
    let Some(mean) = ModelError::if_accepted(mean)? else { return Ok(UsersWithin { users: found, at_least }) };
    let mean_bound = mean.response_s * bound_s / p95(at)?.value;
    let by_mean = users_within(system, mean_bound)?.users;
    let below = (by_mean.value - by_mean.low).hypot(found.value - found.low);
    let above = (by_mean.high - by_mean.value).hypot(found.high - found.value);
    (found.low, found.high) = ((found.value - below).max(0.0), found.value + above);
    Ok(UsersWithin { users: found, at_least })
}

/// The most users within, if more users never make it better, and whether that is where the search or the model ends.
fn most_users(mut within: impl FnMut(u32) -> Result<bool, ModelError>) -> Result<(u32, bool), ModelError> {
    let mut too_large = MOST + 1;
    let mut within = |users| {
        let found = ModelError::if_accepted(within(users))?;
        too_large = if found.is_none() { too_large.min(users) } else { too_large };
        Ok(found.unwrap_or(false))
    };
    let (mut good, mut bad) = (0, 1);
    while bad <= MOST && within(bad)? {
        (good, bad) = (bad, if bad == MOST { MOST + 1 } else { (bad * 2).min(MOST) });
    }
    let most = between(good, bad, &mut within)?;
    Ok((most, most + 1 == too_large))
}

/// The most users within, beginning near a guess.
fn most_near(guess: u32, mut within: impl FnMut(u32) -> Result<bool, ModelError>) -> Result<u32, ModelError> {
    let mut within = |users| Ok(ModelError::if_accepted(within(users))?.unwrap_or(false));
    let guess = guess.max(1);
    let mut step = 1;
    if within(guess)? {
        let mut good = guess;
        while good < MOST {
            let next = (guess + step).min(MOST);
            if !within(next)? {
                return between(good, next, within);
            }
            (good, step) = (next, step * 2);
        }
        return Ok(MOST);
    }
    let mut bad = guess;
    loop {
        let next = guess.saturating_sub(step);
        if next == 0 {
            return if bad > 1 && within(1)? { between(1, bad, within) } else { Ok(0) };
        }
        if within(next)? {
            return between(next, bad, within);
        }
        (bad, step) = (next, step * 2);
    }
}

/// The last that is within, between one that is and one that is not.
fn between(
    mut good: u32,
    mut bad: u32,
    mut within: impl FnMut(u32) -> Result<bool, ModelError>,
) -> Result<u32, ModelError> {
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if within(middle)? { good = middle } else { bad = middle }
    }
    Ok(good)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SystemChange {
    /// This many bytes more.
    Memory(u64),
    /// One CPU more.
    Cpu,
    /// Handling a fault takes half of the CPU time.
    Handling,
    /// The page device takes half of its time, and of its CPU time.
    PageDevice,
    /// One more may be eligible.
    Eligible,
}

impl SystemChange {
    /// The changed system; `None` if there is nothing to change.
    pub fn of(self, system: &System) -> Option<System> {
        let mut changed = system.clone();
        let device = &mut changed.page_device;
        match self {
            SystemChange::Memory(more) if system.faults.is_over_memory() => {
                changed.memory_bytes = Some(system.memory_bytes?.saturating_add(more));
            }
            SystemChange::Cpu => changed.cpus += 1,
            SystemChange::Handling if system.handling_s.value > 0.0 => {
                changed.handling_s = system.handling_s.times(0.5)
            }
            SystemChange::PageDevice if device.service_s.value + device.cpu_s.value > 0.0 => {
                (device.service_s, device.cpu_s) = (device.service_s.times(0.5), device.cpu_s.times(0.5));
            }
            SystemChange::Eligible => {
                changed.eligible = Some(system.eligible.filter(|&limit| limit < system.users)? + 1)
            }
            _ => return None,
        }
        // These times hold the handling: what it saves leaves as much execution between two faults as before.
        let saved = system.fault_cpu_s() - changed.fault_cpu_s();
        let saved = saved * crowded(system.most_eligible(), system.handling_crowding.value);
        if let FaultCurve::ByDepth(times) = &mut changed.faults {
            times.iter_mut().for_each(|time| *time = time.plus(-saved));
        }
        Some(changed)
    }
}

/// What a change is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    pub change: SystemChange,
    pub after: SteadyState,
    /// Throughput after over before.
    pub throughput: Interval,
    /// Mean response after over before.
    pub response: Interval,
    /// Users within the bound on the mean response after the change, if there is a bound.
    pub users: Option<UsersWithin>,
}

/// What a change is worth; `None` if the system has nothing to change, or more than the model takes after it. `bound_s` is a bound on
/// the mean response in seconds.
///
/// # Errors
/// Those of [`predict`].
pub fn worth(system: &System, change: SystemChange, bound_s: Option<f64>) -> Result<Option<Worth>, ModelError> {
    let Some(changed) = change.of(system) else { return Ok(None) };
    let before = predict(system)?;
    let Some(after) = ModelError::if_accepted(predict(&changed))? else { return Ok(None) };
    // The same draw before and after: what is uncertain of both cancels.
    let ratios = answers(&draws(system), |drawn| {
        let (before, after) = (predict(drawn).ok()?, predict(&change.of(drawn)?).ok()?);
        Some((after.throughput / before.throughput, after.response_s / before.response_s))
    });
    let users = bound_s.map(|bound_s| users_within(&changed, bound_s)).transpose()?;
    Ok(Some(Worth {
        change,
        throughput: about(after.throughput / before.throughput, ratios.iter().map(|ratio| ratio.0)),
        response: about(after.response_s / before.response_s, ratios.iter().map(|ratio| ratio.1)),
        after,
        users,
    }))
}

/// Something whose capacity limits a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Cpu,
    PageDevice,
    Memory,
    /// The limit on eligible interactions.
    Eligible,
    /// Waiting for other things, which no change here shortens.
    Other,
}

/// How much a system gains by 1 % more of each resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// The resource that shortens the mean response most; `None` if none does by more than a twentieth of a percent.
    pub resource: Option<Resource>,
    /// Percent by which 1 % more of a resource shortens the mean response, in falling order.
    pub gains: Vec<(Resource, f64)>,
}

/// Which resource limits the response.
///
/// # Errors
/// Those of [`predict`].
pub fn bottleneck(system: &System) -> Result<Bottleneck, ModelError> {
    let before = predict(system)?.response_s;
    let gain_of = |more: &System| -> Result<Option<f64>, ModelError> {
        let after = ModelError::if_accepted(predict(more))?;
        Ok(after.map(|after| (1.0 - after.response_s / before) * 100.0))
    };
    let mut gains = Vec::new();
    for resource in [Resource::Cpu, Resource::PageDevice, Resource::Memory, Resource::Other] {
        gains.extend(gain_of(&with_more(system, resource))?.map(|gain| (resource, gain)));
    }
    if let Some(more) = SystemChange::Eligible.of(system) {
        // The limit is a whole number: the gain of one more, for each percent that one more is.
        let percent = 100.0 / f64::from(system.eligible.unwrap_or(1));
        gains.extend(gain_of(&more)?.map(|gain| (Resource::Eligible, gain / percent)));
    }
    largest_first(&mut gains, |one| one.1);
    let resource = gains.first().filter(|(_, gain)| *gain > 0.05).map(|(resource, _)| *resource);
    Ok(Bottleneck { resource, gains })
}

fn with_more(system: &System, resource: Resource) -> System {
    const LESS: f64 = 1.0 / 1.01;
    let mut more = system.clone();
    match resource {
        Resource::Cpu => {
            // A faster CPU executes and handles faults faster. Faults stay as many for each interaction.
            for figure in [&mut more.user_s, &mut more.system_s, &mut more.handling_s, &mut more.page_device.cpu_s] {
                *figure = figure.times(LESS);
            }
            more.faults = more.faults.on_faster_cpu(1.01);
        }
        Resource::PageDevice => more.page_device.service_s = more.page_device.service_s.times(LESS),
        Resource::Memory => {
            let own = |bytes: u64| bytes + (bytes.saturating_sub(system.shared_bytes)) / 100;
            more.memory_bytes = system.memory_bytes.map(own);
        }
        Resource::Other => more.other_wait_s = more.other_wait_s.times(LESS),
        Resource::Eligible => {}
    }
    more
}

#[cfg(test)]
mod tests {
    use super::super::rates::MOST_USERS;
    use super::*;

    fn up_to(most: u32, bound: u32) -> impl FnMut(u32) -> Result<bool, ModelError> {
        move |users| match users > most {
            true => Err(ModelError::TooLarge { what: users.to_string(), most: most.to_string() }),
            false => Ok(users <= bound),
        }
    }

    #[test]
    fn the_most_users_end_where_the_bound_the_search_or_the_model_does() {
        for (most, bound, expected) in
            [(37, 37, (37, true)), (37, 99, (37, true)), (37, 36, (36, false)), (0, 9, (0, true)), (9, 0, (0, false))]
        {
            assert_eq!(most_users(up_to(most, bound)), Ok(expected));
            for guess in [1, 20, 37, 60] {
                assert_eq!(most_near(guess, up_to(most, bound)), Ok(expected.0), "{guess}");
            }
        }
        assert_eq!(most_users(up_to(MOST, MOST)), Ok((MOST, true)));
        assert_eq!(most_users(up_to(MOST, MOST - 1)), Ok((MOST - 1, false)));
    }

    #[test]
    fn a_change_beyond_the_model_is_worth_nothing_that_is_known() {
        let system = System { user_s: 0.1.into(), cpus: MOST_USERS, ..System::default() };
        assert_eq!(worth(&system, SystemChange::Cpu, None), Ok(None));
        assert!(worth(&System { cpus: 1, ..system }, SystemChange::Cpu, None).is_ok_and(|worth| worth.is_some()));
    }
}
