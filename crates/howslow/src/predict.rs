//! `howslow predict`: what a mix takes on the machines of runs, beside what it was measured to take, and what if.

mod json;
mod lacking;
mod mixes;
mod supposed;

use analysis::predict::{Prediction, State, predict_in, whole};
use analysis::statistics::Interval;
use analysis::whatif::{Impossible, Supposed, suppose};
use record::units::time_of;
use record::{Mix, Run, printable};
use report::Priced;
use serde_json::{Value, json};
use store::Store;

use self::supposed::About;
use crate::cli::{ByState, PredictAsked};
use crate::factors;
use crate::output::{self, Misuse, Outcome};

pub(crate) use mixes::open_mix;

/// A run and what it was called by.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub name: &'a str,
    pub run: &'a Run,
}

pub(crate) fn predict(asked: &PredictAsked) -> anyhow::Result<Outcome> {
    if let Some(twice) = asked.on.iter().enumerate().find(|(place, name)| asked.on[..*place].contains(name)) {
        return Err(Misuse(format!("--on names {} twice", printable(twice.1))).into());
    }
    let mixes = asked.mixes.iter().map(|name| open_mix(name)).collect::<Result<Vec<_>, _>>()?;
    let opened = asked.on.iter().map(|name| Store::open_any(name)).collect::<Result<Vec<_>, _>>()?;
    let runs: Vec<Named> = asked.on.iter().zip(&opened).map(|(name, run)| Named { name, run }).collect();
    if asked.factors {
        return split(asked, &mixes, &runs);
    }
    let state = state(asked);
    let mut pages = String::new();
    let mut said = Vec::new();
    let mut partial = false;
    for mix in &mixes {
        let predictions = priced(state, mix, &runs, &asked.measured)?;
        lacking::check(mix, &runs, &predictions)?;
        partial |= predictions.iter().any(|prediction| !prediction.lacking.is_empty());
        if !asked.partial {
            lacking::refuse(mix, &runs, &predictions)?;
        }
        let after = all_supposed(asked, mix, &runs, &predictions)?;
        let shown: Vec<Priced> =
            (0..runs.len()).map(|place| show(state, mix, &runs, &predictions, &after, place)).collect();
        if asked.json {
            let objects =
                runs.iter().zip(&shown).map(|(named, it)| json::prediction(mix, named.name, it, &after.supposed));
            said.extend(objects);
        } else {
            let gap = if pages.is_empty() { "" } else { "\n" };
            pages += &format!("{gap}{}", report::predictions(mix, &shown, &after.supposed, output::style()));
        }
    }
    match said.as_slice() {
        [] => output::print(&pages)?,
        [one] => output::print_json(one)?,
        several => output::print_json(&json!({ "predictions": several }))?,
    }
    Ok(if partial { Outcome::Skipped } else { Outcome::Done })
}

/// The state whose prices are asked for.
fn state(asked: &PredictAsked) -> State {
    match asked.by {
        ByState::Quiet => State::Quiet,
        ByState::Typical => State::Typical,
    }
}

/// One run's prediction as it is shown, with its total in the other state.
fn show<'a>(
    state: State,
    mix: &Mix,
    runs: &[Named<'a>],
    all: &'a [Prediction],
    after: &After,
    place: usize,
) -> Priced<'a> {
    let (run, prediction) = (runs[place].run, &all[place]);
    let other = if state == State::Quiet { State::Typical } else { State::Quiet };
    // A book has one state, and of what is lacking there is no sum.
    let told = prediction.lacking.is_empty() && !run.is_published();
    let otherwise = told.then(|| predict_in(other, mix, run, place, &names).total().figure());
    Priced { run, prediction, supposed: after.predictions[place].clone(), state, otherwise }
}

/// The mix priced by each run, with what was measured there.
pub(crate) fn priced(state: State, mix: &Mix, runs: &[Named], measured: &[String]) -> Result<Vec<Prediction>, Misuse> {
    let told = measured.iter().map(|text| typed_whole(text, state, mix, runs)).collect::<Result<Vec<_>, _>>()?;
    let mut predictions = Vec::new();
    for (place, named) in runs.iter().enumerate() {
        let mut prediction = predict_in(state, mix, named.run, place, &names);
        let written = mix.measured.iter().find(|(run, _)| is_called(named, run)).and_then(|(_, time)| figure(time));
        let typed = told.iter().rev().find(|(of, _)| *of == place).map(|(_, whole)| *whole);
        prediction.measured = typed.or(written).or(prediction.measured);
        predictions.push(prediction);
    }
    validate(runs, &mut predictions);
    Ok(predictions)
}

/// Tells each prediction how far the mix goes on its machine: by what was measured with its run, else with another one at hand of the
/// same processor; of several the worst.
fn validate(runs: &[Named], predictions: &mut [Prediction]) {
    let left_out: Vec<Option<f64>> = predictions.iter().map(Prediction::left_out).collect();
    let processor = |place: usize| runs[place].run.machine.cpu.signature.as_str();
    for place in 0..predictions.len() {
        let same = |other: &usize| !processor(place).is_empty() && processor(place) == processor(*other);
        let others = (0..runs.len()).filter(same).filter_map(|other| left_out[other]);
        predictions[place].validated = left_out[place].or_else(|| others.reduce(f64::max));
    }
}

