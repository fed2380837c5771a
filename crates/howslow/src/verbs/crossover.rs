//! `howslow crossover`: where one operation overtakes another along an axis.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use instruments::advise::{By, CrossoverError, CrossoverRequest};
use measure::Measurement;
use operation::{Axis, Item, Value};
use record::units::{range, significant};
use record::{Cost, Run, Skip};
use report::document::CrossoverDocument;
use report::{CrossoverShown, Style};

use crate::cli::measure::MeasureArgs;
use crate::cli::value;
use crate::output::{self, Misuse, Outcome};
use crate::pattern::{self, Pattern};
use crate::pictures;
use crate::session::{self, Wanted};

const EXPLAINED: &str = "\
Both operations are measured at the same numbers of the axis, round by round in turns, first coarsely
over the range, then about the crossing. The other axes take their first headline value, unless a
point says another: pipe.roundtrip@distance=other.
Examples: howslow crossover file.read file.map.read.unmap --axis size
          howslow crossover pipe.roundtrip shared.spin.roundtrip --axis size --range 1..64KiB
          howslow crossover tcp.send tcp.send.zerocopy --axis size --svg charts
          howslow crossover wait.spin wait.block --axis nanoseconds --by processor
Exit status: 0 done, whatever the answer is; 1 failed; 2 misused: an unknown operation, an axis that
they do not have in common, a range outside its bounds; 3 an operation cannot be measured here.";

/// Where one operation overtakes another along an axis, with an interval
#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct CrossoverArgs {
    /// The first operation, optionally at a point: file.read, pipe.roundtrip@distance=other
    #[arg(value_name = "A", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub first: String,
    /// The second operation
    #[arg(value_name = "B", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub second: String,
    /// The axis along which they are compared, which both have
    #[arg(long)]
    pub axis: String,
    /// The numbers to look at, from the least to the greatest [default: all that both take]
    #[arg(long, value_name = "LOW..HIGH", value_parser = value::range, allow_hyphen_values = true)]
    pub range: Option<(u64, u64)>,
    /// What is compared
    #[arg(long, value_enum, default_value_t = By::Time)]
    pub by: By,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// Seconds it takes where nothing else is given.
const BUDGET: f64 = 20.0;

pub(crate) fn crossover(args: &CrossoverArgs) -> anyhow::Result<Outcome> {
    session::has_no_csv(&args.measure, "`howslow crossover`")?;
    pictures::check(args.measure.svg.as_deref())?;
    let request = request(args)?;
    let mut all: Option<Measurement> = None;
    let found =
        instruments::advise::crossover(&request, &mut |items, time| measured(items, time, &args.measure, &mut all));
    let found = match found {
        Ok(found) => found,
        Err(CrossoverError::Measuring(error)) => return Err(error),
        Err(too_few) => return Err(Misuse(too_few.to_string()).into()),
    };
    let Some(all) = all else { return Err(anyhow!(session::NOTHING)) };
    let (run, ending) = session::finish(all, &args.measure);
    let names = request.items.clone().map(|item| name(&item, &request.axis));
    let mut notes = notes(&request, &run);
    notes.extend(found.points.first().and_then(|point| payloads(&request.at(point.at as u64))));
    let shown = CrossoverShown {
        names,
        axis: &request.axis,
        unit: request.items[0].operation.axis(&request.axis).map(|axis| axis.unit).unwrap_or_default(),
        by: if request.by == By::Time { "time" } else { "processor time" },
        answer: &found.answer,
        points: &found.points,
        notes: &notes,
    };
    print(&shown, args)?;
    match ending.outcome()? {
        Outcome::Done if found.points.is_empty() => Ok(Outcome::Skipped),
        outcome => Ok(outcome),
    }
}

fn print(shown: &CrossoverShown<'_>, args: &CrossoverArgs) -> anyhow::Result<()> {
    let page = |style: Style| report::crossover(shown, style.width(), style);
    output::answer(args.measure.json, &CrossoverDocument::of(shown), page)?;
    let name = format!("crossover {} {}", shown.names[0], shown.names[1]);
    pictures::write_charts(args.measure.svg.as_deref(), [(name, shown.chart())])
}

/// What is requested, or why it cannot be meant.
fn request(args: &CrossoverArgs) -> Result<CrossoverRequest, Misuse> {
    let items = [one(&args.first, &args.axis)?, one(&args.second, &args.axis)?];
    let [first, second] = &items;
    if first.operation.id == second.operation.id && first.point == second.point {
        let name = name(first, &args.axis);
        return Err(Misuse(format!("both are {name}; name two operations, or two points of one (see `howslow list`)")));
    }
    let ranges = items.clone().map(|item| item.operation.axis(&args.axis).and_then(ends));
    let all = match ranges {
        [Some(one), Some(other)] => (one.0.max(other.0), one.1.min(other.1)),
        _ => return Err(Misuse(format!("the axis {} has no numbers; choose another", args.axis))),
    };
    let range = args.range.unwrap_or(all);
    if range.0 < all.0 || range.1 > all.1 {
        let given = format!("{}..{}", range.0, range.1);
        return Err(Misuse(format!("--range {given}: both operations take {} from {} to {}", args.axis, all.0, all.1)));
    }
    let budget = Duration::from_secs_f64(args.measure.budget.unwrap_or(BUDGET));
    Ok(CrossoverRequest { items, axis: args.axis.clone(), range, by: args.by, budget })
}

