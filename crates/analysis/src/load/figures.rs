//! The rows of the paper's tables: time between page faults by depth, how the processors' time divides, three kinds of idle.

use serde::Serialize;

use super::configuration::Configuration;
use super::measured::{Depth, Finished, Measured};
use super::response::{Response, response_of};
use crate::form::Form;

/// Shares of the processors' time in which nothing ran, by the paper's three kinds. Together with what ran they are one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Idle {
    /// Multiprogramming idle: as many processes are eligible as may be.
    #[serde(rename = "idle_multiprogramming")]
    pub multiprogramming: f64,
    /// Non-multiprogramming idle: fewer are eligible than may be, but at least one. Of several processors, also those that the
    /// few do not need.
    #[serde(rename = "idle_non_multiprogramming")]
    pub non_multiprogramming: f64,
    /// Zero idle: no process is eligible.
    #[serde(rename = "idle_zero")]
    pub zero: f64,
}

impl Idle {
    /// The sum of the three.
    pub fn total(&self) -> f64 {
        self.multiprogramming + self.non_multiprogramming + self.zero
    }
}

impl Form<[f64; 3]> for Idle {
    fn of(&[multiprogramming, non_multiprogramming, zero]: &[f64; 3]) -> Idle {
        Idle { multiprogramming, non_multiprogramming, zero }
    }
}

/// Shares of the processors' time in which something ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Busy {
    /// The users' programs.
    #[serde(rename = "cpu_user")]
    pub user: f64,
    /// The kernel for them, without page faults.
    #[serde(rename = "cpu_system")]
    pub system: f64,
    /// Page faults: their number times what one costs, and at most the kernel's time.
    #[serde(rename = "cpu_faults")]
    pub faults: f64,
    /// Everything that is not the users'.
    #[serde(rename = "cpu_other")]
    pub other: f64,
}

/// One row of the paper's tables.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperRow {
    pub configuration: Configuration,
    /// All interactions that ended.
    pub response: Response,
    /// The time measured, in seconds.
    pub elapsed_s: f64,
    /// Interactions per second that did their work.
    pub throughput: f64,
    /// Processor time of all interactions, in seconds.
    pub cpu_s: f64,
    /// Page faults of all interactions that waited for a page.
    pub major_faults: f64,
    /// By the number of eligible processes, from none up.
    pub depths: Vec<Depth>,
    /// Pages per second to and from the page device.
    pub pages_per_s: f64,
    /// Share of the time in which the page device was busy; `None` if the kernel does not tell.
    pub device: Option<f64>,
    /// Where the processors' time went.
    pub busy: Busy,
    /// Where it did not go.
    pub idle: Idle,
}

pub fn row(measured: &Measured) -> PaperRow {
    let capacity = (f64::from(measured.configuration.cpus) * measured.elapsed_s).max(f64::MIN_POSITIVE);
    let response = response_of(measured);
    // Not `sum`, whose nothing is less than zero.
    let sum = |of: fn(&Finished) -> f64| measured.finished.iter().map(of).fold(0.0, |sum, one| sum + one);
    let major_faults: f64 = measured.depths.iter().map(|depth| depth.major_faults).sum();
    let minor_faults = sum(|finished| finished.minor_faults);
    let handling =
        (major_faults * measured.fault.major_s + minor_faults * measured.fault.minor_s).min(measured.cpu.system_s);
    let elapsed = measured.elapsed_s.max(f64::MIN_POSITIVE);
    PaperRow {
        configuration: measured.configuration.clone(),
        elapsed_s: measured.elapsed_s,
        throughput: (response.count - response.failed) as f64 / elapsed,
        cpu_s: sum(|finished| finished.user_s + finished.system_s),
        major_faults: sum(|finished| finished.major_faults),
        depths: measured.depths.clone(),
        pages_per_s: (measured.paging.pages_in + measured.paging.pages_out) / elapsed,
        device: measured.paging.device_s.map(|busy| busy / elapsed),
        busy: Busy {
            user: measured.cpu.user_s / capacity,
            system: (measured.cpu.system_s - handling) / capacity,
            faults: handling / capacity,
            other: measured.cpu.other_s / capacity,
        },
        idle: idle(measured),
        response,
    }
}

/// The three kinds of idle, as shares of the processors' time, by the number of eligible processes alone, as in
/// [`crate::model::CpuShares`]. What other programs took is taken off every depth by its share of the time that the users left.
pub fn idle(measured: &Measured) -> Idle {
    idle_of(measured, &measured.depths)
}

