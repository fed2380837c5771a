//! The experiment with scripted users of a study: its figures become costs of the study's run.

use ::load::{LoadError, Time, shipped};
use analysis::study::UserExperiment;
use record::{Cost, Run, Skip};

use super::experiment::{Stopped, experiment};
use super::predict;
use crate::output::Misuse;
use crate::scratch;

/// Measures what an experiment of a study needs, predictions first, and adds it to the run. What cannot be measured here is
/// skipped there, with reason and remedy. Returns the signal that ended it early.
/// Fails if the study names no plan, or there is no place for scratch files.
pub(crate) fn users_of(study: &UserExperiment, run: &mut Run) -> anyhow::Result<Option<i32>> {
    let mut plan = shipped(study.plan)
        .ok_or_else(|| Misuse(format!("there is no plan {}", study.plan)))?
        .map_err(|error| Misuse(error.to_string()))?;
    (plan.time, plan.settle) = (Time(study.time_s), Time(study.settle_s));
    plan = plan.thinking(study.think);
    let configurations = (study.configurations)();
    let (root, seed) = (scratch::folder()?, run.settings.seed);
    let found = predict::before(&plan, &configurations, &root, seed).and_then(|predicted| {
        let results = experiment(&plan, &configurations, &root, seed)?;
        let costs = (study.costs)(&predicted.forecasts, &results.measured);
        Ok((costs, reason_of(&results.notes), results.interrupted))
    });
    let (costs, why, signal) = match found {
        Ok(found) => found,
        Err(Stopped::Interrupted(signal)) => (Vec::new(), reason_of(&[]), Some(signal)),
        Err(Stopped::Failed(error)) => (Vec::new(), reasons(&error), None),
    };
    skip(study, &costs, run, why);
    run.costs.extend(costs);
    run.note_units();
    Ok(signal)
}

/// Leaves the experiment of a study out of a run that measures several, because it makes swap for a while.
pub(crate) fn left_out(study: &UserExperiment, name: &str, run: &mut Run) {
    let reason = "the experiment with users makes a swap file for some minutes, so it must be named".to_string();
    skip(study, &[], run, (reason, format!("howslow study {name}")));
}

/// Notes those figures of an experiment that are not among these costs, with the reason and the remedy.
fn skip(study: &UserExperiment, costs: &[Cost], run: &mut Run, (reason, remedy): (String, String)) {
    for (id, at) in (study.names)() {
        if !costs.iter().any(|cost| cost.operation == id && cost.at == at) {
            run.skipped.push(Skip { operation: id.into(), at, reason: reason.clone(), remedy: remedy.clone() });
        }
    }
}

/// Reason and remedy of an experiment that cannot be done. A page joins reasons by semicolons, so a reason has none.
fn reasons(error: &LoadError) -> (String, String) {
    (error.reason().replace("; ", ", "), error.remedy().replace("; ", ", "))
}

/// The same of single configurations.
fn reason_of(notes: &[String]) -> (String, String) {
    let text = notes.join(" ").replace("; ", ", ");
    (if text.is_empty() { "it did not end here".into() } else { text }, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_names_how_to_have_it() {
        let study = analysis::study::study("core").expect("a study");
        let mut run = store::book("multics-1970").expect("a book").expect("a sound one").run();
        run.skipped.clear();
        left_out(study.users.expect("an experiment"), study.name, &mut run);
        assert!(run.skipped.len() > 20 && run.skipped.iter().all(|skip| skip.remedy == "howslow study core"));
        assert!(run.skipped[0].reason.contains("swap file"), "{:?}", run.skipped[0]);
    }

    #[test]
    fn a_reason_is_one_sentence() {
        let lacking = LoadError::Lacking { what: "no right; at all".into(), remedy: "run as root".into() };
        assert_eq!(reasons(&lacking), ("no right, at all".to_string(), "run as root".to_string()));
        assert_eq!(reason_of(&[]).0, "it did not end here");
        assert_eq!(reason_of(&["One; two.".into(), "Three.".into()]).0, "One, two. Three.");
    }
}
