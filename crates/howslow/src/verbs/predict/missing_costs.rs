//! Costs that a mix needs and the runs do not have: misuse if nothing could measure them, otherwise reported with how to measure
//! them.

use std::collections::BTreeSet;
use std::fmt::Write;

use analysis::mix::Lack;
use analysis::predict::{MachineState, MixPrediction, predict_in};
use operation::Item;
use record::{Mix, MixLine, Point, Run, printable};

use super::pricing::names;
use crate::output::Misuse;
use crate::pattern::{self, Pattern, few, nearest_of, points_of};
use crate::resolve::Named;
use crate::verbs::bill::kept::Kept;

/// Seconds that measuring what a mix lacks may take.
const BUDGET: f64 = 45.0;

/// Refuses a mix that names an operation that no run has and nothing can measure, or one that is ambiguous.
pub(super) fn check(mix: &Mix, runs: &[Named], predictions: &[MixPrediction]) -> Result<(), Misuse> {
    for (named, prediction) in runs.iter().zip(predictions) {
        for (line, lack) in &prediction.lacking {
            let (run, name) = (printable(named.name), line.typed());
            match lack {
                Lack::Several(names) => {
                    let several = few(names, 8, " ");
                    return Err(Misuse(format!("in the mix '{}', {name} is ambiguous; {run} has {several}", mix.name)));
                }
                Lack::Absurd => return Err(Misuse(format!("{run}: the cost of {name} is not a time"))),
                Lack::Missing(_) => {}
            }
        }
    }
    for (place, line) in mix.lines.iter().enumerate() {
        if predictions.iter().all(|prediction| prediction.rows[place].by.is_none()) {
            could_be_measured(mix, line, runs)?;
        }
    }
    Ok(())
}

/// Refuses a line that no run has and that names nothing that howslow measures.
fn could_be_measured(mix: &Mix, line: &MixLine, runs: &[Named]) -> Result<(), Misuse> {
    let id = line.term.operation.as_str();
    let Some(operation) = catalogue::all().find(|operation| operation.id == id) else {
        if own_work(id).is_some() {
            return Ok(());
        }
        let timing: Vec<&str> = catalogue::timing(id).map(|operation| operation.id).collect();
        let hint = if timing.is_empty() {
            let own = runs.iter().flat_map(|named| &named.run.costs).map(|cost| cost.operation.as_str());
            nearest_of(id, catalogue::all().map(|operation| operation.id).chain(own).collect())
        } else {
            format!("the system call is timed by {}; ", timing.join(", "))
        };
        let text = format!("the mix '{}' names an operation '{id}' that neither howslow nor the run has", mix.name);
        return Err(Misuse(format!("{text}; {hint}`howslow list` shows all")));
    };
    let spoken = |point: &Point| line.term.at.0.iter().all(|(axis, value)| point.0.get(axis) == Some(value));
    if operation.points(false).iter().any(spoken) {
        return Ok(());
    }
    let text = format!("the mix '{}' names the point {}", mix.name, line.term.at.typed());
    Err(Misuse(format!("{text}, at which {id} is not measured; it is measured {}", points_of(operation))))
}

/// The command that times a user-supplied routine or command, which is the name of its cost.
fn own_work(id: &str) -> Option<String> {
    if id == catalogue::command::NOTHING.id {
        return Some("howslow time -- true".into());
    }
    if let Some(words) = id.strip_prefix("command: ") {
        return Some(format!("howslow time -- {words}"));
    }
    let routine = id.rsplit_once(':').filter(|(file, name)| file.contains(".so") && !name.is_empty());
    routine.map(|_| format!("howslow time {}", shell_words::quote(id)))
}

/// What measures a line; `None` if howslow cannot, because only a book has it.
pub(super) fn command(line: &MixLine) -> Option<String> {
    let run = || registered(line).then(|| format!("howslow run {}", shell_words::quote(&line.typed())));
    own_work(&line.term.operation).or_else(run)
}

/// Measures what the mixes need and the runs lack, as `howslow bill --measure` does, and adds it to the runs in memory. Returns
/// the signal that cut it short. Fails if a run that lacks something is one of another machine, or if nothing can be measured.
pub(super) fn measure(mixes: &[Mix], on: &[String], runs: &mut [Run]) -> anyhow::Result<Option<i32>> {
    for (name, run) in on.iter().zip(runs) {
        let items = measurable(mixes, run)?;
        if items.is_empty() {
            continue;
        }
        let mut kept = Kept::of(run.clone());
        kept.check_measurable(name)?;
        if let Some(signal) = kept.measure(items, BUDGET)? {
            return Ok(Some(signal));
        }
        if let Some(completed) = kept.run() {
            run.clone_from(completed);
        }
    }
    Ok(None)
}

