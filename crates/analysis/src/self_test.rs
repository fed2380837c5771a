//! Whether howslow measures right on a machine: by costs that are known beforehand, by plain loops of the same work, and by two
//! runs that differ in nothing.

use record::{Cost, Doubt, Run};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::{CompareOptions, Versions, compare};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckEnd {
    /// What was found is what was expected.
    Passed,
    /// It is not.
    Failed,
    /// It cannot be checked here.
    Unknown,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SelfCheck {
    /// What is checked.
    pub name: String,
    /// How it ended.
    pub end: CheckEnd,
    /// What was found, and what was expected or why it is unknown.
    pub found: String,
}

impl SelfCheck {
    /// A check that passed or failed.
    pub fn ended(name: &str, passed: bool, found: String) -> SelfCheck {
        SelfCheck { name: name.into(), end: if passed { CheckEnd::Passed } else { CheckEnd::Failed }, found }
    }

    /// A check that this machine does not allow now.
    pub fn unknown(name: &str, why: String) -> SelfCheck {
        SelfCheck { name: name.into(), end: CheckEnd::Unknown, found: why }
    }
}

/// A cost that processors are built to have: a whole number of cycles within these bounds, ends included.
struct KnownCost {
    name: &'static str,
    operation: &'static str,
    cycles: [f64; 2],
}

/// An add takes one cycle everywhere. A multiplication takes 3 on x86-64 since 2008 (4 to 6 before), 2 to 5 on ARM; a load from
/// the first cache 3 to 6.
const KNOWN: [KnownCost; 3] = [
    KnownCost { name: "an add takes 1 cycle", operation: "instruction.add.latency", cycles: [1.0, 1.0] },
    KnownCost {
        name: "a multiplication takes 2 to 6 whole cycles",
        operation: "instruction.multiply.latency",
        cycles: [2.0, 6.0],
    },
    KnownCost {
        name: "a load from the first cache takes 3 to 6 whole cycles",
        operation: "memory.load",
        cycles: [3.0, 6.0],
    },
];

/// A figure this near to a whole number is one.
const NEAR: f64 = 0.04;
/// How far a figure may be from that of a plain loop of the same work, which has other instructions around it.
const AROUND: f64 = 0.15;

/// The costs of a run that are known beforehand.
pub fn known_costs(run: &Run) -> Vec<SelfCheck> {
    KNOWN.iter().map(|known| known_cost(known, run)).collect()
}

fn known_cost(known: &KnownCost, run: &Run) -> SelfCheck {
    if run.machine.virtualization.hypervisor.as_deref() == Some("QEMU TCG") {
        return SelfCheck::unknown(known.name, "the processor is emulated, so its instructions take no cycles".into());
    }
    let cost = match measured(run, known.operation) {
        Ok(cost) => cost,
        Err(why) => return SelfCheck::unknown(known.name, why),
    };
    let cycle = run.noise.cycle_ns;
    let [value, low, high] = [cost.quoted().0, cost.net_ns.low.0, cost.net_ns.high.0].map(|ns| ns / cycle);
    let found = format!("{value:.2} ({low:.2} - {high:.2}) cycles of {cycle:.3} ns");
    let whole = value.round().clamp(known.cycles[0], known.cycles[1]);
    if (value - whole).abs() <= NEAR * whole {
        return SelfCheck::ended(known.name, true, found);
    }
    if is_wide(cost) {
        let why = "too wide to decide: the core was never quiet for long; try again";
        return SelfCheck::unknown(known.name, format!("{found}, {why}"));
    }
    SelfCheck::ended(known.name, false, found)
}

/// Whether the interval of a cost decides nothing.
fn is_wide(cost: &Cost) -> bool {
    /// Half of it, as a share.
    const WIDE: f64 = 0.10;
    cost.half_width().is_none_or(|half| half > WIDE)
}

/// The first cost of this operation, or the reason why there is none.
fn measured<'a>(run: &'a Run, operation: &str) -> Result<&'a Cost, String> {
    run.costs.iter().find(|cost| cost.operation == operation).ok_or_else(|| {
        let skip = run.skipped.iter().find(|skip| skip.operation == operation);
        skip.map_or_else(|| "not measured".into(), |skip| format!("not measured: {}", skip.reason))
    })
}

/// A cost of a run beside the smallest time that a plain loop took for the same work.
pub fn beside_plain(run: &Run, operation: &str, plain_ns: f64) -> SelfCheck {
    let name = format!("{operation} costs what a plain loop takes");
    let cost = match measured(run, operation) {
        Ok(cost) => cost,
        Err(why) => return SelfCheck::unknown(&name, why),
    };
    let best = cost.net_ns.best.0;
    let found = format!("{best:.1} ns, in a plain loop {plain_ns:.1} ns, the smallest of each");
    let is_near = (best / plain_ns).ln().abs() <= AROUND.ln_1p();
    let is_disturbed =
        |doubt: &Doubt| matches!(doubt, Doubt::NeverQuiet | Doubt::FromDisturbed { .. } | Doubt::FewQuiet { .. });
    if !is_near && (is_wide(cost) || cost.doubts.iter().any(is_disturbed)) {
        return SelfCheck::unknown(&name, format!("{found}; the core was hardly ever quiet, try again"));
    }
    SelfCheck::ended(&name, is_near, found)
}

