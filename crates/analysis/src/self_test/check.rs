//! One check, and what all checks need of a run.

use record::{Cost, Doubt, Run};
use serde::Serialize;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SelfCheck {
    /// What is checked.
    pub name: String,
    /// How it ended.
    pub end: CheckEnd,
    /// What was found, and what was expected or why it is unknown.
    pub found: String,
}

impl SelfCheck {
    pub fn ended(name: &str, passed: bool, found: String) -> SelfCheck {
        SelfCheck { name: name.into(), end: if passed { CheckEnd::Passed } else { CheckEnd::Failed }, found }
    }

    /// A check that this machine does not allow now.
    pub fn unknown(name: &str, why: String) -> SelfCheck {
        SelfCheck { name: name.into(), end: CheckEnd::Unknown, found: why }
    }
}

/// What to do about a check that a busy host does not allow.
pub(super) const AGAIN: &str = "run again when the host is less loaded";

/// Whether the interval of a cost decides nothing.
pub(super) fn is_wide(cost: &Cost) -> bool {
    /// Half of it, as a share.
    const WIDE: f64 = 0.10;
    cost.half_width().is_none_or(|half| half > WIDE)
}

/// The first cost of this operation, or the reason why there is none.
pub(super) fn measured<'a>(run: &'a Run, operation: &str) -> Result<&'a Cost, String> {
    run.costs.iter().find(|cost| cost.operation == operation).ok_or_else(|| {
        let skip = run.skipped.iter().find(|skip| skip.operation == operation);
        skip.map_or_else(|| "not measured".into(), |skip| format!("not measured: {}", skip.reason))
    })
}

/// True if few of its batches were taken on an undisturbed core, or none.
pub(super) fn is_disturbed(cost: &Cost) -> bool {
    let is = |doubt: &Doubt| matches!(doubt, Doubt::NeverQuiet | Doubt::FromDisturbed { .. } | Doubt::FewQuiet { .. });
    cost.doubts.iter().any(is)
}

/// True if the core was undisturbed in most batches, so that the run knows what an undisturbed core does.
pub(super) fn is_calm(run: &Run) -> bool {
    const MOST: f64 = 0.5;
    run.noise.undisturbed().is_some_and(|share| share >= MOST)
}

/// The share by which the core's clock moved in a run.
pub(super) fn clock_moved(run: &Run) -> f64 {
    run.noise.cycle_range_ns.map_or(0.0, |range| range.high / range.low - 1.0)
}