/// The one operation that a text names, at its first usual point.
fn one(text: &str, axis: &str) -> Result<Item, Misuse> {
    let pattern = Pattern::parse(text)?;
    let mut items = pattern::choose(&[pattern], false)?;
    // A whole id means itself, also where others begin with it.
    let id = text.split('@').next().unwrap_or(text);
    if items.iter().any(|item| item.operation.id == id) {
        items.retain(|item| item.operation.id == id);
    }
    let first = items.first().cloned().ok_or_else(|| Misuse(format!("'{}' means nothing", record::printable(text))))?;
    if let Some(other) = items.iter().find(|item| item.operation.id != first.operation.id) {
        let (text, one, other) = (record::printable(text), first.operation.id, other.operation.id);
        return Err(Misuse(format!("'{text}' means {one}, {other} and perhaps more; name one")));
    }
    if first.operation.axis(axis).is_none() {
        let axes: Vec<&str> = first.operation.axes.iter().map(|axis| axis.name).collect();
        let has = if axes.is_empty() { "has none".into() } else { format!("has {}", axes.join(", ")) };
        return Err(Misuse(format!("{} has no axis {}; it {has}", first.operation.id, record::printable(axis))));
    }
    Ok(first)
}

/// The least and the greatest number of an axis.
fn ends(axis: &Axis) -> Option<(u64, u64)> {
    let values = axis.values.iter().filter_map(Value::number);
    let (low, high) = (values.clone().min(), values.max());
    match axis.bounds {
        Some(bounds) => Some((low.unwrap_or(bounds.low).min(bounds.low), high.unwrap_or(bounds.high).max(bounds.high))),
        None => low.zip(high),
    }
}

/// Measures one step, and adds it to what was measured before.
fn measured(
    items: Vec<Item>,
    time: Duration,
    args: &MeasureArgs,
    all: &mut Option<Measurement>,
) -> anyhow::Result<Vec<Cost>> {
    if all.as_ref().is_some_and(|all| all.interrupted.is_some()) {
        return Ok(Vec::new());
    }
    let args = MeasureArgs { budget: Some(time.as_secs_f64()), ..args.clone() };
    let step = session::measure_part(Wanted::of(items, time.as_secs_f64()), &args)?;
    let costs = step.run.costs.clone();
    match all {
        None => *all = Some(step),
        Some(all) => join(all, step),
    }
    Ok(costs)
}

/// A run with what a later step added. The later cost at a point stands for both.
fn join(all: &mut Measurement, step: Measurement) {
    let Run { costs, skipped, finished, settings, .. } = step.run;
    all.run.costs.retain(|cost| !costs.iter().any(|new| new.operation == cost.operation && new.at == cost.at));
    all.run.costs.extend(costs);
    let known =
        |skip: &Skip| all.run.skipped.iter().any(|known| known.operation == skip.operation && known.at == skip.at);
    let new: Vec<Skip> = skipped.into_iter().filter(|skip| !known(skip)).collect();
    all.run.skipped.extend(new);
    all.run.settings.patterns.extend(settings.patterns);
    all.run.finished = finished;
    all.run.note_units();
    (all.interrupted, all.width) = (step.interrupted, step.width);
}

/// An operation with the point of its other axes.
fn name(item: &Item, axis: &str) -> String {
    let mut point = item.point.clone();
    point.0.remove(axis);
    format!("{}{}", item.operation.id, point.typed())
}

/// What could not be measured, and what the operations counted themselves.
fn notes(request: &CrossoverRequest, run: &Run) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for skip in &run.skipped {
        let remedy = if skip.remedy.is_empty() { String::new() } else { format!("; {}", skip.remedy) };
        notes.push(format!("not measured: {}{}: {}{remedy}", skip.operation, skip.at, skip.reason));
    }
    notes.truncate(4);
    for item in &request.items {
        let of_it = run.costs.iter().filter(|cost| cost.operation == item.operation.id);
        let mut counts: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (name, count) in of_it.flat_map(|cost| &cost.tallies).filter(|(name, _)| !name.starts_with("mode ")) {
            let ends = counts.entry(name).or_insert((*count, *count));
            *ends = (ends.0.min(*count), ends.1.max(*count));
        }
        for (name, (low, high)) in counts {
            let range = range(significant(low), significant(high));
            notes.push(format!("{}: {name} {range}", item.operation.id));
        }
    }
    notes
}

/// Payloads that differ at the same number.
fn payloads(items: &[Item; 2]) -> Option<String> {
    let [one, other] = items.each_ref().map(|item| item.operation.payload(&item.point).0);
    let [first, second] = items.each_ref().map(|item| item.operation.id);
    let why = || format!("{first} moves {one} bytes where {second} moves {other}: costs are of one iteration of each");
    (one != other).then(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_compared_at_one_number() {
        let items = ["pipe.self", "memory.copy"].map(|id| one(id, "size").expect("an operation"));
        let budget = Duration::from_secs(1);
        let request = CrossoverRequest { items, axis: "size".into(), range: (64, 4096), by: By::Time, budget };
        assert_eq!(payloads(&request.at(512)), None);
    }
}
