//! Prices of single calls and units, each looked up once: a system of thousands of processes is priced every second.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use analysis::bill::{Unit, UnitPrices};
use record::{CallCount, NamedCount, Observation, PairCount, ProcessCounts, Requests, Usage};

use crate::bill::choice::connections::{RECEIVES, SENDS};
use crate::bill::choice::{ACCEPTS, LISTS, OPENS, REMOVES, WRITES};
use crate::bill::prices::Prices;

/// The prices of a bill, kept by call.
pub(super) struct Pricing {
    pub prices: Prices,
    /// By what was asked for, in proportion: the price of one call, in ns.
    calls: HashMap<String, HashMap<Vec<u64>, Option<f64>>>,
    units: HashMap<Unit, Option<f64>>,
}

/// A price is that of so many calls, so that a mean of bytes may have a fraction.
const MANY: u64 = 1024;
/// Names of calls, by what they do.
type Lists = &'static [&'static [&'static str]];
/// What is decisive for the price of these calls beside themselves: other calls, and which call they follow.
const CONTEXTS: &[(&[&str], Lists, Lists)] = &[
    (&["close"], &[OPENS, ACCEPTS], &[]),
    (&["newfstatat"], &[OPENS, ACCEPTS], &[OPENS, ACCEPTS]),
    (LISTS, &[], &[LISTS]),
    (&["read", "lseek"], &[&["open", "openat", "lseek"], ACCEPTS, RECEIVES], &[]),
    (&["write", "pwrite64"], &[&["write", "pwrite64", "writev"], ACCEPTS, SENDS], &[]),
    (&["writev", "sendfile", "shutdown"], &[ACCEPTS], &[]),
    (REMOVES, &[WRITES], &[]),
    (&["open", "openat", "copy_file_range"], &[], &[]),
];
/// More means than this of one call are not kept.
const MOST: usize = 4096;

impl Pricing {
    pub(super) fn of(prices: Prices) -> Pricing {
        Pricing { prices, calls: HashMap::new(), units: HashMap::new() }
    }

    /// Takes prices that the newest run lacks from older ones.
    pub(super) fn complete(&mut self, seen: &Observation) {
        if self.prices.complete(seen) {
            self.calls.clear();
            self.units.clear();
        }
    }

    /// The processor time of a line of the bill of this, in ns.
    fn line(&self, seen: &Observation, what: &str) -> Option<f64> {
        self.prices.priced(seen).bill.row(what)?.whole_cpu_ns()
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
    fn calls(&mut self, call: &CallCount, asked: &Requests) -> Option<f64> {
        let shape = shape(call, asked);
        let key = key(&shape);
        let known = self.calls.get(&call.call).and_then(|of| of.get(&key)).copied();
        let each = known.unwrap_or_else(|| {
            let seen = Observation { together: shape, ..Observation::default() };
            let each = self.line(&seen, &call.call).map(|all| all / MANY as f64);
            let of = self.calls.entry(call.call.clone()).or_default();
            if of.len() >= MOST {
                of.clear();
            }
            of.insert(key, each);
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

/// What was asked for as far as the price of this call depends on it, in proportion to [`MANY`] such calls. Where names are few,
/// the first look-up of each is not told apart.
fn shape(call: &CallCount, asked: &Requests) -> Requests {
    let part = |count: u64| rounded((count as f64 / call.count.max(1) as f64 * MANY as f64) as u64);
    let scaled = |it: &CallCount| CallCount {
        call: it.call.clone(),
        count: if it.call == call.call { MANY } else { part(it.count) },
        bytes: it.bytes.map(part),
        wakes: part(it.wakes),
        errors: it
            .errors
            .iter()
            .map(|error| NamedCount { name: error.name.clone(), count: part(error.count) })
            .collect(),
        measured: it.measured,
    };
    let context = CONTEXTS.iter().find(|(calls, ..)| calls.contains(&call.call.as_str()));
    let (others, before) = context.map_or((&[][..], &[][..]), |(_, others, before)| (*others, *before));
    let is_other = |it: &&CallCount| it.call != call.call && is_in(others, &it.call);
    let pair = |it: &&PairCount| it.then == call.call && is_in(before, &it.first);
    let scaled_pair = |it: &PairCount| PairCount { count: part(it.count), ..it.clone() };
    Requests {
        calls: std::iter::once(call).chain(asked.calls.iter().filter(is_other)).map(scaled).collect(),
        pairs: asked.pairs.iter().filter(pair).map(scaled_pair).collect(),
        creates: context.map_or(0, |_| part(asked.creates)),
        distinct_names: asked.distinct_names.map(|names| if names > MANY { names } else { 0 }),
        ..Requests::default()
    }
}

fn is_in(lists: Lists, call: &str) -> bool {
    lists.iter().any(|calls| calls.contains(&call))
}

/// Calls of one name with the same key have the same price.
fn key(shape: &Requests) -> Vec<u64> {
    let name = |name: &str| {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        hasher.finish()
    };
    let mut key = vec![shape.creates, shape.distinct_names.map_or(0, |names| names.min(MANY + 1) + 1)];
    for call in &shape.calls {
        key.extend([name(&call.call), call.count, call.bytes.unwrap_or(u64::MAX), call.wakes]);
        key.extend(call.errors.iter().flat_map(|error| [name(&error.name), error.count]));
    }
    key.extend(shape.pairs.iter().flat_map(|pair| [name(&pair.first), pair.count]));
    key
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
    fn a_close_is_shaped_by_what_was_opened_and_its_scale_does_not_matter() {
        let call = |name: &str, count: u64| CallCount { call: name.into(), count, ..CallCount::default() };
        let asked = |times: u64| Requests {
            calls: vec![call("close", 10 * times), call("openat", 5 * times), call("read", 70 * times)],
            ..Requests::default()
        };
        let few = shape(&asked(1).calls[0], &asked(1));
        assert_eq!(few.calls, [call("close", MANY), call("openat", MANY / 2)]);
        assert_eq!(key(&few), key(&shape(&asked(7).calls[0], &asked(7))));
        let copies = Requests { calls: vec![call("close", 10)], ..Requests::default() };
        assert_ne!(key(&few), key(&shape(&copies.calls[0], &copies)));
    }

    #[test]
    fn without_a_run_nothing_has_a_price() {
        let mut pricing = Pricing::of(Prices::nothing(MachineState::Typical));
        let call = CallCount { call: "read".into(), count: 3, bytes: Some(10), ..CallCount::default() };
        assert_eq!(pricing.calls(&call, &Requests::default()), None);
        assert_eq!(pricing.unit(Unit::Switch), None);
    }
}
