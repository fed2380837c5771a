//! An experiment from its first configuration to its last, with progress.

use std::path::Path;
use std::time::Duration;

use ::load::{Ending, LoadError, Plan, Session};
use analysis::load::{Configuration, Experiment};
use measure::Progress;

use crate::output::{self, Bar};

/// What the plan or the machine does not allow is a misuse.
pub(super) fn refused(error: LoadError) -> anyhow::Error {
    output::refused(error.is_misuse(), error)
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
    let mut failed = None;
    for (number, configuration) in all.iter().enumerate() {
        let rest = plan.takes(all.len() - number - 1);
        let (done, total) = (number as u32, all.len() as u32);
        let mut progress = |left: f64| {
            let left = Duration::from_secs_f64((left + rest).max(0.0));
            bar.show(&Progress { item: configuration.described(), done, total, left });
        };
        match session.measure(configuration, &mut progress) {
            Ok(Ending::Done(measured)) => results.measured.push(*measured),
            Ok(Ending::Interrupted(signal)) => {
                results.interrupted = Some(signal);
                break;
            }
            Err(error) => {
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
