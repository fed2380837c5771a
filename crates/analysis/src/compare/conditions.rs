//! What differed between two runs besides their costs: the time, and what other programs took of the CPUs. Rounds of one run do not show
//! by how much costs change with either.

use jiff::Timestamp;
use record::{Cost, CountedIn, Doubt, Estimate, Run};

use crate::kind::KindOfWork;

/// After this many seconds a drift goes no further.
const LONGEST: f64 = 1800.0;
/// What work beyond the core's private caches drifts by until then, 95 times in 100: over half an hour, twelve such costs moved by 1
/// to 8 %, with other tenants' use of the memory.
pub const MEMORY: f64 = 0.04;
/// The same for page faults and processes, which touch memory.
pub const PAGES: f64 = 0.02;
/// What a wait for a guest's device, which the host shares out, differs by from one short run to the next, on the log scale: calm runs of
/// 9 s had an fsync of 115 to 611 us, pairs of them a ratio of up to 5.3, with intervals of a quarter. So great a difference is reached
/// where 80 costs are judged together.
const DEVICE: f64 = 0.8;
/// After so many seconds of measuring a device may be found in another state.
const DEVICE_STAYS: f64 = 10.0;
/// If other programs took of the CPUs a share that differs by no more than this, costs that need a second CPU are comparable.
const LOADS_ALIKE: f64 = 0.10;
/// The share of the difference between a core's clock beside this work and that of the run by which its cycles may be miscounted.
const OWN_CLOCK: f64 = 0.10;

/// What differed between two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The seconds from the middle of one run to that of the other; 0 if one of them was not measured, or does not record when.
    pub seconds_apart: f64,
    /// The difference between the shares of all CPUs that other programs took, from 0 to 1.
    pub loads_apart: f64,
    /// What waits for a device may differ by, on the log scale; 0 on a machine of its own.
    pub devices_apart: f64,
    /// By how much cycles may be counted apart, on the log scale; 0 where adds give the clocks, or there are none to compare.
    pub cycles_apart: f64,
}

impl Conditions {
    /// Those of these runs, without their clocks.
    pub fn between(base: &Run, other: &Run) -> Conditions {
        if base.is_published() || other.is_published() {
            return Conditions::default();
        }
        let middle = |run| times(run).map(|(from, to)| (from + to) / 2.0);
        Conditions {
            seconds_apart: middle(base).zip(middle(other)).map_or(0.0, |(one, two)| (two - one).abs()),
            loads_apart: (base.noise.others - other.noise.others).abs(),
            devices_apart: device_reach(base).hypot(device_reach(other)),
            cycles_apart: 0.0,
        }
    }

    /// The share of its greatest drift that a cost reaches in the time between, as a random walk.
    pub fn share(&self) -> f64 {
        (self.seconds_apart.min(LONGEST) / LONGEST).sqrt()
    }

    /// By how much a cost in this unit may differ with the conditions alone, 95 times in 100, on the log scale.
    pub(super) fn reach(&self, pair: [&Cost; 2], unit: CountedIn) -> f64 {
        let cycles = if unit == CountedIn::Cycles { self.cycles_apart } else { 0.0 };
        cycles.hypot(self.reach_in_time(pair))
    }

    fn reach_in_time(&self, [base, other]: [&Cost; 2]) -> f64 {
        let both = |is: fn(&Cost) -> bool| is(base) && is(other);
        if !both(|cost| cost.headline == Estimate::Quiet && cost.cpus <= 1) {
            return if [base, other].into_iter().any(waits_for_a_device) { self.devices_apart } else { 0.0 };
        }
        let (drift, load) = match KindOfWork::of(&base.operation) {
            _ if !both(|cost| cost.follows_clock) => (MEMORY, 0.10),
            KindOfWork::Pages => (PAGES, 0.05),
            KindOfWork::Tasks | KindOfWork::File => (0.0, 0.05),
            _ => (0.0, 0.01),
        };
        let clock = own_clock(base).max(own_clock(other)) * OWN_CLOCK;
        (drift * self.share()).hypot(load * self.loads_apart).hypot(clock)
    }

    /// True if both runs could show the same for these, which are one cost in both. Who wakes a task on another CPU, or waits for a
    /// kernel thread, waits for an idle CPU to come back or for a busy one to become free: up to 30 times as long beside a compilation.
    pub fn allow(&self, costs: &[&Cost]) -> bool {
        !self.loads_differ() || costs.iter().all(|cost| cost.headline == Estimate::Quiet && cost.cpus <= 1)
    }

    /// True if costs that need a second CPU cannot be compared.
    pub fn loads_differ(&self) -> bool {
        self.loads_apart > LOADS_ALIKE
    }
}

/// Seconds since the epoch at which a run began and ended; `None` if it does not record them.
fn times(run: &Run) -> Option<(f64, f64)> {
    let second = |time: &str| Some(time.parse::<Timestamp>().ok()?.as_millisecond() as f64 / 1e3);
    Some((second(&run.started)?, second(&run.finished)?))
}

/// How far what waits for a device in this run may lie from what it takes in the device's usual state, on the log scale, 95 times in 100;
/// 0 on a machine of its own.
pub fn device_reach(run: &Run) -> f64 {
    let measured = times(run).map_or(0.0, |(from, to)| (to - from).min(run.settings.budget_s));
    let states = (measured / DEVICE_STAYS).max(1.0);
    run.machine.virtualization.hypervisor.as_ref().map_or(0.0, |_| DEVICE / (2.0 * states).sqrt())
}

/// True if this cost is a wait for a device more than anything else.
pub fn waits_for_a_device(cost: &Cost) -> bool {
    let waits = cost.headline != Estimate::Quiet && cost.wait_ns.0 > cost.gross_ns.typical.0 / 2.0;
    waits && KindOfWork::of(&cost.operation) == KindOfWork::File
}

/// How far the clock beside this work lay from that of the run, on the log scale; 0 if it was the same.
fn own_clock(cost: &Cost) -> f64 {
    let apart = |doubt: &Doubt| match doubt {
        Doubt::OwnClock { ghz, run_ghz } => Some((ghz / run_ghz).ln().abs()).filter(|apart| apart.is_finite()),
        _ => None,
    };
    cost.doubts.iter().find_map(apart).unwrap_or(0.0)
}
