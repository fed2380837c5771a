//! Whether howslow measures right on a machine: by costs that are known beforehand, by plain loops of the same work, and by two
//! runs that differ in nothing.

use record::units::percent;
use record::{Cost, Doubt, Run};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::{CompareOptions, Versions, compare};

mod known;
pub use known::known_costs;

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

/// What to do about a check that a busy host does not allow.
const AGAIN: &str = "run again when the host is less loaded";

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

/// True if few of its batches were taken on an undisturbed core, or none.
fn is_disturbed(cost: &Cost) -> bool {
    let is = |doubt: &Doubt| matches!(doubt, Doubt::NeverQuiet | Doubt::FromDisturbed { .. } | Doubt::FewQuiet { .. });
    cost.doubts.iter().any(is)
}

/// True if the core was undisturbed in most batches, so that the run knows what an undisturbed core does.
fn is_calm(run: &Run) -> bool {
    const MOST: f64 = 0.5;
    run.noise.undisturbed().is_some_and(|share| share >= MOST)
}

/// The share by which the core's clock moved in a run.
fn clock_moved(run: &Run) -> f64 {
    run.noise.cycle_range_ns.map_or(0.0, |range| range.high / range.low - 1.0)
}

/// A cost of a run beside the smallest time that a plain loop took for the same work; whether calls were traced meanwhile.
pub fn beside_plain(run: &Run, operation: &str, plain_ns: f64, traced: bool) -> SelfCheck {
    /// How far they may be from each other at one clock: a plain loop has other instructions around the work.
    const AROUND: f64 = 0.15;
    let name = format!("{operation} costs what a plain loop takes");
    let cost = match measured(run, operation) {
        Ok(cost) => cost,
        Err(why) => return SelfCheck::unknown(&name, why),
    };
    let best = cost.net_ns.best.0;
    let found = format!("{best:.1} ns, in a plain loop {plain_ns:.1} ns, the smallest of each");
    let (apart, moved) = ((best / plain_ns).ln().abs(), clock_moved(run));
    if apart <= AROUND.ln_1p() {
        SelfCheck::ended(&name, true, found)
    } else if traced {
        SelfCheck::unknown(&name, format!("{found}; calls were traced meanwhile: run again without tracers and agents"))
    } else if is_wide(cost) || is_disturbed(cost) || !is_calm(run) {
        SelfCheck::unknown(&name, format!("{found}; the core was undisturbed too seldom: {AGAIN}"))
    } else if apart <= AROUND.ln_1p() + moved.ln_1p() {
        let moved = percent(moved);
        SelfCheck::unknown(
            &name,
            format!("{found}; the core's clock moved by {moved} meanwhile: {AGAIN}, or at a fixed clock"),
        )
    } else {
        SelfCheck::ended(&name, false, found)
    }
}

/// Two runs that differ in nothing: no cost may have changed. On a core that was seldom undisturbed, a change shows nothing.
pub fn null_comparison(runs: &[Run; 2]) -> SelfCheck {
    const NAME: &str = "two runs that differ in nothing do not differ";
    let how = CompareOptions { unit: None, threshold: 0.01, margin: 0.05, versions: Versions::Kept };
    let compared = compare(runs, &how);
    let against: Vec<_> =
        compared.rows.iter().filter_map(|row| Some((row.base, row.others.first()?.as_ref()?))).collect();
    let changed = || against.iter().filter(|(_, (_, against))| against.verdict.is_change());
    let names: Vec<String> =
        changed().map(|(base, (_, against))| format!("{} {}", base.operation, against.verdict.word())).collect();
    let found = format!("{} of {} costs changed", names.len(), against.len());
    let is_shown =
        runs.iter().all(is_calm) && changed().any(|(base, (other, _))| !is_disturbed(base) && !is_disturbed(other));
    match (against.is_empty(), names.is_empty()) {
        (true, _) => SelfCheck::unknown(NAME, "no cost was measured in both".into()),
        (_, true) => SelfCheck::ended(NAME, true, found),
        _ if is_shown => SelfCheck::ended(NAME, false, format!("{found}: {}", names.join(", "))),
        _ => {
            let why = format!("the core was undisturbed too seldom; {AGAIN}");
            SelfCheck::unknown(NAME, format!("{found}: {}; {why}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests;
