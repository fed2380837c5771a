//! From the probabilities of states to the figures of a prediction.

use super::prediction::{CpuShares, Method, SteadyState};
use super::rates::Rates;

/// Sums over states, each weighted by its probability.
#[derive(Clone)]
pub(super) struct Steady<'a> {
    rates: &'a Rates,
    cpu: CpuShares,
    throughput: f64,
    fault_rate: f64,
    busy: f64,
    present: f64,
    eligible: f64,
    pages: f64,
    served: f64,
}

impl<'a> Steady<'a> {
    pub fn new(rates: &'a Rates) -> Steady<'a> {
        Steady {
            rates,
            cpu: CpuShares::default(),
            throughput: 0.0,
            fault_rate: 0.0,
            busy: 0.0,
            present: 0.0,
            eligible: 0.0,
            pages: 0.0,
            served: 0.0,
        }
    }

    /// Adds a state with its probability, or with the time spent in it.
    pub fn add(&mut self, present: u32, pages: u32, elsewhere: u32, weight: f64) {
        let rates = self.rates;
        let eligible = rates.eligible(present);
        let busy = f64::from(rates.busy(eligible, pages, elsewhere));
        let faults_per_s = if eligible > 0 { rates.faults_per_s(eligible, pages) } else { 0.0 };
        let working = weight * busy / rates.stretch(eligible, faults_per_s);
        let handling = weight * busy - working;
        let idle = weight * (f64::from(rates.cpus) - busy);
        self.cpu.user += working * rates.user;
        self.cpu.system += working * (1.0 - rates.user);
        self.cpu.faults += handling;
        match present {
            0 => self.cpu.zero_idle += idle,
            _ if eligible == rates.most_eligible() => self.cpu.multiprogramming_idle += idle,
            _ => self.cpu.non_multiprogramming_idle += idle,
        }
        self.throughput += working / rates.work_s;
        self.fault_rate += working * faults_per_s;
        self.busy += weight * busy;
        self.present += weight * f64::from(present);
        self.eligible += weight * f64::from(eligible);
        self.pages += weight * f64::from(pages);
        if rates.channels != u32::MAX {
            self.served += weight * f64::from(rates.served(pages)) / f64::from(rates.channels);
        }
    }

    /// The sums of both.
    pub fn plus(&self, other: &Steady<'_>) -> Steady<'a> {
        Steady {
            rates: self.rates,
            cpu: self.cpu.plus(&other.cpu),
            throughput: self.throughput + other.throughput,
            fault_rate: self.fault_rate + other.fault_rate,
            busy: self.busy + other.busy,
            present: self.present + other.present,
            eligible: self.eligible + other.eligible,
            pages: self.pages + other.pages,
            served: self.served + other.served,
        }
    }

    /// Adds interactions that are present and wait to become eligible: their mean number.
    pub fn add_queued(&mut self, queued: f64) {
        self.present += queued;
    }

    /// The figures. The weights sum to `whole`: 1, or the time, if they were times spent in states.
    pub fn prediction(&self, method: Method, whole: f64) -> SteadyState {
        let per_interaction = |sum: f64| sum / self.throughput;
        SteadyState {
            method,
            throughput: self.throughput / whole,
            response_s: per_interaction(self.present),
            eligibility_wait_s: per_interaction(self.present - self.eligible),
            response_p95_s: None,
            cpu: self.cpu.over(f64::from(self.rates.cpus) * whole),
            faults: per_interaction(self.fault_rate),
            between_faults_s: self.busy / self.fault_rate,
            page_wait_s: if self.fault_rate > 0.0 { self.pages / self.fault_rate } else { 0.0 },
            page_device: self.served / whole,
            pages_waited_for: self.pages / whole,
            eligible: self.eligible / whole,
            queued: (self.present - self.eligible) / whole,
        }
    }
}
