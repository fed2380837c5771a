//! An experiment from its first configuration to its last, with progress.

use std::path::Path;
use std::time::Duration;

use ::load::{Ending, LoadError, Plan, Session};
use analysis::load::{Configuration, Experiment, Measured};
use measure::Progress;

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
    match failed {
        Some(error) if results.measured.is_empty() && results.interrupted.is_none() => Err(error),
        _ => Ok(results),
    }
}
