//! Whether howslow measures right on a machine: by costs that are known beforehand, by plain loops of the same work, and by two
//! runs that differ in nothing.

mod check;
mod known;

use record::Run;
use record::units::percent;

use crate::compare::{CompareOptions, Versions, compare};
use check::{AGAIN, clock_moved, is_calm, is_disturbed, is_wide, measured};

pub use check::{CheckEnd, SelfCheck};
pub use known::known_costs;

/// A cost of a run compared with the smallest time that a plain loop took for the same work; whether calls were traced meanwhile.
pub fn compared_with_plain(run: &Run, operation: &str, plain_ns: f64, traced: bool) -> SelfCheck {
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
