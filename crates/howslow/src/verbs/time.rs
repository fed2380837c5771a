//! `howslow time`: user-supplied routines and commands, measured like any operation.

pub(crate) mod args;
mod bench;
mod counts;
mod parameters;
mod steps;
mod works;

use std::ffi::OsString;
use std::path::Path;

use catalogue::command::{self, CommandError, CommandOptions, Cpus, OnFailure};
use catalogue::{HUNG_REMEDY, routine};
use measure::Signals;
use operation::{Item, Operation};
use record::{Cost, Estimate, Point, Run, Skip, TimedRatio, printable};
use report::COMMANDS;

use self::works::{Kind, Work, Works};
use crate::budget;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::session::{self, Wanted};
use args::TimeArgs;

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
    if !args.bench.bench.is_empty() {
        return bench::bench(args);
    }
    output::check_writable(&args.export_json)?;
    session::check(&system::machine::describe(), &args.measure)?;
    let works = Works::of(args)?;
    if args.measure.tails && works.all.len() > 1 {
        let why = "--tails takes one command at a time: single iterations of several do not alternate";
        return Err(Misuse(why.into()).into());
    }
    counts::check(&works, args)?;
    // A signal ends what runs; what was set up is cleaned up.
    let signals = Signals::watch();
    let (done, cleaned) = steps::within(&works.all, &signals, || timed(&works, args, &signals));
    let ended = signals.end().map(Outcome::Interrupted).map_or(done, Ok);
    match (ended, cleaned) {
        (Ok(Outcome::Done | Outcome::Skipped | Outcome::GateFailed), Err(why)) => Err(why),
        (ended, cleaned) => {
            // What ended it has the exit status.
            cleaned.unwrap_or_else(|why| print_note(&why.to_string()));
            ended
        }
    }
}

/// The signal that comes meanwhile decides how it ends.
fn timed(works: &Works, args: &TimeArgs, signals: &Signals) -> anyhow::Result<Outcome> {
    let names = works.names();
    let (tried, failed) = try_all(&works.all, args, signals)?;
    if signals.come().is_some() {
        return Ok(Outcome::Done);
    }
    if tried.is_empty() {
        let each = failed.iter().map(|skip| format!("{}: {}", skip.operation, skip.reason));
        let mut reasons: Vec<String> = each.collect();
        reasons.dedup();
        anyhow::bail!("{}", reasons.join("\n"));
    }
    let paired = if tried.len() > 1 { tried.len() } else { 0 };
    let wanted = Wanted { items: items(&tried), patterns: names.clone(), full: false, paired, budget_s: budget::TIME };
    let mut measured = session::measure(wanted, &args.measure)?;
    let run = &mut measured.run;
    for cost in run.costs.iter_mut().filter(|cost| cost.group.is_empty()) {
        let is_routine = tried.iter().any(|(work, _)| is_of(cost, work) && matches!(work.kind, Kind::Routine(_)));
        cost.group = if is_routine { ROUTINES } else { COMMANDS }.into();
    }
    run.skipped.extend(failed);
    let (ratios, sentences) = ratios(run, works);
    run.ratios = ratios;
    if let Some(path) = &args.export_json {
        export_json(run, path)?;
    }
    let counted = counts::counted(works, &tried.iter().map(|(work, _)| *work).collect::<Vec<_>>(), args, signals);
    let is_named = |skip: &Skip| names.contains(&skip.operation);
    let none = !run.costs.iter().any(|cost| names.contains(&cost.operation)) && measured.interrupted.is_none();
    let answer = sentences + counted.as_ref().map_or("", |counted| &counted.text);
    let outcome = session::print_compared(measured, &args.measure, (None, &answer), &is_named)?;
    if none {
        anyhow::bail!("nothing could be timed; the page says why");
    }
    // What could not be counted does not cost the run.
    Ok(match (outcome, counted?.outcome) {
        (Outcome::Done, counted) | (Outcome::Skipped, counted @ Outcome::GateFailed) => counted,
        (outcome, _) => outcome,
    })
}

