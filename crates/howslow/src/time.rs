//! `howslow time`: user-supplied routines and commands, measured like any operation.

use std::ffi::OsString;

use operation::{Item, Operation};
use operations::command::{self, CommandError, CommandOptions, Cpus, OnFailure};
use operations::{HUNG_REMEDY, routine};
use record::{Estimate, Point, Skip, printable};
use report::COMMANDS;

use crate::cli::TimeArgs;
use crate::output::{Misuse, Outcome, say};
use crate::session::{self, Wanted};

const BUDGET: f64 = 30.0;
/// The seconds after which a round of a command counts as hung. Commands may take long.
const PATIENCE: f64 = 600.0;
/// A routine that hangs is given up after three rounds, which must leave most of the budget for the others.
const PATIENCE_SHARE: f64 = 0.1;
/// The heading of the page's routines.
const ROUTINES: &str = "routines";
/// A trial whose processor time is a larger share of its elapsed time than this ran on several CPUs at once.
const PARALLEL: f64 = 1.15;

pub(crate) fn time(args: &TimeArgs) -> anyhow::Result<Outcome> {
    session::has_chart(&args.measure)?;
    let commands = commands(args)?;
    let names: Vec<String> =
        args.routines.iter().map(|name| printable(name)).chain(commands.iter().map(|(name, _)| name.clone())).collect();
    if let Some(twice) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
        return Err(Misuse(format!("'{}' is given twice; give it once, every round repeats it", twice.1)).into());
    }
    let routines = args.routines.iter().map(|name| routine_of(name, args)).collect::<Result<Vec<_>, _>>()?;
    let (tried, failed) = try_all(&commands, args)?;
    if routines.is_empty() && tried.is_empty() {
        let reasons: Vec<String> = failed.iter().map(|skip| format!("{}: {}", skip.operation, skip.reason)).collect();
        anyhow::bail!("{}", reasons.join("\n"));
    }
    let wanted = Wanted { items: items(&routines, &tried), patterns: names.clone(), full: false, budget_s: BUDGET };
    let mut measured = session::measure(wanted, &args.measure)?;
    let run = &mut measured.run;
    for cost in run.costs.iter_mut().filter(|cost| cost.group.is_empty()) {
        let is_routine = routines.iter().any(|routine| routine.id == cost.operation);
        cost.group = if is_routine { ROUTINES } else { COMMANDS }.into();
    }
    run.skipped.extend(failed);
    let is_named = |skip: &Skip| names.contains(&skip.operation);
    let none = !run.costs.iter().any(|cost| names.contains(&cost.operation)) && measured.interrupted.is_none();
    let outcome = session::print_run(measured, &args.measure, &is_named)?;
    if none {
        anyhow::bail!("nothing could be timed; the page says why");
    }
    Ok(outcome)
}

fn routine_of(name: &str, args: &TimeArgs) -> Result<&'static Operation, Misuse> {
    let patience = (args.measure.budget.unwrap_or(BUDGET) * PATIENCE_SHARE).max(1.0);
    let quoted = if args.waits { Estimate::Typical } else { Estimate::Quiet };
    routine::routine(name, args.patience.unwrap_or(patience), quoted)
        .map_err(|error| Misuse(printable(&error.to_string())))
}

/// The given commands, each with its name and its words.
fn commands(args: &TimeArgs) -> Result<Vec<(String, Vec<String>)>, Misuse> {
    let split =
        |text: &String| shell_words::split(text).map_err(|error| Misuse(format!("-c '{}': {error}", printable(text))));
    let mut commands = args.commands.iter().map(split).collect::<Result<Vec<_>, _>>()?;
    if !args.words.is_empty() {
        commands.push(args.words.clone());
    }
    let named =
        commands.into_iter().map(|words| (format!("command: {}", printable(&shell_words::join(&words))), words));
    Ok(named.collect())
}

/// Tries every command once. Those that fail become skips.
fn try_all(
    commands: &[(String, Vec<String>)],
    args: &TimeArgs,
) -> Result<(Vec<&'static Operation>, Vec<Skip>), Misuse> {
    let running = CommandOptions {
        patience: args.patience.unwrap_or(PATIENCE),
        on_failure: if args.ignore_failure { OnFailure::Ignore } else { OnFailure::Refuse },
        cpus: if args.all_cpus { Cpus::All } else { Cpus::One },
        quoted: args.waits.then_some(Estimate::Typical),
    };
    let (mut tried, mut failed) = (Vec::new(), Vec::new());
    for (name, words) in commands {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        match command::command(name, &words, running) {
            Ok(good) => {
                if good.busy > PARALLEL && running.cpus == Cpus::One {
                    say(&format!(
                        "{name} keeps {:.1} CPUs busy, but is timed on one; --all-cpus lets it use all",
                        good.busy
                    ));
                }
                tried.push(good.operation);
            }
            Err(CommandError::Failed(reason)) => failed.push(untimed(name, &reason, "")),
            Err(CommandError::Hung(reason)) => failed.push(untimed(name, &reason, HUNG_REMEDY)),
            Err(misuse) => return Err(Misuse(printable(&misuse.to_string()))),
        }
    }
    Ok((tried, failed))
}

fn untimed(name: &str, reason: &str, remedy: &str) -> Skip {
    Skip { operation: name.into(), at: Point::default(), reason: printable(reason), remedy: remedy.into() }
}

/// What was given, and the do-nothing command if there are commands.
fn items(routines: &[&'static Operation], commands: &[&'static Operation]) -> Vec<Item> {
    let baseline = (!commands.is_empty()).then(|| operations::find(command::NOTHING.id)).flatten();
    let own = routines.iter().chain(commands).copied().chain(baseline);
    own.map(|operation| Item { operation, point: Point::default() }).collect()
}