/// The same of a part of the time measured. Other programs are taken to have had the same share of it as of the whole.
pub(super) fn idle_of(measured: &Measured, depths: &[Depth]) -> Idle {
    let cpus = f64::from(measured.configuration.cpus);
    let (elapsed, busy) = sums(&measured.depths);
    // Two clocks may leave less than nothing of a processor that was never idle.
    let free = cpus * elapsed - busy;
    let left = if free > 0.0 { (1.0 - measured.cpu.other_s / free).clamp(0.0, 1.0) } else { 0.0 };
    let capacity = (cpus * sums(depths).0).max(f64::MIN_POSITIVE);
    let most = measured.configuration.most_eligible() as usize;
    let mut kinds = Idle::default();
    for (eligible, depth) in depths.iter().enumerate() {
        let idle = (cpus * depth.elapsed_s - depth.busy_s) * left / capacity;
        match eligible {
            0 => kinds.zero += idle,
            _ if eligible >= most => kinds.multiprogramming += idle,
            _ => kinds.non_multiprogramming += idle,
        }
    }
    kinds
}

/// Elapsed and processor time of all depths, in seconds.
fn sums(depths: &[Depth]) -> (f64, f64) {
    (depths.iter().map(|depth| depth.elapsed_s).sum(), depths.iter().map(|depth| depth.busy_s).sum())
}

#[cfg(test)]
mod tests {
    use super::super::measured::{CpuTime, FaultCost, Paging};
    use super::*;

    fn measured(cpus: u32, depths: &[(f64, f64, f64)], other_s: f64) -> Measured {
        let busy: f64 = depths.iter().map(|depth| depth.1).sum();
        let depth = |&(elapsed_s, busy_s, major_faults): &(f64, f64, f64)| Depth { elapsed_s, busy_s, major_faults };
        let eligible = Some(depths.len() as u32 - 1);
        Measured {
            configuration: Configuration { users: 8, cpus, eligible, ..Configuration::default() },
            elapsed_s: depths.iter().map(|depth| depth.0).sum(),
            depths: depths.iter().map(depth).collect(),
            cpu: CpuTime { user_s: 0.6 * busy, system_s: 0.4 * busy, other_s, driver_s: 0.0 },
            paging: Paging { pages_in: 30.0, pages_out: 10.0, device_s: Some(2.0), ..Paging::default() },
            fault: FaultCost { major_s: 0.01, ..FaultCost::default() },
            ..Measured::default()
        }
    }

    #[test]
    fn idle_is_divided_by_who_is_eligible() {
        let measured = measured(1, &[(2.0, 0.0, 0.0), (3.0, 2.0, 100.0), (5.0, 4.0, 50.0)], 0.0);
        let row = row(&measured);
        let shares = [row.idle.zero, row.idle.non_multiprogramming, row.idle.multiprogramming];
        for (got, wanted) in shares.iter().zip([0.2, 0.1, 0.1]) {
            assert!((got - wanted).abs() < 1e-12, "{shares:?}");
        }
        assert_eq!(row.depths[0].between_faults_s(), None);
        assert!((row.depths[1].between_faults_s().expect("faults") - 0.02).abs() < 1e-12);
        assert!((row.depths[2].between_faults_s().expect("faults") - 0.08).abs() < 1e-12);
        assert!((row.pages_per_s - 4.0).abs() < 1e-12 && row.device == Some(0.2));
        // 150 faults of 10 ms are 1.5 s of the kernel's 2.4.
        assert!((row.busy.faults - 0.15).abs() < 1e-12 && (row.busy.system - 0.09).abs() < 1e-12);
        let all = row.busy.user + row.busy.system + row.busy.faults + row.busy.other + row.idle.total();
        assert!((all - 1.0).abs() < 1e-12, "{all}");
    }

    #[test]
    fn what_others_took_is_no_idle() {
        // Two processors, one process that runs half of the time, and another program that takes a quarter of one of them.
        let half = measured(2, &[(0.0, 0.0, 0.0), (4.0, 2.0, 0.0)], 1.0);
        let idle = idle(&half);
        assert!((idle.multiprogramming - 0.625).abs() < 1e-12 && idle.zero == 0.0, "{idle:?}");
        let none = super::idle(&measured(1, &[(0.0, 0.0, 0.0), (0.0, 0.0, 0.0)], 0.0));
        assert_eq!(none.total(), 0.0);
        let never = super::idle(&measured(1, &[(0.0, 0.0, 0.0), (4.0, 4.000_005, 0.0)], 0.01));
        assert!(never.total().abs() < 1e-3, "{never:?}");
    }
}
