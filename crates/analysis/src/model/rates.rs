//! What happens how often in each state of a system: the numbers that the exact solutions and the simulation share.
//!
//! A state is (present, pages, elsewhere): interactions requested and not finished; those that wait for a page; those that wait for
//! something else. Handling a fault takes CPU time, so that execution runs slower than the CPU: by the factor [`Rates::stretch`].

use super::error::ModelError;
use super::faults::FaultCurve;
use super::system::System;

/// The most users, CPUs, and interactions at once.
pub(super) const MOST_USERS: u32 = 10_000;
/// How many times an interaction waits for something other than a page: its waiting is spread over this many on average. Means hardly
/// depend on it, because such waiting never queues.
pub(super) const VISITS: f64 = 8.0;

/// A checked system as plain numbers.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    pub users: u32,
    /// Think time in seconds.
    pub think_s: f64,
    /// At most so many are eligible; `u32::MAX` without a limit.
    pub limit: u32,
    pub cpus: u32,
    /// Execution of an interaction in seconds.
    pub work_s: f64,
    /// The share of it in user mode.
    pub user: f64,
    /// Other waiting of an interaction in seconds.
    pub other_s: f64,
    /// CPU time for a fault in seconds, that of the page device included.
    pub handling_s: f64,
    /// Time of the page device for a fault in seconds.
    pub service_s: f64,
    /// How many faults it serves at once.
    pub channels: u32,
    handling_crowding: f64,
    page_crowding: f64,
    shares: Vec<f64>,
    /// Where pages stay: the faults for each second of execution that follow from the memory of a user, and those of pages that left.
    stays: Option<(f64, f64)>,
    curve: FaultCurve,
}

impl Rates {
    /// The rates of a system.
    ///
    /// # Errors
    /// If a parameter is outside its range, with its name and what it must be.
    pub fn new(system: &System) -> Result<Rates, ModelError> {
        check(system)?;
        let work_s = system.user_s.value + system.system_s.value;
        let (handling_s, most) = (system.fault_cpu_s(), system.most_eligible());
        system.faults.check(handling_s * crowded(most, system.handling_crowding.value))?;
        let shares = (1..=most).map(|eligible| system.share(eligible).unwrap_or(1.0)).collect();
        let reload = system.reload_faults.map_or(f64::INFINITY, |faults| faults.value / work_s);
        let of_users = || system.faults.per_s(system.share(system.users).unwrap_or(1.0), work_s, handling_s, 0);
        let rates = Rates {
            users: system.users,
            stays: (system.pages_stay && system.faults.is_over_memory()).then(|| (of_users(), reload)),
            think_s: system.think_s.value,
            limit: system.eligible.unwrap_or(u32::MAX),
            cpus: system.cpus,
            work_s,
            user: system.user_s.value / work_s,
            other_s: system.other_wait_s.value,
            handling_s,
            service_s: system.page_device.service_s.value,
            channels: system.page_device.channels.unwrap_or(u32::MAX),
            handling_crowding: system.handling_crowding.value,
            page_crowding: system.page_device.crowding.value,
            shares,
            curve: system.faults.clone(),
        };
        if (1..=most).any(|eligible| !rates.faults_per_s(eligible, 0).is_finite()) {
            return Err(ModelError::parameter(
                "faults",
                "a curve that is finite with as little memory as an interaction has",
            ));
        }
        Ok(rates)
    }

    pub fn most_eligible(&self) -> u32 {
        self.limit.min(self.users)
    }

    pub fn eligible(&self, present: u32) -> u32 {
        present.min(self.limit)
    }

    /// True if a fault makes its interaction wait, and not only the CPU work.
    pub fn waits_for_pages(&self) -> bool {
        self.service_s > 0.0 && self.curve != FaultCurve::None
    }

    /// Faults for each second of execution.
    pub fn faults_per_s(&self, eligible: u32, pages: u32) -> f64 {
        let share = self.shares.get(eligible.saturating_sub(1) as usize).copied().unwrap_or(1.0);
        let own = self.curve.per_s(share, self.work_s, self.handling(eligible), pages);
        // Users that think hold memory too. But pages that only left meanwhile come back by one fault each.
        self.stays.map_or(own, |(of_users, reload)| of_users.min(reload.max(own)))
    }

