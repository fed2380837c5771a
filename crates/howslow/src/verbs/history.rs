//! `howslow history`: the kept runs.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use record::units::counted;
use record::{Cost, Point, Run, Term};
use report::{Kept, KeptFigure};
use store::exchange::{Cell, Table};
use store::{Filter, Head, Series, Store};

use crate::cli::value::at_least_one;
use crate::kin::{self, Kin};
use crate::output::{self, Misuse, Outcome, print_note};
use crate::resolve;

const FILTERS: &str = "\
Examples: howslow history -n 5
          howslow history --since 3d --operation syscall.getppid
          howslow history --take-in results/ --store postgres://howslow@db.example/costs
Exit status: 0 done, also if no run fits; 1 the store could not be read; 2 misused: no such time or folder;
3 done, but a file that --take-in names is no run.";

/// List the kept runs, newest first
#[derive(Debug, Args)]
#[command(after_help = FILTERS, args_conflicts_with_subcommands = true)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub verb: Option<HistoryVerb>,
    /// Only runs of the machine with this host name, or of machines whose class has this text in it
    #[arg(long, value_name = "TEXT")]
    pub machine: Option<String>,
    /// Only runs since then: 3d, 12h, 2w, or a date such as 2026-11-20 (UTC)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only runs that have such a cost: an id, family or glob, optionally at a point; may be repeated
    #[arg(long, value_name = "PATTERN", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub operation: Vec<String>,
    /// Only runs with this label
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// At most this many, the newest ones
    #[arg(short, long, value_name = "N", value_parser = at_least_one::<usize>, allow_hyphen_values = true)]
    pub newest: Option<usize>,
    /// First take these run files, or all of these folders, into the store; the files stay
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub take_in: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print CSV, one row a run
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

const REMOVED: &str = "\
Examples: howslow history remove @1
          howslow history remove label:before 20260103
Exit status: 0 done; 1 failed; 2 misused: no such run. Then nothing is removed.";

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryVerb {
    /// Remove kept runs for good, after printing what they were
    #[command(after_help = REMOVED)]
    Remove {
        /// @1, label:NAME, or the beginning of an id
        #[arg(required = true, value_name = "RUN", add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
        runs: Vec<String>,
    },
}

pub(crate) fn history(args: &HistoryArgs) -> anyhow::Result<Outcome> {
    let store = resolve::store()?;
    if let Some(HistoryVerb::Remove { runs }) = &args.verb {
        return remove(&store, runs);
    }
    let taken = if args.take_in.is_empty() { Outcome::Done } else { take_in(&store, args)? };
    let since = args.since.as_deref().map(resolve::since).transpose()?;
    let filter = Filter { machine: args.machine.clone(), since, label: args.label.clone(), ..Filter::default() };
    let is_filtered = filter != Filter::default() || !args.operation.is_empty();
    // The place is that among all runs, so that @3 means the same run with every filter.
    let all = store.runs(&Filter { newest: args.newest.filter(|_| !is_filtered), ..Filter::default() })?;
    let means = with_operation(&store, &filter, &args.operation)?;
    let is_meant = |head: &Head| means.as_ref().is_none_or(|means| means.contains(&head.name().map(String::from)));
    let chosen: Vec<(Head, usize)> = all.into_iter().zip(1..).filter(|(head, _)| is_meant(head)).collect();
    // Runs that are not listed belong to the same build all the same.
    let newest = args.newest.unwrap_or(usize::MAX);
    let heads: Vec<Head> = chosen.iter().take(newest.max(kin::MOST)).map(|(head, _)| head.clone()).collect();
    let listed = chosen.into_iter().take(newest);
    let (places, mut kept): (Vec<usize>, Vec<Kept>) =
        listed.map(|(head, place)| (place, kept(head, Some(place)))).unzip();
    if !args.operation.is_empty() {
        add_figures(&mut kept, &store, &heads, &args.operation)?;
    }
    if kept.is_empty() && is_filtered {
        print_note(&format!("no run in {} is meant by this; omit an option", store.place()));
    }
    if args.csv {
        crate::verbs::export::print_table(&table(&kept, &places))?;
    } else if args.json {
        output::print_json(&kept)?;
    } else if !kept.is_empty() || !is_filtered {
        // That no run fits is reported already.
        output::print_page(&report::history(&kept, output::style()))?;
    }
    Ok(taken)
}

