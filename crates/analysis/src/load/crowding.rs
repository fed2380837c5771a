//! What a page fault takes more while others are eligible: the kernel's lists are contended for, and the device and the processors
//! that bring a page are kept busy. Known by as many users as may be eligible, who never think, each with as much memory as one user
//! alone had.

use super::configuration::{Configuration, PageDevice};
use super::demands::{Crowding, Demands, Usual, mean_of};
use super::measured::Measured;
use crate::by_key;
use crate::model::{FaultCurve, Figure, PageSource, System, predict};

/// More than so many at once show nothing that these do not.
const MOST: u32 = 4;

/// The configurations that show it, for those where several may be eligible: the least memory that one user alone was measured with,
/// for each of them.
pub fn crowds(all: &[Configuration], alone: &[Configuration]) -> Vec<Configuration> {
    let crowd = |configuration: &Configuration| {
        let Configuration { device, cpus, .. } = *configuration;
        let users = configuration.most_eligible().min(MOST);
        let least = alone.iter().filter(|one| one.device == device).filter_map(|one| one.memory).min();
        let memory = Some(least? * u64::from(users));
        let shows = device != PageDevice::None && users > 1;
        shows.then(|| ((device, cpus), Configuration { users, memory, device, cpus, ..Configuration::default() }))
    };
    let largest = |(_, crowds): (_, Vec<Configuration>)| crowds.into_iter().max_by_key(|crowd| crowd.users);
    by_key(all.iter().filter_map(crowd)).into_iter().filter_map(largest).collect()
}

impl Crowding {
    /// What a crowd shows, compared with one user alone with the same share of memory. `None` if it hardly faulted.
    pub fn of(demands: &Demands, alone: &[Measured], crowd: &Measured) -> Option<Crowding> {
        /// Fewer faults show nothing of the time for one.
        const ENOUGH: f64 = 20.0;
        let Configuration { users, memory, cpus, device, .. } = crowd.configuration;
        let share = memory? / u64::from(users);
        let one = alone
            .iter()
            .find(|measured| measured.configuration.device == device && measured.configuration.memory == Some(share))?;
        let base_s = demands.system_s.value;
        let fault =
            |measured: &Measured| Fault::of(measured, &demands.usual, base_s).filter(|fault| fault.count > ENOUGH);
        let (one, many) = (fault(one)?, fault(crowd)?);
        let others = f64::from(users - 1);
        let handling = ((many.handling_s / one.handling_s - 1.0) / others).max(0.0);
        let before_s = demands.of_device(device)?.wait_s;
        let wait = many
            .wait_s(users, cpus, demands.other_wait_s)
            .filter(|_| before_s > 0.0)
            .map_or(0.0, |wait_s| wait_s / before_s - 1.0);
        Some(Crowding { device, cpus, handling, wait: (wait / others).max(0.0) })
    }
}

/// An interaction that faults, by its means.
struct Fault {
    user_s: f64,
    count: f64,
    handling_s: f64,
    response_s: f64,
}

impl Fault {
    fn of(measured: &Measured, usual: &Usual, base_s: f64) -> Option<Fault> {
        let count = mean_of(measured, usual, |finished| finished.major_faults)?.value;
        let system_s = mean_of(measured, usual, |finished| finished.system_s)?.value - base_s;
        Some(Fault {
            user_s: mean_of(measured, usual, |finished| finished.user_s)?.value + base_s,
            count,
            handling_s: system_s.max(0.0) / count.max(f64::MIN_POSITIVE),
            response_s: mean_of(measured, usual, |finished| finished.response_s)?.value,
        })
    }

