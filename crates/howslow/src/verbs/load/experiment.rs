//! An experiment from its first configuration to its last, with progress.

use std::path::Path;
use std::time::Duration;

use ::load::{Ending, LoadError, Plan, Session};
use analysis::load::{Configuration, Experiment, Measured, response_of};
use measure::Progress;
use record::Nanoseconds;

use crate::output::Bar;

/// Why nothing more was measured.
pub(super) enum Stopped<E> {
    /// By this signal.
    Interrupted(i32),
    Failed(E),
}

impl<E: From<LoadError>> From<LoadError> for Stopped<E> {
    fn from(error: LoadError) -> Stopped<E> {
        Stopped::Failed(error.into())
    }
}

/// Measures a configuration, and shows its progress with what comes after it.
pub(super) fn measured<E: From<LoadError>>(
    session: &mut Session<'_>,
    configuration: &Configuration,
    bar: &Bar,
    after: &Progress,
) -> Result<Measured, Stopped<E>> {
    let mut progress = |left: f64| {
        let left = Duration::from_secs_f64(left.max(0.0)) + after.left;
        bar.show(&Progress { left, ..after.clone() });
    };
    match session.measure(configuration, &mut progress)? {
        Ending::Done(measured) => Ok(*measured),
        Ending::Interrupted(signal) => Err(Stopped::Interrupted(signal)),
    }
}

/// Measures all configurations. One that cannot be measured is noted, unless none can.
pub(super) fn experiment(plan: &Plan, all: &[Configuration], root: &Path, seed: u64) -> Result<Experiment, LoadError> {
    let bar = Bar::new();
    let mut session = Session::open(plan, all, root, seed)?;
    let mut results = Experiment {
        plan: plan.name.clone(),
        interactions: session.interactions().to_vec(),
        limited_by: session.limited_by().filter(|_| all.iter().any(|one| one.memory.is_some())).map(String::from),
        notes: session.notes.clone(),
        ..Experiment::default()
    };
    let mut failed: Option<LoadError> = None;
    for (number, configuration) in all.iter().enumerate() {
        let left = Duration::from_secs_f64(plan.takes(all.len() - number - 1));
        let (done, total) = (number as u32, all.len() as u32);
        let after = Progress { item: configuration.described(), done, total, left };
        match measured(&mut session, configuration, &bar, &after) {
            Ok(measured) => results.measured.push(measured),
            Err(Stopped::Interrupted(signal)) => {
                results.interrupted = Some(signal);
                break;
            }
            Err(Stopped::Failed(error)) => {
                results.notes.push(format!("{} could not be measured: {error}.", configuration.described()));
                failed.get_or_insert(error);
            }
        }
    }
    bar.clear();
    results.notes.extend(out_of_reach(plan, &results.measured));
    match failed {
        Some(error) if results.measured.is_empty() && results.interrupted.is_none() => Err(error),
        _ => Ok(results),
    }
}

/// That nothing reaches the plan's limit, where it could have shown what hangs.
fn out_of_reach(plan: &Plan, all: &[Measured]) -> Option<String> {
    let whole_s = plan.settle.0 + plan.time.0;
    let hangs = |measured: &Measured| !measured.grows() && response_of(measured).mean_at_least_s.is_some();
    (plan.limit.0 >= whole_s && all.iter().any(hangs)).then(|| {
        let [limit, whole] = [plan.limit.0, whole_s].map(|seconds| Nanoseconds(seconds * 1e9));
        format!(
            "An interaction that hangs is unfinished and does not count as hung, because the plan's limit ({limit}) is not \
             reached within settle and time ({whole}). Give a longer --time, or the plan a shorter limit."
        )
    })
}

#[cfg(test)]
mod tests {
    use ::load::Time;
    use analysis::load::Unfinished;

    use super::*;

    #[test]
    fn a_limit_that_nothing_reaches_is_noted_where_something_may_hang() {
        let text = "name = 'x'\ntime = '1s'\n[[interaction]]\nname = 'a'\njob = {}\n";
        let plan = Plan::from_toml(text).expect("a plan");
        let hung = Unfinished { age_s: 4.0, ..Unfinished::default() };
        let stuck = Measured { unfinished: vec![hung], ..Measured::default() };
        let note = out_of_reach(&plan, &[Measured::default(), stuck.clone()]).expect("it may hang");
        assert!(note.contains("the plan's limit (60.0 s)") && note.contains("settle and time (4.00 s)"), "{note}");
        assert!(out_of_reach(&plan, &[Measured::default()]).is_none());
        assert!(out_of_reach(&Plan { limit: Time(3.0), ..plan }, &[stuck]).is_none());
    }
}
