//! `howslow load --predict`: one user alone first, then the prediction of every configuration, kept before any of them runs.

use std::path::Path;
use std::time::Duration;

use ::load::{FLUSH, LoadError, Plan, Session, Step, Time};
use analysis::load::{Configuration, Demands, Forecasts, Measured, Usual, alone, by_half, flushed, forecast};
use anyhow::Context;
use measure::Progress;
use report::document::LoadForecast;
use store::Store;

use crate::output::{Bar, say};

/// One user alone is measured no longer than this, with each limit.
const LONGEST: f64 = 8.0;

/// Measures one user alone, and predicts these configurations. The predictions are kept as a file before this returns. An error
/// value is the signal that ended it early.
pub(super) fn before(
    plan: &Plan,
    all: &[Configuration],
    root: &Path,
    seed: u64,
) -> Result<Result<Forecasts, i32>, LoadError> {
    let mut quick = plan.without_thinking();
    quick.time = Time(plan.time.0.min(LONGEST));
    let stays = plan.interactions.iter().any(|it| it.job.is_some());
    let runs = alone(all, stays);
    let (measured, mut usual, names) = match series(&quick, &runs, root, seed)? {
        Ok(found) => found,
        Err(signal) => return Ok(Err(signal)),
    };
    // What thinks is the plan itself.
    usual.think_s = think(plan, &usual.weights, &names);
    let mut without = Vec::new();
    for configuration in flushed(all, stays) {
        let quick = quick.flushed(configuration.memory.unwrap_or(0) / 2 * 3);
        match series(&quick, &[configuration], root, seed)? {
            Ok((found, _, with)) => without.extend(found.into_iter().map(|it| stripped(it, &with, &names))),
            Err(signal) => return Ok(Err(signal)),
        }
    }
    let demands = Demands::of(&measured.iter().collect::<Vec<_>>(), &without.iter().collect::<Vec<_>>(), &usual)
        .ok_or(LoadError::NothingEnded { remedy: "give a longer --time" })?;
    let before: Vec<_> = all.iter().map(|it| forecast(&demands, it)).collect();
    let demands = Some(demands);
    let forecasts = Forecasts { usual, demands, alone: measured, flushed: without, before, half: Vec::new() };
    keep(plan, &forecasts);
    Ok(Ok(forecasts))
}

/// What was measured, what the script says, and the names of its interactions.
type Series = (Vec<Measured>, Usual, Vec<String>);

/// Measures these configurations one after another. An error value is the signal that ended it early.
fn series(plan: &Plan, runs: &[Configuration], root: &Path, seed: u64) -> Result<Result<Series, i32>, LoadError> {
    let mut session = Session::open(plan, runs, root, seed)?;
    let (bar, mut measured) = (Bar::new(), Vec::new());
    for (number, configuration) in runs.iter().enumerate() {
        let rest = plan.takes(runs.len() - number - 1);
        let mut progress = |left: f64| {
            let left = Duration::from_secs_f64((left + rest).max(0.0));
            let item = format!("for the prediction: {}", configuration.told());
            bar.show(&Progress { item, done: number as u32, total: runs.len() as u32, left });
        };
        match session.measure(configuration, &mut progress)? {
            Step::Done(it) => measured.push(*it),
            Step::Interrupted(signal) => return Ok(Err(signal)),
        }
    }
    bar.clear();
    Ok(Ok((measured, session.usual(), session.interactions().to_vec())))
}

/// Without the interactions that only push pages out, and with the numbers of the others in the plan.
fn stripped(mut it: Measured, with: &[String], names: &[String]) -> Measured {
    it.finished.retain(|one| with.get(one.interaction).is_some_and(|name| !name.starts_with(FLUSH)));
    for one in &mut it.finished {
        let name = with.get(one.interaction);
        one.interaction = names.iter().position(|known| Some(known) == name).unwrap_or(one.interaction);
    }
    it
}

/// The mean time to think of the interactions that are left of the plan.
fn think(plan: &Plan, weights: &[f64], names: &[String]) -> f64 {
    let of = |name: &String| plan.interactions.iter().find(|it| record::printable(&it.name) == *name);
    let sum: f64 = names.iter().zip(weights).filter_map(|(name, weight)| Some(of(name)?.think.mean() * weight)).sum();
    sum / weights.iter().sum::<f64>()
}

/// Writes the predictions down, and the demands as a file for `howslow model`. It is no failure if that is impossible: the
/// predictions stand on the page too.
fn keep(plan: &Plan, forecasts: &Forecasts) {
    let told: Vec<LoadForecast> = forecasts.before.iter().map(|it| LoadForecast::of(it, None)).collect();
    let name = format!("{}-{}", plan.name, jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ"));
    let text = serde_json::to_string_pretty(&told).unwrap_or_default() + "\n";
    let kept = Store::of_user().and_then(|store| {
        let path = store.keep_prediction(&name, "json", &text)?;
        let model = demands_file(forecasts, &[]).map(|text| store.keep_prediction(&name, "toml", &text)).transpose()?;
        Ok((path, model))
    });
    match kept {
        Ok((path, model)) => {
            say(&format!("predictions written to {} before anything runs", path.display()));
            model
                .into_iter()
                .for_each(|path| say(&format!("`howslow model {}` answers questions from them", path.display())));
        }
        Err(error) => say(&format!("the predictions are not kept as a file: {error}")),
    }
}

/// The demands, and what was measured since, as `howslow model` reads them.
fn demands_file(forecasts: &Forecasts, measured: &[Measured]) -> Option<String> {
    toml::to_string(&forecasts.for_model(measured)?).ok()
}

/// Writes the demands and what was measured since into this file.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(path: &Path, forecasts: &Forecasts, measured: &[Measured]) -> anyhow::Result<()> {
    let text = demands_file(forecasts, measured).context("the demands cannot be written as TOML")?;
    store::write_whole(path, text.as_bytes())?;
    say(&format!("`howslow model {}` answers questions from what was measured", path.display()));
    Ok(())
}

/// Adds what half of the configurations say of the others.
pub(super) fn after(forecasts: &mut Forecasts, measured: &[Measured]) {
    forecasts.half = by_half(measured, &forecasts.usual);
}
