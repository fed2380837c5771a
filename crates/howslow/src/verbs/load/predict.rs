//! `howslow load --predict`: one user alone first, then the prediction of every configuration, kept before any of them runs.

use std::path::Path;
use std::time::Duration;

use ::load::{Arrivals, Draw, LoadError, Plan, Session, Time};
use analysis::load::{
    Configuration, Crowding, Demands, Finished, Forecasts, Measured, Unfinished, Usual, alone, by_half, crowds,
    flushed, forecast,
};
use anyhow::Context;
use measure::Progress;
use report::document::LoadForecast;
use store::Store;

use super::experiment::{Stopped, measured};
use crate::output::{Bar, print_note};

/// One user alone is measured no longer than this, with each limit.
const LONGEST: f64 = 8.0;

/// The predictions of an experiment.
pub(super) struct Predicted {
    pub forecasts: Forecasts,
    /// What the users will do, as far as that is known.
    draw: Option<Draw>,
}

/// The plan of the users who never think, measured for a short while.
fn quick(plan: &Plan) -> Plan {
    let mut quick = plan.without_thinking();
    quick.time = Time(plan.time.0.min(LONGEST));
    quick
}

/// True if users keep pages from one interaction to the next.
fn stays(plan: &Plan) -> bool {
    plan.interactions.iter().any(|interaction| interaction.job.is_some())
}

/// The seconds that [`before`] takes for these configurations.
pub(super) fn takes(plan: &Plan, all: &[Configuration]) -> f64 {
    let runs = alone(all, stays(plan));
    quick(plan).takes(runs.len() + flushed(all, stays(plan)).len() + crowds(all, &runs).len())
}

/// What runs before these configurations.
pub(super) fn first(plan: &Plan, all: &[Configuration]) -> String {
    let runs = alone(all, stays(plan));
    let limits = if runs.len() > 1 { ", with several limits of memory" } else { "" };
    let few = if crowds(all, &runs).is_empty() { "" } else { ", and a few who never think" };
    format!("one user alone{limits}{few}")
}

/// Fails if the plan has no users who think.
pub(super) fn check(plan: &Plan) -> Result<(), LoadError> {
    if let Arrivals::Closed = plan.arrivals {
        return Ok(());
    }
    let what = "predictions are of users who think, and the requests of this plan arrive by themselves";
    let remedy = "set arrivals = \"closed\", or omit --predict";
    Err(LoadError::Lacking { what: what.into(), remedy: remedy.into() })
}

/// Measures one user alone, and predicts these configurations. The predictions are kept as a file before this returns.
pub(super) fn before(
    plan: &Plan,
    all: &[Configuration],
    root: &Path,
    seed: u64,
) -> Result<Predicted, Stopped<LoadError>> {
    let (quick, stays) = (quick(plan), stays(plan));
    let runs = alone(all, stays);
    let (measured, mut usual, names) = series(&quick, &runs, root, seed)?;
    // What thinks is the plan itself.
    usual.think_s = think(plan, &usual.weights, &names);
    let mut without = Vec::new();
    for configuration in flushed(all, stays) {
        let quick = quick.flushed(configuration.memory.unwrap_or(0) / 2 * 3);
        let (found, _, with) = series(&quick, &[configuration], root, seed)?;
        without.extend(found.into_iter().map(|flushed| stripped(flushed, &with, &names)));
    }
    let crowds = crowds(all, &runs);
    let crowds = if crowds.is_empty() { Vec::new() } else { series(&quick, &crowds, root, seed)?.0 };
    let mut demands = Demands::of(&measured.iter().collect::<Vec<_>>(), &without.iter().collect::<Vec<_>>(), &usual)
        .ok_or(LoadError::NothingEnded { remedy: "give a longer --time" })?;
    demands.crowding = crowds.iter().filter_map(|crowd| Crowding::of(&demands, &measured, crowd)).collect();
    let draw = Draw::of(plan, seed).ok().flatten();
    let script = |configuration: &Configuration| draw.as_ref().map(|draw| draw.requests(configuration));
    let predicted = |configuration: &Configuration| forecast(&demands, configuration, script(configuration).as_ref());
    let before: Vec<_> = all.iter().map(predicted).collect();
    let (demands, half) = (Some(demands), Vec::new());
    let forecasts = Forecasts { usual, demands, alone: measured, flushed: without, before, half };
    keep(plan, &forecasts);
    Ok(Predicted { forecasts, draw })
}

