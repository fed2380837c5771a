//! Costs that are known beforehand in cycles, held against what two runs show. Runs whose clock is not known decide nothing.

use record::units::percent;
use record::{Cost, Run};

use super::check::{AGAIN, CheckEnd, SelfCheck, clock_moved, is_calm, is_disturbed, measured};
use crate::reading::{CALIBRATION, quoted_cycle};

/// A cost that processors are built to have: a whole number of cycles within these bounds, ends included.
struct KnownCost {
    name: &'static str,
    operation: &'static str,
    cycles: [u32; 2],
}

/// An add takes one cycle everywhere. A multiplication takes 3 on x86-64 since 2008 (4 to 6 before), 2 to 5 on ARM; a load from
/// the first cache 3 to 6. The add is first, because it shows what a cycle is.
const KNOWN: [KnownCost; 3] = [
    KnownCost { name: "an add takes 1 cycle", operation: "instruction.add.latency", cycles: [1, 1] },
    KnownCost {
        name: "a multiplication takes 2 to 6 whole cycles",
        operation: "instruction.multiply.latency",
        cycles: [2, 6],
    },
    KnownCost {
        name: "a load from the first cache takes 3 to 6 whole cycles",
        operation: "memory.load",
        cycles: [3, 6],
    },
];

/// A figure this near to a whole number is one.
const NEAR: f64 = 0.04;

impl KnownCost {
    /// The ranges that a right figure may lie in.
    fn ranges(&self) -> impl Iterator<Item = [f64; 2]> {
        let [least, most] = self.cycles;
        (least..=most).map(f64::from).map(|whole| [whole * (1.0 - NEAR), whole * (1.0 + NEAR)])
    }
}

/// What one run shows of a known cost, in cycles of the clock that its batches ran at: that need not be the run's clock.
struct Shown {
    value: f64,
    low: f64,
    high: f64,
    cycle_ns: f64,
    /// The share by which the core's clock moved in the run.
    moved: f64,
    /// True if enough of its batches were taken on an undisturbed core.
    sure: bool,
    /// True if most batches of the run were.
    calm: bool,
}

impl Shown {
    fn of(run: &Run, cost: &Cost) -> Shown {
        let cycle_ns = quoted_cycle(cost, run.noise.cycle_ns);
        let [value, low, high] = [cost.quoted().0, cost.net_ns.low.0, cost.net_ns.high.0].map(|ns| ns / cycle_ns);
        Shown { value, low, high, cycle_ns, moved: clock_moved(run), sure: !is_disturbed(cost), calm: is_calm(run) }
    }

    /// True if all of its interval is what the cost is known to be.
    fn agrees(&self, known: &KnownCost) -> bool {
        known.ranges().any(|[least, most]| self.low >= least && self.high <= most)
    }

    /// True if none of its interval is.
    fn contradicts(&self, known: &KnownCost) -> bool {
        let is_bounded = self.low.is_finite() && self.high.is_finite();
        is_bounded && !known.ranges().any(|[least, most]| self.high >= least && self.low <= most)
    }

    /// How far the figure is from the nearest number that would be right, as a share.
    fn is_off_by(&self, known: &KnownCost) -> f64 {
        let whole = self.value.round().clamp(f64::from(known.cycles[0]), f64::from(known.cycles[1]));
        (self.value / whole - 1.0).abs()
    }

    /// True if both show the same but for what a run errs by on its clock.
    fn is_like(&self, other: &Shown) -> bool {
        let below = |one: &Shown, other: &Shown| one.low * (1.0 - CALIBRATION) <= other.high * (1.0 + CALIBRATION);
        below(self, other) && below(other, self)
    }

    fn text(&self) -> String {
        let Shown { value, low, high, cycle_ns, .. } = self;
        format!("{value:.2} ({low:.2} - {high:.2}) cycles of {cycle_ns:.3} ns")
    }
}

/// The costs that are known beforehand, as these runs show them.
pub fn known_costs(runs: &[Run; 2]) -> Vec<SelfCheck> {
    let mut checks: Vec<SelfCheck> = KNOWN.iter().map(|known| known_cost(known, runs)).collect();
    let [add, others @ ..] = checks.as_mut_slice() else { return checks };
    for other in others.iter_mut().filter(|other| add.end != CheckEnd::Passed && other.end == CheckEnd::Passed) {
        *other = SelfCheck::unknown(&other.name, format!("{}, but an add does not show what a cycle is", other.found));
    }
    checks
}

fn known_cost(known: &KnownCost, runs: &[Run; 2]) -> SelfCheck {
    if runs[0].machine.virtualization.hypervisor.as_deref() == Some("QEMU TCG") {
        return SelfCheck::unknown(known.name, "the processor is emulated, so its instructions take no cycles".into());
    }
    let shown = |run| measured(run, known.operation).map(|cost| Shown::of(run, cost));
    let (first, second) = match (shown(&runs[0]), shown(&runs[1])) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(why), _) | (_, Err(why)) => return SelfCheck::unknown(known.name, why),
    };
    let both = [&first, &second];
    let against = both.iter().any(|shown| shown.sure && shown.contradicts(known));
    if let Some(shown) = both.iter().find(|shown| shown.sure && shown.agrees(known)).filter(|_| !against) {
        return SelfCheck::ended(known.name, true, shown.text());
    }
    let found = format!("{}, then {}", first.text(), second.text());
    match undecided(known, both) {
        Some(why) => SelfCheck::unknown(known.name, format!("{found}: {why}")),
        None => SelfCheck::ended(known.name, false, found),
    }
}

/// Why runs do not show that a known cost is measured wrong, and what to do. `None` if both show it alike, on a calm host at one clock.
fn undecided(known: &KnownCost, both: [&Shown; 2]) -> Option<String> {
    let moved = both.iter().map(|shown| shown.moved).fold(0.0, f64::max);
    let off = both.iter().map(|shown| shown.is_off_by(known)).fold(f64::INFINITY, f64::min);
    if both.iter().any(|shown| !(shown.sure && shown.calm)) {
        return Some(format!("the core was undisturbed too seldom to know its clock; {AGAIN}"));
    }
    if !both.iter().all(|shown| shown.contradicts(known)) {
        return Some(format!("the runs do not agree, or their intervals are too wide to decide; {AGAIN}"));
    }
    if !both[0].is_like(both[1]) {
        return Some(format!("the runs do not agree on the core's clock; {AGAIN}"));
    }
    let why = format!("the core's clock moved by {} meanwhile; {AGAIN}, or at a fixed clock", percent(moved));
    (moved >= off).then_some(why)
}