    /// The wait for a page with which the model has the response that was measured; `None` where the processors are busy nearly all
    /// the time, so that the response shows nothing of it.
    fn wait_s(&self, users: u32, cpus: u32, other_wait_s: Figure) -> Option<f64> {
        const IDLE: f64 = 0.05;
        const STEPS: u32 = 60;
        let cpu_s = self.user_s + self.count * self.handling_s;
        let busy = f64::from(users) * cpu_s / (self.response_s * f64::from(cpus));
        if busy > 1.0 - IDLE {
            return None;
        }
        let response = |service_s: f64| {
            let system = System {
                users,
                cpus,
                user_s: self.user_s.into(),
                handling_s: self.handling_s.into(),
                other_wait_s,
                faults: FaultCurve::PerInteraction(self.count.into()),
                page_device: PageSource { service_s: service_s.into(), ..PageSource::default() },
                ..System::default()
            };
            predict(&system).ok().map(|state| state.response_s)
        };
        let (mut low, mut high) = (0.0, self.response_s / self.count);
        for _ in 0..STEPS {
            let middle = (low + high) / 2.0;
            if response(middle)? < self.response_s { low = middle } else { high = middle }
        }
        Some((low + high) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::Finished;
    use super::*;

    fn configuration(users: u32, memory: u64, cpus: u32) -> Configuration {
        Configuration { users, memory: Some(memory), cpus, device: PageDevice::Swap, ..Configuration::default() }
    }

    /// 40 ms of work and 200 faults of so many seconds each.
    fn measured(configuration: Configuration, handling_s: f64, response_s: f64) -> Measured {
        let system_s = 200.0 * handling_s;
        let one = Finished { response_s, user_s: 0.04, system_s, major_faults: 200.0, ..Finished::default() };
        Measured { configuration, elapsed_s: 10.0, finished: vec![one; 20], ..Measured::default() }
    }

    #[test]
    fn a_crowd_shows_what_a_fault_takes_more() {
        let usual = Usual { names: vec!["a".into()], weights: vec![1.0], ..Usual::default() };
        let alone = vec![measured(configuration(1, 4 << 20, 1), 25e-6, 0.04 + 200.0 * 60e-6)];
        let mut demands = Demands::of(&alone.iter().collect::<Vec<_>>(), &[], &usual).expect("demands");
        (demands.paged[0].wait_s, demands.system_s) = (35e-6, 0.0.into());
        // Two processors for two: nobody waits for one, so that 80 us of each fault are the wait for its page.
        let crowd = measured(configuration(2, 8 << 20, 2), 35e-6, 0.04 + 200.0 * 115e-6);
        let found = Crowding::of(&demands, &alone, &crowd).expect("faults");
        assert!((found.handling - 0.4).abs() < 1e-9, "{found:?}");
        assert!((found.wait - (80.0 / 35.0 - 1.0)).abs() < 0.02, "{found:?}");
        // Waiting for files is no waiting for pages.
        let files = Demands { other_wait_s: 0.02.into(), ..demands.clone() };
        let longer = measured(configuration(2, 8 << 20, 2), 35e-6, 0.06 + 200.0 * 115e-6);
        let found = Crowding::of(&files, &alone, &longer).expect("faults");
        assert!((found.wait - (80.0 / 35.0 - 1.0)).abs() < 0.02, "{found:?}");
        // One processor that is always busy shows nothing of the wait.
        let busy = measured(configuration(2, 8 << 20, 1), 30e-6, 2.0 * (0.04 + 200.0 * 30e-6));
        let found = Crowding::of(&demands, &alone, &busy).expect("faults");
        assert!(found.wait == 0.0 && (found.handling - 0.2).abs() < 1e-9, "{found:?}");
        assert!(Crowding::of(&demands, &alone, &measured(configuration(2, 6 << 20, 2), 3e-5, 1.0)).is_none());
        let quiet = |mut crowd: Measured| {
            crowd.finished.iter_mut().for_each(|finished| finished.major_faults = 1.0);
            crowd
        };
        assert!(Crowding::of(&demands, &alone, &quiet(crowd)).is_none());
        demands.crowding = vec![found, Crowding { cpus: 4, wait: 9.0, ..found }];
        assert_eq!(demands.crowded(&configuration(3, 1, 2)).map(|crowding| crowding.cpus), Some(1));
        assert_eq!(demands.crowded(&configuration(3, 1, 8)).map(|crowding| crowding.cpus), Some(4));
    }

    #[test]
    fn crowds_are_requested_where_several_are_eligible() {
        let one = |users, cpus, eligible| Configuration { eligible, ..configuration(users, 48 << 20, cpus) };
        let alone = [configuration(1, 16 << 20, 1), configuration(1, 4 << 20, 1)];
        let all = [one(1, 1, None), one(9, 1, Some(2)), one(20, 1, Some(3)), one(2, 2, Some(3)), one(50, 4, None)];
        let found: Vec<_> = crowds(&all, &alone).iter().map(|crowd| (crowd.users, crowd.cpus, crowd.memory)).collect();
        let mib = |size: u64| Some(size << 20);
        assert_eq!(found, [(3, 1, mib(12)), (2, 2, mib(8)), (4, 4, mib(16))]);
        assert!(crowds(&all, &[]).is_empty());
        assert!(crowds(&[Configuration { device: PageDevice::None, ..one(9, 1, None) }], &alone).is_empty());
    }
}