/// Writes the runs of the routines and commands, without the baselines, as hyperfine does.
fn export_json(run: &Run, path: &Path) -> anyhow::Result<()> {
    let own = |cost: &&Cost| run.settings.patterns.contains(&cost.operation);
    let run = Run { costs: run.costs.iter().filter(own).cloned().collect(), ..run.clone() };
    let mut bytes = Vec::new();
    if let Some(format) = store::exchange::exporter("hyperfine") {
        (format.write)(std::slice::from_ref(&run), &mut bytes)?;
    }
    Ok(store::write_whole(path, &bytes)?)
}

/// How many times as long each takes as the reference, and the same in sentences.
fn ratios(run: &Run, works: &Works) -> (Vec<TimedRatio>, String) {
    let cost = |work: &Work| run.costs.iter().find(|cost| is_of(cost, work));
    let costs: Vec<&Cost> = works.all.iter().filter_map(cost).collect();
    let base = works.reference.map(|place| cost(&works.all[place]));
    if base == Some(None) {
        return (Vec::new(), "\nthe reference could not be timed, so nothing is compared with it\n".into());
    }
    let base = base.flatten();
    (report::ratios(&costs, base), report::relatives(&costs, base, output::style()))
}

fn is_of(cost: &Cost, work: &Work) -> bool {
    cost.operation == work.name && cost.at == work.point
}

fn routine_of(name: &str, args: &TimeArgs) -> Result<&'static Operation, Misuse> {
    let patience = (args.measure.budget.unwrap_or(budget::TIME) * PATIENCE_SHARE).max(1.0);
    let quoted = if args.waits { Estimate::Typical } else { Estimate::Quiet };
    routine::routine(name, args.patience.unwrap_or(patience), quoted)
        .map_err(|error| Misuse(printable(&error.to_string())))
}

type Tried<'w> = Vec<(&'w Work, &'static Operation)>;

/// Looks at every routine, and tries every command once. Those that fail become skips.
fn try_all<'w>(works: &'w [Work], args: &TimeArgs, signals: &Signals) -> Result<(Tried<'w>, Vec<Skip>), Misuse> {
    let (mut tried, mut failed) = (Vec::new(), Vec::new());
    for work in works.iter().take_while(|_| signals.come().is_none()) {
        match &work.kind {
            Kind::Routine(name) => tried.push((work, routine_of(name, args)?)),
            Kind::Command(words) => match try_command(work, words, args, (works.len() > 1, signals))? {
                Ok(operation) => tried.push((work, operation)),
                Err(skip) => failed.push(skip),
            },
        }
    }
    Ok((tried, failed))
}

fn try_command(
    work: &Work,
    words: &[String],
    args: &TimeArgs,
    (in_lockstep, signals): (bool, &Signals),
) -> Result<Result<&'static Operation, Skip>, Misuse> {
    let running = CommandOptions {
        patience: args.patience.unwrap_or(PATIENCE),
        on_failure: if args.ignore_failure { OnFailure::Ignore } else { OnFailure::Refuse },
        cpus: if args.all_cpus { Cpus::All } else { Cpus::One },
        quoted: args.waits.then_some(Estimate::Typical),
        in_lockstep,
    };
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let untimed = |reason: &str, remedy: &str| {
        let (operation, at) = (work.name.clone(), work.point.clone());
        Ok(Err(Skip { operation, at, reason: printable(reason), remedy: remedy.into() }))
    };
    match command::command(&work.name, &words, running, work.around.clone(), &|| signals.come().is_some()) {
        Ok(good) => {
            if good.busy > PARALLEL && running.cpus == Cpus::One {
                let busy = format!("{} keeps {:.1} CPUs busy", work.name, good.busy);
                print_note(&format!("{busy}, but is timed on one; --all-cpus lets it use all"));
            }
            Ok(Ok(good.operation))
        }
        Err(CommandError::Failed(reason)) => untimed(&reason, ""),
        Err(CommandError::Hung(reason)) => untimed(&reason, HUNG_REMEDY),
        Err(misuse) => Err(Misuse(printable(&misuse.to_string()))),
    }
}

/// What was given, and the do-nothing command if there are commands.
fn items(tried: &Tried<'_>) -> Vec<Item> {
    let has_command = tried.iter().any(|(work, _)| matches!(work.kind, Kind::Command(_)));
    let baseline = has_command.then(|| catalogue::find(command::NOTHING.id)).flatten();
    let own = tried.iter().map(|(work, operation)| Item { operation, point: work.point.clone() });
    own.chain(baseline.map(|operation| Item { operation, point: Point::default() })).collect()
}
