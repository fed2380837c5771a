//! Operations as plain facts, with the prices that a run has for them.

use std::collections::HashMap;

use record::{Point, Run, Term, Value};

use crate::predict::{MachineState, busy};

/// What pricing needs to know of an operation.
#[derive(Clone, Debug)]
pub struct OperationFacts {
    pub id: &'static str,
    /// The system calls that an iteration makes, each as often as it makes it; none if it times a refusal.
    pub calls: Vec<&'static str>,
    /// Its points, with the bytes that it moves at each.
    pub points: Vec<(Point, u64)>,
}

/// Objects that a task writes to and reads from by turns, with the operation that does both.
pub(super) const PAIRS: &[(&str, &str)] = &[
    ("pipe", "called.pipe"),
    ("eventfd", "eventfd.self"),
    ("timerfd", "eventfd.self"),
    ("unix", "unix.self"),
    ("udp", "udp.self"),
];

/// The beginnings of the other ids that the rules name.
const NAMED: &[&str] = &[
    "called.", "file.read.direct", "page.fault.anonymous", "page.fault.copy", "page.fault.around", "page.fault.huge",
    "page.unmap.touched", "process.exec", "process.vfork", "process.fork.resident", "thread.clone3", "switch.process",
    "syscall.read.null", "syscall.write.null",
];

/// Operations that time what programs seldom do with a call, where another times what they mostly do: descriptors are added to an epoll
/// set before they are ready and removed, which takes twice as long as changing the events of one.
const SELDOM: &[&str] = &["call.epoll_ctl", "pair.epoll"];

/// What one cost of a run says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    pub cpu_ns: f64,
    pub minor_faults: f64,
    pub switches: f64,
}

/// All operations, with the prices that are known.
#[derive(Clone, Debug, Default)]
pub struct PriceList {
    pub(super) operations: Vec<OperationFacts>,
    pub(super) places: HashMap<&'static str, usize>,
    /// By operation and point.
    prices: Vec<Vec<Option<Price>>>,
    /// The operation that times a call alone, in a loop.
    pub(super) alone: HashMap<&'static str, usize>,
    /// True if the machine has one CPU, so that no task is on another one.
    pub(super) has_one_cpu: bool,
}

impl PriceList {
    /// Operations, in the order of their list, without prices.
    pub fn of(operations: Vec<OperationFacts>) -> PriceList {
        let places = operations.iter().enumerate().map(|(place, operation)| (operation.id, place)).collect();
        let prices = operations.iter().map(|operation| vec![None; operation.points.len()]).collect();
        let mut alone: HashMap<&'static str, usize> = HashMap::new();
        let is_alone = |id: &str| !id.starts_with("called.") && !SELDOM.contains(&id);
        for (place, operation) in operations.iter().enumerate().filter(|(_, operation)| is_alone(operation.id)) {
            for call in &operation.calls {
                let known = alone.entry(call).or_insert(place);
                if operation.calls.len() < operations[*known].calls.len() {
                    *known = place;
                }
            }
        }
        PriceList { operations, places, prices, alone, has_one_cpu: false }
    }

    /// Every operation that can price something, at the points that it is priced at: those that the rules name, and what times
    /// any other call alone.
    pub fn used(&self) -> Vec<(&'static str, Point)> {
        let is_pair = |id: &str| PAIRS.iter().any(|(_, pair)| *pair == id);
        let is_named = |id: &str| is_pair(id) || NAMED.iter().any(|begin| id.starts_with(begin));
        let named = self.operations.iter().filter(|operation| is_named(operation.id));
        let named = named.flat_map(|operation| operation.points.iter().map(|(point, _)| (operation.id, point.clone())));
        let mut alone: Vec<usize> = self.alone.values().copied().collect();
        alone.sort_unstable();
        let alone = alone.into_iter().map(|place| &self.operations[place]).filter(|operation| !is_named(operation.id));
        let first = |operation: &OperationFacts| {
            operation.points.first().map_or_else(Point::default, |(point, _)| point.clone())
        };
        named.chain(alone.map(|operation| (operation.id, first(operation)))).collect()
    }

    /// Takes the prices of a run; what the run lacks stays as it was.
    pub fn take(&mut self, run: &Run, state: MachineState) {
        self.has_one_cpu = run.machine.cpu.online == 1;
        for cost in &run.costs {
            let Some(&place) = self.places.get(cost.operation.as_str()) else { continue };
            let points = self.operations[place].points.iter();
            if let Some(at) = points.clone().position(|(point, _)| *point == cost.at) {
                // Waiting for a partner or a device is no processor time.
                let ns = state.price(run, cost).value;
                let cpu_ns = ns * busy(cost, ns).unwrap_or(1.0).min(1.0);
                let (minor_faults, switches) = (cost.faults.minor, cost.switches.voluntary + cost.switches.involuntary);
                self.prices[place][at] = Some(Price { cpu_ns, minor_faults, switches });
            }
        }
    }

    /// True if to remove a file that the device holds waits for the device, as on file systems that tell it which blocks are free.
    pub(super) fn removal_sleeps(&self) -> bool {
        self.sleeps("called.unlink", &[("content", Value::Word("written".into()))]) == Some(true)
    }

    /// True if this operation sleeps more often than not; `None` without a price.
    pub(super) fn sleeps(&self, id: &str, at: &[(&str, Value)]) -> Option<bool> {
        const OFTEN: f64 = 0.5;
        let term = self.at(id, at, 1.0);
        term.first().and_then(|term| self.price(&term.operation, &term.at)).map(|price| price.switches > OFTEN)
    }

    /// The processor time of these, in ns; `None` without any, or if one has no price.
    pub(super) fn sum(&self, terms: &[Term]) -> Option<f64> {
        let price = |term: &Term| Some(term.times * self.price(&term.operation, &term.at)?.cpu_ns);
        terms.iter().map(price).try_fold(0.0, |sum, price| Some(sum + price?)).filter(|_| !terms.is_empty())
    }

    pub(super) fn price(&self, id: &str, at: &Point) -> Option<Price> {
        let place = *self.places.get(id)?;
        let point = self.operations[place].points.iter().position(|(point, _)| point == at)?;
        self.prices[place][point]
    }

    /// This often an operation at its first point with these values; where none is named, at one that has a price if there is one.
    pub(super) fn at(&self, id: &str, at: &[(&str, Value)], times: f64) -> Vec<Term> {
        let Some(&place) = self.places.get(id).filter(|_| times > 0.0) else { return Vec::new() };
        let fits = |point: &Point| at.iter().all(|(axis, value)| point.0.get(*axis) == Some(value));
        let fitting: Vec<&Point> =
            self.operations[place].points.iter().map(|(point, _)| point).filter(|point| fits(point)).collect();
        let known = fitting.iter().find(|point| at.is_empty() && self.price(id, point).is_some());
        let at = known.or(fitting.first()).map_or_else(Point::default, |point| (*point).clone());
        vec![Term { times, operation: id.into(), at }]
    }
}