    /// CPU time for one fault while so many are eligible.
    fn handling(&self, eligible: u32) -> f64 {
        self.handling_s * crowded(eligible, self.handling_crowding)
    }

    /// CPU time for each second of execution, with these faults for each second of execution, while so many are eligible.
    pub fn stretch(&self, eligible: u32, faults_per_s: f64) -> f64 {
        1.0 + faults_per_s * self.handling(eligible)
    }

    /// CPUs that are busy in a state.
    pub fn busy(&self, eligible: u32, pages: u32, elsewhere: u32) -> u32 {
        (eligible - pages - elsewhere).min(self.cpus)
    }

    /// How many faults the page device serves at once of those that wait.
    pub fn served(&self, pages: u32) -> u32 {
        pages.min(self.channels)
    }

    /// Time of the page device for a fault in seconds while so many are eligible.
    pub fn service(&self, eligible: u32) -> f64 {
        self.service_s * crowded(eligible, self.page_crowding)
    }

    /// True if the faults depend on nothing but the number of eligible interactions, so that those alone are of product form.
    pub fn is_product_form_inside(&self) -> bool {
        !matches!(self.curve, FaultCurve::ByDepth(_))
    }
}

/// How much longer it takes with so many that are in each other's way.
pub(super) fn crowded(count: u32, crowding: f64) -> f64 {
    1.0 + crowding * f64::from(count.saturating_sub(1))
}

impl System {
    /// As many as may be eligible at once.
    pub(super) fn most_eligible(&self) -> u32 {
        self.eligible.map_or(self.users, |limit| limit.min(self.users))
    }

    /// CPU time for a fault in seconds, that of the page device included.
    pub(super) fn fault_cpu_s(&self) -> f64 {
        self.handling_s.value + self.page_device.cpu_s.value
    }

    /// The memory of one interaction in bytes if this many are eligible; `None` without a memory size.
    pub fn share(&self, eligible: u32) -> Option<f64> {
        let own = self.memory_bytes?.saturating_sub(self.shared_bytes) as f64;
        Some(self.shared_bytes as f64 + own / f64::from(eligible.max(1)))
    }
}

fn check(system: &System) -> Result<(), ModelError> {
    for (name, figure) in system.clone().figures_mut() {
        if !figure.is_sound() {
            let must = match name {
                "handling_crowding" | "page_device.crowding" => "a share from 0 up, within its interval",
                "reload_faults" => "a number from 0 up, within its interval",
                _ => "seconds from 0 up, within their interval",
            };
            return Err(ModelError::parameter(name, must));
        }
    }
    for (name, number) in [("users", Some(system.users)), ("eligible", system.eligible), ("cpus", Some(system.cpus))] {
        match number {
            Some(0) => return Err(ModelError::parameter(name, "at least 1")),
            Some(number) if number > MOST_USERS && name != "eligible" => {
                return Err(ModelError::TooLarge { what: format!("{number} {name}"), most: MOST_USERS.to_string() });
            }
            _ => {}
        }
    }
    if system.page_device.channels == Some(0) {
        return Err(ModelError::parameter(
            "page_device.channels",
            "at least 1; leave it out for a device that never queues",
        ));
    }
    if system.user_s.value + system.system_s.value <= 0.0 {
        return Err(ModelError::parameter("user_s", "an interaction executes: user_s or system_s above 0"));
    }
    if system.faults.is_over_memory() && system.memory_bytes.is_none_or(|bytes| bytes <= system.shared_bytes) {
        return Err(ModelError::parameter(
            "memory_bytes",
            "faults over memory need the size of memory, above shared_bytes",
        ));
    }
    let sound =
        |kind: &super::system::Kind| kind.weight > 0.0 && kind.size > 0.0 && (kind.weight + kind.size).is_finite();
    if !system.kinds.iter().all(sound) {
        return Err(ModelError::parameter("kinds", "weight and size above 0"));
    }
    Ok(())
}