/// The names that an operation shares with published costs.
pub(crate) fn names(id: &str) -> &'static [&'static str] {
    operations::find(id).map_or(&[], |operation| operation.aliases)
}

/// Whether a run is meant by this name: as typed, its id or the beginning of it.
fn is_called(named: &Named, name: &str) -> bool {
    named.name == name || (!name.is_empty() && named.run.id.starts_with(name))
}

/// `1.2ms`, `RUN=1.2ms`, or in place of the time a run that has the mix's whole: whose whole, and how long.
fn typed_whole(text: &str, state: State, mix: &Mix, runs: &[Named]) -> Result<(usize, Interval), Misuse> {
    let shown = printable(text);
    let bad = |why: String| Misuse(format!("cannot read --measured '{shown}': {why}"));
    let (run, time) = text.rsplit_once('=').map_or((None, text), |(run, time)| (Some(run), time));
    let place = match run {
        Some(name) => runs.iter().position(|named| is_called(named, name)),
        None if runs.len() == 1 => Some(0),
        None => return Err(bad("there are several runs; say RUN=TIME".into())),
    };
    let place = place.ok_or_else(|| bad("it names none of the runs".into()))?;
    if let Some(whole) = figure(time) {
        return Ok((place, whole));
    }
    let form = "say a time above 0 with its unit, such as 1.2ms, or a run that has it";
    let run = Store::open_any(time).map_err(|error| bad(format!("{form}; {error:#}")))?;
    let of = mix.whole.as_ref().ok_or_else(|| bad(format!("the mix '{}' names no whole; say a time", mix.name)))?;
    let found = whole(state, mix, &run).ok_or_else(|| bad(format!("that run does not have '{of}'")))?;
    Ok((place, found))
}

/// A time above zero, its interval what the digits leave open.
fn figure(text: &str) -> Option<Interval> {
    let (time, open) = time_of(text)?;
    let whole = Interval { value: time.0, low: time.0 - open.0, high: time.0 + open.0 };
    (time.0 > 0.0).then_some(whole)
}

/// What is supposed of a mix, and what becomes of its predictions.
struct After {
    supposed: Vec<Supposed>,
    predictions: Vec<Option<Prediction>>,
}

fn all_supposed(asked: &PredictAsked, mix: &Mix, runs: &[Named], before: &[Prediction]) -> anyhow::Result<After> {
    if asked.what_if.is_empty() {
        return Ok(After { supposed: Vec::new(), predictions: vec![None; before.len()] });
    }
    let mut after = After { supposed: Vec::new(), predictions: Vec::new() };
    for (named, prediction) in runs.iter().zip(before) {
        let about = About { state: state(asked), mix, runs, prediction };
        let all = asked.what_if.iter().enumerate().map(|(index, text)| supposed::read(text, index, about));
        after.supposed = all.collect::<anyhow::Result<Vec<_>>>()?;
        let changed = suppose(prediction, &after.supposed).map_err(|impossible| match impossible {
            Impossible::BelowNothing(line) => {
                Misuse(format!("--what-if would make {line} cost less than nothing on {}", printable(named.name)))
            }
            Impossible::Lacking(line) => {
                Misuse(format!("--what-if takes {line} from a run that lacks it; name another run, or a time"))
            }
        })?;
        after.predictions.push(Some(changed));
    }
    Ok(after)
}

/// `--factors`: of one mix on two runs, of two mixes on one run, or of each on its own.
fn split(asked: &PredictAsked, mixes: &[Mix], runs: &[Named]) -> anyhow::Result<Outcome> {
    let (mixes, sides) = match (mixes, runs) {
        ([mix], [a, b]) => ([mix, mix], [*a, *b]),
        ([one, other], [run]) => ([one, other], [*run, *run]),
        ([one, other], [a, b]) => ([one, other], [*a, *b]),
        _ => {
            let text = "--factors compares two: one mix --on two runs, two mixes --on one run, or each on its own";
            return Err(Misuse(text.into()).into());
        }
    };
    let split = factors::split(state(asked), mixes, sides, &asked.measured)?;
    if asked.json {
        let mut said = split.json;
        said["runs"] = sides.iter().map(|named| json!(named.run.id)).collect::<Value>();
        said["mixes"] = mixes.iter().map(|mix| json!(mix.name)).collect::<Value>();
        output::print_json(&said)?;
    } else {
        output::print(&split.page)?;
    }
    Ok(Outcome::Done)
}

/// As [`lacking::check`] and [`lacking::refuse`], for factors, which need every price.
pub(crate) fn needs_all(mix: &Mix, runs: &[Named], predictions: &[Prediction]) -> Result<(), Misuse> {
    lacking::check(mix, runs, predictions)?;
    lacking::refuse(mix, runs, predictions)
}
