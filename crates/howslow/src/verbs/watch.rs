//! `howslow watch`: the newest run beside the earlier ones of its machine, what changed, and when.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use analysis::compare::{Conditions, differences};
use analysis::statistics::Interval;
use analysis::watch::{Change, ENOUGH_RUNS, Observed, Strictness, changes};
use clap::Args;
use record::units::counted;
use record::{Cost, Point, largest_first};
use report::document::{WatchChange, WatchCost, WatchDocument, WatchFact};
use store::{CostTable, Filter, Head, Row, Series, Store};

use crate::cli::value::share;
use crate::output::{self, Misuse, Outcome};
use crate::pattern::Pattern;
use crate::resolve;

const WATCHED: &str = "\
A cost changed if the runs before and after differ by more than their scatter and by --at-least.
Exit status: 0 no cost changed; 1 the store could not be read; 2 misused: no such run, fewer than four
earlier runs; 5 a cost is at a new level.
Examples: howslow watch
          howslow watch --operation 'syscall.*' --since 2w";

/// Say which costs of this machine changed, when, and what else changed then; exits with 5 if one did
#[derive(Debug, Args)]
#[command(after_help = WATCHED)]
pub(crate) struct WatchArgs {
    /// The run that is held against earlier ones [default: the newest kept run]
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub run: Option<String>,
    /// Only these costs: an id, family or glob, optionally at a point; may be repeated
    #[arg(long, value_name = "PATTERN", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub operation: Vec<String>,
    /// Tell the changes since then: 3d, 12h, 2w, or a date such as 2026-11-20 (UTC) [default: those of the last ten runs]
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// The smallest change that counts
    #[arg(long = "at-least", value_name = "PERCENT", default_value = "1%", value_parser = share, allow_hyphen_values = true)]
    pub least: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Older runs mean nothing for the present machine.
const MOST_RUNS: usize = 200;

/// Without --since, a change is reported for so many runs; then its level is the usual one.
const NEW_FOR: usize = 10;

/// Figures with these doubts are no figures of this machine at rest.
const UNUSABLE: [&str; 6] =
    ["never_quiet", "from_disturbed", "few_rounds", "negative_net", "implausible", "round_lost"];

/// One cost in the runs of a machine, by the place of the run.
type History = BTreeMap<usize, Observed>;

pub(crate) fn watch(args: &WatchArgs) -> anyhow::Result<Outcome> {
    let store = resolve::store()?;
    let patterns = resolve::patterns(&args.operation)?;
    let since = args.since.as_deref().map(resolve::since).transpose()?;
    let newest = newest(&store, args.run.as_deref())?;
    let document = document(&store, &newest, &patterns, since.as_deref(), args.least)?;
    output::answer(args.json, &document, |style| report::watch(&document, style))?;
    Ok(if document.changed { Outcome::Changed } else { Outcome::Done })
}

/// What changed among the runs of this one's machine. Fails if too few runs are kept, or none of its costs can be watched.
pub(crate) fn document(
    store: &Store,
    newest: &Head,
    patterns: &[Pattern],
    since: Option<&str>,
    least: f64,
) -> anyhow::Result<WatchDocument> {
    let (runs, among) = compared_runs(store, newest)?;
    let mut histories = histories(store, &runs, newest, patterns)?;
    let all = histories.len();
    histories.retain(|(_, history)| history.len() > ENOUGH_RUNS);
    if histories.is_empty() && all > 0 {
        let why = format!("none of its {all} costs is in {ENOUGH_RUNS} earlier runs with an interval");
        return Err(Misuse(format!("{} cannot be watched yet: {why}", newest.id)).into());
    }
    if histories.is_empty() {
        let why = "only one with an interval, without a serious doubt, is; `howslow show` lists what a run has";
        return Err(Misuse(format!("no cost of that run can be watched: {why}")).into());
    }
    let strict = Strictness { costs: histories.len(), least };
    // By the run that a change begins with.
    let mut found: BTreeMap<usize, (usize, Vec<(WatchCost, usize)>)> = BTreeMap::new();
    for (series, history) in &histories {
        let places: Vec<usize> = history.keys().copied().collect();
        let observed: Vec<Observed> = history.values().copied().collect();
        for change in changes(&observed, strict) {
            let Change { begins, ends, ratio, .. } = change;
            let lasts = ends == places.len();
            let entry = found.entry(places[begins]).or_insert_with(|| (places[begins - 1], Vec::new()));
            let cost = series.name();
            let changed = WatchCost { cost, ratio: ratio.value, low: ratio.low, high: ratio.high, lasts };
            entry.1.push((changed, ends - begins));
        }
    }
    let is_new = |place: &usize| match since {
        Some(since) => runs[*place].ordered.as_str() >= since,
        None => place + NEW_FOR >= runs.len(),
    };
    let recent = found.into_iter().rev().filter(|(place, _)| is_new(place));
    let reported: Vec<WatchChange> =
        recent.filter_map(|(place, (before, costs))| group(store, &runs, place, before, costs)).collect();
    Ok(WatchDocument {
        run: newest.id.clone(),
        started: newest.started.clone(),
        host: newest.host.clone(),
        class: newest.class.clone(),
        among,
        others: runs.len() - 1,
        costs: histories.len(),
        too_few: all - histories.len(),
        least,
        changed: reported.iter().flat_map(|change| &change.costs).any(|cost| cost.lasts),
        changes: reported,
    })
}

/// The run that is held against the others.
fn newest(store: &Store, name: Option<&str>) -> anyhow::Result<Head> {
    let run = name.map(resolve::run).transpose()?;
    let heads = store.runs(&Filter { newest: if run.is_some() { None } else { Some(1) }, ..Filter::default() })?;
    let found = heads.into_iter().find(|head| run.as_ref().is_none_or(|run| head.is_of(run)));
    let text = match (found, name) {
        (Some(head), _) => return Ok(head),
        (None, Some(name)) => {
            let (name, place) = (record::printable(name), store.place());
            format!("{name} is not kept in {place}, so it has no history; `howslow history --take-in FILE` takes it in")
        }
        (None, None) => format!("no run is kept in {}; `howslow` makes the first", store.place()),
    };
    Err(Misuse(text).into())
}

/// The runs up to this one of its machine, or of its class where those are too few, oldest first.
fn compared_runs(store: &Store, newest: &Head) -> anyhow::Result<(Vec<Head>, &'static str)> {
    // Of that class, and not later than the newest one.
    let class = store.runs(&Filter { machine: Some(newest.class.clone()), ..Filter::default() })?;
    let earlier =
        |head: &&Head| head.class == newest.class && (&head.ordered, &head.id) < (&newest.ordered, &newest.id);
    let all: Vec<Head> = class.iter().filter(earlier).take(MOST_RUNS).cloned().collect();
    let own = class.iter().filter(earlier).filter(|head| head.host == newest.host).take(MOST_RUNS);
    let own: Vec<Head> = own.cloned().collect();
    let (mut runs, among) = if own.len() >= ENOUGH_RUNS { (own, "machine") } else { (all, "class") };
    if runs.len() < ENOUGH_RUNS {
        let text = format!("{} has {} in {}", newest.id, counted(runs.len() as u64, "earlier run"), store.place());
        let needed = format!("of its machine and its class together; a watch needs {ENOUGH_RUNS}");
        return Err(Misuse(format!("{text}, {needed}")).into());
    }
    runs.reverse();
    runs.push(newest.clone());
    Ok((runs, among))
}

/// The costs of the newest run that the patterns mean, each with its figures in all of these runs.
fn histories(
    store: &Store,
    runs: &[Head],
    newest: &Head,
    patterns: &[Pattern],
) -> anyhow::Result<Vec<(Series, History)>> {
    let place: BTreeMap<[&str; 3], usize> = runs.iter().enumerate().map(|(place, run)| (run.name(), place)).collect();
    let means = |one: &Pattern, series: &Series| one.means(&series.operation, &Point::of_text(&series.point));
    let wanted = |series: &Series| patterns.is_empty() || patterns.iter().any(|one| means(one, series));
    let mut histories: BTreeMap<u32, History> = BTreeMap::new();
    let since = runs.first().map(|run| run.ordered.clone());
    let filter = Filter { machine: Some(newest.class.clone()), since, ..Filter::default() };
    let mut each = |table: &CostTable, row: Row| {
        let run = &table.runs[row.run as usize];
        let place = place.get(&run.name());
        if let (Some(place), Some(observed)) = (place, observed(table, row)) {
            histories.entry(row.series).or_default().insert(*place, observed);
        }
        ControlFlow::Continue(())
    };
    let table = store.costs(&filter, &wanted, &mut each)?;
    let last = runs.len() - 1;
    let watched = histories.into_iter().filter(|(_, history)| history.contains_key(&last));
    Ok(watched.map(|(series, history)| (table.series[series as usize].clone(), history)).collect())
}

/// A row as the analysis wants it, if it is usable.
fn observed(table: &CostTable, row: Row) -> Option<Observed> {
    let series = &table.series[row.series as usize];
    let doubts = &table.doubts[row.doubts as usize];
    let figure = if series.follows_clock && series.estimator == "quiet" { row.cycles } else { row.value };
    let observed = Observed::of(figure, Interval { value: row.value, low: row.low, high: row.high });
    let Observed { figure, reach } = observed;
    let usable = figure.is_finite() && figure > 0.0 && row.low > 0.0 && reach.is_finite() && reach > 0.0;
    let doubted = doubts.split(',').any(|kind| UNUSABLE.contains(&kind.rsplit(':').next().unwrap_or(kind)));
    (usable && !doubted).then_some(observed)
}

/// The costs that changed at one run, each with the number of runs that show it, with what else changed then. `None` if the load of other
/// programs explains them all.
fn group(
    store: &Store,
    runs: &[Head],
    place: usize,
    before: usize,
    mut costs: Vec<(WatchCost, usize)>,
) -> Option<WatchChange> {
    largest_first(&mut costs, |(one, _)| one.ratio.ln().abs());
    let documents: Vec<_> = [before, place].iter().filter_map(|place| store.read(&runs[*place]).ok()).collect();
    let mut facts = Vec::new();
    if let [base, other] = &documents[..] {
        let conditions = Conditions::between(base, other);
        let is_it = |cost: &&Cost, changed: &WatchCost| cost.name() == changed.cost;
        let found = |changed: &WatchCost| other.costs.iter().find(|cost| is_it(cost, changed));
        costs.retain(|(changed, _)| found(changed).is_none_or(|cost| conditions.allow(&[cost])));
        facts = differences(&documents);
    }
    let shown_by = costs.iter().map(|(_, runs)| *runs).max()?;
    let also = facts.into_iter().map(|fact| {
        let mut values = fact.values.into_iter();
        let [before, after] = [values.next(), values.next()].map(Option::unwrap_or_default);
        WatchFact { field: fact.field, before, after }
    });
    Some(WatchChange {
        since: runs[place].id.clone(),
        started: runs[place].started.clone(),
        before: runs[before].id.clone(),
        runs: shown_by,
        costs: costs.into_iter().map(|(cost, _)| cost).collect(),
        also: also.collect(),
    })
}