/// What was measured, what the script gives, and the names of its interactions.
type Series = (Vec<Measured>, Usual, Vec<String>);

/// Measures these configurations one after another.
fn series(plan: &Plan, runs: &[Configuration], root: &Path, seed: u64) -> Result<Series, Stopped<LoadError>> {
    let mut session = Session::open(plan, runs, root, seed)?;
    let (bar, mut all) = (Bar::new(), Vec::new());
    for (number, configuration) in runs.iter().enumerate() {
        let left = Duration::from_secs_f64(plan.takes(runs.len() - number - 1));
        let item = format!("for the prediction: {}", configuration.described());
        let after = Progress { item, done: number as u32, total: runs.len() as u32, left };
        all.push(measured(&mut session, configuration, &bar, &after)?);
    }
    bar.clear();
    Ok((all, session.usual(), session.interactions().to_vec()))
}

/// Without the interactions that only push pages out, and with the numbers of the others in the plan.
fn stripped(mut measured: Measured, with: &[String], names: &[String]) -> Measured {
    let known = |place: usize| {
        let name = with.get(place)?;
        names.iter().position(|known| known == name)
    };
    let finished = |one: Finished| Some(Finished { interaction: known(one.interaction)?, ..one });
    let unfinished = |one: Unfinished| Some(Unfinished { interaction: known(one.interaction)?, ..one });
    measured.finished = measured.finished.into_iter().filter_map(finished).collect();
    measured.unfinished = measured.unfinished.into_iter().filter_map(unfinished).collect();
    measured
}

/// The mean time to think of the interactions that are left of the plan.
fn think(plan: &Plan, weights: &[f64], names: &[String]) -> f64 {
    let interaction = |name: &String| plan.interactions.iter().find(|known| record::printable(&known.name) == *name);
    let sum: f64 =
        names.iter().zip(weights).filter_map(|(name, weight)| Some(interaction(name)?.think.mean() * weight)).sum();
    sum / weights.iter().sum::<f64>()
}

