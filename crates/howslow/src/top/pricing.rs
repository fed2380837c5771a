//! Prices of single calls and units, each looked up once: a system of thousands of processes is priced every second.

use std::collections::HashMap;

use analysis::bill::{Unit, UnitPrices};
use record::{CallCount, Observation, ProcessCounts, Requests, Usage};

use crate::bill::prices::Prices;

/// The prices of a bill, kept by call.
pub(super) struct Pricing {
    pub prices: Prices,
    /// By name and by the mean of the bytes: the price of one call, in ns.
    calls: HashMap<String, HashMap<u64, Option<f64>>>,
    units: HashMap<Unit, Option<f64>>,
}

/// A price is that of so many calls, so that a mean of bytes may have a fraction.
const MANY: u64 = 1024;
/// More means than this of one call are not kept.
const MOST: usize = 4096;

impl Pricing {
    pub(super) fn of(prices: Prices) -> Pricing {
        Pricing { prices, calls: HashMap::new(), units: HashMap::new() }
    }

    /// The processor time of a line of the bill of this, in ns.
    fn line(&self, seen: &Observation, what: &str) -> Option<f64> {
        self.prices.priced(seen).bill.row(what)?.cpu_ns
    }

    /// A unit as it would be seen alone.
    fn unit_alone(&self, unit: Unit) -> Option<f64> {
        let call = |name: &str| vec![CallCount { call: name.into(), count: 1, ..CallCount::default() }];
        let mut seen = Observation::default();
        let what = match unit {
            Unit::MinorFault => {
                seen.usage = Usage { minor_faults: Some(1), ..Usage::default() };
                "minor faults"
            }
            Unit::Switch => {
                seen.usage = Usage { voluntary_switches: Some(1), ..Usage::default() };
                "switches"
            }
            Unit::Exec => {
                seen.together = Requests { calls: call("execve"), ..Requests::default() };
                "processes"
            }
            Unit::Fork => {
                seen.together = Requests { forks: 1, ..Requests::default() };
                seen.processes = vec![ProcessCounts { parent: Some(1), processes: 1, ..ProcessCounts::default() }];
                "processes"
            }
            Unit::Thread => {
                seen.together = Requests { forks: 1, ..Requests::default() };
                "threads"
            }
        };
        self.line(&seen, what)
    }
}

impl UnitPrices for Pricing {
    fn calls(&mut self, call: &CallCount) -> Option<f64> {
        let mean = |bytes: u64| bytes as f64 / call.count.max(1) as f64;
        let bytes = call.bytes.map_or(0, |bytes| rounded((mean(bytes) * MANY as f64) as u64));
        let known = self.calls.get(&call.call).and_then(|of| of.get(&bytes)).copied();
        let each = known.unwrap_or_else(|| {
            let alone = CallCount { count: MANY, bytes: call.bytes.map(|_| bytes), errors: Vec::new(), ..call.clone() };
            let together = Requests { calls: vec![alone], ..Requests::default() };
            let seen = Observation { together, ..Observation::default() };
            let each = self.line(&seen, &call.call).map(|all| all / MANY as f64);
            let of = self.calls.entry(call.call.clone()).or_default();
            if of.len() >= MOST {
                of.clear();
            }
            of.insert(bytes, each);
            each
        })?;
        Some(each * call.count as f64)
    }

    fn unit(&mut self, unit: Unit) -> Option<f64> {
        if let Some(known) = self.units.get(&unit) {
            return *known;
        }
        let price = self.unit_alone(unit);
        self.units.insert(unit, price);
        price
    }
}

/// The number with its first five bits only, which is off by 6 % at most: means that are nearly the same have one price.
fn rounded(number: u64) -> u64 {
    let drop = number.checked_ilog2().unwrap_or(0).saturating_sub(4);
    number >> drop << drop
}

#[cfg(test)]
mod tests {
    use analysis::predict::MachineState;

    use super::*;

    #[test]
    fn near_means_have_one_price() {
        assert_eq!(rounded(0), 0);
        assert_eq!(rounded(31), 31);
        assert_eq!((rounded(1000), rounded(1023)), (992, 992));
        assert_eq!(rounded(u64::MAX), 31 << 59);
        for number in (0..10_000).map(|number| number * 7919) {
            let off = number - rounded(number);
            assert!(off as f64 <= number as f64 / 16.0, "{number}");
        }
    }

    #[test]
    fn without_a_run_nothing_has_a_price() {
        let mut pricing = Pricing::of(Prices::nothing(MachineState::Typical));
        let call = CallCount { call: "read".into(), count: 3, bytes: Some(10), ..CallCount::default() };
        assert_eq!(pricing.calls(&call), None);
        assert_eq!(pricing.unit(Unit::Switch), None);
    }
}
