//! What a model predicts of a system.

use serde::{Deserialize, Serialize};

use super::figure::Figure;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// How it was found.
    pub method: Method,
    /// Interactions per second.
    pub throughput: f64,
    /// Mean response time in seconds, from the request to its end.
    pub response_s: f64,
    /// The part of it that is waiting for eligibility.
    pub eligibility_wait_s: f64,
    /// 95th percentile of the response time in seconds. The simulation gives it.
    pub response_p95_s: Option<f64>,
    /// What the CPUs do.
    pub cpu: CpuShares,
    /// Page faults of an interaction.
    pub faults: f64,
    /// Mean CPU time between two faults of an interaction in seconds, their handling included; infinite without faults.
    pub between_faults_s: f64,
    /// Mean waiting for one page in seconds, with queueing at the device.
    pub page_wait_s: f64,
    /// Share of the page device's capacity that is used; zero for a device that never queues.
    pub page_device: f64,
    /// Mean number of faults that wait for the page device or are served by it.
    pub pages_waited_for: f64,
    /// Mean number of eligible interactions.
    pub eligible: f64,
    /// Mean number of interactions that wait for eligibility.
    pub queued: f64,
}

/// How the CPUs' time is shared out. All six together are 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuShares {
    /// Work in user mode.
    pub user: f64,
    /// Work in the system, without page faults.
    pub system: f64,
    /// Handling of page faults, with what the page device takes of the CPU.
    pub faults: f64,
    /// Idle while as many interactions as may be are eligible: their pages are awaited.
    pub multiprogramming_idle: f64,
    /// Idle while fewer are eligible, but at least one. Of several CPUs, also those that the few do not need.
    pub non_multiprogramming_idle: f64,
    /// Idle while all users think.
    pub zero_idle: f64,
}

impl CpuShares {
    /// Each of them divided by this.
    pub(super) fn over(&self, divisor: f64) -> CpuShares {
        CpuShares {
            user: self.user / divisor,
            system: self.system / divisor,
            faults: self.faults / divisor,
            multiprogramming_idle: self.multiprogramming_idle / divisor,
            non_multiprogramming_idle: self.non_multiprogramming_idle / divisor,
            zero_idle: self.zero_idle / divisor,
        }
    }

    /// The sums of both.
    pub(super) fn plus(&self, other: &CpuShares) -> CpuShares {
        CpuShares {
            user: self.user + other.user,
            system: self.system + other.system,
            faults: self.faults + other.faults,
            multiprogramming_idle: self.multiprogramming_idle + other.multiprogramming_idle,
            non_multiprogramming_idle: self.non_multiprogramming_idle + other.non_multiprogramming_idle,
            zero_idle: self.zero_idle + other.zero_idle,
        }
    }

    /// All idle time.
    pub fn idle(&self) -> f64 {
        self.multiprogramming_idle + self.non_multiprogramming_idle + self.zero_idle
    }
}

/// How a prediction was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The Markov chain of the whole system, solved exactly.
    #[default]
    Chain,
    /// A flow-equivalent server for the eligible interactions: exact where memory is not limited, else close.
    Hierarchy,
    /// Played event by event.
    Simulation,
}

/// Asymptotic bounds (Denning and Buzen, Computing Surveys 10:3, 1978), with the faults of one that has memory to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// No throughput is above this, per second.
    pub throughput: f64,
    /// No mean response is below this, in seconds.
    pub response_s: f64,
    /// Users from whom on someone must wait: the knee of both bounds.
    pub knee: f64,
}

/// A prediction with the interval of each of its figures: from the intervals of the parameters, or from a simulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictionInterval<Figures = SteadyState> {
    /// The estimate.
    pub value: Figures,
    /// The lower end of each figure's 95 % interval.
    pub low: Figures,
    /// The upper end of each figure's 95 % interval.
    pub high: Figures,
}

impl PredictionInterval {
    /// Every figure with its interval. `of` is given how to read a figure, and gives value, low and high.
    pub(super) fn of(method: Method, of: impl Fn(&dyn Fn(&SteadyState) -> f64) -> [f64; 3]) -> PredictionInterval {
        let mut parts = [0, 1, 2].map(|_| SteadyState { method, ..SteadyState::default() });
        for figure in FIGURES {
            let values = of(&|state| *figure(&mut state.clone()));
            for (part, value) in parts.iter_mut().zip(values) {
                *figure(part) = value;
            }
        }
        let [value, low, high] = parts;
        PredictionInterval { value, low, high }
    }
}

/// Every figure that a solution gives.
pub(super) const FIGURES: [fn(&mut SteadyState) -> &mut f64; 16] = [
    |state| &mut state.throughput,
    |state| &mut state.response_s,
    |state| &mut state.eligibility_wait_s,
    |state| &mut state.cpu.user,
    |state| &mut state.cpu.system,
    |state| &mut state.cpu.faults,
    |state| &mut state.cpu.multiprogramming_idle,
    |state| &mut state.cpu.non_multiprogramming_idle,
    |state| &mut state.cpu.zero_idle,
    |state| &mut state.faults,
    |state| &mut state.between_faults_s,
    |state| &mut state.page_wait_s,
    |state| &mut state.page_device,
    |state| &mut state.pages_waited_for,
    |state| &mut state.eligible,
    |state| &mut state.queued,
];

/// What a simulation found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulated {
    /// The figures with their intervals, from batches of interactions.
    pub prediction: PredictionInterval,
    /// Response times in seconds at the 50th, 90th, 95th and 99th percentile.
    pub percentiles: Percentiles,
    /// Events played: ends of thinking, of execution, of page waits.
    pub events: u64,
}

/// Percentiles of the response time in seconds, each with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// The median.
    pub p50: Figure,
    /// 90 % are below.
    pub p90: Figure,
    /// 95 % are below.
    pub p95: Figure,
    /// 99 % are below.
    pub p99: Figure,
}