/// What `howslow run` can measure of the costs that a run lacks.
fn measurable(mixes: &[Mix], run: &Run) -> Result<Vec<Item>, Misuse> {
    let predictions = mixes.iter().map(|mix| predict_in(MachineState::Quiet, mix, run, 0, &names));
    let lacking = predictions.flat_map(|prediction| prediction.lacking);
    let missing = lacking.filter(|(_, lack)| matches!(lack, Lack::Missing(_))).map(|(line, _)| line);
    items(&missing.collect::<Vec<_>>())
}

/// What `howslow run` can measure of all costs of a mix.
pub(crate) fn of_mix(mix: &Mix) -> Result<Vec<Item>, Misuse> {
    for line in &mix.lines {
        could_be_measured(mix, line, &[])?;
    }
    items(&mix.lines)
}

/// What prices these lines and can be measured.
fn items(lines: &[MixLine]) -> Result<Vec<Item>, Misuse> {
    let mut patterns: Vec<Pattern> = Vec::new();
    for line in lines.iter().filter(|line| registered(line)) {
        let pattern = Pattern::parse(&line.name())?;
        // A point that the operation does not have is reported when the mix is checked.
        if pattern.selects_any() {
            patterns.push(pattern);
        }
    }
    // No pattern at all would mean every operation.
    if patterns.is_empty() { Ok(Vec::new()) } else { pattern::choose(&patterns, false) }
}

/// Refuses to predict if a run lacks what the mix needs. Lists the missing costs, with what would measure them.
pub(super) fn refuse(mix: &Mix, runs: &[Named], predictions: &[MixPrediction], remedy: &str) -> Result<(), Misuse> {
    lacking(mix, runs, predictions).map_or(Ok(()), |text| Err(Misuse(format!("{text}\n{remedy}"))))
}

/// What each run lacks, with what would measure it; `None` if that is nothing.
fn lacking(mix: &Mix, runs: &[Named], predictions: &[MixPrediction]) -> Option<String> {
    let mut text = String::new();
    for (named, prediction) in runs.iter().zip(predictions).filter(|(_, prediction)| !prediction.lacking.is_empty()) {
        // A mix may have one operation in several lines, as for several calls.
        let count = prediction.lacking.iter().map(|(line, _)| line.name()).collect::<BTreeSet<_>>().len();
        let all = mix.lines.iter().map(MixLine::name).collect::<BTreeSet<_>>().len();
        let mut listed = BTreeSet::new();
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ =
            write!(text, "{gap}{} lacks {count} of the {all} costs of the mix '{}':", printable(named.name), mix.name);
        for (line, lack) in prediction.lacking.iter().filter(|(line, _)| listed.insert(line.name())) {
            let why = if let Lack::Missing(Some(why)) = lack { format!(" ({why})") } else { String::new() };
            let _ = write!(text, "\n  {}{why}", line.typed());
        }
        let nothing = "\nit is a book or imported, so nothing more can be measured there";
        text += &if named.run.is_published() { nothing.into() } else { to_measure(prediction) };
    }
    (!text.is_empty()).then_some(text)
}

/// The commands that measure the missing costs.
fn to_measure(prediction: &MixPrediction) -> String {
    let mut ids: Vec<String> = Vec::new();
    let mut text = String::new();
    for (line, _) in &prediction.lacking {
        let quoted = shell_words::quote(&line.typed()).into_owned();
        if registered(line) && !ids.contains(&quoted) {
            ids.push(quoted);
        }
    }
    if !ids.is_empty() {
        let _ = write!(text, "\nmeasure them there: howslow run {}", ids.join(" "));
    }
    for own in prediction.lacking.iter().filter_map(|(line, _)| own_work(&line.term.operation)) {
        let _ = write!(text, "\nmeasure there: {own}");
    }
    text
}

/// True if `howslow run` can measure it.
fn registered(line: &MixLine) -> bool {
    catalogue::all().any(|operation| operation.id == line.term.operation)
}

/// Like [`check`] and [`refuse`], for factors, which need every price.
pub(crate) fn needs_all(mix: &Mix, runs: &[Named], predictions: &[MixPrediction]) -> Result<(), Misuse> {
    check(mix, runs, predictions)?;
    refuse(mix, runs, predictions, "`howslow predict MIX --on RUN --partial` predicts one run without them")
}
