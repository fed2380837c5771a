//! `howslow load`: scripted users under limits of memory, processors and eligibility.

pub(crate) mod args;
mod experiment;
mod predict;
mod size;
mod study;
mod trial;

use std::path::Path;

use ::load::{Plan, Remains, Time, dry_run, shipped};
use analysis::load::{Experiment, Forecasts};
use jiff::{SignedDuration, SpanRound, Unit};
use record::units::counted;
use report::document::LoadDocument;

use crate::output::{self, Misuse, Outcome, print_note};
use crate::{pictures, scratch};
use args::LoadArgs;
use experiment::{Stopped, experiment};
pub(crate) use study::{left_out, users_of};

/// Removes what an earlier howslow has left that was killed together with its guards: groups, swap. What cannot be removed is named.
pub(crate) fn remove_remains() {
    let remains = Remains::sweep();
    if !remains.removed.is_empty() {
        print_note(&format!("removed what a killed howslow had left: {}", remains.removed.join(", ")));
    }
    if !remains.stays.is_empty() {
        print_note(&format!(
            "a killed howslow has left what cannot be removed ({}); run howslow once more to try again",
            remains.stays.join(", ")
        ));
    }
}

/// Longer files are no plans.
const MOST_BYTES: u64 = 1 << 20;

/// Longer experiments must be confirmed.
const LONG: f64 = 3600.0;

pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<Outcome> {
    pictures::check(args.svg.as_deref())?;
    output::check_writable(&args.output)?;
    let root = scratch::folder()?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    if let Some(bound) = &args.size_for {
        let plan = size::plan(args, *bound).map_err(Misuse)?;
        check_time((size::STEPS as usize, "trial"), plan.takes(size::STEPS as usize), args.yes)?;
        return size::size(args, &plan, *bound, &root, seed);
    }
    let name = args.plan.as_deref().unwrap_or(Path::new("fortran"));
    let plan = adjusted(read(name)?, args)?;
    check_count(&plan)?;
    let configurations = plan.axes.configurations();
    let before = if args.predict { predict::takes(&plan, &configurations) } else { 0.0 };
    let seconds = plan.takes(configurations.len()) + before;
    check_time((configurations.len(), "configuration"), seconds, args.yes || args.dry_run)?;
    let takes = duration_text(seconds);
    if args.predict {
        predict::check(&plan)?;
    }
    if args.dry_run {
        let mut lines = dry_run(&plan, &configurations, &root)?;
        if args.predict {
            lines.push(format!(
                "{} first, for about {}; predictions are written down before the rest",
                predict::first(&plan, &configurations),
                duration_text(before)
            ));
        }
        lines.push(format!("{}, about {takes}", counted(configurations.len() as u64, "configuration")));
        output::print_page(&(lines.join("\n") + "\n"))?;
        return Ok(Outcome::Done);
    }
    let mut predicted = None;
    if args.predict {
        print_note(&format!("about {takes}, of which {} are for the predictions", duration_text(before)));
        match predict::before(&plan, &configurations, &root, seed) {
            Ok(before) => predicted = Some(before),
            Err(Stopped::Interrupted(signal)) => return Ok(Outcome::Interrupted(signal)),
            Err(Stopped::Failed(error)) => return Err(error.into()),
        }
    }
    let results = experiment(&plan, &configurations, &root, seed)?;
    if let Some(predicted) = &mut predicted {
        predicted.add_halves(&results.measured);
        args.output.as_ref().map_or(Ok(()), |path| predict::write(path, &predicted.forecasts, &results.measured))?;
    }
    print(&results, predicted.as_ref().map(|predicted| &predicted.forecasts), args)?;
    Ok(output::until(results.interrupted))
}

fn print(results: &Experiment, forecasts: Option<&Forecasts>, args: &LoadArgs) -> anyhow::Result<()> {
    let charts = report::load_charts(results, forecasts);
    output::answer(args.json, &LoadDocument::of(results, forecasts, &system::machine::describe()), |style| {
        let predicted =
            forecasts.map(|forecasts| report::load_forecasts(forecasts, &results.measured, style)).unwrap_or_default();
        report::load(results, style) + &predicted + &pictures::drawn(&charts, style)
    })?;
    pictures::write_charts(args.svg.as_deref(), charts)
}

/// The plan of this name, or in this file.
fn read(name: &Path) -> anyhow::Result<Plan> {
    let shown = output::shown(name);
    let wrong = |error: &dyn std::fmt::Display| Misuse(format!("{shown}: {error}"));
    if let Some(plan) = name.to_str().and_then(shipped) {
        return plan.map_err(|error| wrong(&error).into());
    }
    let text = record::read_text(name, MOST_BYTES).map_err(|error| {
        let known = ::load::SHIPPED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        Misuse(format!("{shown}: {error}; name a file, or a plan that comes with howslow: {known}"))
    })?;
    Ok(Plan::from_toml(&text).map_err(|error| wrong(&error))?)
}

/// The plan with what the command line gives instead.
fn adjusted(mut plan: Plan, args: &LoadArgs) -> Result<Plan, Misuse> {
    fn instead<T: Clone>(values: &mut Vec<T>, given: &[T]) {
        if !given.is_empty() {
            *values = given.to_vec();
        }
    }
    instead(&mut plan.axes.users, &args.users);
    instead(&mut plan.axes.memory, &args.memory);
    instead(&mut plan.axes.cpus, &args.cpus);
    instead(&mut plan.axes.eligible, &args.eligible);
    instead(&mut plan.axes.device, &args.device);
    instead(&mut plan.axes.relief, &args.relief);
    plan.axes.repetitions = args.repetitions.unwrap_or(plan.axes.repetitions);
    plan.time = args.time.map_or(plan.time, Time);
    plan.settle = args.settle.map_or(plan.settle, Time);
    plan.check().map_err(|error| Misuse(error.to_string()))?;
    Ok(plan)
}

/// Refuses more configurations than anybody wants. They are counted before they are made.
fn check_count(plan: &Plan) -> Result<(), Misuse> {
    /// More are a mistake, whatever was given.
    const MOST: f64 = 100_000.0;
    let count = plan.axes.count();
    if count > MOST {
        return Err(Misuse(format!("the axes make {count:.0} configurations; at most {MOST:.0} are possible")));
    }
    Ok(())
}

/// Refuses what takes very long, unless that is wanted.
fn check_time((count, what): (usize, &str), seconds: f64, yes: bool) -> Result<(), Misuse> {
    if seconds > LONG && !yes {
        let takes = duration_text(seconds);
        let count = counted(count as u64, what);
        return Err(Misuse(format!("{count} would take about {takes}; give --yes to begin, or a shorter --time")));
    }
    Ok(())
}

/// `3 h 20 min` as jiff prints it.
fn duration_text(seconds: f64) -> String {
    let duration = SignedDuration::from_secs(seconds.round() as i64);
    let days = seconds / 86_400.0;
    if days >= 2.0 {
        return format!("{days:.1} days");
    }
    let options = SpanRound::new().largest(Unit::Hour).smallest(Unit::Second);
    let span = jiff::Span::try_from(duration).ok().and_then(|span| span.round(options).ok());
    span.map_or_else(|| format!("{seconds:.0} s"), |span| format!("{span:#}"))
}