/// Writes the predictions down, and the demands as a file for `howslow model`. It is no failure if that is impossible: the
/// predictions stand on the page too.
fn keep(plan: &Plan, forecasts: &Forecasts) {
    let predictions = forecasts.before.iter().map(|forecast| LoadForecast::of(forecast, None));
    let predictions: Vec<LoadForecast> = predictions.collect();
    let name = format!("{}-{}", plan.name, jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ"));
    let text = serde_json::to_string_pretty(&predictions).unwrap_or_default() + "\n";
    let kept = Store::of_user().and_then(|store| {
        let path = store.keep_prediction(&name, "json", &text)?;
        let model = demands_file(forecasts, &[]).map(|text| store.keep_prediction(&name, "toml", &text)).transpose()?;
        Ok((path, model))
    });
    match kept {
        Ok((path, model)) => {
            print_note(&format!("predictions written to {} before anything runs", path.display()));
            model.into_iter().for_each(|path| {
                print_note(&format!("`howslow model {}` answers questions from them", path.display()))
            });
        }
        Err(error) => print_note(&format!("the predictions are not kept as a file: {error}")),
    }
}

/// The demands, and what was measured since, as `howslow model` reads them.
fn demands_file(forecasts: &Forecasts, measured: &[Measured]) -> Option<String> {
    toml::to_string(&forecasts.for_model(measured)?).ok()
}

/// Writes the demands and what was measured since into this file.
pub(super) fn write(path: &Path, forecasts: &Forecasts, measured: &[Measured]) -> anyhow::Result<()> {
    let text = demands_file(forecasts, measured).context("the demands cannot be written as TOML")?;
    store::write_whole(path, text.as_bytes())?;
    print_note(&format!("`howslow model {}` answers questions from what was measured", path.display()));
    Ok(())
}

impl Predicted {
    /// Adds what half of the configurations predict of the others.
    pub(super) fn add_halves(&mut self, measured: &[Measured]) {
        let script = |configuration: &Configuration| self.draw.as_ref().map(|draw| draw.requests(configuration));
        self.forecasts.half = by_half(measured, &self.forecasts, &script);
    }
}

#[cfg(test)]
mod tests {
    use analysis::load::PageDevice;
    use analysis::model::{FaultCurve, ModelFile};

    use super::*;

    /// One user alone with so much memory: two interactions, the second of which refers to pages.
    fn measured(memory: u64, faults: f64) -> Measured {
        let one = |n: usize| Finished {
            interaction: n % 2,
            response_s: 0.02 + faults * 1e-4,
            user_s: 0.01,
            system_s: faults * 1e-5,
            major_faults: faults,
            ..Finished::default()
        };
        Measured {
            configuration: Configuration { memory: Some(memory), device: PageDevice::Swap, ..Configuration::default() },
            elapsed_s: 20.0,
            finished: (0..20).map(one).collect(),
            ..Measured::default()
        }
    }

    fn forecasts() -> Forecasts {
        let alone = vec![measured(4 << 20, 400.0), measured(8 << 20, 100.0)];
        let usual = Usual {
            names: vec!["a".into(), "b".into()],
            weights: vec![3.0, 1.0],
            think_s: 1.5,
            stays: true,
            pages_bytes: 0,
        };
        let demands = Demands::of(&alone.iter().collect::<Vec<_>>(), &[], &usual).expect("demands");
        let wanted = Configuration { users: 3, memory: Some(16 << 20), ..alone[0].configuration.clone() };
        let before = vec![forecast(&demands, &wanted, None)];
        Forecasts { usual, demands: Some(demands), alone, before, ..Forecasts::default() }
    }

    #[test]
    fn the_model_reads_what_is_kept_for_it() {
        let forecasts = forecasts();
        let text = demands_file(&forecasts, &forecasts.alone).expect("TOML");
        let read: ModelFile = toml::from_str(&text).expect("a file for the model");
        assert_eq!(Some(&read), forecasts.for_model(&forecasts.alone).as_ref(), "{text}");
        let system = read.system.expect("a system");
        assert!((system.users, system.memory_bytes) == (3, Some(16 << 20)) && system.pages_stay);
        assert!(matches!(&system.faults, FaultCurve::Points(points) if points.len() > 2), "{:?}", system.faults);
        assert_eq!((read.measured.len(), read.measured[0].interactions), (2, 20));
        assert!(demands_file(&Forecasts::default(), &[]).is_none());
    }

    #[test]
    fn the_time_for_the_predictions_is_known() {
        let plan = ::load::shipped("fortran").expect("a plan").expect("a good plan");
        let all = plan.axes.configurations();
        let short = Plan { time: Time(3.0), ..plan.clone() };
        let (whole, short, one) = (takes(&plan, &all), takes(&short, &all), takes(&plan, &all[..1]));
        assert!(plan.time.0 > LONGEST && whole >= quick(&plan).takes(2), "{whole}");
        assert!(short < whole && one < whole && one > 0.0, "{short} {one} {whole}");
    }

    #[test]
    fn interactions_that_only_push_pages_out_are_left_out() {
        let flush = format!("{}0", ::load::FLUSH);
        let with = [flush, "b".to_string(), "a".to_string()];
        let mut measured = measured(4 << 20, 1.0);
        for (place, one) in measured.finished.iter_mut().enumerate() {
            one.interaction = place % 3;
        }
        let known = stripped(measured.clone(), &with, &["a".into(), "b".into()]);
        let count = |place: usize| known.finished.iter().filter(|one| one.interaction == place).count();
        assert_eq!((known.finished.len(), count(0), count(1)), (13, 6, 7));
        assert_eq!(stripped(measured, &with, &with).finished.len(), 20, "a user's interaction may have such a name");
    }

    #[test]
    fn the_time_to_think_is_that_of_what_is_left_of_the_plan() {
        let text = "name = 'x'\n[[interaction]]\nname = 'a'\ntimes = 3\nthink = { constant = '1s' }\njob = {}\n\
            [[interaction]]\nname = 'b'\nthink = { exponential = '5s' }\njob = {}\n\
            [[interaction]]\nname = 'gone'\nthink = { constant = '60s' }\njob = {}\n";
        let plan = Plan::from_toml(text).expect("a plan");
        assert!((think(&plan, &[3.0, 1.0], &["a".into(), "b".into()]) - 2.0).abs() < 1e-12);
    }
}