/// Removes the runs of these names, and prints what they were.
fn remove(store: &Store, names: &[String]) -> anyhow::Result<Outcome> {
    let mut heads: Vec<Head> = Vec::new();
    for name in names {
        let head = store.find(name).map_err(resolve::misuse)?;
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    // By the places before any of them is removed.
    let all = store.list()?;
    let place = |head: &Head| all.iter().position(|known| known.name() == head.name()).map(|before| before + 1);
    let shown: Vec<Kept> = heads.iter().map(|head| kept(head.clone(), place(head))).collect();
    output::print_page(&report::history(&shown, output::style()))?;
    heads.iter().try_for_each(|head| store.remove(head))?;
    print_note(&format!("{} removed from {}", counted(heads.len() as u64, "run"), store.place()));
    Ok(Outcome::Done)
}

/// The runs that the filter means and that have a cost of these patterns, by [`Head::name`]. `None` if all are meant.
fn with_operation(
    store: &Store,
    filter: &Filter,
    patterns: &[String],
) -> anyhow::Result<Option<BTreeSet<[String; 3]>>> {
    let name = |head: &Head| head.name().map(String::from);
    if patterns.is_empty() {
        let means = *filter != Filter::default();
        return Ok(if means { Some(store.runs(filter)?.iter().map(name).collect()) } else { None });
    }
    let patterns = resolve::patterns(patterns)?;
    let wanted = |series: &Series| {
        let point = Point::of_text(&series.point);
        patterns.iter().any(|pattern| pattern.means(&series.operation, &point))
    };
    let mut places = BTreeSet::new();
    let table = store.costs(filter, &wanted, &mut |_, row| {
        places.insert(row.run);
        ControlFlow::Continue(())
    })?;
    Ok(Some(places.into_iter().filter_map(|place| table.runs.get(place as usize)).map(name).collect()))
}

/// Takes the files of the arguments into the store, and reports what became of them. One that was named itself and is refused is missing.
fn take_in(store: &Store, args: &HistoryArgs) -> anyhow::Result<Outcome> {
    for path in &args.take_in {
        path.metadata().map_err(|error| {
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            let why = if is_missing { "there is no such file or folder".into() } else { error.to_string() };
            Misuse(format!("--take-in {}: {why}", output::shown(path)))
        })?;
    }
    let taken = store.take_in(&args.take_in)?;
    for (path, why) in taken.refused.iter().take(5) {
        print_note(&format!("{} is not taken in: {why}", path.display()));
    }
    let count = taken.refused.len();
    let refused = if count > 0 { format!(", {count} refused") } else { String::new() };
    let (new, place, known) = (counted(taken.new as u64, "run"), store.place(), taken.known);
    print_note(&format!("{new} taken into {place}, {known} already there{refused}"));
    let is_missing = taken.refused.iter().any(|(path, _)| args.take_in.contains(path));
    Ok(if is_missing { Outcome::Skipped } else { Outcome::Done })
}

/// The list as a table, with one row a run. Places are those among all runs.
fn table(kept: &[Kept], places: &[usize]) -> Table {
    let figures = ["ns", "half_width", "all_ns", "all_half_width", "all_runs"];
    let own = ["place", "id", "started", "label", "cpu_model", "kernel", "patterns", "full", "path"];
    let mut table = Table::new(own.into_iter().chain(figures));
    for (run, place) in kept.iter().zip(places) {
        let label = run.label.clone().unwrap_or_default();
        let texts = [&run.id, &run.started, &label, &run.model, &run.kernel, &run.patterns.join(" ")];
        let full = [Cell::Flag(run.full), Cell::text(&run.path)];
        let row = [Cell::Count(*place as u64)].into_iter().chain(texts.into_iter().map(Cell::text));
        let number = |number: Option<f64>| number.map_or(Cell::Missing, Cell::Number);
        let figure = |of: &Option<KeptFigure>| {
            [number(of.as_ref().map(|of| of.ns)), number(of.as_ref().and_then(|of| of.half_width))]
        };
        let runs = run.together.as_ref().map_or(Cell::Missing, |all| Cell::Count(all.runs as u64));
        let figures = figure(&run.figure).into_iter().chain(figure(&run.together)).chain([runs]);
        table.rows.push(row.chain(full).chain(figures).collect());
    }
    table
}

/// A run at this place; a file that is no run has none.
fn kept(head: Head, place: Option<usize>) -> Kept {
    Kept {
        name: place.map_or_else(|| "-".into(), |place| format!("@{place}")),
        id: head.id,
        started: head.started,
        label: head.label,
        host: head.host,
        model: head.model,
        kernel: head.kernel,
        patterns: head.patterns,
        full: head.full,
        path: head.path.display().to_string(),
        figure: None,
        together: None,
    }
}

/// Adds the figures of one cost to the listed runs that can be read: in each of them, and in all that agree with it. `heads` are those of
/// the listed runs and perhaps of more. Adds nothing if the patterns mean several costs.
fn add_figures(kept: &mut [Kept], store: &Store, heads: &[Head], patterns: &[String]) -> anyhow::Result<()> {
    let patterns = resolve::patterns(patterns)?;
    let means = |cost: &Cost| patterns.iter().any(|pattern| pattern.means(&cost.operation, &cost.at));
    let (mut places, mut runs) = (Vec::new(), Vec::new());
    for (place, head) in heads.iter().enumerate() {
        if let Some(run) = kin::readable(store, head)? {
            places.push(place);
            runs.push(run);
        }
    }
    let names: BTreeSet<String> =
        runs.iter().flat_map(|run| &run.costs).filter(|cost| means(cost)).map(Cost::name).collect();
    let (Some(name), 1) = (names.first(), names.len()) else { return Ok(()) };
    // What a figure needs: its baselines, and the add, by which clocks are known.
    for run in &mut runs {
        let own = run.costs.iter().filter(|cost| cost.name() == *name);
        let terms: Vec<String> = own.flat_map(|cost| &cost.terms).map(Term::name).collect();
        run.costs.retain(|cost| {
            cost.name() == *name || cost.operation == "instruction.add.latency" || terms.contains(&cost.name())
        });
    }
    let kept_figure = |run: &Run, runs: usize| {
        let cost = run.costs.iter().find(|cost| cost.name() == *name)?;
        Some(KeptFigure { ns: cost.quoted().0, half_width: cost.half_width(), runs })
    };
    for (number, place) in places.into_iter().enumerate() {
        let Some(listed) = kept.get_mut(place) else { break };
        listed.figure = kept_figure(&runs[number], 1);
        if let Some(newest) = runs.get(..runs.len().min(kin::MOST)).filter(|newest| number < newest.len()) {
            let kin = Kin::among(newest, number);
            listed.together = kin.together().and_then(|all| kept_figure(&all, kin.count()));
        }
    }
    Ok(())
}