/// Two runs that differ in nothing: no cost may have changed.
pub fn null_comparison(runs: &[Run; 2]) -> SelfCheck {
    const NAME: &str = "two runs that differ in nothing do not differ";
    let how = CompareOptions { unit: None, threshold: 0.01, margin: 0.05, versions: Versions::Kept };
    let compared = compare(runs, &how);
    let against: Vec<_> =
        compared.rows.iter().filter_map(|row| Some((row.base, row.others.first()?.as_ref()?))).collect();
    let changed: Vec<String> = against
        .iter()
        .filter(|(_, (_, against))| against.verdict.is_change())
        .map(|(base, (_, against))| format!("{} {}", base.operation, against.verdict.word()))
        .collect();
    match (against.len(), changed.as_slice()) {
        (0, _) => SelfCheck::unknown(NAME, "no cost was measured in both".into()),
        (count, []) => SelfCheck::ended(NAME, true, format!("0 of {count} costs changed")),
        (count, changed) => {
            SelfCheck::ended(NAME, false, format!("{} of {count} costs changed: {}", changed.len(), changed.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use record::{Figures, Point, Skip};

    use super::*;
    use crate::example;

    /// A run with the costs of a good machine at a cycle of 0.25 ns.
    fn good() -> Run {
        let mut run = example::run();
        run.noise.cycle_ns = 0.25;
        run.machine.virtualization.hypervisor = None;
        let cost = |operation: &str, ns: f64| {
            Cost::given(operation, Point::default(), "call", Figures::given(ns, ns * 0.99, ns * 1.01))
        };
        run.costs = vec![
            cost("instruction.add.latency", 0.251),
            cost("instruction.multiply.latency", 0.75),
            cost("memory.load", 1.25),
            cost("syscall.getppid", 100.0),
        ];
        run
    }

    fn ends(run: &Run) -> Vec<CheckEnd> {
        known_costs(run).into_iter().map(|check| check.end).collect()
    }

    #[test]
    fn a_cost_that_is_no_whole_number_of_cycles_fails() {
        let mut run = good();
        assert_eq!(ends(&run), [CheckEnd::Passed; 3]);
        // A clock that runs 10 % fast makes all of them wrong.
        run.noise.cycle_ns *= 1.1;
        assert_eq!(ends(&run), [CheckEnd::Failed; 3]);
        // A whole number, but not one that an add can have.
        run = good();
        run.costs[0].net_ns = Figures::given(0.5, 0.495, 0.505);
        assert_eq!(ends(&run)[0], CheckEnd::Failed);
    }

    #[test]
    fn what_cannot_be_decided_is_unknown_with_the_reason() {
        let mut run = good();
        run.costs[1].net_ns = Figures::given(0.9, 0.7, 1.1);
        run.costs.remove(2);
        run.skipped = vec![Skip {
            operation: "memory.load".into(),
            at: Point::default(),
            reason: "no memory".into(),
            remedy: String::new(),
        }];
        assert_eq!(ends(&run), [CheckEnd::Passed, CheckEnd::Unknown, CheckEnd::Unknown]);
        assert_eq!(known_costs(&run)[2].found, "not measured: no memory");
        run.machine.virtualization.hypervisor = Some("QEMU TCG".into());
        assert_eq!(ends(&run), [CheckEnd::Unknown; 3]);
    }

    #[test]
    fn a_plain_loop_that_takes_something_else_fails() {
        let run = good();
        let end = |plain: f64| beside_plain(&run, "syscall.getppid", plain).end;
        assert_eq!(
            [end(95.0), end(110.0), end(120.0), end(80.0)].map(|end| end == CheckEnd::Passed),
            [true, true, false, false]
        );
        assert_eq!(beside_plain(&run, "pipe.self", 1.0).end, CheckEnd::Unknown);
        // On a core that was never quiet, a difference shows nothing.
        let mut busy = run;
        busy.costs[3].doubts.push(Doubt::NeverQuiet);
        assert_eq!(beside_plain(&busy, "syscall.getppid", 50.0).end, CheckEnd::Unknown);
    }

    #[test]
    fn runs_that_differ_fail() {
        let run = example::run();
        let mut other = run.clone();
        assert_eq!(null_comparison(&[run.clone(), other.clone()]).end, CheckEnd::Passed);
        for cost in &mut other.costs {
            for round in &mut cost.rounds {
                round.ns.iter_mut().for_each(|ns| *ns *= 2.0);
            }
            (cost.net_ns, cost.gross_ns) = (cost.net_ns.times(2.0), cost.gross_ns.times(2.0));
            cost.cycles *= 2.0;
        }
        let check = null_comparison(&[run.clone(), other]);
        assert_eq!(check.end, CheckEnd::Failed, "{check:?}");
        let nothing = Run { costs: Vec::new(), ..run.clone() };
        assert_eq!(null_comparison(&[run, nothing]).end, CheckEnd::Unknown);
    }
}
